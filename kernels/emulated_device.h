// A device emulated on the CPU, for tests on machines without a GPU. It runs the teams of the CUDA
// backend, which take systems in turn, with their blocks, warps and lanes in random order, and
// batches, whose warps take work in random order.
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
  uint32_t seed = 1;     ///< of the order of teams, warps and lanes; 0: by their numbers
  unsigned threads = 1;  ///< threads that step a team's warps at the same time
  /// A launch that has a time limit ends after this many windows of all teams together, or turns of
  /// a batch's warps, whatever the limit is.
  uint64_t windows_at_once = 1000;
  /// The device breaks when a team steps component `fault_in` in a window at `fault_at` or later.
  Tick fault_at = kNever;
  uint32_t fault_in = 0;
  /// The device breaks in this launch of a batch, counted from 1; 0: in none.
  uint64_t fault_in_launch = 0;
};

/// A device whose memory is allocated on the host, apart from all other data: only data that has
/// been uploaded is there.
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

  uint64_t allocations() const { return allocations_.size(); }
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
  std::map<const std::byte*, uint64_t> allocations_;  ///< bytes by address
};

}  // namespace nearwarp::kernels
