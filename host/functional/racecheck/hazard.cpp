// Hazards, one per pair of instructions.
#include "host/functional/racecheck/hazard.h"

#include <algorithm>

namespace nearwarp::racecheck {

const char* name_of(HazardKind kind) {
  switch (kind) {
    case HazardKind::kReadAfterWrite:
      return "read after write";
    case HazardKind::kWriteAfterRead:
      return "write after read";
    case HazardKind::kWriteAfterWrite:
      break;
  }
  return "write after write";
}

const char* name_of(Distance distance) {
  switch (distance) {
    case Distance::kLanes:
      return "threads of a warp";
    case Distance::kWarps:
      return "warps of a block";
    case Distance::kBlocks:
      break;
  }
  return "blocks";
}

std::vector<Hazard> in_order(std::vector<Hazard> hazards) {
  const auto rank = [](const Hazard& h) { return h.unchanged == h.count ? 2 : h.shared ? 0 : 1; };
  std::stable_sort(hazards.begin(), hazards.end(),
                   [&](const Hazard& a, const Hazard& b) { return rank(a) < rank(b); });
  return hazards;
}

Hazard* HazardTable::add(Findings& findings, const Key& key, bool unchanged) {
  const auto it = index_.find(key);
  if (it != index_.end()) {
    ++findings.hazards[it->second].count;
    findings.hazards[it->second].unchanged += unchanged;
    return nullptr;
  }
  if (findings.hazards.size() >= kMost) {
    ++findings.left_out;
    return nullptr;
  }
  index_.emplace(key, findings.hazards.size());
  Hazard& hazard = findings.hazards.emplace_back();
  hazard.kind = std::get<HazardKind>(key);
  hazard.distance = std::get<Distance>(key);
  hazard.shared = std::get<bool>(key);
  hazard.count = 1;
  hazard.unchanged = unchanged;
  return &hazard;
}

}  // namespace nearwarp::racecheck
