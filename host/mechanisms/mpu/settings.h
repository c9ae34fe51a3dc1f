// How a policy sets MPU; keys.cpp says what each key means.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::mpu {

/// [mpu]; X. Xie et al., MPU, sections IV-B, IV-C and V-B
struct Settings {
  std::string locations = "annotated";  ///< "annotated", "hardware", "near" or "far"
  std::string shared_memory = "near";   ///< "near" or "far"
  bool offload_accesses = true;  ///< the load-store unit's test may find an access to be near
  bool scalar_moves = false;     ///< what all lanes have in common moves as one value
  /// Far-bank operation set: "simple" keeps divisions, special functions and operations across
  /// lanes out of near-bank units; "all": they have those, too
  std::string near_operations = "simple";
  bool both_spreads = true;         ///< location B goes on to sources, as N and F do
  bool hash_units = false;          ///< near-bank units (and banks) of lines are hashed
  uint32_t near_registers = 16384;  ///< of 32 bits, of a core's near-bank units
  uint32_t collectors = 4;          ///< operand collectors of a near-bank unit
  uint32_t near_instructions = 8;   ///< of a warp that are near the banks at a time
  uint32_t word_bytes = 8;          ///< instruction, commit, or name of a register, on the TSVs
  uint32_t access_bytes = 16;       ///< an offloaded access on the TSVs
};

}  // namespace nearwarp::mpu
