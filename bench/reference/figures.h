// GPGPU-Sim's counters of the programs' runs: tests/validation/gpgpusim_reference.tsv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp::reference {

/// One run on one configuration; units as the file's head says.
struct Figures {
  std::string config;   ///< e.g. "SM2_GTX480-perfect-icache"
  std::string run;      ///< e.g. "fma_16w"
  std::string program;  ///< as in programs.h
  std::vector<int> arguments;
  uint64_t cycles = 0;
  uint64_t warp_instructions = 0;
  uint64_t l1_accesses = 0, l1_misses = 0;
  uint64_t l2_accesses = 0, l2_misses = 0;
  uint64_t dram_read_bursts = 0, dram_write_bursts = 0, dram_activations = 0;
};

/// Reads the file's lines. Throws nearwarp::Error if it cannot be read, or is damaged.
std::vector<Figures> read_figures(const std::string& path);

}  // namespace nearwarp::reference
