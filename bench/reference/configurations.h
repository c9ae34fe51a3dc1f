// GPGPU-Sim's configurations that the reference's figures are of, and the machines that stand for
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp::reference {

struct Configuration {
  std::string name;     ///< as in the figures
  std::string machine;  ///< the machine that stands for it
  /// For a variant of another configuration, e.g. "cold": stands behind its runs' names. It differs
  /// from the machine by `overrides`.
  std::string variant;
  std::vector<std::string> overrides;
  std::string note;          ///< one line for the head of the table
  uint32_t l1_bytes = 0;     ///< bytes of an access in the L1's counters
  uint32_t write_bytes = 0;  ///< bytes of a DRAM write burst
};

/// `name` and its variants, in the order in which they are shown; empty if there is none of the
/// name.
std::vector<Configuration> configurations(const std::string& name);

}  // namespace nearwarp::reference
