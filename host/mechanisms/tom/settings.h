// TOM's settings in a policy's file and in a machine's; keys.cpp says what each key means.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::tom {

struct LearningSettings {  // [mapping]; TOM, section 3.2
  uint32_t learning_permille =
      1;  ///< share of candidate instances seen before the mapping is chosen
  std::string counts_at = "end";  ///< when an instance counts as seen: at its "begin" or "end"
};

struct OffloadSettings {         // [offload]; TOM, section 3
  bool dynamic_control = false;  ///< pending limit and channel busy monitor (section 3.3)
  bool busy_refuses = true;      ///< dynamic_control heeds busy channels, too, not only full SMs
  bool room_known = true;        ///< main SMs know which stack SMs are full
  std::string decide = "round";  ///< mechanism tom decides on a loop in each "round" or at "entry"
  bool overhead = true;          ///< false: an idealised study (figure 2)
  bool even = false;     ///< without overhead: no stack SM gets more warps than main SMs have
  bool flush_l1 = true;  ///< a stack SM flushes its L1 before a warp is spawned
  uint32_t busy_threshold_percent = 90;  ///< utilisation from which a channel counts as busy
  // Assumptions of Eq. (3) and (4); values of section 3.1.1.
  uint32_t load_miss_percent = 50;
  uint32_t load_coalescing_percent = 100;  ///< 100: one line per warp access
  uint32_t store_coalescing_percent = 100;
  std::string granularity = "innermost";  ///< "region", "loop", "innermost" or "block"
  bool inner_blocks = true;  ///< mechanism tom: blocks of loops that are not long enough
};

/// Arrays of shared memory that go along with offloaded code: keys of tuned offloading ([tuning]);
/// Y. Wu et al., ICS 2020. Without tuned offloading, code that uses shared memory stays.
struct SharedSettings {
  std::string shared = "none";  ///< "none", "annotated", "proved"
  std::string shared_arrays;    ///< annotations: NAME:accumulator:BYTES, NAME:table:BYTES
};

// Keys that a machine's file has for TOM.

struct OffloadParts {                    // [offload]
  uint32_t pipeline_latency_cycles = 0;  ///< core cycles to decide and pack a request
  uint32_t metadata_entries = 0;         ///< of the offloading metadata table
  uint32_t monitor_interval_cycles = 0;  ///< of the channel busy monitor, in interconnect cycles
  uint32_t dirty_entries = 0;            ///< written lines that a stack SM remembers per warp
  uint32_t allocation_entries = 0;       ///< of the memory allocation table
};

struct Pcie {                     // [pcie]: the learning phase's way to the CPU's memory
  uint32_t round_trip_ns = 0;     ///< of a read without queueing
  bool limited = false;           ///< mbps and queue_entries limit it, too
  uint32_t mbps = 0;              ///< per direction, 10^6 bytes per second
  uint32_t queue_entries = 0;     ///< requests in flight
  uint32_t remap_latency_ns = 0;  ///< from when all SMs stand still until they go on
};

}  // namespace nearwarp::tom
