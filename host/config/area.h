// The share of dies that the parts of a processor in and below memory take, as a file of
// configs/area/ describes it. Every field is a key of the file; units are in names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nearwarp::config {

struct AreaConfig {
  std::string name;                   ///< file name without ".toml"
  std::string path;                   ///< where it was read from
  std::string description;            ///< [area] description
  uint32_t technology_nm = 0;         ///< node that the values are for
  uint64_t die_mm2 = 0;               ///< a DRAM die, and the logic die
  uint32_t dies = 0;                  ///< DRAM dies of a processor
  uint32_t process_percent = 0;       ///< of the values, what the same takes on a DRAM die
  uint64_t lane_um2 = 0;              ///< a lane of a vector ALU
  uint64_t sram_nm2_per_bit = 0;      ///< shared memory, caches, buffers
  uint64_t register_nm2_per_bit = 0;  ///< register files
  uint64_t latch_nm2_per_bit = 0;
  uint32_t row_latches = 0;     ///< of a memory controller, for four row buffers
  uint64_t controller_um2 = 0;  ///< a memory controller in a DRAM die
  uint32_t lsu_lines = 0;       ///< lines of 128 bytes of an LSU-Extension
  uint64_t pipeline_um2 = 0;    ///< of a subcore, but registers, collectors and lanes
  uint64_t instruction_cache_bytes = 0;
  uint64_t router_um2 = 0;  ///< with its network interface, one for each core
};

/// Load an area file by name or path, as load_energy() does. Overrides that name no key of it are
/// errors.
AreaConfig load_area(const std::string& name_or_path, std::span<const std::string> overrides = {});
std::vector<std::string> area_names();
/// All keys with their values, as describe() of other files.
struct KeyDescription;
std::vector<KeyDescription> describe(const AreaConfig& area);

}  // namespace nearwarp::config
