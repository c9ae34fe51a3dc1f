// Latency against load on a device: all loads at a time, a team of one thread block for each.
#include <algorithm>
#include <memory>

#include "host/core/error.h"
#include "host/noc/measurement.h"
#include "kernels/device.h"

namespace nearwarp::noc {

namespace {

/// A load whose network is stepped on a device and looked at here.
class DeviceLoad {
 public:
  DeviceLoad(kernels::Device& device, const NocConfig& config, const MeasureConfig& measure,
             double rate)
      : measurement_(config, measure, rate),
        arena_(device, measurement_.network().arena().size_bytes()) {
    const uint32_t warps = device.info().warps_per_block;
    const uint32_t only = 0;
    // One component, which belongs to warp 0; the others of the block have none.
    std::vector<uint32_t> begin(warps + 1, 1);
    begin[0] = 0;
    order_ = kernels::DeviceBuffer(device, &only, sizeof(only));
    begin_ = kernels::DeviceBuffer(device, begin.data(), begin.size() * sizeof(uint32_t));
    committed_ = kernels::DeviceBuffer(device, warps * sizeof(uint64_t));
  }

  const Measurement& measurement() const { return measurement_; }

  /// To the device; what its team is to do.
  kernels::TeamSystem send() {
    Network& network = measurement_.network();
    const uint64_t cycles = measurement_.wanted();
    arena_.upload(network.state(), arena_.bytes());
    kernels::TeamSystem s;
    s.run = network.run_state();
    s.run.view.arena = arena_.as<std::byte>();
    s.run.control.next = network.now();
    s.run.control.longest = cycles;  // nothing comes from outside: one window
    s.run.control.limit = network.now() + cycles;
    s.deal = {order_.as<const uint32_t>(), begin_.as<const uint32_t>()};
    s.committed = committed_.as<uint64_t>();
    return s;
  }
  void fetch() {
    Network& network = measurement_.network();
    arena_.download(network.state(), arena_.bytes());
    network.stepped(measurement_.wanted());
    measurement_.stepped();
  }

 private:
  Measurement measurement_;
  kernels::DeviceBuffer arena_, order_, begin_, committed_;
};

}  // namespace

std::vector<LoadPoint> measure_loads(const NocConfig& config, const MeasureConfig& measure,
                                     std::span<const double> rates, kernels::Device& device) {
  std::vector<std::unique_ptr<DeviceLoad>> loads;
  for (const double rate : rates)
    loads.push_back(std::make_unique<DeviceLoad>(device, config, measure, rate));
  while (true) {
    std::vector<DeviceLoad*> going;
    std::vector<kernels::TeamSystem> systems;
    for (const auto& load : loads) {
      if (load->measurement().wanted() == 0) continue;
      going.push_back(load.get());
      systems.push_back(load->send());
    }
    if (going.empty()) break;
    kernels::DeviceBuffer table(device, systems.data(),
                                systems.size() * sizeof(kernels::TeamSystem));
    const auto count = static_cast<uint32_t>(systems.size());
    device.run(table.as<kernels::TeamSystem>(), count,
               {std::min(count, std::max(1u, device.info().blocks_at_once)), 1}, {});
    for (DeviceLoad* load : going) load->fetch();
  }
  std::vector<LoadPoint> points;
  for (const auto& load : loads) points.push_back(load->measurement().point());
  return points;
}

std::vector<LoadPoint> measure_loads_on_cuda(const NocConfig& config, const MeasureConfig& measure,
                                             std::span<const double> rates, int device) {
  try {
    return measure_loads(config, measure, rates, *kernels::open_cuda_device(device));
  } catch (const kernels::OutOfDeviceMemory&) {
    throw Error("the device has too little memory for all loads - measure fewer at a time");
  } catch (const kernels::DeviceError& e) {
    throw Error(e.what());
  }
}

}  // namespace nearwarp::noc
