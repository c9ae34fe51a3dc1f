// The keys of an area file.
#include <vector>

#include "host/config/schema.h"

namespace nearwarp::config {
namespace {

using A = AreaConfig;

#define NW_KEY(member_path) "area." #member_path, [](A& a) -> Member { return &a.member_path; }

constexpr uint64_t kMost = 1'000'000'000;

}  // namespace

std::span<const Key<AreaConfig>> area_keys() {
  static const std::vector<Key<A>> all = {
      {NW_KEY(description), "", 0, 0, false, "", "One line on where the values come from."},
      {NW_KEY(technology_nm), "nm", 1, 1000, false, "", "Technology node of all values."},
      {NW_KEY(die_mm2), "mm2", 1, 10000, false, "", "A DRAM die, and the logic die below it."},
      {NW_KEY(dies), "dies", 1, 64, false, "", "DRAM dies of a processor."},
      {NW_KEY(process_percent), "%", 100, 1000, false, "",
       "What logic and SRAM take on a DRAM die, of what they take on the logic die."},
      {NW_KEY(lane_um2), "um2", 0, kMost, false, "", "A lane of a vector ALU."},
      {NW_KEY(sram_nm2_per_bit), "nm2/bit", 0, kMost, false, "",
       "Shared memory, instruction caches, operand collectors, LSU-Extensions."},
      {NW_KEY(register_nm2_per_bit), "nm2/bit", 0, kMost, false, "", "Register files."},
      {NW_KEY(latch_nm2_per_bit), "nm2/bit", 0, kMost, false, "", "Latches of row addresses."},
      {NW_KEY(row_latches), "latches", 0, 1000000, false, "",
       "Of a memory controller, for four row buffers a bank instead of one."},
      {NW_KEY(controller_um2), "um2", 0, kMost, false, "",
       "A memory controller in the DRAM die, one for each near-bank unit."},
      {NW_KEY(lsu_lines), "lines", 0, 1024, false, "",
       "Lines of 128 bytes that a near-bank unit's LSU-Extension keeps."},
      {NW_KEY(pipeline_um2), "um2", 0, kMost, false, "",
       "What else a subcore has on the logic die: fetch, decoding, SIMT stacks, scoreboard, "
       "offload "
       "engine, load-store unit."},
      {NW_KEY(instruction_cache_bytes), "bytes", 0, kMost, false, "",
       "Instruction cache of a core."},
      {NW_KEY(router_um2), "um2", 0, kMost, false, "",
       "A router with its network interface, one for each core."},
  };
  return all;
}

}  // namespace nearwarp::config
