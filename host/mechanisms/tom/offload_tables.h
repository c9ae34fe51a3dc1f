// TOM's side tables of a recorded program: the offloading metadata table, and which instruction and
// basic block of the image belongs to which of its entries.
#pragma once

#include <vector>

#include "device/mechanisms/tom/program.h"
#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/mechanisms/tom/pass/candidates.h"
#include "host/mechanisms/tom/pass/equations.h"
#include "host/recording/recording.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::tom {

struct OffloadTables {
  std::vector<Candidate> candidates;
  /// The compiler's description of each entry of `candidates`.
  std::vector<compiler::OffloadCandidate> info;
  std::vector<uint16_t> candidate_of;  ///< by instruction of the image
  std::vector<uint16_t> inner_of;      ///< likewise, of blocks within others; empty: there are none
  std::vector<uint16_t> weight;        ///< by basic block of the image
  /// By instruction: a round begins with it, which is an instance of its candidate. Empty: of no
  /// candidate, an instance begins where a warp comes to a candidate.
  std::vector<uint8_t> begins_round;
  std::vector<uint64_t> home_warps;  ///< by kernel: that the main SMs hold at a time, at most
  uint32_t row_bytes = 0;            ///< of shared memory: one word of each bank

  ProgramTables view() const {
    return {candidates.data(), candidate_of.data(), weight.data(),
            begins_round.empty() ? nullptr : begins_round.data(),
            inner_of.empty() ? nullptr : inner_of.data()};
  }
};

/// Bytes of a stack SM's shared memory.
uint32_t stack_shared_bytes(const config::MachineConfig& machine);

/// The assumptions of candidate selection about the machine and under the policy. How thread
/// blocks lie (SharedModel::flat_blocks) is the caller's to say, kernel by kernel. Throws
/// nearwarp::Error for annotations of shared arrays that are none.
compiler::OffloadModel offload_model(const config::MachineConfig& machine,
                                     const config::PolicyConfig& policy);

/// Select the candidates of the image's kernels. Throws nearwarp::Error for recordings of which no
/// candidates can be told.
OffloadTables build_offload_tables(const runtime::Recording& recording,
                                   const config::MachineConfig& machine,
                                   const config::PolicyConfig& policy,
                                   const sim::ImageTables& image);

/// Have the bits `mark` set where a candidate begins (sm::ImageInstr::marks), and where a warp
/// inside of one may come to leave it, or to its first access (sm::ImageInstr::edges).
void mark_candidates(const OffloadTables& tables, uint8_t mark, sim::ImageTables& image);

}  // namespace nearwarp::tom
