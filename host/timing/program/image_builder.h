// Builds the timing model's read-only tables of a recorded program on a machine under a policy.
#pragma once

#include <memory>
#include <vector>

#include "device/sm/kernel_image.h"
#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/mechanisms/tom/pass/candidates.h"
#include "host/mechanisms/tom/pass/equations.h"
#include "host/recording/recording.h"

namespace nearwarp::sim {

/// Owns the tables that a ProgramImage points to.
struct ImageTables {
  std::vector<sm::ImageInstr> instrs;
  std::vector<sm::ImageBlock> blocks;
  std::vector<sm::KernelInfo> kernels;
  std::vector<sm::LaunchInfo> launches;
  std::vector<sm::Candidate> candidates;
  /// The compiler's description of each entry of `candidates`.
  std::vector<compiler::OffloadCandidate> candidate_info;
  /// Recording::launches index of each entry of `launches` (launches without blocks are left out).
  std::vector<uint32_t> recorded_launch;
  uint32_t max_slots = 1;  ///< scoreboard entries that a warp needs at most

  sm::ProgramImage view() const;
};

/// Thread blocks of a launch that fit on one SM at a time.
/// Throws nearwarp::Error if not even one does, saying which resource is short.
uint32_t blocks_per_sm(const config::MachineConfig& machine, const compiler::Kernel& kernel,
                       const runtime::LaunchRecord& launch);

/// What the selection of candidates assumes about the machine and under the policy.
compiler::OffloadModel offload_model(const config::MachineConfig& machine,
                                     const config::PolicyConfig& policy);

/// `with_candidates`: mark offloading candidates (the mechanism is TOM).
ImageTables build_image(const runtime::Recording& recording, const config::MachineConfig& machine,
                        const config::PolicyConfig& policy, bool with_candidates);

}  // namespace nearwarp::sim
