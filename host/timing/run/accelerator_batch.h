// Many systems at a time on a device: as many as fit its memory, others as these finish.
#pragma once

#include <functional>
#include <string>

#include "host/timing/run/replay_batch.h"
#include "kernels/device.h"

namespace nearwarp::sim {

/// In which way a device steps systems (docs/backends.md).
enum class DeviceWay : uint8_t {
  kAuto,   ///< as fits their number
  kTeams,  ///< each by a team of its own
  kBatch,  ///< all together, kind by kind of components
};

struct AcceleratorBatchOptions {
  DeviceWay way = DeviceWay::kAuto;  ///< results do not depend on it, as on the next
  kernels::Slice slice = {~uint64_t{0}, 50'000'000};  ///< of one launch
  uint32_t blocks_per_team = 0;  ///< 0: as fits the number of systems; else no batches
  uint32_t team_warps = 0;       ///< of teams in one block, instead; 0: likewise
  /// After a failure, say which component the device was stepping, and when. Slow: one warp steps
  /// one system at a time.
  bool locate_fault = false;
  Tick window_ticks = 0;  ///< for tests: the longest window; 0: as long as possible
  /// Tells the user facts worth knowing, a sentence each, e.g. that memory is short.
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

/// Systems that use the same recording should follow each other: its traces are on the device once,
/// and leave it when another's come.
class AcceleratorBatch final : public BatchRunner {
 public:
  AcceleratorBatch(kernels::Device& device, AcceleratorBatchOptions options);
  /// Runs the systems. Throws nearwarp::Error also if the device fails.
  void run(std::span<const ReplayJob> systems, BatchObserver& observer) override;
  /// The time that launches of the last run() took on the device, in seconds. In the rest the
  /// device waits for the host: to lay out the first systems, to serve them, and to fetch those
  /// that have ended.
  double device_seconds() const { return device_seconds_; }

 private:
  kernels::Device& device_;
  AcceleratorBatchOptions options_;
  double device_seconds_ = 0;
};

/// Whether so many systems are stepped as a batch.
bool is_batch(const kernels::DeviceInfo& device, size_t systems);
/// The shape of a launch of teams for so many systems that need stepping.
kernels::TeamShape team_shape(const kernels::DeviceInfo& device, uint32_t systems,
                              uint32_t components);

}  // namespace nearwarp::sim
