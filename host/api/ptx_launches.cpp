// PTX with a description of its launches, executed in place of an application.
#include "host/api/ptx_launches.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include "host/config/nearest.h"
#include "host/core/error_parts.h"
#include "host/core/file_hash.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp {
namespace {

using experiment::OwnProgram;
using experiment::PtxArgument;
using experiment::PtxBuffer;
using experiment::PtxLaunch;

std::vector<std::byte> contents_of(const OwnProgram& program, const PtxBuffer& buffer) {
  std::vector<std::byte> bytes(buffer.bytes);
  const size_t words = bytes.size() / sizeof(uint32_t);
  if (!buffer.file.empty()) {
    std::ifstream file(buffer.file, std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (file.bad() || !file.is_open())
      throw file_error(buffer.file,
                       fmt::format("cannot read '{}', which buffer '{}' is filled from ({})",
                                   buffer.file, buffer.name, program.place),
                       "check the path");
    return bytes;
  }
  std::mt19937 generator(1);  // NOLINT: the same numbers in every run
  for (size_t i = 0; i < words && buffer.fill != "zero"; ++i) {
    const auto random = static_cast<float>(generator() >> 8) / static_cast<float>(1 << 24);
    const uint32_t word =
        buffer.fill == "index" ? static_cast<uint32_t>(i) : std::bit_cast<uint32_t>(random);
    std::memcpy(bytes.data() + i * sizeof word, &word, sizeof word);
  }
  return bytes;
}

/// The bits of a number as a parameter's type; nothing if it does not fit.
std::optional<uint64_t> bits_of(const PtxArgument& argument, ptx::Type type) {
  const auto* whole = std::get_if<int64_t>(&argument);
  const double number = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(argument);
  if (type == ptx::Type::kF32) return std::bit_cast<uint32_t>(static_cast<float>(number));
  if (type == ptx::Type::kF64) return std::bit_cast<uint64_t>(number);
  const unsigned bytes = ptx::size_of(type);
  if (whole == nullptr || bytes == 0 || bytes > sizeof(uint64_t)) return std::nullopt;
  const unsigned bits = 8 * bytes;
  if (bits < 64 && (*whole >= (int64_t{1} << bits) || *whole < -(int64_t{1} << (bits - 1))))
    return std::nullopt;
  return static_cast<uint64_t>(*whole);
}

std::string text_of(const PtxArgument& argument) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, argument);
}

runtime::KernelArgs arguments_of(const OwnProgram& program, const PtxLaunch& launch,
                                 const compiler::Kernel& kernel,
                                 const std::map<std::string, uint64_t>& addresses) {
  if (launch.arguments.size() != kernel.params.size())
    throw Error(fmt::format("kernel {} has {} parameters, and 'args' {} ({}) - give one for each",
                            kernel.name, kernel.params.size(), launch.arguments.size(),
                            program.place));
  std::vector<std::byte> bytes(kernel.param_bytes);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const compiler::Param& param = kernel.params[i];
    const PtxArgument& argument = launch.arguments[i];
    const auto* name = std::get_if<std::string>(&argument);
    const bool scalar = param.size == ptx::size_of(param.type);
    std::optional<uint64_t> bits;
    if (name == nullptr && scalar) bits = bits_of(argument, param.type);
    if (name != nullptr && param.size == sizeof(uint64_t)) bits = addresses.at(*name);
    if (!bits)
      throw Error(
          fmt::format("'{}' cannot be parameter {} of kernel {}, which has {} bytes{} ({}) "
                      "- buffers are for parameters of 8 bytes, numbers for those of their "
                      "type",
                      text_of(argument), i + 1, kernel.name, param.size,
                      scalar ? "" : " and is no single value", program.place));
    std::memcpy(bytes.data() + param.offset, &*bits, param.size);
  }
  return runtime::KernelArgs(std::move(bytes));
}

/// The name of what is executed, and the observer that is told.
struct Executed {
  std::string what;
  programs::Observer& observer;
};

bool on_execution(uint64_t warp_instructions, void* context) {
  const auto& executed = *static_cast<const Executed*>(context);
  return executed.observer.progress(executed.what, warp_instructions, 0, "Mwi/s");
}

}  // namespace

std::string ptx_launches_key(const OwnProgram& program) {
  std::string key = "ptx " + file_hash(program.ptx);
  for (const PtxBuffer& b : program.buffers)
    key += fmt::format("\nbuffer {} {} {} {}", b.name, b.bytes, b.fill,
                       b.file.empty() ? "" : file_hash(b.file));
  for (const PtxLaunch& l : program.launches) {
    key += fmt::format("\nlaunch {} {},{},{} {},{},{} {} {}", l.kernel, l.grid[0], l.grid[1],
                       l.grid[2], l.block[0], l.block[1], l.block[2], l.shared_bytes, l.times);
    for (const PtxArgument& argument : l.arguments) key += " " + text_of(argument);
  }
  return key;
}

runtime::Recording execute_ptx_launches(const OwnProgram& program, programs::Observer& observer) {
  auto compiled =
      std::make_shared<const compiler::Program>(compiler::compile_ptx_file(program.ptx));
  Executed executed{"executing " + program.name, observer};
  runtime::VirtualDevice::Options options;
  options.progress = on_execution;
  options.progress_context = &executed;
  runtime::VirtualDevice device(options);
  std::map<std::string, uint64_t> addresses;
  for (const PtxBuffer& b : program.buffers)
    addresses[b.name] = device.upload(contents_of(program, b), b.name);
  const uint32_t module = device.load_module(compiled);
  try {
    for (const PtxLaunch& l : program.launches) {
      const compiler::Kernel* kernel = compiled->find(l.kernel);
      if (kernel == nullptr) {
        std::vector<std::string> names;
        for (const compiler::Kernel& k : compiled->kernels) names.push_back(k.name);
        throw Error(fmt::format("'{}' has no kernel '{}' ({}){}", program.ptx, l.kernel,
                                program.place, config::suggestion(l.kernel, names)));
      }
      const runtime::KernelArgs arguments = arguments_of(program, l, *kernel, addresses);
      for (uint64_t i = 0; i < l.times; ++i)
        device.launch(module, l.kernel, {l.grid[0], l.grid[1], l.grid[2]},
                      {l.block[0], l.block[1], l.block[2]}, l.shared_bytes, arguments);
    }
  } catch (const Interrupted&) {
    throw Interrupted(fmt::format("interrupted while {} was executed", program.name));
  }
  return device.take_recording(program.name);
}

}  // namespace nearwarp
