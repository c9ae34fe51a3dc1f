// Executes a workload and records what it does.
#include "bench/workloads/execution.h"

#include <fmt/format.h>

namespace nearwarp::workloads {

uint64_t instruction_limit(Size size) {
  return size == Size::kPaper ? kPaperThreadInstructions / 4 * 5 : 0;
}

runtime::Recording execute(const Workload& workload, Size size,
                           runtime::VirtualDevice::Options options) {
  options.max_thread_instructions = instruction_limit(size);
  runtime::VirtualDevice device(std::move(options));
  const CheckResult check = workload.run(device, size);
  if (!check.passed && !check.skipped)
    throw Error(fmt::format(
        "{}: the simulated device's results differ from the CPU reference: {} - this is a defect "
        "of the simulator",
        workload.name(), check.detail));
  return device.take_recording(workload.name());
}

void limit_runs(Size size, runtime::Recording& recording) {
  const uint64_t most = kPaperThreadInstructions;
  if (size != Size::kPaper || recording.thread_instructions <= most) return;
  recording.measured_warp_instructions =
      recording.warp_instructions * most / recording.thread_instructions;
}

}  // namespace nearwarp::workloads
