// The run of one system on a device, with its arena there.
#include "host/timing/run/accelerator_replay.h"

namespace nearwarp::sim {

AcceleratorReplay::AcceleratorReplay(kernels::Device& device, std::unique_ptr<Replay>& run,
                                     std::shared_ptr<const AcceleratorProgram> image,
                                     const DeviceTraces& traces)
    : image_(std::move(image)),
      arena_(device, run->system().arena.base(), run->system().arena.size_bytes(),
             run->system().components()),
      state_(run->state()) {
  state_.view.image = image_->view();
  state_.view.traces = traces.blocks();
  run_ = std::move(run);
}

kernels::TeamSystem AcceleratorReplay::team_system(const kernels::TeamShape& shape,
                                                   uint32_t working_warps) {
  return arena_.team_system(state_, shape, working_warps);
}

kernels::BatchMember AcceleratorReplay::batch_member() {
  return {arena_.on_device(state_), run_->system().components()};
}

void AcceleratorReplay::take(const kernels::RunControl& left, uint64_t committed) {
  const bool stepped = left.windows != state_.control.windows;
  state_.control = left;
  run_->control() = left;
  if (stepped) committed_ = committed;
}

bool AcceleratorReplay::is_over() {
  const bool over = run_->is_over(committed_);
  state_.control = run_->control();
  return over;
}

Replay& AcceleratorReplay::fetch() {
  arena_.fetch();
  return *run_;
}

std::unique_ptr<Replay> AcceleratorReplay::leave() {
  arena_.fetch();
  return std::move(run_);
}

void AcceleratorReplay::put_back() { arena_.put_back(); }

}  // namespace nearwarp::sim
