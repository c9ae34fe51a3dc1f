// How a policy sets TOM; keys.cpp says what each key means.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::tom {

struct LearningSettings {          // [mapping]; TOM, section 3.2
  uint32_t learning_permille = 1;  ///< of all candidate instances are seen before the choice
  std::string counts_at = "end";   ///< when an instance has been seen: "begin" or "end"
};

struct OffloadSettings {         // [offload]; TOM, section 3
  bool dynamic_control = false;  ///< pending limit and channel busy monitor (section 3.3)
  bool busy_refuses = true;      ///< with it: busy channels do, not full stack SMs alone
  bool room_known = true;        ///< main SMs know which stack SMs are full
  std::string decide = "round";  ///< mechanism tom: on a loop in each "round", or at its "entry"
  bool overhead = true;          ///< false: an idealised study (figure 2)
  bool even = false;     ///< without overhead: no stack SM gets more warps than main SMs have
  bool flush_l1 = true;  ///< of the stack SM, before a warp is spawned
  uint32_t busy_threshold_percent = 90;  ///< utilisation from which a channel counts as busy
  // Assumptions of Eq. (3) and (4); values of section 3.1.1.
  uint32_t load_miss_percent = 50;
  uint32_t load_coalescing_percent = 100;  ///< 100: one line per warp access
  uint32_t store_coalescing_percent = 100;
  std::string granularity = "innermost";  ///< "region", "loop", "innermost" or "block"
  bool inner_blocks = true;  ///< mechanism tom: blocks of loops that are not long enough
};

}  // namespace nearwarp::tom
