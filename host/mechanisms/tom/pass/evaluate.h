// Puts a piece of code into TOM's equations: counts its accesses, finds the loop whose trip count
// decides, and says from how many iterations on offloading saves traffic.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tom/pass/candidates.h"
#include "host/mechanisms/tom/pass/regions.h"
#include "host/mechanisms/tom/pass/trips.h"

namespace nearwarp::compiler {

/// Everything about a kernel that all pieces share.
class OffloadContext {
 public:
  OffloadContext(const Kernel& kernel, const OffloadModel& model);

  const Kernel& kernel() const { return *kernel_; }
  const OffloadModel& model() const { return *model_; }
  const Definitions& definitions() const { return definitions_; }
  const BlockRegisters& registers() const { return registers_; }
  const std::vector<LoopTrips>& trips() const { return trips_; }
  bool uses_shared() const { return uses_shared_; }
  const SharedArrays& shared() const { return shared_; }
  /// The reason to keep an instruction out of regions: as forbidden() says, but for accesses to
  /// shared arrays that may go along, which SharedArrays::use_of() judges piece by piece.
  std::optional<RefusalReason> limit_of(InstrId instruction) const;
  /// By instruction: is there anything?
  const std::vector<bool>& limited() const { return limited_; }
  /// The unrolled source loop that a loop belongs to, or nullptr.
  const UnrolledLoop* unrolled_of(uint32_t loop) const;
  const std::vector<UnrolledLoop>& unrolled() const { return unrolled_; }
  /// Trips of a loop for ranking: static ones as they are, else kPlanningTrips in all.
  int64_t planning_trips(uint32_t loop) const { return planning_[loop]; }
  /// Accesses that Eq. (3) and (4) count in instructions [first, last].
  OffloadTerms accesses(InstrId first, InstrId last) const;
  OffloadTerms accesses(const std::vector<BlockId>& blocks) const;
  /// The first such access at `first` or later; kNone if there is none.
  InstrId next_access(InstrId first) const { return next_access_[first]; }

 private:
  const Kernel* kernel_;
  const OffloadModel* model_;
  Definitions definitions_;
  BlockRegisters registers_;
  std::vector<LoopTrips> trips_;
  std::vector<UnrolledLoop> unrolled_;
  std::vector<int64_t> planning_;
  /// Loads and stores in front of each instruction: kernels have tens of thousands of pieces.
  std::vector<uint32_t> loads_, stores_;
  std::vector<InstrId> next_access_;
  bool uses_shared_;
  SharedArrays shared_;
  std::vector<bool> limited_;
};

/// The candidate that a piece makes, with all fields but `id`; `qualifies` says whether it saves
/// traffic, always or under its condition.
struct Evaluation {
  OffloadCandidate candidate;
  bool qualifies = false;
  SharedUse shared;  ///< refused: why it does not qualify
};
Evaluation evaluate_piece(const OffloadContext& context, CandidateKind kind, const Piece& piece);

}  // namespace nearwarp::compiler
