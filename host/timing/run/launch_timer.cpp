// Times a program's launches while it is being executed.
//
// The front end begins a launch one launch gap after the end of the one before. The gap is at least
// a window, so the machine can stand still in it until the next launch is known. The system has one
// launch at a time, which is always launch 0.
#include "host/timing/run/launch_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "device/frontend/dispatcher.h"
#include "host/core/error.h"
#include "host/timing/machine/lay_out.h"
#include "host/timing/machine/shapes/shapes.h"
#include "host/timing/machine/system.h"
#include "host/timing/run/checks.h"
#include "host/timing/run/trace_feed.h"
#include "kernels/cpu_executor.h"

namespace nearwarp::sim {

using kernels::Stop;

namespace {

/// The least number of scoreboard slots (registers and predicates of a kernel) that a system is
/// laid out for.
constexpr uint32_t kLeastSlots = 2048;
/// Windows between two checks that instructions are committed.
constexpr uint64_t kSliceWindows = 4096;

}  // namespace

struct LaunchTimer::Impl {
  config::MachineConfig machine;
  config::PolicyConfig policy;
  runtime::Recording recording;  // all kernels so far, and the present launch
  ImageTables image;
  std::optional<System> system;
  std::unique_ptr<kernels::CpuExecutor> executor;
  kernels::RunControl control;
  uint32_t slots = 0;                     // scoreboard slots that `system` is laid out for
  bool copies = false, clusters = false;  // is `system` laid out for bulk copies, and clusters?
  uint64_t ended = 0;                     // core cycle in which the launch before ended
  bool failed = false;                    // a launch has failed, and the system cannot go on

  uint64_t core_cycle(Tick at) const {
    return (at + system->core_period - 1) / system->core_period;
  }

  void lay_out() {
    slots = image.max_slots = std::max(image.max_slots, kLeastSlots);
    copies = image.has_copies = copies || image.has_copies;
    clusters = image.has_clusters = clusters || image.has_clusters;
    executor.reset();
    system = sim::lay_out(make_graph({machine, image}));
    executor =
        std::make_unique<kernels::CpuExecutor>(system->components(), kernels::ExecutorOptions{});
    control = {};
    control.longest = system->window;
    ended = 0;
  }

  /// Give the front end the next launch, after the one before has ended.
  void go_on() {
    frontend::DispatchState& dispatch = system->front_end().dispatch;
    std::byte* base = system->arena.base();
    const frontend::FrontEndParams& p = system->front_end_params();
    const Tick ready = dispatch.launches.in(base)[0].end + Tick{p.launch_gap} * p.period;
    frontend::enter_program(dispatch, base, image.launches.data(), 1, ready);
    kernels::Component& component = system->front_end_component();
    component.wake = std::min(component.wake, ready);
    control.next = std::min(control.next, ready);
    control.stop = Stop::kNone;
  }

  void run() {
    const frontend::DispatchState& dispatch = system->front_end().dispatch;
    kernels::RunState state;
    state.view.arena = system->arena.base();
    state.view.image = image.view();
    state.table = system->table;
    state.front_end = system->front_end_component().state;
    state.control = control;
    TraceFeed feed(recording, image, system->num_sms() * machine.sm.blocks);
    feed.serve(*system, state);
    uint64_t committed = committed_instructions(*system), look_at = 0;
    uint64_t commit_cycle = core_cycle(control.next);
    while (dispatch.ended == 0) {
      // Step one window at a time, so that nothing is stepped beyond the one in which the launch
      // ends.
      executor->run(state, 1);
      feed.serve(*system, state);
      if (state.control.stop == Stop::kEnded) stop(", every component sleeps while work is left");
      if (state.control.windows < look_at) continue;
      look_at = state.control.windows + kSliceWindows;
      const uint64_t now = committed_instructions(*system), cycle = core_cycle(state.control.next);
      if (now != committed) commit_cycle = cycle;
      committed = now;
      if (cycle - commit_cycle > machine.run.no_progress_cycles)
        stop(
            fmt::format(", no instruction was committed for {} core cycles", cycle - commit_cycle));
    }
    control = state.control;
    check_faults(*system);
  }

  [[noreturn]] void stop(const std::string& why) {
    throw Error("the simulated machine is stuck" + why + describe_stall(*system, {}));
  }
};

LaunchTimer::LaunchTimer(const config::MachineConfig& machine, const config::PolicyConfig& policy)
    : impl_(std::make_unique<Impl>()) {
  if (policy.mechanism != "none")
    throw Error(fmt::format(
        "policy '{}' offloads code, which is decided for whole programs: times of launches, one "
        "after the other, need a policy without offloading, such as baseline",
        policy.name));
  impl_->machine = machine;
  impl_->policy = policy;
}

LaunchTimer::~LaunchTimer() = default;

void LaunchTimer::add_kernel(const compiler::Kernel& kernel) {
  impl_->recording.kernels.push_back(std::make_shared<const compiler::Kernel>(kernel));
}

uint64_t LaunchTimer::launch(const runtime::LaunchRecord& record, runtime::TraceStore traces) {
  Impl& impl = *impl_;
  if (impl.failed) throw Error("an earlier launch could not be simulated");
  if (record.blocks_recorded == 0) return 0;
  impl.failed = true;
  impl.recording.launches = {record};
  impl.recording.launches[0].first_chunk = traces.size() - record.num_chunks;
  impl.recording.traces = std::move(traces);
  impl.image = build_image(impl.recording, impl.machine);
  if (!impl.system.has_value() || impl.image.max_slots > impl.slots ||
      (impl.image.has_copies && !impl.copies) || (impl.image.has_clusters && !impl.clusters))
    impl.lay_out();
  else
    impl.go_on();
  impl.run();
  impl.failed = false;
  const frontend::DispatchState& dispatch = impl.system->front_end().dispatch;
  const uint64_t end = impl.core_cycle(dispatch.launches.in(impl.system->arena.base())[0].end);
  return end - std::exchange(impl.ended, end);
}

}  // namespace nearwarp::sim
