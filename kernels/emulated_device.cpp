// A device emulated on the CPU: steps the teams and batches of the CUDA backend without a GPU.
#include "kernels/emulated_device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "kernels/batch.h"
#include "kernels/team.h"

namespace nearwarp::kernels {

// The models are compiled once for the CPU, in kernels/cpu_executor.cpp.
extern template StepResult step_in_lane<ProductFamily>(const Component&, std::byte*,
                                                       const sm::SystemView&, const Window&,
                                                       Horizon&);

namespace {

constexpr std::size_t kAlignment = 256;  // cudaMalloc's

uint64_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// A team as it is between two windows: it has a system, or is about to take one.
struct Team {
  std::vector<TeamRun> run;      ///< by warp: each holds its own copy, as on a device
  std::vector<uint64_t> shared;  ///< shared memory of its blocks, one block after the other
  bool has_system = false;
  bool done = false;
};

/// A launch of teams. Each takes a system at a time and advances it by windows, in some_order().
class Grid {
 public:
  Grid(const EmulationOptions& options, const DeviceInfo& info, uint64_t& random,
       Footprint& footprint, TeamSystem* systems, uint32_t count, const TeamShape& shape,
       const Slice& slice)
      : options_(options),
        random_(random),
        footprint_(footprint),
        systems_(systems),
        count_(count),
        slice_(slice),
        teams_(shape.teams),
        block_warps_(shape.warps),
        block_bytes_(shared_bytes_of(info, shape.warps)),
        warps_(shape.team_warps()) {
    // A pattern fills shared memory, whose contents are undefined at first, as on a device.
    for (Team& team : teams_)
      team.shared.assign(size_t{shape.blocks} * block_bytes_ / 8, 0xa5a5a5a5a5a5a5a5u);
  }

  void run() {
    while (true) {
      const std::vector<uint32_t> order = random_order(static_cast<uint32_t>(teams_.size()));
      bool any = false;
      for (const uint32_t t : order) {
        if (teams_[t].done) continue;
        any = true;
        advance(teams_[t]);
      }
      if (!any) return;
    }
  }

 private:
  void advance(Team& team) {
    if (!team.has_system) {
      if (next_ == count_ || time_is_up()) {
        team.done = true;
        return;
      }
      take(team, systems_[next_++]);
      return;
    }
    const Findings all = step_all(team);
    Stop stop = Stop::kNone;
    for (TeamRun& run : team.run) stop = run.meet(HostGroup{}, all);
    if (stop != Stop::kNone) leave(team);
  }

  void take(Team& team, TeamSystem& system) {
    team.run.clear();
    auto* shared = reinterpret_cast<std::byte*>(team.shared.data());
    for (uint32_t warp = 0; warp < warps_; ++warp)
      team.run.emplace_back(system, slice_, shared + size_t{warp / block_warps_} * block_bytes_);
    team.has_system = true;
    for (const uint32_t warp : random_order(warps_)) team.run[warp].enter(HostGroup{}, warp);
    if (team.run[0].stop() != Stop::kNone) leave(team);
  }

  Findings step_all(Team& team) {
    windows_ += 1;
    const std::vector<uint32_t> order = random_order(warps_);
    std::vector<Findings> found(warps_);
    const uint32_t lanes = options_.seed == 0 ? 0 : static_cast<uint32_t>(next_random(random_));
    const auto step = [&](uint32_t warp) {
      found[warp] = lanes == 0 ? team.run[warp].step(HostGroup{}, warp)
                               : team.run[warp].step(ShuffledGroup{lanes % 64 + warp}, warp);
      if (footprint_.component == options_.fault_in && footprint_.tick >= options_.fault_at)
        throw DeviceError("the emulated device is broken");
    };
    if (options_.threads <= 1) {
      for (const uint32_t warp : order) step(warp);
    } else {
      std::vector<std::thread> threads;
      for (unsigned t = 0; t < options_.threads; ++t)
        threads.emplace_back([&, t] {
          for (uint32_t i = t; i < warps_; i += options_.threads) step(order[i]);
        });
      for (std::thread& t : threads) t.join();
    }
    Findings all;
    for (const uint32_t warp : random_order(warps_)) all.add(found[warp]);
    if (time_is_up()) all.flags |= Findings::kTimeIsUp;
    return all;
  }

  void leave(Team& team) {
    for (const uint32_t warp : random_order(warps_)) team.run[warp].leave(HostGroup{}, warp);
    team.has_system = false;
  }

  bool time_is_up() const {
    return slice_.nanoseconds != ~uint64_t{0} && windows_ >= options_.windows_at_once;
  }

  std::vector<uint32_t> random_order(uint32_t n) {
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    if (options_.seed == 0) return order;
    for (uint32_t i = n; i > 1; --i) std::swap(order[i - 1], order[next_random(random_) % i]);
    return order;
  }

