// Which run of instructions, out of a straight piece of code, is the cheapest to execute elsewhere?
//
// A run costs the registers that cross its borders and saves by its accesses. Each cost is that of
// the register or access alone, so a run's total is a sum, and the totals of all runs that end with
// one instruction follow from those that end with the instruction before it: what its registers
// change. A search over n instructions takes O(n log n) steps where trying every run takes O(n^2).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {

/// An instruction, as the search sees it.
struct RunInstruction {
  bool forbidden = false;  ///< no run contains it
  bool control = false;    ///< no run ends with it
  bool guarded = false;    ///< lanes may keep the old values of `defs`
  bool access = false;     ///< a run contains at least one such
  int64_t saving = 0;      ///< of an access
  std::vector<RegId> uses, defs;
  std::vector<ptx::SpecialReg> specials;
};

/// The cost of one register that a run takes along (a special register, too) or brings back.
struct CrossingCosts {
  int64_t live_in = 0, live_out = 0;
};

/// Instructions [first, last] of the code.
struct InstructionRun {
  uint32_t first = 0, last = 0;
  int64_t total = 0;  ///< costs less savings

  bool operator==(const InstructionRun&) const = default;
};

/// Is `a` to be taken rather than `b`? The lesser total, among equals the shorter run, among those
/// the later one.
bool is_better(const InstructionRun& a, const InstructionRun& b);

/// The registers that cross the borders of a run.
struct Crossings {
  std::set<RegId> live_ins, live_outs;
  std::set<ptx::SpecialReg> specials;
};

/// The instructions of a basic block, for any number of searches.
class RunSearch {
 public:
  /// `live_out`: registers that are read behind the last instruction, sorted.
  RunSearch(const std::vector<RunInstruction>& instructions, const std::vector<RegId>& live_out,
            CrossingCosts costs);

  /// Element k: the best run within [begin, begin + k), for all k up to end - begin. Nothing if
  /// there is no run.
  std::vector<std::optional<InstructionRun>> best_runs(uint32_t begin, uint32_t end) const;

  /// A register is live-in if some instruction reads it, or writes it under a guard while it is
  /// live behind the run (a lane that the guard leaves out brings its old value back), and none
  /// before that one writes it without a guard. It is live-out if it is written, and live behind
  /// the run.
  Crossings crossings(uint32_t first, uint32_t last) const;

 private:
  /// A register of an instruction.
  struct Touch {
    RegId reg = kNone;
    bool used = false, defined = false;
    bool live_after = false;  ///< behind the instruction
  };
  struct Step {
    bool forbidden, control, guarded, access;
    int64_t saving;
    std::vector<Touch> touches;  ///< of different registers
    std::vector<ptx::SpecialReg> specials;
  };
  class Sweep;

  std::vector<Step> steps_;  ///< by instruction
  CrossingCosts costs_;
};

}  // namespace nearwarp::compiler
