#include "tests/support/general_steps.h"

#include <array>

#include "kernels/component.h"
#include "tests/support/counted_steps.h"

namespace nearwarp::testing {
namespace {

using General = kernels::GeneralFamilyWith<kernels::Mechanisms>;
using kernels::ComponentKind;

thread_local std::array<uint64_t, General::kCount> counts;

/// Counts steps. step() is not inlined, so that the models are compiled once here: a copy in each
/// place that steps takes a compiler minutes.
struct Counted : General {
  [[gnu::noinline]] static StepResult step(const kernels::Component& c, std::byte* state,
                                           const sm::SystemView& system, const Window& window,
                                           Horizon& horizon) {
    counts[static_cast<size_t>(c.kind)] += 1;
    return General::step(c, state, system, window, horizon);
  }
};

/// The mean time of a component's step, in nanoseconds. It was measured: least squares over 31 of
/// the golden runs at size medium, a twentieth of each at a time. Links count with the components
/// that they are stepped with.
constexpr double nanoseconds(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::kSm:
      return 380;
    case ComponentKind::kWideSm:
      return 610;
    case ComponentKind::kL2Slice:
      return 360;
    case ComponentKind::kSwitch:
      return 100;
    case ComponentKind::kCrossbar:
      return 200;
    case ComponentKind::kRouterNetwork:
      return 46'000;
    case ComponentKind::kVault:
      return 170;
    case ComponentKind::kHostMemory:
      return 2'000;
    case ComponentKind::kFrontEnd:
      return 23'000;
    default:
      return 0;
  }
}

}  // namespace

const kernels::StepOnCpu kGeneralSteps = kernels::step_on_cpu<Counted>;

void start_counting() { counts = {}; }

double counted_seconds() {
  double sum = 0;
  for (size_t kind = 0; kind < counts.size(); ++kind)
    sum += 1e-9 * nanoseconds(static_cast<ComponentKind>(kind)) * static_cast<double>(counts[kind]);
  return sum;
}

}  // namespace nearwarp::testing
