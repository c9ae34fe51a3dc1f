// Tables, for the device, of a program's offload chains.
#pragma once

#include <cstdint>
#include <vector>

#include "device/mechanisms/opportunistic/program.h"
#include "host/config/machine.h"
#include "host/mechanisms/opportunistic/pass/chains.h"
#include "host/recording/recording.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::opportunistic {

/// A chain as the compiler pass found it.
struct ChainSource {
  uint32_t kernel = 0;  ///< index into Recording::kernels
  Chain chain = {};
};

struct ChainTables {
  std::vector<OffloadChain> chains;
  std::vector<ChainSource> sources;  ///< by chain
  std::vector<uint16_t> chain_of;    ///< by instruction of the image; kNoChain: none begins there
};

/// Find the chains of all kernels and make each of them contiguous in the image, as the paper's
/// compiler does (section 4.2): instructions between its first and its last that are not its own
/// come before it, or after it. Accesses to memory keep their order, in which the traces have them.
ChainTables build_chain_tables(const runtime::Recording& recording,
                               const config::MachineConfig& machine, sim::ImageTables& image);

}  // namespace nearwarp::opportunistic
