// The public interface's device: PTX, memory, launches.
#include <fmt/format.h>

#include "host/api/failure.h"
#include "host/api/state.h"
#include "host/functional/compiler/lower.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp {

struct Device::State {
  std::unique_ptr<runtime::VirtualDevice> device = std::make_unique<runtime::VirtualDevice>();
};

Device::Device() : state_(std::make_unique<State>()) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

Expected<uint32_t> Device::load(const std::string& ptx, const std::string& name) {
  return guarded([&] {
    return state_->device->load_module(
        std::make_shared<const compiler::Program>(compiler::compile_ptx(ptx, name)));
  });
}

Expected<uint64_t> Device::allocate(uint64_t bytes, const std::string& name) {
  return guarded([&] { return state_->device->allocate(bytes, name); });
}

Expected<Done> Device::free(uint64_t address) {
  return guarded([&] {
    state_->device->free(address);
    return Done{};
  });
}

Expected<Done> Device::write(uint64_t address, std::span<const std::byte> bytes) {
  return guarded([&] {
    state_->device->copy_to_device(address, bytes.data(), bytes.size());
    return Done{};
  });
}

Expected<Done> Device::read(uint64_t address, std::span<std::byte> bytes) const {
  return guarded([&] {
    state_->device->copy_to_host(bytes.data(), address, bytes.size());
    return Done{};
  });
}

Expected<Done> Device::launch(uint32_t module, const std::string& kernel, Extent grid, Extent block,
                              std::span<const std::byte> arguments, uint32_t dynamic_shared_bytes) {
  return guarded([&] {
    state_->device->launch(
        module, kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, dynamic_shared_bytes,
        runtime::KernelArgs(std::vector<std::byte>(arguments.begin(), arguments.end())));
    return Done{};
  });
}

Expected<Program> Device::take_program(const std::string& name) {
  return guarded([&] {
    auto state = std::make_shared<Program::State>();
    state->recording = state_->device->take_recording(name);
    state->name = name;
    state_->device = std::make_unique<runtime::VirtualDevice>();
    if (state->recording.launches.empty())
      throw UsageError("no kernel was launched - launch one before its program is taken");
    return Access::make<Program>(std::move(state));
  });
}

}  // namespace nearwarp
