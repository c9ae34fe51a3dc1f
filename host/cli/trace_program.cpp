// Accel-Sim's traces in place of a workload.
#include "host/cli/trace_program.h"

#include <fmt/format.h>

#include <array>

#include "host/cli/observer.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/programs/recordings.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/timing/report/columns.h"

namespace nearwarp::cli {
namespace {

constexpr size_t kShownOpcodes = 20;

std::string share(uint64_t part, uint64_t all) {
  const double percent = all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
  return fmt::format("{:5.1f} %", percent);
}

std::string kernel_text(const sass::KernelSummary& kernel) {
  std::array<uint64_t, sass::kNumOpcodeClasses> by_class = {};
  uint64_t warp_instructions = 0, thread_instructions = 0;
  for (const sass::OpcodeCount& c : kernel.opcodes) {
    by_class[static_cast<size_t>(c.opcode_class)] += c.warp_instructions;
    warp_instructions += c.warp_instructions;
    thread_instructions += c.thread_instructions;
  }
  std::string text = fmt::format("kernel {}\n", kernel.name);
  text += fmt::format("  binary version {}, {} registers, {} different instructions executed\n",
                      kernel.binary_version, kernel.registers, kernel.static_instructions);
  text += fmt::format("  {} launch{}, {} thread block{}\n", kernel.launches,
                      kernel.launches == 1 ? "" : "es", kernel.thread_blocks,
                      kernel.thread_blocks == 1 ? "" : "s");
  text += fmt::format("  {} warp-instructions, {} thread-instructions\n", warp_instructions,
                      thread_instructions);
  text += "  by class:\n";
  for (uint32_t c = 0; c < sass::kNumOpcodeClasses; ++c)
    if (by_class[c] != 0)
      text +=
          fmt::format("    {:<16} {}  {}\n", sass::class_name(static_cast<sass::OpcodeClass>(c)),
                      share(by_class[c], warp_instructions), by_class[c]);
  text += "  most frequent opcodes:\n";
  for (size_t i = 0; i < kernel.opcodes.size() && i < kShownOpcodes; ++i)
    text += fmt::format("    {:<16} {}  {}\n", kernel.opcodes[i].name,
                        share(kernel.opcodes[i].warp_instructions, warp_instructions),
                        kernel.opcodes[i].warp_instructions);
  return text;
}

}  // namespace

std::string trace_analysis(const std::string& path, const std::string& kernel) {
  Terminal terminal;
  const sass::TraceProgram program = programs::read_traces(path, terminal);
  std::string text;
  std::vector<std::string> names;
  for (const sass::KernelSummary& k : program.kernels) {
    names.push_back(k.name);
    if (!kernel.empty() && k.name != kernel) continue;
    text += kernel_text(k) + "\n";
  }
  if (text.empty())
    throw Error(
        fmt::format("'{}' has no kernel '{}'{}", path, kernel, config::suggestion(kernel, names)));
  for (const std::string& warning : program.warnings)
    text += report::wrapped("approximated: " + warning, 80);
  return text +
         report::wrapped(fmt::format("no offloading candidates: {}", sass::kNoOffloading), 80);
}

}  // namespace nearwarp::cli
