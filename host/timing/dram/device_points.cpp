// Several runs of memory channels as teams on a device.
#include <fmt/format.h>

#include <memory>

#include "host/core/error.h"
#include "host/timing/dram/points.h"
#include "kernels/device_arena.h"

namespace nearwarp::dram {
namespace {

using kernels::Stop;
using kernels::TeamSystem;

constexpr size_t kComponents = 2;  ///< of a run: the channel, and a source of accesses

/// A run whose arena is on the device: a team of one block.
class Aboard {
 public:
  Aboard(kernels::Device& device, const Point& point, const RunOptions& options)
      : run_(*point.standard, point.load, options),
        arena_(device, run_.system().arena.base(), run_.system().arena.size_bytes(),
               run_.components()) {}

  TeamSystem system(const kernels::TeamShape& shape) {
    return arena_.team_system(run_.state(), shape);
  }
  /// Takes the run back after a launch; false if it is over.
  bool take(const TeamSystem& left) {
    run_.control() = left.run.control;
    if (left.run.control.stop == Stop::kSlice || left.run.control.stop == Stop::kNone) return true;
    arena_.fetch();
    bool more = run_.serve();
    while (more && run_.control().stop != Stop::kNone) more = run_.serve();  // nothing to step
    if (more) arena_.put_back();
    return more;
  }
  uint64_t cycles() const { return run_.cycles(); }
  RunResult finish() { return run_.finish(); }

 private:
  ChannelRun run_;
  kernels::DeviceArena arena_;
};

}  // namespace

RunResults run_points_on(kernels::Device& device, std::span<const Point> points,
                         const RunOptions& options, const Watch& watch) {
  std::vector<std::unique_ptr<Aboard>> aboard;
  std::vector<size_t> active;
  try {
    for (const Point& point : points) {
      active.push_back(aboard.size());
      aboard.push_back(std::make_unique<Aboard>(device, point, options));
    }
    kernels::TeamLauncher launcher(device, points.size());
    kernels::Slice slice;
    slice.nanoseconds = 500'000'000;
    const auto goes_on = [&] {
      uint64_t cycles = 0;
      for (const std::unique_ptr<Aboard>& a : aboard) cycles += a->cycles();
      return !watch || watch(cycles);
    };
    while (!active.empty() && goes_on()) {
      const kernels::TeamShape shape =
          kernels::one_block_teams(device.info(), active.size(), kComponents);
      std::vector<TeamSystem> systems;
      for (const size_t i : active) systems.push_back(aboard[i]->system(shape));
      launcher.run(systems, shape, slice);
      size_t at = 0;
      std::erase_if(active, [&](size_t i) { return !aboard[i]->take(systems[at++]); });
    }
  } catch (const kernels::OutOfDeviceMemory& error) {
    throw Error(fmt::format("{} - run fewer points at a time, or on the CPU", error.what()));
  }
  RunResults results;
  for (const std::unique_ptr<Aboard>& a : aboard) results.emplace_back(a->finish());
  for (const size_t i : active) results[i].reset();
  return results;
}

RunResults run_points_on_cuda(int index, std::span<const Point> points, const RunOptions& options,
                              const Watch& watch) {
  try {
    const std::unique_ptr<kernels::Device> device = kernels::open_cuda_device(index);
    return run_points_on(*device, points, options, watch);
  } catch (const kernels::DeviceError& error) {
    throw Error(fmt::format("CUDA device {} cannot be used: {}", index, error.what()));
  }
}

}  // namespace nearwarp::dram
