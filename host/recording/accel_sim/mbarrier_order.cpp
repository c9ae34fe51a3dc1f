// In which phase of an mbarrier of a thread block everything arrives, and for which phase waits are.
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

/// What the warp's lines do not tell.
void MbarrierOrder::expect_unknown(uint32_t warp) {
  std::vector<MbarrierStep>& all = steps_[warp];
  MbarrierStep* expecting[trace::kMaxMbarriers] = {};
  bool arrived[trace::kMaxMbarriers] = {};
  uint8_t waits[trace::kMaxMbarriers] = {};
  for (MbarrierStep& s : all) {
    State& m = states_[s.mbarrier];
    if (s.kind == Kind::kArrive) {
      if (!m.count_is_known && !arrived[s.mbarrier]) m.count += s.arrivals;
      arrived[s.mbarrier] = true;
      expecting[s.mbarrier] = s.known ? nullptr : &s;
    } else if (s.kind == Kind::kBytes && expecting[s.mbarrier] != nullptr) {
      expecting[s.mbarrier]->bytes -= s.bytes;
    } else if (s.kind == Kind::kWait && !s.known) {
      s.parity = waits[s.mbarrier];
      waits[s.mbarrier] ^= 1;
    }
  }
}

bool MbarrierOrder::passes(const State& m, const MbarrierStep& step) const {
  return step.kind != Kind::kWait || m.parity != step.parity;
}

void MbarrierOrder::end_phase(State& m) const {
  m.parity ^= 1;
  m.missing = m.count;
  m.bytes = 0;
}

bool MbarrierOrder::take(State& m, const MbarrierStep& step, std::vector<uint64_t>& words) const {
  trace::PhaseEvent event{step.mbarrier, m.phase, 0};
  switch (step.kind) {
    case Kind::kInit:
      if (step.first) return true;  // whatever arrives comes after it
      m.parity = 0;
      m.bytes = 0;
      if (step.known) m.count = step.arrivals;
      m.missing = m.count;
      return true;
    case Kind::kPeek:
      event.phase = 0;  // nothing to wait for
      break;
    case Kind::kWait:
      if (!passes(m, step)) return false;
      break;
    case Kind::kArrive:
    case Kind::kBytes:
      m.missing -= std::min(m.missing, step.arrivals);
      m.bytes += step.bytes;
      m.events += 1;
      if (m.missing == 0 && m.bytes == 0) {
        event.events = m.events;
        m.events = 0;
        m.phase += 1;
        end_phase(m);
      }
  }
  words[step.place] = trace::phase_word(event);
  return true;
}

/// Returns whether the warp got on.
bool MbarrierOrder::run(uint32_t warp, std::vector<uint64_t>& words) {
  const size_t begin = at_[warp];
  while (at_[warp] < steps_[warp].size()) {
    const MbarrierStep& step = steps_[warp][at_[warp]];
    if (!take(states_[step.mbarrier], step, words)) break;
    at_[warp] += 1;
  }
  return at_[warp] != begin;
}

void MbarrierOrder::resolve(std::vector<std::vector<uint64_t>>& words) {
  const auto warps = static_cast<uint32_t>(steps_.size());
  for (State& m : states_) m = State{};
  for (State& m : states_) m.count = 0;
  for (std::vector<MbarrierStep>& all : steps_)
    for (MbarrierStep& s : all) {
      State& m = states_[s.mbarrier];
      if (s.kind != Kind::kInit || !s.known || m.count_is_known) continue;
      s.first = m.count_is_known = true;
      m.count = s.arrivals;
    }
  for (uint32_t w = 0; w < warps; ++w) expect_unknown(w);
  for (State& m : states_) m.missing = m.count = std::max(m.count, 1u);
  at_.assign(warps, 0);
  for (;;) {
    bool moved = false;
    uint32_t waits = warps;
    for (uint32_t w = warps; w-- > 0;) {
      moved |= run(w, words[w]);
      if (at_[w] < steps_[w].size()) waits = w;
    }
    if (waits == warps) return;
    if (moved) continue;
    end_phase(states_[steps_[waits][at_[waits]].mbarrier]);
    assumed_ += 1;
  }
}

}  // namespace nearwarp::sass
