// Finds the best run of instructions by trying all of them; the product's faster search must find
// the same one.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "host/mechanisms/tom/pass/best_run.h"

namespace nearwarp::compiler {

/// Registers that cross the borders of a run of instructions that grows towards the front.
class Window {
 public:
  explicit Window(const std::set<RegId>& live_behind) : live_behind_(live_behind) {}

  void prepend(const RunInstruction& in) {
    for (RegId reg : in.defs) {
      if (live_behind_.contains(reg)) {
        crossings_.live_outs.insert(reg);
        if (in.guarded) crossings_.live_ins.insert(reg);
      }
      if (!in.guarded) crossings_.live_ins.erase(reg);
    }
    crossings_.live_ins.insert(in.uses.begin(), in.uses.end());
    crossings_.specials.insert(in.specials.begin(), in.specials.end());
    accesses_ += in.access;
    saving_ += in.saving;
  }

  const Crossings& crossings() const { return crossings_; }
  bool has_access() const { return accesses_ > 0; }
  int64_t total(CrossingCosts costs) const {
    const auto ins = crossings_.live_ins.size() + crossings_.specials.size();
    return static_cast<int64_t>(ins) * costs.live_in +
           static_cast<int64_t>(crossings_.live_outs.size()) * costs.live_out - saving_;
  }

 private:
  const std::set<RegId>& live_behind_;
  Crossings crossings_;
  int accesses_ = 0;
  int64_t saving_ = 0;
};

class EveryRun {
 public:
  /// `live_out`: as RunSearch takes it.
  EveryRun(const std::vector<RunInstruction>& instructions, const std::vector<RegId>& live_out,
           CrossingCosts costs) {
    const auto size = static_cast<uint32_t>(instructions.size());
    std::set<RegId> live(live_out.begin(), live_out.end());
    tried_.resize(size);
    for (uint32_t last = size; last-- > 0;) {
      const RunInstruction& end = instructions[last];
      Window window(live);
      for (uint32_t first = last + 1; first-- > 0 && !instructions[first].forbidden;) {
        window.prepend(instructions[first]);
        if (end.control || !window.has_access()) continue;
        const InstructionRun run{.first = first, .last = last, .total = window.total(costs)};
        tried_[last].push_back({run, window.crossings()});
      }
      if (!end.guarded) {
        for (RegId reg : end.defs) live.erase(reg);
      }
      live.insert(end.uses.begin(), end.uses.end());
    }
  }

  struct Tried {
    InstructionRun run;
    Crossings crossings;
  };

  /// The best run within [begin, end), nullptr if there is none.
  const Tried* best(uint32_t begin, uint32_t end) const {
    const Tried* best = nullptr;
    for (uint32_t last = end; last-- > begin;) {
      for (const Tried& tried : tried_[last]) {
        const InstructionRun& run = tried.run;
        if (run.first < begin) continue;
        const bool better =
            best == nullptr || run.total < best->run.total ||
            (run.total == best->run.total && last - run.first < best->run.last - best->run.first);
        if (better) best = &tried;
      }
    }
    return best;
  }

  /// All runs that end with `last`, the shortest first.
  const std::vector<Tried>& ending_with(uint32_t last) const { return tried_[last]; }

 private:
  std::vector<std::vector<Tried>> tried_;  ///< by last instruction
};

}  // namespace nearwarp::compiler
