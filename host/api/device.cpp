// The public interface's device: PTX, memory, launches.
#include <fmt/format.h>

#include "host/api/by_caller.h"
#include "host/api/failure.h"
#include "host/api/observers.h"
#include "host/api/state.h"
#include "host/api/turns.h"
#include "host/functional/compiler/lower.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp {

struct Device::State {
  explicit State(DeviceOptions o) : options(std::move(o)), device(anew()) {}

  /// Calls one of the caller's functions while a kernel runs. An exception from it stops the
  /// kernel, and launch() throws it once the device has come to rest.
  template <class F>
  bool call(F function) {
    try {
      return by_caller(function);
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }
  std::unique_ptr<runtime::VirtualDevice> anew() {
    runtime::VirtualDevice::Options of;
    of.progress_context = this;
    of.progress = [](uint64_t warp_instructions, void* state) {
      State& s = *static_cast<State*>(state);
      if (s.thrown != nullptr) return false;
      if (!s.options.progress || !s.pace.is_due()) return true;
      return s.call([&] { return s.options.progress({s.running, warp_instructions, 0, "Mwi/s"}); });
    };
    if (options.print)
      of.print = [this](std::string_view text) {
        if (thrown == nullptr) call([&] { return options.print(std::string(text)), true; });
      };
    return std::make_unique<runtime::VirtualDevice>(std::move(of));
  }
  void launch(uint32_t module, const std::string& kernel, Extent grid, Extent block,
              std::span<const std::byte> arguments, uint32_t dynamic_shared_bytes) {
    running = "executing " + kernel;
    thrown = nullptr;
    try {
      device->launch(
          module, kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
          dynamic_shared_bytes,
          runtime::KernelArgs(std::vector<std::byte>(arguments.begin(), arguments.end())));
    } catch (const Interrupted&) {
      if (thrown == nullptr) throw;
    }
    if (thrown != nullptr) std::rethrow_exception(thrown);
  }

  Turns turns{"a kernel is running"};
  DeviceOptions options;
  std::string running;  ///< name of the activity for progress()
  Pace pace;
  std::exception_ptr thrown;  ///< by a function of the caller's, during this launch
  std::unique_ptr<runtime::VirtualDevice> device;
};

Device::Device(DeviceOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

Device::State& Device::state() const {
  if (state_ == nullptr) throw EmptyObject();
  return *state_;
}

Expected<uint32_t> Device::load(const std::string& ptx, const std::string& name) {
  return guarded([&] {
    auto program = std::make_shared<const compiler::Program>(compiler::compile_ptx(ptx, name));
    return state().turns.change([&] { return state().device->load_module(std::move(program)); });
  });
}

Expected<uint64_t> Device::allocate(uint64_t bytes, const std::string& name) {
  return guarded(
      [&] { return state().turns.change([&] { return state().device->allocate(bytes, name); }); });
}

Expected<Done> Device::free(uint64_t address) {
  return guarded([&] {
    state().turns.change([&] { state().device->free(address); });
    return Done{};
  });
}

Expected<Done> Device::write(uint64_t address, std::span<const std::byte> bytes) {
  return guarded([&] {
    state().turns.look(
        [&] { state().device->copy_to_device(address, bytes.data(), bytes.size()); });
    return Done{};
  });
}

Expected<Done> Device::read(uint64_t address, std::span<std::byte> bytes) const {
  return guarded([&] {
    state().turns.look([&] { state().device->copy_to_host(bytes.data(), address, bytes.size()); });
    return Done{};
  });
}

Expected<Done> Device::launch(uint32_t module, const std::string& kernel, Extent grid, Extent block,
                              std::span<const std::byte> arguments, uint32_t dynamic_shared_bytes) {
  return guarded([&] {
    state().turns.work(
        [&] { state().launch(module, kernel, grid, block, arguments, dynamic_shared_bytes); });
    return Done{};
  });
}

Expected<Program> Device::take_program(const std::string& name) {
  return guarded([&] {
    auto program = std::make_shared<Program::State>();
    state().turns.change([&] {
      if (!state().device->has_launches())
        throw UsageError("no kernel was launched - launch one before its program is taken");
      program->recording = state().device->take_recording(name);
      state().device = state().anew();
    });
    program->name = name;
    return Access::make<Program>(std::move(program));
  });
}

}  // namespace nearwarp
