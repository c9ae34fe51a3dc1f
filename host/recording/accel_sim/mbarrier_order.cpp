// In which phase of an mbarrier everything arrives, and for which phase waits are.
#include "host/recording/accel_sim/mbarrier_order.h"

#include <algorithm>

namespace nearwarp::sass {

using Kind = MbarrierStep::Kind;

namespace {

bool is_at_mbarrier(const MbarrierStep& step) { return step.kind < Kind::kBarrier; }

}  // namespace

void MbarrierOrder::begin_cluster(uint32_t blocks, uint32_t warps_per_block) {
  warps_per_block_ = warps_per_block;
  steps_.resize(size_t{blocks} * warps_per_block);
  for (std::vector<MbarrierStep>& s : steps_) s.clear();
  numbers_.assign(blocks, {});
}

bool MbarrierOrder::number_of(uint32_t block, uint64_t offset, uint8_t* number) {
  std::unordered_map<uint64_t, uint8_t>& known = numbers_[block];
  const auto it = known.find(offset);
  if (it == known.end() && known.size() == trace::kMaxMbarriers) return false;
  *number = it != known.end()
                ? it->second
                : known.emplace(offset, static_cast<uint8_t>(known.size())).first->second;
  return true;
}

/// Sets what the warp's lines do not tell, and for which phases it waits.
void MbarrierOrder::expect_unknown(uint32_t warp) {
  struct Seen {
    MbarrierStep* expecting = nullptr;
    bool arrived = false, waited = false;
    uint32_t turns = 0;
  };
  std::vector<Seen> all(steps_[warp].empty() ? 0 : states_.size());
  for (MbarrierStep& s : steps_[warp]) {
    if (!is_at_mbarrier(s)) continue;
    State& m = at(s);
    Seen& seen = all[static_cast<size_t>(&m - states_.data())];
    if (s.kind == Kind::kArrive) {
      if (!m.count_is_known && !seen.arrived) m.count += s.arrivals;
      seen.arrived = true;
      seen.expecting = s.known ? nullptr : &s;
    } else if (s.kind == Kind::kBytes && seen.expecting != nullptr) {
      seen.expecting->bytes -= s.bytes;
    } else if (s.kind == Kind::kWait) {
      // The first phase has parity 0, and none before it parity 1.
      if (!s.known || (!seen.waited ? s.parity == 0 : (seen.turns & 1) == s.parity))
        seen.turns += 1;
      seen.waited = true;
      s.turns = seen.turns;
    }
  }
}

void MbarrierOrder::end_phase(State& m, bool counts) const {
  m.over.push_back(counts ? MbarrierOrder::Turn{m.over.back().phases + 1, m.others}
                          : m.over.back());
  m.missing = m.count;
  m.bytes = 0;
  if (!counts) return;
  m.events = 0;
  m.others = false;
}

/// Returns false if the warp has to wait there for others.
bool MbarrierOrder::at_barrier(uint32_t warp, const MbarrierStep& step) {
  const uint32_t block = warp / warps_per_block_;
  Barrier& b = barriers_[block * kNumBarriers + step.mbarrier];
  if (came_[warp] == 0) {
    b.arrived += 1;
    came_[warp] = b.turns + 1;
  }
  const bool all = step.arrivals == 0 ? b.arrived + ended_[block] >= warps_per_block_
                                      : b.arrived >= step.arrivals;
  if (came_[warp] == b.turns + 1 && all) {
    b.turns += 1;
    b.arrived = 0;
  }
  if (step.kind == Kind::kBarrier && came_[warp] == b.turns + 1) return false;
  came_[warp] = 0;
  return true;
}

/// A warp that waits without having arrived goes on.
bool MbarrierOrder::at_cluster_barrier(uint32_t warp, const MbarrierStep& step) {
  Barrier& b = cluster_barrier_;
  uint32_t& came = came_to_cluster_[warp];
  if (step.kind == Kind::kClusterArrive) {
    b.arrived += came == 0;
    came = b.turns + 1;
  }
  if (came == b.turns + 1 && b.arrived + all_ended_ >= steps_.size()) {
    b.turns += 1;
    b.arrived = 0;
  }
  if (step.kind == Kind::kClusterArrive) return true;
  if (came == b.turns + 1) return false;
  came = 0;
  return true;
}

bool MbarrierOrder::take(uint32_t warp, const MbarrierStep& step, std::vector<uint64_t>& words) {
  if (step.kind == Kind::kBarrier || step.kind == Kind::kBarrierArrive)
    return at_barrier(warp, step);
  if (!is_at_mbarrier(step)) return at_cluster_barrier(warp, step);
  State& m = at(step);
  const bool other = step.block != warp / warps_per_block_;
  const auto behind = [&](const Turn& turn) {
    return trace::PhaseEvent{step.mbarrier, turn.phases, 0, other ? step.block + 1u : 0,
                             turn.others};
  };
  trace::PhaseEvent event = behind(m.over.back());
  switch (step.kind) {
    case Kind::kInit:
      if (step.first) return true;  // whatever arrives comes after it
      if (m.turns() % 2 != 0) end_phase(m, false);
      if (step.known) m.count = step.arrivals;
      m.missing = m.count;
      m.bytes = 0;
      return true;
    case Kind::kPeek:
      event.phase = 0;  // nothing to wait for
      break;
    case Kind::kWait:
      if (m.turns() < step.turns) return false;
      event = behind(m.over[step.turns]);
      break;
    default:
      m.missing -= std::min(m.missing, step.arrivals);
      if (step.drops) m.count -= std::min(m.count, step.arrivals);
      m.bytes += step.bytes;
      m.events += 1;
      m.others = m.others || other;
      if (m.missing == 0 && m.bytes == 0) {
        event.events = m.events;
        end_phase(m, true);
      }
  }
  if (step.place != MbarrierStep::kNoPlace) words[step.place] = trace::phase_word(event);
  return true;
}

/// Returns whether the warp got on.
bool MbarrierOrder::run(uint32_t warp, std::vector<uint64_t>& words) {
  const std::vector<MbarrierStep>& steps = steps_[warp];
  size_t& at = at_[warp];
  if (at > steps.size()) return false;
  const size_t begin = at;
  while (at < steps.size() && take(warp, steps[at], words)) ++at;
  if (at == steps.size()) {
    ++at;
    ++ended_[warp / warps_per_block_];
    ++all_ended_;
  }
  return at != begin;
}

/// All mbarriers, with the counts that they begin with.
void MbarrierOrder::begin_states() {
  const size_t blocks = numbers_.size();
  states_.assign(blocks * trace::kMaxMbarriers, State{});
  barriers_.assign(blocks * kNumBarriers, Barrier{});
  cluster_barrier_ = Barrier{};
  for (State& m : states_) m.count = 0;
  for (std::vector<MbarrierStep>& all : steps_)
    for (MbarrierStep& s : all) {
      if (s.kind != Kind::kInit || !s.known || at(s).count_is_known) continue;
      s.first = at(s).count_is_known = true;
      at(s).count = s.arrivals;
    }
  for (uint32_t w = 0; w < steps_.size(); ++w) expect_unknown(w);
  for (State& m : states_) m.missing = m.count = std::max(m.count, 1u);
}

bool MbarrierOrder::resolve(std::vector<std::vector<uint64_t>>& words) {
  const auto warps = static_cast<uint32_t>(steps_.size());
  const bool any =
      std::any_of(steps_.begin(), steps_.end(), [](const auto& s) { return !s.empty(); });
  if (!any) return true;
  begin_states();
  at_.assign(warps, 0);
  came_.assign(warps, 0);
  came_to_cluster_.assign(warps, 0);
  ended_.assign(numbers_.size(), 0);
  all_ended_ = 0;
  while (all_ended_ < warps) {
    bool moved = false;
    for (uint32_t w = 0; w < warps; ++w) moved |= run(w, words[w]);
    if (moved) continue;
    // All wait: a phase that one of them waits for at an mbarrier is ended by something else.
    const MbarrierStep* waits = nullptr;
    for (uint32_t w = 0; w < warps && waits == nullptr; ++w)
      if (at_[w] < steps_[w].size() && steps_[w][at_[w]].kind == Kind::kWait)
        waits = &steps_[w][at_[w]];
    if (waits == nullptr) return false;
    assumed_ += 1;
    end_phase(at(*waits), false);
  }
  return true;
}

}  // namespace nearwarp::sass
