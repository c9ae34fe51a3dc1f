// Several runs of memory channels as teams on a device.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "host/core/error.h"
#include "host/dram/points.h"
#include "kernels/deal.h"

namespace nearwarp::dram {
namespace {

using kernels::DeviceBuffer;
using kernels::Stop;
using kernels::TeamSystem;

/// A run whose arena is on the device. A channel is two components: one team of one block.
class Aboard {
 public:
  Aboard(kernels::Device& device, const Point& point, const RunOptions& options)
      : run_(*point.standard, point.traffic, options),
        arena_(device, run_.system().arena.base(), run_.system().arena.size_bytes()) {
    const uint32_t warps = device.info().warps_per_block;
    const kernels::Deal deal = kernels::deal_components(run_.components(), warps);
    order_ = DeviceBuffer(device, deal.order.data(), deal.order.size() * sizeof(uint32_t));
    begin_ = DeviceBuffer(device, deal.begin.data(), deal.begin.size() * sizeof(uint32_t));
    committed_ = DeviceBuffer(device, warps * sizeof(uint64_t));
  }

  TeamSystem system() {
    TeamSystem s;
    s.run = run_.state();
    s.run.view.arena = arena_.as<std::byte>();
    s.run.view.log_done = false;
    s.deal = {order_.as<const uint32_t>(), begin_.as<const uint32_t>()};
    s.committed = committed_.as<uint64_t>();
    return s;
  }
  /// After a launch; false if the run is over.
  bool take(const TeamSystem& left) {
    run_.control() = left.run.control;
    if (left.run.control.stop == Stop::kSlice || left.run.control.stop == Stop::kNone) return true;
    ChannelSystem& s = run_.system();
    arena_.download(s.arena.base(), arena_.bytes());
    bool more = run_.serve();
    while (more && run_.control().stop != Stop::kNone) more = run_.serve();  // nothing to step
    if (more) arena_.upload(s.arena.base(), arena_.bytes());
    return more;
  }
  RunResult finish() { return run_.finish(); }

 private:
  ChannelRun run_;
  DeviceBuffer arena_, order_, begin_, committed_;
};

}  // namespace

std::vector<RunResult> run_points_on(kernels::Device& device, std::span<const Point> points,
                                     const RunOptions& options) {
  std::vector<std::unique_ptr<Aboard>> aboard;
  std::vector<size_t> active;
  try {
    for (const Point& point : points) {
      active.push_back(aboard.size());
      aboard.push_back(std::make_unique<Aboard>(device, point, options));
    }
    const DeviceBuffer table(device, points.size() * sizeof(TeamSystem));
    kernels::Slice slice;
    slice.nanoseconds = 500'000'000;
    while (!active.empty()) {
      std::vector<TeamSystem> systems;
      for (const size_t i : active) systems.push_back(aboard[i]->system());
      const uint64_t bytes = systems.size() * sizeof(TeamSystem);
      table.upload(systems.data(), bytes);
      const auto count = static_cast<uint32_t>(systems.size());
      kernels::TeamShape shape;
      shape.teams = std::max(1u, std::min(count, device.info().blocks_at_once));
      device.run(table.as<TeamSystem>(), count, shape, slice);
      table.download(systems.data(), bytes);
      size_t at = 0;
      std::erase_if(active, [&](size_t i) { return !aboard[i]->take(systems[at++]); });
    }
  } catch (const kernels::OutOfDeviceMemory& error) {
    throw Error(fmt::format("{} - run fewer points at a time, or on the CPU", error.what()));
  }
  std::vector<RunResult> results;
  for (const std::unique_ptr<Aboard>& a : aboard) results.push_back(a->finish());
  return results;
}

std::vector<RunResult> run_points_on_cuda(int index, std::span<const Point> points,
                                          const RunOptions& options) {
  try {
    const std::unique_ptr<kernels::Device> device = kernels::open_cuda_device(index);
    return run_points_on(*device, points, options);
  } catch (const kernels::DeviceError& error) {
    throw Error(fmt::format("CUDA device {} cannot be used: {}", index, error.what()));
  }
}

}  // namespace nearwarp::dram
