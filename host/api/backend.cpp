// Chooses the backend that runs the points of a batch, and the launches of a program that it
// simulates.
#include "host/api/backend.h"

#include <fmt/format.h>

#include <string>

#include "host/api/by_caller.h"
#include "host/api/failure.h"
#include "host/core/workers.h"
#include "host/timing/run/cuda_devices.h"

namespace nearwarp {
namespace {

int devices_found() {
  std::string why;
  const auto devices = sim::cuda_devices(why);
  if (devices.empty())
    throw Error(fmt::format("there is no CUDA device: {} - use backend \"cpu\"", why));
  return static_cast<int>(devices.size());
}

}  // namespace

void check_backend(const std::string& backend, int device) {
  if (backend == "cpu") return;
  if (backend != "cuda")
    throw UsageError(fmt::format("there is no backend '{}' - \"cpu\" or \"cuda\"", backend));
  if (const int devices = devices_found(); device < 0 || device >= devices)
    throw UsageError(fmt::format("there is no CUDA device {} - 0 to {}", device, devices - 1));
}

std::unique_ptr<sim::BatchRunner> batch_runner(const BatchOptions& options) {
  if (options.backend == "cpu")
    return std::make_unique<sim::CpuBatch>(options.threads == 0 ? processors() : options.threads);
  check_backend(options.backend, options.device);
  sim::AcceleratorBatchOptions own;
  own.locate_fault = options.locate_fault;
  if (options.tell)
    own.say = [tell = options.tell](const std::string& what) { by_caller([&] { tell(what); }); };
  return sim::open_cuda_batch(options.device, std::move(own));
}

sim::LaunchChoice launch_choice(const BatchOptions& options) {
  if (!options.launches.empty() && !options.sample.empty())
    throw UsageError("launches and sample are two ways of one thing - give one of them");
  sim::LaunchChoice choice;
  if (!options.sample.empty())
    choice = sim::parse_sample(options.sample, "sample");
  else if (!options.launches.empty())
    choice = sim::parse_launches(options.launches, "launches");
  else if (options.cold_caches)
    throw UsageError("cold_caches is for launches and sample - leave it out");
  if (choice.given && options.backend != "cpu")
    throw UsageError("launches and sample work on the CPU - take backend \"cpu\"");
  choice.warm = !options.cold_caches;
  return choice;
}

Expected<int> cuda_devices() { return guarded(devices_found); }

}  // namespace nearwarp
