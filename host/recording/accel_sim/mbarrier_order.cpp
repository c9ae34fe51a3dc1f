// In which phase of an mbarrier of a thread block everything arrives, and for which phase waits
// are.
#include "host/recording/accel_sim/mbarrier_order.h"

#include <algorithm>

namespace nearwarp::sass {

using Kind = MbarrierStep::Kind;

void MbarrierOrder::begin_block(uint32_t warps) {
  steps_.resize(warps);
  for (std::vector<MbarrierStep>& s : steps_) s.clear();
  numbers_.clear();
}

bool MbarrierOrder::number_of(uint64_t offset, uint8_t* number) {
  const auto it = numbers_.find(offset);
  if (it == numbers_.end() && numbers_.size() == trace::kMaxMbarriers) return false;
  *number = it != numbers_.end()
                ? it->second
                : numbers_.emplace(offset, static_cast<uint8_t>(numbers_.size())).first->second;
  return true;
}

/// Sets what the warp's lines do not tell, and for which phases it waits.
void MbarrierOrder::expect_unknown(uint32_t warp) {
  MbarrierStep* expecting[trace::kMaxMbarriers] = {};
  bool arrived[trace::kMaxMbarriers] = {}, waited[trace::kMaxMbarriers] = {};
  uint32_t turns[trace::kMaxMbarriers] = {};
  for (MbarrierStep& s : steps_[warp]) {
    if (s.kind == Kind::kBarrier || s.kind == Kind::kBarrierArrive) continue;
    State& m = states_[s.mbarrier];
    if (s.kind == Kind::kArrive) {
      if (!m.count_is_known && !arrived[s.mbarrier]) m.count += s.arrivals;
      arrived[s.mbarrier] = true;
      expecting[s.mbarrier] = s.known ? nullptr : &s;
    } else if (s.kind == Kind::kBytes && expecting[s.mbarrier] != nullptr) {
      expecting[s.mbarrier]->bytes -= s.bytes;
    } else if (s.kind == Kind::kWait) {
      uint32_t& last = turns[s.mbarrier];
      // The first phase has parity 0, and none before it parity 1.
      if (!s.known || (!waited[s.mbarrier] ? s.parity == 0 : (last & 1) == s.parity)) last += 1;
      waited[s.mbarrier] = true;
      s.turns = last;
    }
  }
}

void MbarrierOrder::end_phase(State& m, bool counts) const {
  m.phases.push_back(m.phases.back() + counts);
  m.missing = m.count;
  m.bytes = 0;
  if (counts) m.events = 0;
}

/// Returns false if the warp has to wait there for others.
bool MbarrierOrder::at_barrier(uint32_t warp, const MbarrierStep& step) {
  Barrier& b = barriers_[step.mbarrier];
  const auto warps = static_cast<uint32_t>(steps_.size());
  if (came_[warp] == 0) {
    b.arrived += 1;
    came_[warp] = b.turns + 1;
  }
  const bool all = step.arrivals == 0 ? b.arrived + ended_ >= warps : b.arrived >= step.arrivals;
  if (came_[warp] == b.turns + 1 && all) {
    b.turns += 1;
    b.arrived = 0;
  }
  if (step.kind == Kind::kBarrier && came_[warp] == b.turns + 1) return false;
  came_[warp] = 0;
  return true;
}

bool MbarrierOrder::take(uint32_t warp, const MbarrierStep& step, std::vector<uint64_t>& words) {
  if (step.kind == Kind::kBarrier || step.kind == Kind::kBarrierArrive)
    return at_barrier(warp, step);
  State& m = states_[step.mbarrier];
  trace::PhaseEvent event{step.mbarrier, m.phases.back(), 0};
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
      event.phase = m.phases[step.turns];
      break;
    default:
      m.missing -= std::min(m.missing, step.arrivals);
      if (step.drops) m.count -= std::min(m.count, step.arrivals);
      m.bytes += step.bytes;
      m.events += 1;
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
    ++ended_;
  }
  return at != begin;
}

bool MbarrierOrder::resolve(std::vector<std::vector<uint64_t>>& words) {
  const auto warps = static_cast<uint32_t>(steps_.size());
  for (State& m : states_) m = State{};
  for (Barrier& b : barriers_) b = Barrier{};
  for (State& m : states_) m.count = 0;
  for (std::vector<MbarrierStep>& all : steps_)
    for (MbarrierStep& s : all) {
      if (s.kind != Kind::kInit || !s.known || states_[s.mbarrier].count_is_known) continue;
      s.first = states_[s.mbarrier].count_is_known = true;
      states_[s.mbarrier].count = s.arrivals;
    }
  for (uint32_t w = 0; w < warps; ++w) expect_unknown(w);
  for (State& m : states_) m.missing = m.count = std::max(m.count, 1u);
  at_.assign(warps, 0);
  came_.assign(warps, 0);
  ended_ = 0;
  while (ended_ < warps) {
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
    end_phase(states_[waits->mbarrier], false);
  }
  return true;
}

}  // namespace nearwarp::sass
