// Finds the places at which a program can be divided.
#include "host/recording/launch_cuts.h"

#include <algorithm>

namespace nearwarp::runtime {

std::vector<bool> launch_cuts(const Recording& recording) {
  const auto n = static_cast<uint32_t>(recording.launches.size());
  std::vector<bool> cuts(n + 1, false);
  cuts[0] = cuts[n] = true;
  if (!recording.applications.empty()) return cuts;
  // By launch, a number: it waits for all launches before this one (and maybe for others).
  std::vector<uint32_t> waits_to(n, 0);
  for (uint32_t i = 0; i < n; ++i) {
    const LaunchRecord& l = recording.launches[i];
    if (l.after_all) {
      waits_to[i] = i;
      continue;
    }
    for (const uint32_t before : l.after) waits_to[i] = std::max(waits_to[i], waits_to[before]);
    // Launches that it names add up where they follow each other without a gap.
    for (const uint32_t before : l.after)
      if (before == waits_to[i]) waits_to[i] = before + 1;
  }
  uint32_t all = n;  // every launch from here on waits for all launches before this one
  for (uint32_t i = n; i-- > 1;) {
    all = std::min(all, waits_to[i]);
    cuts[i] = all >= i;
  }
  return cuts;
}

LaunchPart part_of(const std::vector<bool>& cuts, uint32_t first, uint32_t end, uint32_t before) {
  uint32_t begin = first > before ? first - before : 0;
  while (!cuts[begin]) --begin;
  return {begin, first, end};
}

uint64_t instructions_of(const Recording& recording, const LaunchPart& part) {
  uint64_t sum = 0;
  for (uint32_t i = part.begin; i < part.end; ++i) {
    const LaunchRecord& l = recording.launches[i];
    const bool some = part.blocks.has_value() && i == part.first;
    const uint64_t blocks = some ? part.blocks->end - part.blocks->begin : l.blocks_recorded;
    sum += blocks == l.blocks_recorded
               ? l.warp_instructions
               : l.warp_instructions / l.blocks_recorded * blocks +
                     l.warp_instructions % l.blocks_recorded * blocks / l.blocks_recorded;
  }
  return sum;
}

std::vector<bool> cuts_after(std::vector<bool> cuts, uint32_t together) {
  const auto last = static_cast<uint32_t>(cuts.size()) - 1;
  for (uint32_t i = 1; i < std::min(together, last); ++i) cuts[i] = false;
  return cuts;
}

}  // namespace nearwarp::runtime
