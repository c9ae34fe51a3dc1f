// Computes distances of launches' thread blocks from those that used the same memory first.
#include "host/recording/launch_distances.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "host/recording/chunk_touches.h"
#include "host/recording/launch_features.h"

namespace nearwarp::runtime {
namespace {

/// Pages have 4 KiB, as in the policies that place them.
constexpr uint32_t kPageShift = 12;
constexpr uint64_t kPlaces = 1024;  // positions in a grid

class Distances {
 public:
  explicit Distances(const Recording& recording)
      : recording_(recording), touches_(touches_of(recording, kFeatureLineShift)) {}

  uint64_t of(uint32_t launch) {
    const LaunchRecord& l = recording_.launches[launch];
    uint64_t sum = 0;
    for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks; ++c) {
      const std::tuple key{recording_.traces.identity(c), l.kernel, l.blocks_recorded};
      if (const auto known = known_.find(key); known != known_.end()) {
        sum += known->second;
        continue;
      }
      // A launch that touches some page first has another sum than a later one with this chunk.
      bool is_first = false;
      const uint64_t found = of_chunk(c, launch, is_first);
      if (!is_first) known_.emplace(key, found);
      sum += found;
    }
    return sum;
  }

 private:
  /// The first launch that touched a page, and the positions of its thread blocks that did.
  struct Owners {
    uint32_t launch = ~0u;
    uint32_t begin = 0, end = 0;  ///< the first and the last position
  };

  uint64_t of_chunk(uint32_t chunk, uint32_t launch, bool& is_first) {
    const LaunchRecord& l = recording_.launches[launch];
    uint64_t sum = 0;
    const auto touches = touches_->of(recording_, chunk, l.kernel);
    uint32_t last_page = ~0u;
    Owners* owners = nullptr;
    for (const ChunkTouches::Touch& t : touches->touches) {
      if (t.local) continue;
      const uint32_t page = t.line >> (kPageShift - kFeatureLineShift);
      if (page != last_page) owners = &owners_[last_page = page];
      const auto place = static_cast<uint32_t>(t.block * kPlaces / l.blocks_recorded);
      if (owners->launch == ~0u) *owners = {launch, place, place};
      if (owners->launch == launch) {
        is_first = true;
        owners->begin = std::min(owners->begin, place);
        owners->end = std::max(owners->end, place);
      } else {
        sum += std::bit_width(place < owners->begin ? owners->begin - place
                              : place > owners->end ? place - owners->end
                                                    : 0u);
      }
    }
    return sum;
  }

  const Recording& recording_;
  std::shared_ptr<TouchesOfChunks> touches_;
  std::unordered_map<uint32_t, Owners> owners_;  // by page; pointers to entries stay valid
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint64_t> known_;  // by chunk's identity
};

}  // namespace

std::vector<uint64_t> launch_distances(const Recording& recording) {
  Distances distances(recording);
  std::vector<uint64_t> all;
  for (uint32_t i = 0; i < recording.launches.size(); ++i) all.push_back(distances.of(i));
  return all;
}

}  // namespace nearwarp::runtime
