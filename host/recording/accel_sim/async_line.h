// The part of a line behind an instruction's operands, since version 6 of the tracer: where a bulk
// copy goes, immediates, and values of registers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "host/recording/accel_sim/instruction_line.h"

namespace nearwarp::sass {

/// "mbarrier multicast [blocks] bytes outside mode ...".
struct BulkLine {
  uint64_t mbarrier = 0;
  uint32_t blocks = 0;              ///< of the cluster, as bits; 0: no multicast
  uint64_t bytes = 0, outside = 0;  ///< of these, so many lie outside of the tensor
  std::vector<uint64_t> addresses;
};

/// One or two immediates, then "Val" and the values of destinations and sources, or "NoVal".
struct LineTail {
  uint64_t immediate[2] = {};
  bool has_values = false;
  uint32_t value[32] = {};  ///< of the last source, by lane
};

/// `behind` gets what follows.
LineProblem parse_bulk(std::string_view text, BulkLine* to, std::string_view* behind);
/// `operands`: destinations and sources together.
LineProblem parse_tail(std::string_view text, uint32_t operands, LineTail* to);

}  // namespace nearwarp::sass
