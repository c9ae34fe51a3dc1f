// Which systems of a batch make a cohort, and which of their components have which seats. Host
// only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/batch_state.h"

namespace nearwarp::kernels {

/// The tables that a launch of a batch goes by; see Batch.
struct BatchLayout {
  std::vector<BatchSystem> more;
  std::vector<Cohort> cohorts;
  std::vector<Domain> domains;
  // By seat.
  std::vector<uint32_t> system, component, domain;
  std::vector<uint32_t> kind_of_run;
};

/// Lay out systems of these components, in `cohorts` cohorts (at most kMostCohorts, and at least
/// one system in each). Seats of a kind stand by the number that a component has among those of its
/// kind, then by system: lanes that stand side by side do the same in similar systems.
/// Deterministic.
BatchLayout lay_out_batch(std::span<const std::span<const Component>> systems, uint32_t cohorts);

/// How many cohorts so many systems make.
uint32_t cohorts_of(size_t systems);

}  // namespace nearwarp::kernels
