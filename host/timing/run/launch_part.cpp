// Some launches of a program on a machine.
#include "host/timing/run/launch_part.h"

#include <algorithm>

#include "device/frontend/dispatcher.h"
#include "host/config/mechanism.h"
#include "host/config/shape.h"
#include "host/core/error.h"

namespace nearwarp::sim {

namespace {

/// Recorded instructions of a warp in a core cycle, at most: two are issued, SMs may have a faster
/// clock, and moves may be left out (estimated, and more than any machine does).
constexpr uint64_t kMostPerCycle = 16;

/// Turns multiples of the golden ratio into those of the square root of two, which are as evenly
/// spread, and evenly beside the former (modulo 1, in 32 bits).
constexpr uint32_t kToRootOfTwo = 0x7713f11fu;
static_assert(runtime::kGoldenRatio * kToRootOfTwo == 0x6a09e667u);

/// A part's number, in 2^-32, where that of refreshes is not said: multiples of the golden ratio.
uint32_t spread_number(const runtime::LaunchPart& part) {
  const uint32_t where = part.begin + (part.blocks.has_value() ? part.blocks->begin : 0);
  return part.refresh.value_or(where * runtime::kGoldenRatio);
}

}  // namespace

std::string why_no_parts(const config::PolicyConfig& policy) {
  return std::string(config::why_no_parts(policy));
}

uint32_t launches_before(const config::MachineConfig& machine, const config::PolicyConfig& policy) {
  if (config::decides_by_load(policy)) return 4;
  const bool is_simple = config::mechanisms_of(policy).empty() &&
                         config::shape_of(machine).one_gpu && machine.instruction_cache.bytes == 0;
  return is_simple ? 1 : 2;
}

std::optional<uint32_t> first_unknown_sm(const runtime::Recording& recording,
                                         const config::MachineConfig& machine,
                                         const config::PolicyConfig& policy, uint32_t end) {
  if (!config::follows_sms(policy) || config::shape_of(machine).one_gpu ||
      policy.dispatch.sms != "in-turn" || policy.dispatch.first_sm != "next")
    return std::nullopt;
  const std::vector<bool> cuts = runtime::launch_cuts(recording);
  for (uint32_t i = 0; i < end; ++i) {
    const runtime::LaunchRecord& l = recording.launches[i];
    uint64_t at_once = 0;
    try {
      const sm::SmResources needs = block_needs(machine, *recording.kernels[l.kernel], l);
      at_once = uint64_t{machine.gpu.sms} * blocks_per_sm(sm_capacity(machine), needs);
    } catch (const Error&) {  // no SM has room for a thread block: the run will say so
    }
    if (!cuts[i] || l.blocks_recorded > at_once) return i;
  }
  return std::nullopt;
}

uint32_t next_sm_of(const runtime::Recording& recording, const config::PolicyConfig& policy,
                    const runtime::LaunchPart& part, uint32_t num_sms) {
  if (policy.dispatch.sms != "in-turn" || policy.dispatch.first_sm != "next") return 0;
  uint64_t blocks = part.blocks.has_value() ? part.blocks->begin : 0;
  for (uint32_t i = 0; i < part.begin; ++i) blocks += recording.launches[i].blocks_recorded;
  return static_cast<uint32_t>(blocks % num_sms);
}

void set_refreshes(System& system, const runtime::LaunchPart& part) {
  const uint64_t share = spread_number(part);
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
  end_ = at(part.end);
  all_ = static_cast<uint32_t>(image.launches.size());
  if (part.blocks.has_value()) left_out_ = part.blocks->begin;
  if (begin_ != 0 || left_out_ != 0) phase_ = spread_number(part) * kToRootOfTwo;
  const std::vector<bool> cuts = runtime::launch_cuts(recording);
  for (uint32_t i = part.begin; i < part.end; ++i) in_order_ = in_order_ && cuts[i];
  blocks_ = cycles_ = {0};
  for (uint32_t i = begin_; i < end_; ++i) {
    const sm::LaunchInfo& info = image.launches[i];
    const uint64_t warps = uint64_t{info.num_blocks} * info.warps_per_block;
    const uint64_t each = recording.launches[image.recorded_launch[i]].warp_instructions / warps;
    blocks_.push_back(blocks_.back() + info.num_blocks - (i == begin_ ? left_out_ : 0));
    cycles_.push_back(cycles_.back() + (i == begin_ && left_out_ != 0 ? 0 : each / kMostPerCycle));
  }
  const auto moment = [&](const PartMoment& m) -> std::optional<size_t> {
    // The run's beginning and the program's end need none.
    if (m.blocks == 0 && (m.launches == 0 || begin_ + m.launches == all_)) return std::nullopt;
    if (moments_.empty() || moments_.back().blocks != m.blocks ||
        moments_.back().launches != m.launches)
      moments_.push_back(m);
    return moments_.size() - 1;
  };
  const auto launches = [&](uint32_t launch) { return moment({at(launch) - begin_, 0}); };
  if (part.blocks.has_value()) {
    const runtime::BlockRange& b = *part.blocks;
    const uint32_t launch = at(part.first);
    const uint64_t before = blocks_.at(launch - begin_);
    PartPiece piece{{}, {}, {part.first, part.end}};
    piece.from = b.first == 0 ? launches(part.first) : moment({0, before + b.first - b.begin});
    stops_ = b.end != image.launches.at(launch).num_blocks;
    // Two halves of the blocks inside a launch tell whether the machine has been warmed
    // enough.
    const bool in_halves = stops_ && b.begin != 0 && b.end - b.first > 1;
    if (in_halves) {
      piece.to = moment({0, before + (b.first + b.end) / 2 - b.begin});
      pieces_.push_back(piece);
      piece.from = piece.to;
    }
    piece.to = stops_ ? moment({0, before + b.end - b.begin}) : launches(part.end);
    pieces_.push_back(piece);
    return;
  }
  std::vector<runtime::LaunchRange> ranges = part.pieces;
  if (ranges.empty()) ranges.push_back({part.first, part.end});
  for (const runtime::LaunchRange& r : ranges) {
    PartPiece piece{{}, {}, r};
    piece.from = launches(r.first);
    piece.to = launches(r.end);
    pieces_.push_back(piece);
  }
}

Tick PartWatch::later(System& system) const {
  if (!pieces_.front().from.has_value()) return 0;  // it would count
  uint64_t interval = 0;
  for (const uint16_t port : system.of_kind(kernels::ComponentKind::kLinkPort)) {
    const auto& p = system.params<LinkPortParams>(port);
    if (p.monitor != 0) interval = std::max<uint64_t>(interval, p.interval_ticks);
  }
  const Tick period = system.front_end_params().period;
  return (phase_ * interval >> 32) / period * period;
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
    // Launches after the part wait for more than there is.
    if (i >= end_) launches[i].waits_for = ~0u;
  }
  for (uint32_t i = 0; i < begin_; ++i)
    for (uint32_t k = 0; k < image.launches[i].num_waiting; ++k)
      launches[image.waiting[image.launches[i].first_waiting + k]].waits_for -= 1;
  if (left_out_ != 0) {
    launches[begin_].left_out = left_out_;
    launches[begin_].blocks_left -= left_out_;
  }
  const Tick begins = Tick{p.launch_gap} * p.period + later(system);
  for (uint32_t i = begin_; i < end_; ++i)
    if (launches[i].waits_for == 0) frontend::dispatcher::stand_in_line(d, base, i, begins);
  d.ended = all_ - (end_ - begin_);
  // Only some thread blocks of a launch have such moments: a beginning, a middle and an end.
  for (size_t i = 0; i < moments_.size(); ++i)
    if (moments_[i].blocks != 0) d.marks[i] = moments_[i].blocks;
}

