// One system's run on a device: its arena there, and the way to and fro.
#pragma once

#include <memory>

#include "host/timing/run/accelerator_program.h"
#include "host/timing/run/replay.h"
#include "kernels/batch_launcher.h"
#include "kernels/device_arena.h"

namespace nearwarp::sim {

class AcceleratorReplay {
 public:
  /// Takes a run that has begun to the device. Throws kernels::OutOfDeviceMemory, and leaves `run`
  /// with the caller then.
  AcceleratorReplay(kernels::Device& device, std::unique_ptr<Replay>& run,
                    std::shared_ptr<const AcceleratorProgram> image, const DeviceTraces& traces);

  /// For a launch with teams of this shape, of whose warps so many work (0: all).
  kernels::TeamSystem team_system(const kernels::TeamShape& shape, uint32_t working_warps);
  /// For a launch of a batch.
  kernels::BatchMember batch_member();
  /// After the launch: how the system was left, and what it had committed then.
  void take(const kernels::RunControl& left, uint64_t committed);
  kernels::Stop stop() const { return state_.control.stop; }

  /// The run, with the state that the device has.
  Replay& fetch();
  /// Fetches the run for good: it leaves the device. Nothing but the destructor may follow.
  std::unique_ptr<Replay> leave();
  /// The run, with the state that it had before: only its control is up to date.
  Replay& run() { return *run_; }
  /// Puts the run on the device again, after fetch() and a change.
  void put_back();
  /// After Stop::kLimit: Replay::is_over().
  bool is_over();
  /// Warp-instructions committed until the last stop.
  uint64_t committed() const { return committed_; }

 private:
  std::unique_ptr<Replay> run_;
  std::shared_ptr<const AcceleratorProgram> image_;
  kernels::DeviceArena arena_;
  kernels::RunState state_;  ///< as a team sees it, its arena apart
  uint64_t committed_ = 0;
};

}  // namespace nearwarp::sim
