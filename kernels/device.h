// A device on which teams step systems: its memory, and launches. Behind this interface stand a
// CUDA device and the emulated one that tests use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/batch_state.h"
#include "kernels/team_state.h"

namespace nearwarp::kernels {

/// The properties of a device.
struct DeviceInfo {
  int index = 0;  ///< the number by which it is chosen
  std::string name;
  std::string architecture;  ///< e.g. "sm_90"
  uint64_t memory_bytes = 0;
  uint32_t multiprocessors = 0;
  uint32_t clock_mhz = 0;
  uint32_t warps_per_block = 1;  ///< of the stepping kernel, at most
  uint32_t blocks_at_once = 1;   ///< so large ones, that are resident at the same time
  uint32_t largest_team = 1;     ///< such thread blocks
  uint32_t shared_bytes = 0;     ///< for components' States, of such a block
  uint32_t registers = 0;        ///< per thread of the stepping kernel
  uint32_t local_bytes = 0;      ///< of local memory per thread, what was spilled included
  bool clusters = false;         ///< teams of several blocks meet in hardware
};

/// A call to a device failed.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The device's memory is used up.
struct OutOfDeviceMemory : DeviceError {
  using DeviceError::DeviceError;
};

/// How a launch is cut. Teams of several blocks have the largest ones; several small ones share a
/// block.
struct TeamShape {
  uint32_t teams = 1;
  uint32_t blocks = 1;  ///< thread blocks of a team
  uint32_t warps = 1;   ///< of a team in each of them

  uint32_t team_warps() const { return blocks * warps; }
};

/// Throws std::logic_error where no launch can have this shape.
inline void check_shape(const DeviceInfo& device, const TeamShape& shape) {
  const bool whole_blocks = shape.warps == device.warps_per_block;
  if (shape.teams == 0 || shape.warps == 0 || shape.warps > device.warps_per_block ||
      shape.blocks == 0 || shape.blocks > device.largest_team ||
      (shape.blocks > 1 && !whole_blocks))
    throw std::logic_error("a launch of an impossible shape");
}
/// Bytes of shared memory for States: the share of so many of a block's warps.
inline uint32_t shared_bytes_of(const DeviceInfo& device, uint32_t warps) {
  return static_cast<uint32_t>(uint64_t{device.shared_bytes} * warps / device.warps_per_block) /
         16 * 16;
}
/// How many teams of this shape are resident at the same time.
inline uint32_t teams_at_once(const DeviceInfo& device, const TeamShape& shape) {
  return device.blocks_at_once * (device.warps_per_block / shape.warps) / shape.blocks;
}

/// The time that a launch took.
struct LaunchReport {
  double seconds = 0;  ///< on the device
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual uint64_t free_bytes() = 0;

  // All of these throw DeviceError.

  /// Throws OutOfDeviceMemory.
  virtual std::byte* allocate(uint64_t bytes) = 0;
  virtual void release(std::byte* memory) noexcept = 0;
  virtual void upload(std::byte* to, const void* from, uint64_t bytes) = 0;
  virtual void download(void* to, const std::byte* from, uint64_t bytes) = 0;

  /// Let teams take `count` systems, in order, until none is left or the slice is over; returns
  /// when all have left theirs. The systems are dealt for teams of `shape`.
  virtual LaunchReport run(TeamSystem* systems, uint32_t count, const TeamShape& shape,
                           const Slice& slice) = 0;
  /// Step a batch until all of its systems have stopped; returns then.
  virtual LaunchReport run_batch(const Batch& batch) = 0;
  /// From now on launches leave footprints, so that footprint() says after a failed one where it
  /// failed. Each must have one team of one block, in which one warp works; none may be of a batch.
  virtual void leave_footprints() = 0;
  /// For TeamSystem::footprint.
  virtual Footprint* footprint_place() = 0;
  virtual Footprint footprint() const = 0;
  /// Teams that only meet, so many times: what a window's barrier takes.
  virtual LaunchReport meet(const TeamShape& shape, uint32_t times) = 0;
};

/// A piece of a device's memory.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(Device& device, uint64_t bytes)
      : device_(&device), bytes_(bytes), memory_(device.allocate(bytes == 0 ? 1 : bytes)) {}
  DeviceBuffer(Device& device, const void* from, uint64_t bytes) : DeviceBuffer(device, bytes) {
    upload(from, bytes);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(bytes_, other.bytes_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~DeviceBuffer() {
    if (memory_ != nullptr) device_->release(memory_);
  }

  uint64_t bytes() const { return bytes_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(memory_);
  }
  void upload(const void* from, uint64_t bytes) const {
    if (bytes != 0) device_->upload(memory_, from, bytes);
  }
  void download(void* to, uint64_t bytes) const {
    if (bytes != 0) device_->download(to, memory_, bytes);
  }

 private:
  Device* device_ = nullptr;
  uint64_t bytes_ = 0;
  std::byte* memory_ = nullptr;
};

/// The CUDA devices that this build can use; none without a driver, a device, or a build with CUDA.
/// `why` says why there is none. Throws DeviceError if there is one that does not work.
std::vector<DeviceInfo> cuda_devices(std::string& why);

/// How a CUDA device is used; for tests and measurements.
struct CudaOptions {
  bool clusters = true;  ///< false: as on devices that have none
  /// Bytes of shared memory for States in a block of full size, if the device has as much. The rest
  /// of what shared memory and the first cache have together caches arrays and channels. Estimated:
  /// half.
  uint32_t shared_bytes = 96 << 10;
  uint32_t batch_warps = 0;  ///< that step batches, in a block; 0: as many as fit the device
};

/// Opens CUDA device `index`, one of cuda_devices(). Throws DeviceError.
std::unique_ptr<Device> open_cuda_device(int index, const CudaOptions& options = {});

}  // namespace nearwarp::kernels
