// Work that kernels request: launches, copies and fills, and their order.
#include "host/functional/exec/device_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "host/functional/exec/device_fault.h"
#include "host/functional/exec/device_status.h"
#include "host/functional/instructions/scalar.h"

namespace nearwarp::runtime {

using namespace device_status;  // NOLINT(google-build-using-namespace)

namespace {

const char* what_of(bool fill) { return fill ? "fill by a kernel" : "copy by a kernel"; }

}  // namespace

DeviceRuntime::DeviceRuntime(DeviceMemory& memory, uint64_t buffers, DeviceServices* services)
    : memory_(memory),
      buffers_(buffers, kBufferBytes),
      services_(services != nullptr ? services : &no_services_) {}

void DeviceRuntime::begin_grid(uint32_t module, const compiler::Program& program,
                               const compiler::Kernel& kernel, uint32_t depth) {
  module_ = module;
  program_ = &program;
  kernel_ = &kernel;
  depth_ = depth;
  for (const auto& [address, config] : configs_) buffers_.free(address);  // never launched
  configs_.clear();
  errors_.clear();
  streams_.clear();
  events_.clear();
}

void DeviceRuntime::end_grid() {
  const auto put = [this](std::vector<Work>& from) {
    std::move(from.rbegin(), from.rend(), std::back_inserter(work_));
    from.clear();
  };
  put(tail_);
  put(asked_);
}

std::optional<ChildGrid> DeviceRuntime::next() {
  while (!work_.empty()) {
    Work work = std::move(work_.back());
    work_.pop_back();
    if (auto* grid = std::get_if<ChildGrid>(&work)) return std::move(*grid);
    perform(std::get<Transfer>(work));
  }
  return std::nullopt;
}

void DeviceRuntime::clear() {
  asked_.clear();
  tail_.clear();
  work_.clear();
}

int DeviceRuntime::fail(const Thread& thread, int status) {
  if (status != kSuccess) errors_[thread.id] = status;
  return status;
}

// --- Launches ------------------------------------------------------------------------------------

GridConfig DeviceRuntime::kernel_at(uint64_t address) const {
  GridConfig config;
  config.module = module_;
  config.kernel = program_->find(address);
  return config;
}

int DeviceRuntime::check(const GridConfig& config) {
  if (config.kernel == nullptr) return kInvalidDeviceFunction;
  if (!config.kernel->unsupported.empty()) throw Error(config.kernel->unsupported);
  if (!possible_grid(config.grid) || !possible_block(config.block)) return kInvalidConfiguration;
  return services_->launch_status(config);
}

/// Allocates a buffer for parameters; returns its device address, or 0 if there is no room.
uint64_t DeviceRuntime::parameter_buffer(const GridConfig& config, uint64_t bytes) {
  const uint64_t address = buffers_.allocate(std::max<uint64_t>(bytes, 1));
  if (address != 0) configs_[address] = config;
  return address;
}

bool DeviceRuntime::is_stream(uint64_t stream) const {
  return stream <= kFireAndForget || streams_.contains(stream);
}

int DeviceRuntime::enqueue(Work work, uint64_t stream) {
  if (!is_stream(stream)) return kInvalidResourceHandle;
  const uint64_t most = services_->pending_launches();
  if (asked_.size() + tail_.size() + work_.size() >= most) {
    services_->note(fmt::format(
        "a launch by kernel {} was refused: {} wait already, which begin when the kernel has ended "
        "(on a GPU, some might have begun before) - cudaDeviceSetLimit("
        "cudaLimitDevRuntimePendingLaunchCount, N) allows more",
        kernel_->name, most));
    return kPendingCountExceeded;
  }
  (stream == kTailLaunch ? tail_ : asked_).push_back(std::move(work));
  return kSuccess;
}

int DeviceRuntime::launch(const GridConfig& config, uint64_t buffer, uint64_t stream) {
  if (const int status = check(config); status != kSuccess) return status;
  ChildGrid grid;
  grid.config = config;
  grid.launched_by = kernel_->name;
  // A tail launch takes its launcher's place.
  grid.depth = depth_ + (stream == kTailLaunch ? 0 : 1);
  if (grid.depth > kMaxDepth) return kMaxDepthExceeded;
  if (config.kernel->param_bytes != 0) {
    if (!configs_.contains(buffer)) return kInvalidValue;
    grid.parameters.resize(config.kernel->param_bytes);
    std::memcpy(grid.parameters.data(),
                memory_.host(buffer, grid.parameters.size(), "parameters of a launch"),
                grid.parameters.size());
  }
  const int status = enqueue(std::move(grid), stream);
  if (configs_.erase(buffer) != 0) buffers_.free(buffer);
  return status;
}

// --- Copies --------------------------------------------------------------------------------------

int DeviceRuntime::transfer(Transfer work, uint64_t stream) {
  if ((work.height > 1 || work.depth > 1) &&
      (work.dst_pitch < work.width || (!work.fill && work.src_pitch < work.width)))
    return kInvalidValue;
  if (work.width == 0 || work.height == 0 || work.depth == 0)
    return is_stream(stream) ? kSuccess : kInvalidResourceHandle;
  work.asked_by = kernel_->name;
  return enqueue(std::move(work), stream);
}

/// Throws nearwarp::Error unless the last row of a copy or a fill is in memory. Without this, sizes
/// that no memory has would be noticed only where memory ends, after any number of rows.
void DeviceRuntime::check_end(uint64_t start, uint64_t pitch, uint64_t slice,
                              const Transfer& of) const {
  const exec::Uint128 last =
      start + exec::Uint128{of.depth - 1} * slice + exec::Uint128{of.height - 1} * pitch;
  if (last > UINT64_MAX)
    throw Error(fmt::format("{} by a kernel from {:#x} on goes beyond all addresses",
                            of.fill ? "fill" : "copy", start));
  memory_.host(static_cast<uint64_t>(last), of.width, what_of(of.fill));
}

void DeviceRuntime::perform(const Transfer& t) const {
  const char* const what = what_of(t.fill);
  try {
    check_end(t.dst, t.dst_pitch, t.dst_slice, t);
    if (!t.fill) check_end(t.src, t.src_pitch, t.src_slice, t);
    for (uint64_t z = 0; z < t.depth; ++z)
      for (uint64_t y = 0; y < t.height; ++y) {
        const uint64_t at = t.dst + z * t.dst_slice + y * t.dst_pitch;
        uint8_t* to = memory_.host(at, t.width, what);
        if (t.fill) {
          std::memset(to, t.value, t.width);
          memory_.note_written(at, t.width);
        } else {
          const uint64_t from = t.src + z * t.src_slice + y * t.src_pitch;
          std::memmove(to, memory_.host(from, t.width, what), t.width);
          memory_.note_copied(at, from, t.width);
        }
      }
  } catch (const DeviceFault&) {
    throw;
  } catch (const Error& error) {
    throw DeviceFault(DeviceFault::Kind::kIllegalAddress,
                      fmt::format("{} (asked for by kernel {})", error.what(), t.asked_by));
  }
}

}  // namespace nearwarp::runtime
