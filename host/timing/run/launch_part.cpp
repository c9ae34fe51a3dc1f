// Some launches of a program on a machine.
#include "host/timing/run/launch_part.h"

#include <algorithm>

#include "device/frontend/dispatcher.h"
#include "host/config/mechanism.h"

namespace nearwarp::sim {

namespace {

/// Recorded instructions of a warp in a core cycle, at most: two are issued, SMs may have a faster
/// clock, and moves may be left out (estimated, and more than any machine does).
constexpr uint64_t kMostPerCycle = 16;

}  // namespace

std::string why_no_parts(const config::PolicyConfig& policy) {
  return std::string(config::why_no_parts(policy));
}

uint32_t next_sm_of(const runtime::Recording& recording, const config::PolicyConfig& policy,
                    uint32_t launch, uint32_t num_sms) {
  if (policy.dispatch.sms != "in-turn" || policy.dispatch.first_sm != "next") return 0;
  uint64_t blocks = 0;
  for (uint32_t i = 0; i < launch; ++i) blocks += recording.launches[i].blocks_recorded;
  return static_cast<uint32_t>(blocks % num_sms);
}

void set_refreshes(System& system, uint32_t launch) {
  // Multiples of the golden ratio modulo 1, in 32 bits: evenly spread, however many are taken.
  const uint64_t share = uint32_t{launch * 0x9e3779b9u};
  for (const uint16_t vault : system.of_kind(kernels::ComponentKind::kVault)) {
    const auto& p = system.params<VaultParams>(vault);
    if (p.tREFI != 0) system.state<VaultState>(vault).refresh_at = 1 + (share * p.tREFI >> 32);
  }
}

PartWatch::PartWatch(const runtime::LaunchPart& part, const runtime::Recording& recording,
                     const ImageTables& image) {
  // Launches without thread blocks are not in the image.
  const auto at = [&](uint32_t launch) {
    const auto& known = image.recorded_launch;
    return static_cast<uint32_t>(std::lower_bound(known.begin(), known.end(), launch) -
                                 known.begin());
  };
  begin_ = at(part.begin);
  first_ = at(part.first);
  end_ = at(part.end);
  all_ = static_cast<uint32_t>(image.launches.size());
  if (first_ == begin_) looks_ = 1;
  const std::vector<bool> cuts = runtime::launch_cuts(recording);
  for (uint32_t i = part.begin; i < part.end; ++i) in_order_ = in_order_ && cuts[i];
  blocks_ = cycles_ = {0};
  for (uint32_t i = begin_; i < end_; ++i) {
    const sm::LaunchInfo& info = image.launches[i];
    const uint64_t warps = uint64_t{info.num_blocks} * info.warps_per_block;
    const uint64_t each = recording.launches[image.recorded_launch[i]].warp_instructions / warps;
    blocks_.push_back(blocks_.back() + info.num_blocks);
    cycles_.push_back(cycles_.back() + each / kMostPerCycle);
  }
}

void PartWatch::select(System& system, const ImageTables& image) const {
  frontend::DispatchState& d = system.front_end().dispatch;
  const frontend::FrontEndParams& p = system.front_end_params();
  std::byte* base = system.arena.base();
  frontend::LaunchState* launches = d.launches.in(base);
  d.line_head = d.line_tail = frontend::kNoLaunch;
  for (uint32_t i = 0; i < all_; ++i) {
    launches[i].ready = kNever;
    launches[i].next = frontend::kNoLaunch;
    // Those after the part wait for more than there is.
    if (i >= end_) launches[i].waits_for = ~0u;
  }
  for (uint32_t i = 0; i < begin_; ++i)
    for (uint32_t k = 0; k < image.launches[i].num_waiting; ++k)
      launches[image.waiting[image.launches[i].first_waiting + k]].waits_for -= 1;
  for (uint32_t i = begin_; i < end_; ++i)
    if (launches[i].waits_for == 0)
      frontend::dispatcher::stand_in_line(d, base, i, Tick{p.launch_gap} * p.period);
  d.ended = all_ - (end_ - begin_);
}

uint64_t PartWatch::warp_instructions(const runtime::Recording& recording,
                                      const ImageTables& image) const {
  uint64_t sum = 0;
  for (uint32_t i = begin_; i < end_; ++i)
    sum += recording.launches[image.recorded_launch[i]].warp_instructions;
  return sum;
}

/// Beyond the program's last launch a run ends by itself.
bool PartWatch::looks_more() const { return looks_ == 0 || (looks_ == 1 && end_ != all_); }

uint32_t PartWatch::launches_left(const frontend::DispatchState& d) const {
  const uint32_t after = looks_ == 0 ? end_ - first_ : 0;  // that come after it
  return all_ - after - d.ended;
}

uint64_t PartWatch::windows_apart(System& system, Tick window) const {
  if (!looks_more() || window <= system.window) return ~uint64_t{0};
  if (!in_order_) return 0;
  const frontend::FrontEndState& s = system.front_end();
  const uint32_t last = (looks_ == 0 ? first_ : end_) - begin_;
  const uint64_t blocks = blocks_[last] - std::min(blocks_[last], s.counters.blocks_dispatched);
  const uint64_t issuing = cycles_[last] - cycles_[std::min(last, s.dispatch.begun)];
  const uint64_t window_cycles = (window + system.core_period - 1) / system.core_period;
  return std::max(blocks / system.num_sms(), issuing) / window_cycles;
}

Tick PartWatch::next_look(System& system) const {
  const frontend::DispatchState& d = system.front_end().dispatch;
  const frontend::LaunchState* launches = d.launches.in(system.arena.base());
  if (!looks_more() || launches_left(d) != 0) return kNever;
  if (looks_ == 0) return launches[d.line_head].ready;
  Tick last = 0;
  for (uint32_t i = begin_; i < end_; ++i) last = std::max(last, launches[i].end);
  return last + Tick{system.front_end_params().launch_gap} * system.front_end_params().period;
}

}  // namespace nearwarp::sim
