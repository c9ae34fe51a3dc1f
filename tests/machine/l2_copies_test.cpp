// Do two halves of an L2 that keep copies of each other's lines serve whole programs, and does the
// way of stepping not show?
#include <gtest/gtest.h>

#include "tests/sim/hand_made.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

report::RunResult run(const runtime::Recording& recording, const std::vector<std::string>& keys,
                      const sim::SimOptions& options = {}) {
  return sim::replay_on_cpu(recording, config::load_machine("discrete16", keys),
                            config::load_policy("baseline"), options);
}

std::vector<std::string> write_back() {
  return {"l2.sectors=true", "l2.write_policy=back", "l2.sectors_per_cycle=1"};
}

/// Other windows, orders and threads.
std::vector<sim::SimOptions> ways() {
  std::vector<sim::SimOptions> ways(3);
  ways[0].window_ticks = 113;
  ways[0].order_seed = 3;
  ways[1].threads = 2;
  ways[1].order_seed = 5;
  ways[2].window_ticks = 29;
  return ways;
}

std::vector<std::string> with_copies(const std::string& bytes, bool copies = true) {
  std::vector<std::string> keys = write_back();
  keys.insert(keys.end(), {"l2.link_latency_cycles=20", "l2.bytes=" + bytes});
  if (copies) keys.emplace_back("l2.link_copies=true");
  return keys;
}

TEST(L2Copies, HalvesKeepThoseOfEachOthersLines) {
  const runtime::Recording& recording = workload("kmeans", 500'000);
  const std::string kAllTwice = "2097152";
  std::vector<std::string> large_one = write_back();
  large_one.push_back("l2.bytes=" + kAllTwice);
  const report::RunResult one = run(recording, large_one),
                          copies = run(recording, with_copies(kAllTwice)),
                          small = run(recording, with_copies("65536"));
  for (const report::RunResult* r : {&copies, &small}) {
    EXPECT_EQ(r->warp_instructions, recording.warp_instructions);
    EXPECT_EQ(counter(*r, "l2.from_twins"),
              counter(*r, "l2.far_reads") + counter(*r, "l2.far_writes"));
    EXPECT_EQ(counter(*r, "l2.reads"), counter(*r, "l2.read_hits") + counter(*r, "l2.read_merges") +
                                           counter(*r, "l2.read_misses") +
                                           counter(*r, "l2.far_reads"));
    EXPECT_EQ(counter(*r, "l2.sector_misses") * 32, counter(*r, "dram.bytes_read"));
    EXPECT_GT(counter(*r, "l2.far_hits"), 0u);
    EXPECT_LE(counter(*r, "l2.copies_given_up"), counter(*r, "l2.copies_ended"));
    EXPECT_GT(counter(*r, "l2.link.bytes"), 0u);
  }
  EXPECT_GT(counter(small, "l2.copies_ended"), 0u);
  // If all data fits twice, memory traffic is that of an L2 in one part; otherwise copies take
  // room.
  EXPECT_EQ(counter(copies, "dram.bytes_read"), counter(one, "dram.bytes_read"));
  std::vector<std::string> small_one = write_back();
  small_one.emplace_back("l2.bytes=65536");
  EXPECT_GT(counter(small, "dram.bytes_read"),
            counter(run(recording, small_one), "dram.bytes_read"));
}

TEST(L2Copies, TheWayOfSteppingDoesNotShow) {
  for (const char* name : {"kmeans", "bfs-rmat"}) {
    const runtime::Recording& recording = workload(name, 300'000);
    std::vector<std::string> keys = with_copies("65536");
    keys.emplace_back("l2.link_bytes=16");
    const auto expected = numbers(run(recording, keys));
    for (const sim::SimOptions& options : ways())
      EXPECT_EQ(numbers(run(recording, keys, options)), expected) << options.window_ticks;
  }
  const runtime::Recording& atomics = hand_made("hand-made-atomics");
  const report::RunResult r = run(atomics, with_copies("65536"));
  EXPECT_EQ(r.warp_instructions, atomics.warp_instructions);
  EXPECT_GT(counter(r, "l2.far_writes"), 0u);
}

}  // namespace
}  // namespace nearwarp::testing
