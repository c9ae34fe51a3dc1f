// In which phase of an mbarrier everything arrives, and for which phase waits are.
//
// A trace has each warp's instructions in order, but not what came first of those of different
// warps. Here the warps of a cluster's blocks, or of a block without others, run one after the
// other until they have to wait, at mbarriers or barriers, as long as one can go on, and mbarriers
// count arrivals and bytes as the hardware does.
// For programs whose phases do not depend on who is first, that gives the phases that there were. A
// wait is for the first phase of its parity that is no earlier than the one for which the warp has
// waited before.
//
// Lines do not tell all, and the rest is estimated: an mbarrier whose count is not known expects
// what each warp brings at its first arrival; bytes that are expected are those of the copies up to
// the warp's next arrival; a wait is for the phase after that of the wait before. Where no warp can
// go on, as where blocks of the cluster are not there, a phase is taken to be ended by something
// else, and the simulation does not wait for it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "device/trace/format.h"

namespace nearwarp::sass {

/// One thing that a warp does at an mbarrier, or at a barrier of the block or the cluster.
struct MbarrierStep {
  enum class Kind : uint8_t {
    kInit,
    kArrive,
    kBytes,
    kWait,
    kPeek,
    kBarrier,
    kBarrierArrive,
    kClusterArrive,
    kClusterWait
  };
  Kind kind = Kind::kArrive;
  uint8_t block = 0;        ///< the mbarrier's: its rank in the cluster
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
/// Barriers of a block.
inline constexpr uint32_t kNumBarriers = 16;

/// The steps of the warps of a cluster: those of the block with rank 0 come first. Blocks that are
/// not there have warps without steps.
class MbarrierOrder {
 public:
  void begin_cluster(uint32_t blocks, uint32_t warps_per_block);
  /// The number of the mbarrier at an offset of a block's shared memory; false if there are more
  /// than have phases in time (trace::kMaxMbarriers).
  bool number_of(uint32_t block, uint64_t offset, uint8_t* number);
  void add(uint32_t warp, const MbarrierStep& step) { steps_[warp].push_back(step); }
  /// The last step of the warp, to be completed.
  std::vector<MbarrierStep>& steps(uint32_t warp) { return steps_[warp]; }
  /// Write the events into the traces of the warps. False if warps wait at a barrier for others
  /// that never come.
  bool resolve(std::vector<std::vector<uint64_t>>& words);
  /// Phases that were taken to be ended by something else, of all blocks.
  uint64_t assumed_phases() const { return assumed_; }

 private:
  struct Turn {
    uint32_t phases = 0;  ///< as traces count them
    bool others = false;  ///< other blocks have arrived in it
  };
  struct State {
    bool count_is_known = false;
    uint32_t count = 1, missing = 1;
    int64_t bytes = 0;
    uint32_t events = 0;
    bool others = false;  ///< other blocks have arrived
    /// One for each phase that was over, and one before the first.
    std::vector<Turn> over = {{}};
    uint32_t turns() const { return static_cast<uint32_t>(over.size() - 1); }
  };
  struct Barrier {
    uint32_t arrived = 0, turns = 0;
  };
  State& at(const MbarrierStep& step) {
    return states_[step.block * trace::kMaxMbarriers + step.mbarrier];
  }
  void begin_states();
  void expect_unknown(uint32_t warp);
  void end_phase(State& m, bool counts) const;
  bool at_barrier(uint32_t warp, const MbarrierStep& step);
  bool at_cluster_barrier(uint32_t warp, const MbarrierStep& step);
  /// Returns false if the warp has to wait.
  bool take(uint32_t warp, const MbarrierStep& step, std::vector<uint64_t>& words);
  bool run(uint32_t warp, std::vector<uint64_t>& words);

  uint32_t warps_per_block_ = 1;
  std::vector<std::vector<MbarrierStep>> steps_;  ///< by warp
  std::vector<size_t> at_;                        ///< the next one of each
  // Turns of the barrier at which a warp waits, plus one; 0: none.
  std::vector<uint32_t> came_, came_to_cluster_;
  std::vector<uint32_t> ended_;  ///< warps, by block
  uint32_t all_ended_ = 0;
  std::vector<std::unordered_map<uint64_t, uint8_t>> numbers_;  ///< by block
  std::vector<State> states_;                                   ///< by block and mbarrier
  std::vector<Barrier> barriers_;                               ///< by block and number
  Barrier cluster_barrier_;
  uint64_t assumed_ = 0;
};

}  // namespace nearwarp::sass
