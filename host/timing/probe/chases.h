// Chains of lines for lone threads: which level of the memory system answers their loads.
//
// A chain is a prologue, which brings about the state that is wanted (translations, open rows), and
// lines of which the first half and all are visited by a shorter and a longer run: what is between
// them is of measured lines alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/core/address_map.h"
#include "host/config/machine.h"
#include "host/timing/probe/program.h"

namespace nearwarp::probe {

/// Two runs of one chain.
struct ChasePair {
  Chase shorter, longer;
};

class Chases {
 public:
  explicit Chases(const config::MachineConfig& machine);

  /// In shared memory.
  ChasePair shared() const;
  /// In that of another block of a cluster.
  ChasePair distributed() const;
  /// Few lines of a stack (or partition, or core), again and again.
  ChasePair resident(Chase::Kind kind, uint32_t stack) const;
  /// More lines than an L1 holds, and fewer than an L2, again and again; nothing if there are none.
  /// `half`: of those whose slice is in this half of the L2 alone.
  std::optional<ChasePair> beyond_l1(uint64_t l1_bytes, uint64_t l2_bytes,
                                     std::optional<uint32_t> half = {}) const;
  /// As resident(), each line in a page of its own, more than a TLB holds; nothing without a TLB.
  std::optional<ChasePair> pages(uint32_t stack) const;
  /// Lines of a channel of `stack` whose rows are open, none of which was visited before; nothing
  /// where a row has too few. The first line of all lies in the stack `own`.
  std::optional<ChasePair> open_rows(uint32_t own, uint32_t stack) const;
  /// As open_rows(), but another row of the bank is open.
  std::optional<ChasePair> row_conflicts(uint32_t own, uint32_t stack) const;
  /// Lines from everywhere in random order, none twice.
  ChasePair random() const;

  /// The first `count` lines of a stack's data, in the order of their addresses.
  std::vector<LineAddr> lines_of(uint32_t stack, size_t count) const;

 private:
  struct Row {
    uint32_t bank = 0, row = 0;
    std::vector<LineAddr> lines;
  };
  std::vector<Row> rows_of(uint32_t stack) const;
  ChasePair chain(uint32_t own, std::vector<LineAddr> prologue,
                  std::vector<LineAddr> measured) const;
  LineAddr unused_line(uint32_t own, LineAddr from, LineAddr to,
                       const std::vector<LineAddr>& used) const;
  uint32_t page_of(LineAddr line) const { return line / page_lines_; }

  const config::MachineConfig& machine_;
  AddressMap map_;
  LineAddr first_line_ = 0;
  uint32_t page_lines_ = 1;  ///< of what a TLB entry covers
  uint32_t most_pages_ = 0;  ///< that a chain may use and find in the TLB
};

}  // namespace nearwarp::probe
