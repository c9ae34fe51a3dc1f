// Rows of memory that launches before have left open.
//
// An access to a bank with another row open waits for that to be closed; were all closed, as when a
// machine begins, launches of few thread blocks would be a few percent too fast. Each bank has the
// row that was asked for last, as far as is known. Where memory is refreshed, which closes all
// rows, or closes them by itself, they stay closed.
#pragma once

#include <vector>

#include "host/timing/machine/system.h"

namespace nearwarp::sim {

class OpenRows {
 public:
  explicit OpenRows(System& system);

  /// May any row be open?
  bool any() const { return !asked_.empty(); }
  /// Notes that memory was asked for a line of the slice. `order`: a smaller one is earlier.
  void use(uint64_t order, uint16_t slice, LineAddr line);

 private:
  System& system_;
  std::vector<bool> stay_open_;  ///< by component: it is a vault whose rows do
  std::vector<uint64_t> asked_;  ///< by component and bank: when it was asked last
};

}  // namespace nearwarp::sim
