// What TOM keeps beside the nodes of a machine's graph, and its tables in the arena.
#pragma once

#include <cstdint>
#include <vector>

#include "device/core/types.h"
#include "device/offload/map_analyzer_state.h"

namespace nearwarp::sim {

struct TomData {
  bool own_mapping = false;  ///< pages may get a mapping of their own
  bool learning = false;     ///< runs begin with a learning phase out of the CPU's memory
  uint32_t line_bytes = 0;
  uint32_t candidates = 0;
  uint32_t waiting_entries = 0;            ///< of questions to the front end, per stack
  std::vector<offload::LineRange> ranges;  ///< memory allocation table
  std::vector<uint16_t> stack_sms;         ///< by stack: who takes offload requests
};

struct TomTables {
  Ref<offload::LineRange> ranges;
  Ref<uint16_t> stack_sms;
};

}  // namespace nearwarp::sim
