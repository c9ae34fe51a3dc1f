// Where a program can be divided.
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
  uint32_t all = n;  // what every launch from here on waits for
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

namespace {

/// More parts have more at their beginnings to make, and are for who has more cores (PARTS).
constexpr uint32_t kMostParts = 16;
/// At most 1/kTwice of the work of a program that is divided as suits it is simulated twice. Two
/// cores so are at least 1.85 times as fast as one, if that is all.
constexpr uint64_t kTwice = 12;

/// Where parts may begin that are reported, and where what is simulated before them may.
struct Cuts {
  std::vector<bool> parts, before;
};

/// Greedily, with parts of at most `bound`; a part of one piece may be larger.
std::vector<LaunchPart> within(const Cuts& all, const std::vector<uint64_t>& work, uint32_t before,
                               uint64_t bound) {
  const std::vector<bool>& cuts = all.parts;
  std::vector<LaunchPart> parts;
  const auto n = static_cast<uint32_t>(cuts.size()) - 1;
  for (uint32_t first = 0; first < n;) {
    LaunchPart part = part_of(all.before, first, n, before);
    uint32_t end = first;
    for (uint32_t at = first + 1; at <= n; ++at) {
      if (!cuts[at]) continue;
      if (end != first && work[at] - work[part.begin] > bound) break;
      end = at;
    }
    part.end = end;
    parts.push_back(part);
    first = end;
  }
  return parts;
}

/// The fewest parts of the smallest bound that at most `most` parts meet.
std::vector<LaunchPart> balanced(const Cuts& cuts, const std::vector<uint64_t>& work,
                                 uint32_t before, uint32_t most) {
  uint64_t low = 0, high = work.back();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (within(cuts, work, before, middle).size() <= most)
      high = middle;
    else
      low = middle + 1;
  }
  return within(cuts, work, before, low);
}

}  // namespace

std::vector<LaunchPart> divide(const Recording& recording, uint32_t most, uint32_t before,
                               uint32_t together) {
  Cuts cuts;
  cuts.before = launch_cuts(recording);
  cuts.parts = cuts_after(cuts.before, together);
  std::vector<uint64_t> work(1, 0);  // before each launch
  for (const LaunchRecord& l : recording.launches)
    work.push_back(work.back() + l.warp_instructions);
  if (most != 0) return balanced(cuts, work, before, most);
  for (uint32_t n = kMostParts; n > 2; n = n * 3 / 4) {
    std::vector<LaunchPart> parts = balanced(cuts, work, before, n);
    uint64_t done = 0;
    for (const LaunchPart& p : parts) done += work[p.end] - work[p.begin];
    if (done - work.back() <= work.back() / kTwice) return parts;
  }
  return balanced(cuts, work, before, 2);
}

}  // namespace nearwarp::runtime