  const EmulationOptions& options_;
  uint64_t& random_;
  Footprint& footprint_;  ///< last component stepped, meaningful if one warp steps at a time
  TeamSystem* systems_;
  uint32_t count_ = 0, next_ = 0;
  Slice slice_;
  std::vector<Team> teams_;
  uint32_t block_warps_ = 1, block_bytes_ = 0;  ///< warps and shared memory of a block
  uint32_t warps_ = 1;                          ///< warps of a team
  uint64_t windows_ = 0;
};

/// A launch of a batch. Warps take turns in an order drawn from the seed.
class BatchGrid {
 public:
  /// `breaks`: the device fails after half as many turns as there are warps.
  BatchGrid(const EmulationOptions& options, uint64_t& random, const Batch& batch, bool breaks)
      : options_(options),
        random_(random),
        batch_(batch),
        breaks_(breaks),
        favourites_(options.blocks_at_once) {
    for (uint32_t block = 0; block < options.blocks_at_once; ++block)
      for (uint32_t w = 0; w < options.warps_per_block; ++w)
        warps_.emplace_back(batch_, block, static_cast<uint32_t>(warps_.size()));
  }

  void run() {
    std::vector<bool> over(warps_.size());
    uint64_t idle = 0;
    for (size_t left = warps_.size(); left != 0;) {
      const size_t w =
          options_.seed == 0 ? turns_ % warps_.size() : next_random(random_) % warps_.size();
      turns_ += 1;
      if (breaks_ && turns_ > warps_.size() / 2) throw DeviceError("the emulated device is broken");
      if (over[w]) continue;
      const Turn turn = turn_of(static_cast<uint32_t>(w));
      // All work is done in turns, so that in so many idle ones some warp would have found some.
      idle = turn == Turn::kIdle ? idle + 1 : 0;
      if (idle > 1000 * warps_.size()) throw std::logic_error("a batch has come to a standstill");
      if (turn != Turn::kOver) continue;
      over[w] = true;
      left -= 1;
    }
  }

 private:
  Turn turn_of(uint32_t w) {
    const auto time_is_up = [&] {
      return batch_.nanoseconds != ~uint64_t{0} && turns_ >= options_.windows_at_once;
    };
    uint32_t& favourite = favourites_[w / options_.warps_per_block];
    const auto lanes = options_.seed == 0 ? 0u : static_cast<uint32_t>(next_random(random_)) % 64;
    return lanes == 0 ? warps_[w].turn(HostGroup{}, favourite, time_is_up)
                      : warps_[w].turn(ShuffledGroup{lanes}, favourite, time_is_up);
  }

  const EmulationOptions& options_;
  uint64_t& random_;
  const Batch& batch_;
  bool breaks_;
  std::vector<BatchWarp> warps_;
  std::vector<uint32_t> favourites_;  ///< by block
  uint64_t turns_ = 0;                ///< turns taken
};

}  // namespace

EmulatedDevice::EmulatedDevice(const EmulationOptions& options)
    : options_(options), random_(options.seed) {
  info_.name = "emulated device";
  info_.architecture = "none";
  info_.memory_bytes = options.memory_bytes;
  info_.multiprocessors = options.blocks_at_once;
  info_.warps_per_block = options.warps_per_block;
  info_.blocks_at_once = options.blocks_at_once;
  info_.largest_team = options.largest_team;
  info_.shared_bytes = options.shared_bytes / 16 * 16;
  options_.shared_bytes = info_.shared_bytes;
}

EmulatedDevice::~EmulatedDevice() {
  for (const auto& [at, bytes] : allocations_)
    ::operator delete (const_cast<std::byte*>(at), std::align_val_t{kAlignment});
}

std::byte* EmulatedDevice::allocate(uint64_t bytes) {
  if (bytes > free_bytes()) throw OutOfDeviceMemory("the emulated device's memory is used up");
  auto* memory = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kAlignment}));
  std::memset(memory, 0xa5, bytes);
  allocations_.emplace(memory, bytes);
  used_ += bytes;
  most_used_ = std::max(most_used_, used_);
  return memory;
}

void EmulatedDevice::release(std::byte* memory) noexcept {
  const auto piece = allocations_.find(memory);
  if (piece == allocations_.end()) return;
  used_ -= piece->second;
  allocations_.erase(piece);
  ::operator delete (memory, std::align_val_t{kAlignment});
}

void EmulatedDevice::check_range(const std::byte* at, uint64_t bytes) const {
  auto piece = allocations_.upper_bound(at);
  if (piece == allocations_.begin())
    throw std::logic_error("a copy outside of the device's memory");
  --piece;
  if (at + bytes > piece->first + piece->second)
    throw std::logic_error("a copy beyond the end of a piece of the device's memory");
}

void EmulatedDevice::upload(std::byte* to, const void* from, uint64_t bytes) {
  check_range(to, bytes);
  std::memcpy(to, from, bytes);
}

void EmulatedDevice::download(void* to, const std::byte* from, uint64_t bytes) {
  check_range(from, bytes);
  std::memcpy(to, from, bytes);
}

LaunchReport EmulatedDevice::run(TeamSystem* systems, uint32_t count, const TeamShape& shape,
                                 const Slice& slice) {
  check_shape(info_, shape);
  const auto begin = std::chrono::steady_clock::now();
  launches_ += 1;
  Grid(options_, info_, random_, footprint_, systems, count, shape, slice).run();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

LaunchReport EmulatedDevice::run_batch(const Batch& batch) {
  if (footprints_) throw std::logic_error("a batch leaves no footprints");
  const auto begin = std::chrono::steady_clock::now();
  launches_ += 1;
  launches_of_batches_ += 1;
  BatchGrid(options_, random_, batch, launches_of_batches_ == options_.fault_in_launch).run();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

}  // namespace nearwarp::kernels
