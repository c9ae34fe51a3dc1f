// Is it known how far thread blocks are from those that used their data first?
#include "host/recording/launch_distances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>

#include "bench/workloads/workload.h"
#include "host/recording/chunk_touches.h"

namespace nearwarp::runtime {
namespace {

struct Places {
  uint32_t launch = 0;
  uint64_t begin = 0, end = 0;
};

/// Chunk by chunk, each as if none came twice.
std::vector<uint64_t> chunk_by_chunk(const Recording& r) {
  const auto touches = touches_of(r, 7);
  std::map<uint32_t, Places> first;  // by page
  std::vector<uint64_t> all;
  for (uint32_t i = 0; i < r.launches.size(); ++i) {
    const LaunchRecord& l = r.launches[i];
    all.push_back(0);
    for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks; ++c)
      for (const ChunkTouches::Touch& t : touches->of(r, c, l.kernel)->touches) {
        if (t.local) continue;
        const uint64_t place = t.block * uint64_t{1024} / l.blocks_recorded;
        Places& p = first.try_emplace(t.line / 32, Places{i, place, place}).first->second;
        if (p.launch == i) {
          p.begin = std::min(p.begin, place);
          p.end = std::max(p.end, place);
        } else if (place < p.begin || place > p.end) {
          all.back() += std::bit_width(place < p.begin ? p.begin - place : place - p.end);
        }
      }
  }
  return all;
}

TEST(LaunchDistances, AreThoseToWhoUsedAPageFirst) {
  for (const char* name : {"kmeans", "bfs-rmat", "fwt"}) {
    SCOPED_TRACE(name);
    VirtualDevice device;
    workloads::find(name)->run(device, workloads::Size::kSmall);
    const Recording r = device.take_recording(name);
    const std::vector<uint64_t> distances = launch_distances(r);
    EXPECT_EQ(distances, chunk_by_chunk(r));
    EXPECT_EQ(distances.at(0), 0u) << "nobody was before";
    EXPECT_GT(std::ranges::max(distances), 0u);
  }
}

TEST(LaunchDistances, AreSmallWhereThreadBlocksKeepTheirData) {
  VirtualDevice device;
  workloads::find("fwt")->run(device, workloads::Size::kSmall);
  const Recording r = device.take_recording("fwt");
  const std::vector<uint64_t> distances = launch_distances(r);
  // The first step of a transform crosses all of the data; in the last ones a thread block has a
  // segment.
  uint32_t shared = 0;
  while (r.kernels[r.launches[shared].kernel]->name != "fwt_shared") ++shared;
  ASSERT_GT(shared, 0u);
  EXPECT_GT(distances[shared], 0u) << "segments were touched by butterflies far apart";
  uint32_t again = shared + 1;
  while (again < r.launches.size() && r.launches[again].kernel != r.launches[0].kernel) ++again;
  ASSERT_LT(again, r.launches.size());
  EXPECT_EQ(distances[again], 0u) << "its data is touched for the first time, or as it was first";
}

}  // namespace
}  // namespace nearwarp::runtime
