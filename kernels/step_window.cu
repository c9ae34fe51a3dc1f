// Compiles every component's step function for CUDA, so that the models stay host-and-device code:
// one warp per component, one window per launch. The run loop for GPUs is not built on this yet.
#include "kernels/component.h"

namespace nearwarp::kernels {

/// Step `count` components through one window; `next` gets the earliest event that each one knows.
__global__ void step_window(Component* components, uint32_t count, sm::SystemView system,
                            Window window, Tick* next) {
  const WarpGroup group{
      cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block())};
  const uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (i >= count) return;
  Horizon horizon;
  const StepResult r = step_component(group, components[i], system, window, horizon);
  group.leader([&] {
    components[i].wake = r.wake;
    components[i].poll = r.poll;
    next[i] = min_tick(r.wake, horizon.next);
  });
}

}  // namespace nearwarp::kernels
