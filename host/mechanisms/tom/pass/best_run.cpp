#include "host/mechanisms/tom/pass/best_run.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "host/mechanisms/tom/pass/suffix_sums.h"

namespace nearwarp::compiler {

bool is_better(const InstructionRun& a, const InstructionRun& b) {
  if (a.total != b.total) return a.total < b.total;
  const uint32_t a_length = a.last - a.first, b_length = b.last - b.first;
  return a_length != b_length ? a_length < b_length : a.last > b.last;
}

RunSearch::RunSearch(const std::vector<RunInstruction>& instructions,
                     const std::vector<RegId>& live_out, CrossingCosts costs)
    : costs_(costs) {
  steps_.reserve(instructions.size());
  for (const RunInstruction& in : instructions) {
    Step& step = steps_.emplace_back(Step{.forbidden = in.forbidden,
                                          .control = in.control,
                                          .guarded = in.guarded,
                                          .access = in.access,
                                          .saving = in.saving,
                                          .touches = {},
                                          .specials = in.specials});
    const auto touch = [&](RegId reg) -> Touch& {
      for (Touch& known : step.touches) {
        if (known.reg == reg) return known;
      }
      return step.touches.emplace_back(Touch{.reg = reg});
    };
    for (RegId reg : in.uses) touch(reg).used = true;
    for (RegId reg : in.defs) touch(reg).defined = true;
  }
  std::unordered_map<RegId, bool> live;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    for (Touch& touch : step->touches) {
      const auto [entry, is_last] = live.try_emplace(touch.reg, false);
      bool& is_live = entry->second;
      if (is_last) is_live = std::binary_search(live_out.begin(), live_out.end(), touch.reg);
      touch.live_after = is_live;
      if (touch.defined && !step->guarded) is_live = false;
      if (touch.used) is_live = true;
    }
  }
}

/// The totals of all runs that end with one instruction, by the place where they begin. The end
/// moves from the front to the back, over instructions that are not forbidden.
class RunSearch::Sweep {
 public:
  Sweep(CrossingCosts costs, uint32_t size) : costs_(costs), totals_(size) {}

  void append(const Step& step) {
    const uint32_t place = end_++;
    for (const Touch& touch : step.touches) {
      Register& reg = registers_[touch.reg];
      if (reg.live) count_as_live(reg, -1);
      if (touch.used) {
        totals_.add(reg.fresh, end_, costs_.live_in);
        reg.fresh = end_;
      }
      if (touch.defined) {
        reg.defined = end_;
        if (step.guarded) {
          reg.guarded = end_;
        } else {
          if (reg.fresh < reg.guarded) reg.overwritten.emplace_back(reg.fresh, reg.guarded);
          reg.fresh = end_;
        }
      }
      reg.live = touch.live_after;
      if (reg.live) count_as_live(reg, 1);
    }
    for (ptx::SpecialReg special : step.specials) {
      uint32_t& read = specials_[special];
      totals_.add(read, end_, costs_.live_in);
      read = end_;
    }
    if (!step.access) return;
    totals_.add(end_, -step.saving);
    for (; with_access_ <= place; ++with_access_) totals_.open(with_access_);
  }

  /// Totals of the runs that have an access.
  const SuffixSums& totals() const { return totals_; }

 private:
  /// A register's part in the runs, by the places where they begin.
  struct Register {
    /// For runs that begin in front of this, it is settled whether instructions behind the end can
    /// still make it a live-in: it already is one for a use, or is overwritten in all lanes.
    uint32_t fresh = 0;
    uint32_t defined = 0;  ///< runs that begin in front of this write it
    uint32_t guarded = 0;  ///< runs that begin in front of this write it under a guard
    bool live = false;     ///< behind the end
    /// Places [first, second) from where it is written under a guard, then overwritten, and not
    /// read between the two. Compilers leave no such code behind, so there are few.
    std::vector<std::pair<uint32_t, uint32_t>> overwritten;
  };

  /// Adds (or with -1 takes away) what a register costs for being live behind the end.
  void count_as_live(const Register& reg, int sign) {
    totals_.add(reg.defined, sign * costs_.live_out);
    if (reg.fresh < reg.guarded) totals_.add(reg.fresh, reg.guarded, sign * costs_.live_in);
    for (const auto& [begin, end] : reg.overwritten) totals_.add(begin, end, sign * costs_.live_in);
  }

  CrossingCosts costs_;
  SuffixSums totals_;
  uint32_t end_ = 0;          ///< how many instructions there are
  uint32_t with_access_ = 0;  ///< runs that begin in front of this have an access
  std::unordered_map<RegId, Register> registers_;
  std::map<ptx::SpecialReg, uint32_t> specials_;  ///< runs that begin in front of this read it
};

std::vector<std::optional<InstructionRun>> RunSearch::best_runs(uint32_t begin,
                                                                uint32_t end) const {
  std::vector<std::optional<InstructionRun>> best(end - begin + 1);
  std::optional<Sweep> sweep;
  uint32_t start = begin;  // of the sweep
  for (uint32_t i = begin; i < end; ++i) {
    const Step& step = steps_[i];
    std::optional<InstructionRun>& found = best[i + 1 - begin];
    found = best[i - begin];
    if (step.forbidden) {
      sweep.reset();
      continue;
    }
    if (!sweep) {
      start = i;
      const auto stop = std::find_if(steps_.begin() + i, steps_.begin() + end,
                                     [](const Step& s) { return s.forbidden; });
      sweep.emplace(costs_, static_cast<uint32_t>(stop - steps_.begin()) - i);
    }
    sweep->append(step);
    const uint32_t place = sweep->totals().least_at();
    if (step.control || place == SuffixSums::kNowhere) continue;
    const InstructionRun run{.first = start + place, .last = i, .total = sweep->totals().least()};
    if (!found || is_better(run, *found)) found = run;
  }
  return best;
}

Crossings RunSearch::crossings(uint32_t first, uint32_t last) const {
  Crossings crossings;
  std::unordered_map<RegId, bool> live_behind;  // the run
  for (uint32_t i = last + 1; i-- > first;) {
    const Step& step = steps_[i];
    for (const Touch& touch : step.touches) {
      const bool live = live_behind.try_emplace(touch.reg, touch.live_after).first->second;
      if (touch.defined) {
        if (live) crossings.live_outs.insert(touch.reg);
        if (!step.guarded) {
          crossings.live_ins.erase(touch.reg);
        } else if (live) {
          crossings.live_ins.insert(touch.reg);
        }
      }
      if (touch.used) crossings.live_ins.insert(touch.reg);
    }
    crossings.specials.insert(step.specials.begin(), step.specials.end());
  }
  return crossings;
}

}  // namespace nearwarp::compiler
