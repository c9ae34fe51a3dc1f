// Reads of shared memory that continue after their instruction.
#include "host/functional/racecheck/late_reads.h"

#include <algorithm>

namespace nearwarp::racecheck {

void LateReads::add(uint64_t address, uint32_t bytes, const LateRead& read) {
  for (uint64_t piece = address / kPiece; piece * kPiece < address + bytes; ++piece) {
    std::vector<LateRead>& reads = pieces_[piece];
    const auto same = std::find_if(reads.begin(), reads.end(),
                                   [&](const LateRead& r) { return r.owner == read.owner; });
    if (same == reads.end())
      reads.push_back(read);
    else
      *same = read;
  }
}

void LateReads::end(uint32_t owner, uint32_t groups, uint32_t place, uint32_t time) {
  Owner& o = owners_[owner];
  if (o.ended.size() < groups) o.ended.resize(groups);
  for (uint32_t& g = o.next[place]; g < groups; ++g) o.ended[g][place] = time;
}

LateReads::Times LateReads::ended(uint32_t owner, uint32_t group) const {
  const auto it = owners_.find(owner);
  if (it == owners_.end() || group >= it->second.ended.size()) return {};
  return it->second.ended[group];
}

}  // namespace nearwarp::racecheck
