// Findings of the race detector, one entry per line or pair of lines.
#include "host/functional/racecheck/hazard.h"

#include <algorithm>

namespace nearwarp::racecheck {

const char* name_of(HazardKind kind) {
  switch (kind) {
    case HazardKind::kReadAfterWrite:
      return "read after write";
    case HazardKind::kWriteAfterRead:
      return "write after read";
    case HazardKind::kUnfenced:
      return "read after write without fence.proxy.async";
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

const char* name_of(MisuseKind kind) {
  switch (kind) {
    case MisuseKind::kApart:
      return "barrier to which part of a warp does not come";
    case MisuseKind::kDifferent:
      return "warps of a block at different barriers";
    case MisuseKind::kPassedBy:
      return "barrier that a warp of the block has passed by";
    case MisuseKind::kNotInMask:
      return "lane that is not in its own mask";
    case MisuseKind::kMissing:
      return "mask with lanes that do not come";
    case MisuseKind::kOutside:
      return "shuffle from a lane outside the mask";
    case MisuseKind::kNobodyThere:
      return "shuffle from a lane that is not there";
    case MisuseKind::kInProduct:
      return "register of a product that has not been waited for";
    case MisuseKind::kNoFence:
      break;
  }
  return "product without wgmma.fence";
}

std::vector<Hazard> in_order(std::vector<Hazard> hazards) {
  const auto rank = [](const Hazard& h) { return h.unchanged == h.count ? 2 : h.shared ? 0 : 1; };
  std::stable_sort(hazards.begin(), hazards.end(),
                   [&](const Hazard& a, const Hazard& b) { return rank(a) < rank(b); });
  return hazards;
}

/// The new entry if there was none; nullptr if it has only been counted.
template <class Entry, class Index>
Entry* FindingTable::count(Findings& findings, std::vector<Entry>& entries, Index& index,
                           const typename Index::key_type& key, uint64_t threads) {
  const auto it = index.find(key);
  if (it != index.end()) {
    entries[it->second].count += threads;
    return nullptr;
  }
  if (entries.size() >= kMost) {
    findings.left_out += threads;
    return nullptr;
  }
  index.emplace(key, entries.size());
  Entry& entry = entries.emplace_back();
  entry.count = threads;
  return &entry;
}

Hazard* FindingTable::add(Findings& findings, const Key& key, bool unchanged) {
  Hazard* const hazard = count(findings, findings.hazards, hazards_, key, 1);
  if (const auto it = hazards_.find(key); it != hazards_.end())
    findings.hazards[it->second].unchanged += unchanged;
  if (hazard == nullptr) return nullptr;
  hazard->kind = std::get<HazardKind>(key);
  hazard->distance = std::get<Distance>(key);
  hazard->shared = std::get<bool>(key);
  return hazard;
}

Misuse* FindingTable::add(Findings& findings, const void* kernel, uint32_t line, MisuseKind kind,
                          uint32_t threads) {
  Misuse* const misuse = count(findings, findings.misuses, misuses_, {kernel, line, kind}, threads);
  if (misuse != nullptr) misuse->kind = kind;
  return misuse;
}

UnwrittenRead* FindingTable::add(Findings& findings, const void* kernel, uint32_t line,
                                 bool shared) {
  UnwrittenRead* const read =
      count(findings, findings.unwritten, unwritten_, {kernel, line, shared}, 1);
  if (read != nullptr) read->shared = shared;
  return read;
}

}  // namespace nearwarp::racecheck
