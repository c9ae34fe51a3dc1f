// How a policy sets opportunistic computing; keys.cpp says what each key means.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::opportunistic {

/// [chains]; A. Pattnaik et al., ISCA 2019
struct ChainSettings {
  uint32_t offload_entries = 48;  ///< of an SM's offload queue
  uint32_t service_entries = 96;  ///< of a service queue
  uint32_t buffer_entries = 4;    ///< chains whose data a service queue has read
  bool at_sms = false;            ///< SMs execute chains whose data meets there (Omni-Compute)
  std::string sm_alu = "idle";    ///< of their service queues: "idle" (the SM's) or "own"
  uint32_t alu_lanes = 32;        ///< of an ALU that a service queue has for itself
  uint32_t max_parts = 4;         ///< ComputePackets that a chain may be
  std::string ack = "stored";     ///< of a stored result: "stored" or "forwarded"
  std::string meet = "either";    ///< ways on which data meets: "either" or "route"
  std::string when_full = "ask";  ///< service queues of SMs: "ask" or "refuse"
};

}  // namespace nearwarp::opportunistic
