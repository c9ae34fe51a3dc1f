// What runs the batches of sweeps.
#include "host/cli/runner.h"

#include <cstdio>

#include "host/timing/run/cuda_devices.h"

namespace nearwarp::cli {

std::unique_ptr<sim::BatchRunner> make_runner(const Backend& backend, unsigned threads) {
  if (!backend.cuda) return std::make_unique<sim::CpuBatch>(threads);
  sim::AcceleratorBatchOptions options;
  options.locate_fault = backend.locate_fault;
  options.say = [](const std::string& text) {
    std::fprintf(stderr, "nearwarp: %s\n", text.c_str());
  };
  return sim::open_cuda_batch(backend.device, std::move(options));
}

}  // namespace nearwarp::cli
