// Launches of a recording that repeat each other.
#include "host/recording/repeats.h"

#include <map>
#include <utility>

namespace nearwarp::runtime {
namespace {

/// What launches that repeat each other have in common.
std::vector<uint64_t> signature(const Recording& recording, const LaunchRecord& l) {
  std::vector<uint64_t> all = {l.kernel,  l.grid.x,  l.grid.y,       l.grid.z,         l.block.x,
                               l.block.y, l.block.z, l.shared_bytes, l.blocks_recorded};
  for (uint32_t i = 0; i < l.num_chunks; ++i)
    all.push_back(recording.traces.identity(l.first_chunk + i));
  return all;
}

}  // namespace

std::vector<uint32_t> first_alike(const Recording& recording) {
  std::map<std::vector<uint64_t>, uint32_t> known;
  std::vector<uint32_t> first;
  for (const LaunchRecord& launch : recording.launches) {
    const auto index = static_cast<uint32_t>(first.size());
    first.push_back(known.try_emplace(signature(recording, launch), index).first->second);
  }
  return first;
}

void limit_repeats(Recording& recording, uint32_t most) {
  const std::vector<uint32_t> first = first_alike(recording);
  std::vector<LaunchRecord> kept;
  std::vector<uint32_t> times(first.size()), last(first.size());  // by first launch
  recording.warp_instructions = recording.thread_instructions = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    const LaunchRecord& launch = recording.launches[i];
    if (times[first[i]]++ >= most) {
      kept[last[first[i]]].stands_for += launch.stands_for;
      continue;
    }
    last[first[i]] = static_cast<uint32_t>(kept.size());
    kept.push_back(launch);
    kept.back().left_before += static_cast<uint32_t>(i - last[first[i]]);
    recording.warp_instructions += launch.warp_instructions;
    recording.thread_instructions += launch.thread_instructions;
  }
  recording.launches = std::move(kept);
}

}  // namespace nearwarp::runtime
