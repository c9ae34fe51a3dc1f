// A device emulated on the CPU: the teams of the CUDA backend, their systems taken in turn, their
// blocks, warps and lanes in any order, and batches, whose warps take work in any order. For tests
// on machines without a GPU.
#pragma once

#include <map>

#include "kernels/device.h"

namespace nearwarp::kernels {

struct EmulationOptions {
  uint32_t warps_per_block = 4;
  uint32_t largest_team = 4;
  uint32_t blocks_at_once = 8;
  uint32_t shared_bytes = 16 << 10;
  uint64_t memory_bytes = uint64_t{1} << 30;
  uint32_t seed = 1;     ///< order of teams, warps and lanes; 0: the natural ones
  unsigned threads = 1;  ///< that step a team's warps at the same time
  /// A slice's nanoseconds: in windows of all teams together, or in pieces of work of a batch.
  uint64_t windows_at_once = 1000;
  Tick fault_at = kNever;        ///< the first window from there on in which
  uint32_t fault_in = 0;         ///< this component is stepped by a team breaks the device
  uint64_t fault_in_launch = 0;  ///< of batches, counted from 1: it breaks the device; 0: none does
};

/// A device whose memory is the host's, but other memory: what is not uploaded is not there.
class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const EmulationOptions& options);
  ~EmulatedDevice() override;

  const DeviceInfo& info() const override { return info_; }
  uint64_t free_bytes() override { return options_.memory_bytes - used_; }
  std::byte* allocate(uint64_t bytes) override;
  void release(std::byte* memory) noexcept override;
  void upload(std::byte* to, const void* from, uint64_t bytes) override;
  void download(void* to, const std::byte* from, uint64_t bytes) override;
  LaunchReport run(TeamSystem* systems, uint32_t count, const TeamShape& shape,
                   const Slice& slice) override;
  LaunchReport run_batch(const Batch& batch) override;
  void leave_footprints() override { footprints_ = true; }
  Footprint* footprint_place() override {
    return footprints_ || options_.fault_at != kNever ? &footprint_ : nullptr;
  }
  Footprint footprint() const override { return footprints_ ? footprint_ : Footprint{}; }
  LaunchReport meet(const TeamShape&, uint32_t) override { return {}; }

  uint64_t allocations() const { return pieces_.size(); }
  uint64_t launches() const { return launches_; }
  uint64_t launches_of_batches() const { return launches_of_batches_; }
  uint64_t most_used_bytes() const { return most_used_; }

 private:
  void check_range(const std::byte* at, uint64_t bytes) const;

  EmulationOptions options_;
  DeviceInfo info_;
  bool footprints_ = false;
  Footprint footprint_;
  uint64_t used_ = 0, most_used_ = 0, random_ = 0;
  uint64_t launches_ = 0, launches_of_batches_ = 0;
  std::map<const std::byte*, uint64_t> pieces_;  ///< sizes by beginning
};

}  // namespace nearwarp::kernels
