// A lane group of real threads: every lane runs the step function by itself, as on a GPU.
//
// Catches what loops over lanes cannot: locals that only the leader changed, primitives that not
// all lanes reach, reads that race with the leader's writes (under the thread sanitizer).
#pragma once

#include <array>
#include <barrier>
#include <thread>
#include <vector>

#include "device/core/lane_group.h"
#include "device/core/step.h"

namespace nearwarp::testing {

class SpmdGroup {
 public:
  static constexpr uint32_t kLanes = 3;
  struct Shared {
    std::barrier<> meet{kLanes};
    std::array<uint64_t, kLanes> words{};
  };
  SpmdGroup(Shared& shared, uint32_t rank) : shared_(&shared), rank_(rank) {}

  template <class F>
  void each(uint32_t n, F&& f) const {
    for (uint32_t i = rank_; i < n; i += kLanes) f(i);
    sync();
  }
  template <class F>
  void each_scalar(uint32_t n, F&& f) const {
    each(n, f);
  }
  template <class F>
  void each_bit(uint64_t bits, F&& f) const {
    for (uint32_t i = rank_; i < 64; i += kLanes)
      if ((bits >> i & 1) != 0) f(i);
    sync();
  }
  template <class F>
  uint64_t ballot(uint32_t n, F&& pred) const {
    uint64_t bits = 0;
    for (uint32_t i = rank_; i < n; i += kLanes) bits |= uint64_t{pred(i) ? 1u : 0u} << i;
    return reduce(bits, [](uint64_t a, uint64_t b) { return a | b; });
  }
  template <class F>
  bool any(uint32_t n, F&& pred) const {
    uint64_t found = 0;
    for (uint32_t i = rank_; i < n; i += kLanes) found |= pred(i) ? 1 : 0;
    return reduce(found, [](uint64_t a, uint64_t b) { return a | b; }) != 0;
  }
  template <class F>
  uint32_t first(uint32_t n, F&& pred) const {
    uint64_t least = kNoLane;
    for (uint32_t i = rank_; i < n; i += kLanes) {
      if (pred(i) && i < least) least = i;
    }
    return static_cast<uint32_t>(
        reduce(least, [](uint64_t a, uint64_t b) { return a < b ? a : b; }));
  }
  template <class F>
  uint32_t minimum(uint32_t n, F&& key) const {
    uint64_t least = 0xffffffffu;
    for (uint32_t i = rank_; i < n; i += kLanes) least = key(i) < least ? key(i) : least;
    return static_cast<uint32_t>(
        reduce(least, [](uint64_t a, uint64_t b) { return a < b ? a : b; }));
  }
  template <class F>
  uint32_t arg_min(uint32_t n, F&& key) const {
    const uint32_t least = minimum(n, key);
    if (least == 0xffffffffu) return kNoLane;
    return first(n, [&](uint32_t i) { return key(i) == least; });
  }
  template <class F>
  void leader(F&& f) const {
    sync();
    if (rank_ == 0) f();
    sync();
  }
  template <class F>
  auto leader_value(F&& f) const {
    sync();
    if (rank_ == 0) shared_->words[0] = static_cast<uint64_t>(f());
    sync();
    const auto value = static_cast<decltype(f())>(shared_->words[0]);
    sync();
    return value;
  }
  void sync() const { shared_->meet.arrive_and_wait(); }

 private:
  template <class F>
  uint64_t reduce(uint64_t word, F&& combine) const {
    shared_->words[rank_] = word;
    sync();
    uint64_t all = shared_->words[0];
    for (uint32_t i = 1; i < kLanes; ++i) all = combine(all, shared_->words[i]);
    sync();
    return all;
  }
  Shared* shared_;
  uint32_t rank_;
};

/// Stands for a team of SpmdGroup lanes; see run_step().
struct SpmdTeam {};

/// One step, by whatever runs groups of this kind.
template <class G, class F>
StepResult run_step(const G& group, Horizon& horizon, F&& step) {
  return step(group, horizon);
}
template <class F>
StepResult run_step(const SpmdTeam&, Horizon& horizon, F&& step) {
  SpmdGroup::Shared shared;
  std::vector<std::thread> lanes;
  for (uint32_t rank = 1; rank < SpmdGroup::kLanes; ++rank) {
    lanes.emplace_back([&, rank] {
      Horizon own;  // the leader's counts
      step(SpmdGroup(shared, rank), own);
    });
  }
  const StepResult result = step(SpmdGroup(shared, 0), horizon);
  for (std::thread& lane : lanes) lane.join();
  return result;
}

}  // namespace nearwarp::testing