uint32_t PartWatch::launches_left(const frontend::DispatchState& d) const {
  const uint32_t after = end_ - begin_ - moments_[looks_].launches;  // that come after it
  return all_ - after - d.ended;
}

uint64_t PartWatch::windows_apart(System& system, Tick window) const {
  if (!looks_more() || window <= system.window) return ~uint64_t{0};
  if (!in_order_) return 0;
  const frontend::FrontEndState& s = system.front_end();
  const PartMoment& m = moments_[looks_];
  const uint64_t wanted = m.blocks != 0 ? m.blocks : blocks_[m.launches];
  const uint64_t blocks = wanted - std::min(wanted, s.counters.blocks_dispatched);
  const uint64_t issuing =
      m.blocks != 0 ? 0 : cycles_[m.launches] - cycles_[std::min(m.launches, s.dispatch.begun)];
  const uint64_t window_cycles = (window + system.core_period - 1) / system.core_period;
  return std::max(blocks / system.num_sms(), issuing) / window_cycles;
}

Tick PartWatch::moment(System& system) const {
  const frontend::DispatchState& d = system.front_end().dispatch;
  if (moments_[looks_].blocks != 0) return d.marked[looks_];
  if (launches_left(d) != 0) return kNever;
  const frontend::LaunchState* launches = d.launches.in(system.arena.base());
  Tick last = 0;
  for (uint32_t i = begin_; i < begin_ + moments_[looks_].launches; ++i)
    last = std::max(last, launches[i].end);
  return last;
}

Tick PartWatch::next_look(System& system) const {
  if (!looks_more()) return kNever;
  const Tick at = moment(system);
  const frontend::FrontEndParams& p = system.front_end_params();
  return at == kNever ? kNever : at + Tick{p.launch_gap} * p.period;
}

}  // namespace nearwarp::sim
