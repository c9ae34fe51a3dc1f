// Finds launches that repeat each other, and the order of launches without some of them.
#include "host/recording/repeats.h"

#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "host/recording/launch_set.h"

namespace nearwarp::runtime {
namespace {

/// A key that is equal for launches that repeat each other.
std::vector<uint64_t> signature(const Recording& recording, const LaunchRecord& l) {
  std::vector<uint64_t> all = {l.kernel,    l.grid.x,    l.grid.y,       l.grid.z,
                               l.block.x,   l.block.y,   l.block.z,      l.cluster.x,
                               l.cluster.y, l.cluster.z, l.shared_bytes, l.blocks_recorded};
  for (uint32_t i = 0; i < l.num_chunks; ++i)
    all.push_back(recording.traces.identity(l.first_chunk + i));
  return all;
}

/// Finds the order of the launches that are kept, from that of all.
class KeptOrder {
 public:
  explicit KeptOrder(const std::vector<LaunchRecord>& launches) : launches_(launches) {
    for (const LaunchRecord& l : launches)
      for (const uint32_t before : l.after) named_[before];
  }

  /// Takes the next launch. `kept`, its copy, receives the new order; nullptr: it is left out.
  void next(uint32_t index, LaunchRecord* kept) {
    const LaunchRecord& l = launches_[index];
    LaunchSet set;
    if (l.after_all) set = history_.all();
    for (const uint32_t before : l.after) set.join(named_.at(before));
    if (kept != nullptr) history_.add(set, *kept);
    if (const auto it = named_.find(index); it != named_.end()) it->second = std::move(set);
  }

 private:
  const std::vector<LaunchRecord>& launches_;
  LaunchHistory history_;
  std::unordered_map<uint32_t, LaunchSet> named_;  // by launch that another's `after` contains
};

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
  std::vector<uint32_t> times(first.size()), last(first.size());  // by first_alike()
  recording.warp_instructions = recording.thread_instructions = 0;
  KeptOrder order(recording.launches);
  for (size_t i = 0; i < first.size(); ++i) {
    const LaunchRecord& launch = recording.launches[i];
    if (times[first[i]]++ >= most) {
      kept[last[first[i]]].stands_for += launch.stands_for;
      order.next(static_cast<uint32_t>(i), nullptr);
      continue;
    }
    last[first[i]] = static_cast<uint32_t>(kept.size());
    kept.push_back(launch);
    order.next(static_cast<uint32_t>(i), &kept.back());
    kept.back().left_before += static_cast<uint32_t>(i - last[first[i]]);
    recording.warp_instructions += launch.warp_instructions;
    recording.thread_instructions += launch.thread_instructions;
  }
  recording.launches = std::move(kept);
  recording.studies = std::make_shared<Studies>();
}

}  // namespace nearwarp::runtime
