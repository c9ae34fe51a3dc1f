// The choice of what steps the simulated systems: --backend and --device.
#include "host/cli/backend.h"

#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/sim/device_batch.h"
#include "kernels/device.h"

namespace nearwarp::cli {

namespace {

/// A CUDA device and the batches on it.
class CudaRunner final : public sim::BatchRunner {
 public:
  explicit CudaRunner(int index)
      : device_(kernels::open_cuda_device(index)), batch_(*device_, options()) {}
  void run(std::span<const sim::BatchSystem> systems, sim::BatchObserver& observer) override {
    batch_.run(systems, observer);
  }

 private:
  static sim::DeviceBatchOptions options() {
    sim::DeviceBatchOptions o;
    o.say = [](const std::string& text) { std::fprintf(stderr, "nearwarp: %s\n", text.c_str()); };
    return o;
  }
  std::unique_ptr<kernels::Device> device_;
  sim::DeviceBatch batch_;
};

}  // namespace

void declare_backend(CommandLine& line) {
  line.value("backend", "auto (a GPU if there is one), cpu, or cuda; results are the same",
             "auto|cpu|cuda", "auto");
  line.value("device", "the CUDA device to use, as numbered by 'nearwarp devices'", "N", "0");
}

Backend chosen_backend(const CommandLine& line) {
  const std::string name = line.text("backend");
  if (name != "auto" && name != "cpu" && name != "cuda") {
    throw UsageError(fmt::format("there is no backend '{}'{}", name,
                                 config::suggestion(name, {"auto", "cpu", "cuda"})));
  }
  const auto index = static_cast<int>(line.number("device", 0, 1023));
  if (name == "cpu") {
    if (line.given("device")) throw UsageError("--device chooses a GPU - leave --backend cpu out");
    return {};
  }
  std::string why;
  std::vector<kernels::DeviceInfo> devices;
  try {
    devices = kernels::cuda_devices(why);
  } catch (const kernels::DeviceError& error) {  // there is one, but it does not work
    if (name == "auto" && !line.given("device")) return {};
    throw Error(fmt::format("the CUDA backend cannot be used: {}", error.what()));
  }
  if (devices.empty()) {
    if (name == "auto" && !line.given("device")) return {};
    throw Error(fmt::format("there is no CUDA device: {} - use --backend cpu", why));
  }
  if (static_cast<size_t>(index) >= devices.size()) {
    throw Error(fmt::format("there is no CUDA device {} - 'nearwarp devices' lists those there are",
                            index));
  }
  return {true, index};
}

std::unique_ptr<sim::BatchRunner> make_runner(const Backend& backend, unsigned threads) {
  if (!backend.cuda) return std::make_unique<sim::CpuBatch>(threads);
  try {
    return std::make_unique<CudaRunner>(backend.device);
  } catch (const kernels::DeviceError& error) {
    throw Error(fmt::format("CUDA device {} cannot be used: {}", backend.device, error.what()));
  }
}

}  // namespace nearwarp::cli
