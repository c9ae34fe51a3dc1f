// Latency against load on a device: all loads at a time, a team of one thread block for each.
#include <memory>

#include "host/core/error.h"
#include "host/timing/noc/measurement.h"
#include "kernels/device_arena.h"

namespace nearwarp::noc {

namespace {

/// A load whose network is stepped on a device and looked at here.
class DeviceLoad {
 public:
  DeviceLoad(kernels::Device& device, const NocConfig& config, const MeasureConfig& measure,
             double rate)
      : measurement_(config, measure, rate),
        arena_(device, network().state(), network().arena().size_bytes(), network().components()) {}

  const Measurement& measurement() const { return measurement_; }

  /// Sends the network to the device; returns what its team is to do.
  kernels::TeamSystem send(const kernels::TeamShape& shape) {
    const uint64_t cycles = measurement_.wanted();
    arena_.put_back();
    kernels::RunState run = network().run_state();
    run.control.next = network().now();
    run.control.longest = cycles;  // nothing comes from outside: one window
    run.control.limit = network().now() + cycles;
    return arena_.team_system(run, shape);
  }
  void fetch() {
    arena_.fetch();
    network().stepped(measurement_.wanted());
    measurement_.stepped();
  }

 private:
  Network& network() { return measurement_.network(); }

  Measurement measurement_;
  kernels::DeviceArena arena_;
};

}  // namespace

std::vector<LoadPoint> measure_loads(const NocConfig& config, const MeasureConfig& measure,
                                     std::span<const double> rates, kernels::Device& device,
                                     const Watch& watch) {
  std::vector<std::unique_ptr<DeviceLoad>> loads;
  for (const double rate : rates)
    loads.push_back(std::make_unique<DeviceLoad>(device, config, measure, rate));
  kernels::TeamLauncher launcher(device, loads.size());
  while (true) {
    std::vector<DeviceLoad*> going;
    for (const auto& load : loads)
      if (load->measurement().wanted() != 0) going.push_back(load.get());
    if (watch && !watch(loads.size() - going.size(), loads.size())) break;
    if (going.empty()) break;
    // A network by itself is one component.
    const kernels::TeamShape shape = kernels::one_block_teams(device.info(), going.size(), 1);
    std::vector<kernels::TeamSystem> systems;
    for (DeviceLoad* load : going) systems.push_back(load->send(shape));
    launcher.run(systems, shape, {});
    for (DeviceLoad* load : going) load->fetch();
  }
  std::vector<LoadPoint> points;
  for (const auto& load : loads)
    if (load->measurement().wanted() == 0) points.push_back(load->measurement().point());
  return points;
}

std::vector<LoadPoint> measure_loads_on_cuda(const NocConfig& config, const MeasureConfig& measure,
                                             std::span<const double> rates, int device,
                                             const Watch& watch) {
  try {
    return measure_loads(config, measure, rates, *kernels::open_cuda_device(device), watch);
  } catch (const kernels::OutOfDeviceMemory&) {
    throw Error("the device has too little memory for all loads - measure fewer at a time");
  } catch (const kernels::DeviceError& e) {
    throw Error(e.what());
  }
}

}  // namespace nearwarp::noc
