// In which phase of an mbarrier of a thread block everything arrives, and for which phase waits
// are.
//
// A trace has each warp's instructions in order, but not what came first of those of different
// warps. Here the block's warps run one after the other until they have to wait, at mbarriers or
// barriers, as long as one can go on, and mbarriers count arrivals and bytes as the hardware does.
// For programs whose phases do not depend on who is first, that gives the phases that there were. A
// wait is for the first phase of its parity that is no earlier than the one for which the warp has
// waited before.
//
// What lines do not tell is estimated: an mbarrier whose count is not known expects what each warp
// brings at its first arrival; bytes that are expected are those of the copies up to the warp's
// next arrival; a wait is for the phase after that of the wait before. Blocks of a cluster are
// taken to do alike: what arrives at another block's mbarrier arrives at one's own, and of a
// multicast as many bytes come as it sends. Where nobody can go on, a phase is taken to be ended by
// something else, and nobody waits in time for it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "device/trace/format.h"

namespace nearwarp::sass {

/// One thing that a warp does at an mbarrier, or at a barrier of the block.
struct MbarrierStep {
  enum class Kind : uint8_t { kInit, kArrive, kBytes, kWait, kPeek, kBarrier, kBarrierArrive };
  Kind kind = Kind::kArrive;
  uint8_t mbarrier = 0;     ///< of a barrier: its number
  bool first = false;       ///< of the block's inits of this mbarrier
  bool known = false;       ///< init: its count; arrival: its bytes; wait: its parity
  bool drops = false;       ///< so many arrivals are expected no more
  uint8_t parity = 0;       ///< of a wait: the phase's
  uint32_t arrivals = 0;    ///< init: the count; barrier: warps, 0: all
  uint32_t turns = 0;       ///< of a wait: phases that have to be over, found by resolve()
  int64_t bytes = 0;        ///< expected, or (negative) copied
  size_t place = kNoPlace;  ///< of the word of its event in the warp's trace
  static constexpr size_t kNoPlace = ~size_t{0};
};
/// Barriers of a block, and one for its cluster.
inline constexpr uint8_t kClusterBarrier = 16, kNumBarriers = 17;

/// The steps of a block's warps.
class MbarrierOrder {
 public:
  void begin_block(uint32_t warps);
  /// The number of the mbarrier at an offset of shared memory; false if there are more than have
  /// phases in time (trace::kMaxMbarriers).
  bool number_of(uint64_t offset, uint8_t* number);
  void add(uint32_t warp, const MbarrierStep& step) { steps_[warp].push_back(step); }
  /// The last step of the warp, to be completed.
  std::vector<MbarrierStep>& steps(uint32_t warp) { return steps_[warp]; }
  /// Write the events into the traces of the block's warps. False if warps wait at a barrier for
  /// others that never come.
  bool resolve(std::vector<std::vector<uint64_t>>& words);
  /// Phases that were taken to be ended by something else, of all blocks.
  uint64_t assumed_phases() const { return assumed_; }

 private:
  struct State {
    bool count_is_known = false;
    uint32_t count = 1, missing = 1;
    int64_t bytes = 0;
    uint32_t events = 0;
    /// Phases as traces count them, behind each that was over.
    std::vector<uint32_t> phases = {0};
    uint32_t turns() const { return static_cast<uint32_t>(phases.size() - 1); }
  };
  struct Barrier {
    uint32_t arrived = 0, turns = 0;
  };
  void expect_unknown(uint32_t warp);
  void end_phase(State& m, bool counts) const;
  bool at_barrier(uint32_t warp, const MbarrierStep& step);
  /// Returns false if the warp has to wait.
  bool take(uint32_t warp, const MbarrierStep& step, std::vector<uint64_t>& words);
  bool run(uint32_t warp, std::vector<uint64_t>& words);

  std::vector<std::vector<MbarrierStep>> steps_;  ///< by warp
  std::vector<size_t> at_;                        ///< the next one of each
  std::vector<uint32_t> came_;  ///< turns of the barrier at which it waits, plus one; 0: none
  uint32_t ended_ = 0;          ///< warps
  std::unordered_map<uint64_t, uint8_t> numbers_;
  State states_[trace::kMaxMbarriers];
  Barrier barriers_[kNumBarriers];
  uint64_t assumed_ = 0;
};

}  // namespace nearwarp::sass
