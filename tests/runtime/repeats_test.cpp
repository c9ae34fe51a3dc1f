// Are launches that repeat each other recognised, and only those?
#include "host/recording/repeats.h"

#include <gtest/gtest.h>

#include <functional>

#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/chunk_ids.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::runtime {
namespace {

TraceChunk chunk_of(uint32_t words) {
  TraceChunk c;
  c.first_block = 4;
  c.num_blocks = 1;
  c.warps_per_block = 2;
  c.warp_offset = {0, words / 2, words};
  for (uint32_t i = 0; i < words; ++i) c.words.push_back(uint64_t{i} * i);
  return c;
}

TEST(ChunkIds, EqualChunksHaveOneNumber) {
  ChunkIds ids;
  for (const uint32_t words : {0u, 1u, 3u, 4u, 100u}) {
    const ChunkIds::Id first = ids.of(chunk_of(words)), again = ids.of(chunk_of(words));
    EXPECT_TRUE(first.is_new) << words;
    EXPECT_FALSE(again.is_new) << words;
    EXPECT_EQ(first.number, again.number);
  }
}

TEST(ChunkIds, EveryBitCounts) {
  for (const uint32_t words : {1u, 5u, 32u}) {
    ChunkIds ids;
    ids.of(chunk_of(words));
    const auto differs = [&](const std::function<void(TraceChunk&)>& change) {
      TraceChunk c = chunk_of(words);
      change(c);
      return ids.of(c).is_new;
    };
    for (uint32_t word = 0; word < words; ++word)
      for (uint32_t bit = 0; bit < 64; ++bit)
        EXPECT_TRUE(differs([&](TraceChunk& c) { c.words[word] ^= uint64_t{1} << bit; }));
    EXPECT_TRUE(differs([](TraceChunk& c) { c.first_block = 5; }));
    EXPECT_TRUE(differs([](TraceChunk& c) { c.warps_per_block = 1; }));
    EXPECT_TRUE(differs([](TraceChunk& c) { c.num_blocks = 2; }));
    EXPECT_TRUE(differs([](TraceChunk& c) { c.warp_offset[1] += 1; }));
    EXPECT_TRUE(differs([](TraceChunk& c) { c.words.push_back(0); }));
    EXPECT_TRUE(differs([](TraceChunk& c) { c.words.insert(c.words.begin(), 7); }));
  }
}

/// Collatz sequences over `n` values beginning with `first`, into one of two arrays.
class Launches {
 public:
  Launches() {
    module_ = device_.load_module(std::make_shared<const compiler::Program>(
        compiler::compile_ptx_file(NW_SOURCE_DIR "/tests/runtime/kernels/basic.ptx")));
    std::vector<unsigned> in(kMost);
    for (unsigned i = 0; i < kMost; ++i) in[i] = i % 100 + 1;
    in_ = device_.upload(in);
    other_in_ = device_.upload(std::vector<unsigned>(kMost, 5));
    out_[0] = device_.allocate(kMost * 4);
    out_[1] = device_.allocate(kMost * 4);
  }
  void launch(int n, int array = 0, bool other_data = false, unsigned blocks = kBlocks) {
    device_.launch(module_, "collatz", {blocks}, {128}, 0,
                   KernelArgs(other_data ? other_in_ : in_, out_[array], n));
  }
  Recording take() { return device_.take_recording("collatz"); }

  static constexpr unsigned kBlocks = 6, kMost = kBlocks * 128;

 private:
  static VirtualDevice::Options options() {
    VirtualDevice::Options options;
    options.chunk_blocks = 2;
    return options;
  }
  VirtualDevice device_{options()};
  uint32_t module_ = 0;
  DevicePtr in_ = 0, other_in_ = 0, out_[2] = {};
};

Recording eight_launches() {
  Launches l;
  l.launch(700);               // 0
  l.launch(700);               // 1: as 0
  l.launch(700, 1);            // 2: other addresses
  l.launch(100);               // 3: other paths
  l.launch(700);               // 4: as 0
  l.launch(700, 1);            // 5: as 2
  l.launch(700, 0, true);      // 6: other data, and so other paths
  l.launch(700, 0, false, 8);  // 7: more thread blocks
  return l.take();
}

TEST(Repeats, OnlyTheSamePathsAndAddressesAreRepetitions) {
  EXPECT_EQ(first_alike(eight_launches()), (std::vector<uint32_t>{0, 0, 2, 3, 0, 2, 6, 7}));
}

TEST(Repeats, DataThatChangesNoPathIsNoDifference) {
  Launches l;
  l.launch(0);
  l.launch(-1);  // all threads leave at once, too
  EXPECT_EQ(first_alike(l.take()), (std::vector<uint32_t>{0, 0}));
}

TEST(Repeats, WhatIsLeftOutIsStoodFor) {
  Recording recording = eight_launches();
  const std::vector<LaunchRecord> all = recording.launches;
  limit_repeats(recording, 2);
  ASSERT_EQ(recording.launches.size(), 7u);
  const std::vector<uint32_t> stays = {0, 1, 2, 3, 5, 6, 7};
  uint64_t instructions = 0;
  for (size_t i = 0; i < stays.size(); ++i) {
    const LaunchRecord& l = recording.launches[i];
    EXPECT_EQ(i + l.left_before, stays[i]);
    EXPECT_EQ(l.stands_for, stays[i] == 1 ? 2u : 1u);
    EXPECT_EQ(l.first_chunk, all[stays[i]].first_chunk);
    instructions += l.warp_instructions;
  }
  EXPECT_EQ(recording.warp_instructions, instructions);
  validate(recording);

  limit_repeats(recording, 1);
  ASSERT_EQ(recording.launches.size(), 5u);
  EXPECT_EQ(recording.launches[0].stands_for, 3u);
  EXPECT_EQ(recording.launches[1].stands_for, 2u);
  EXPECT_EQ(recording.launches[4].left_before, 3u);
  validate(recording);
}

TEST(Repeats, WhatIsLeftOutPassesItsOrderOn) {
  using Indices = std::vector<uint32_t>;
  // 0, 1 and 4 are alike, and 2 and 5.
  const auto limited = [](const std::vector<Indices>& after, uint32_t most) {
    Recording recording = eight_launches();
    for (size_t i = 0; i < after.size(); ++i) {
      recording.launches[i].after_all = false;
      recording.launches[i].after = after[i];
    }
    limit_repeats(recording, most);
    std::vector<Indices> kept;
    for (const LaunchRecord& l : recording.launches) {
      kept.push_back(l.after);
      if (!l.after_all) continue;
      EXPECT_TRUE(l.after.empty());
      kept.back() = {99};
    }
    return kept;
  };
  const Indices all = {99};
  // Two streams: 0 1 4 and 2 3 5 6, then both.
  const std::vector<Indices> two = {{}, {0}, {}, {2}, {1}, {3}, {5}, {4, 6}};
  EXPECT_EQ(limited(two, 3), (std::vector<Indices>{all, all, {}, {2}, {1}, {3}, {5}, all}));
  EXPECT_EQ(limited(two, 2), (std::vector<Indices>{all, all, {}, {2}, {3}, {4}, all}));
  EXPECT_EQ(limited(two, 1), (std::vector<Indices>{all, {}, {1}, {2}, all}));
  // A chain through 1, 4 and 5, beside 3; all else waits for everything before.
  const std::vector<Indices> chain = {{}, {0}, {0}, {}, {1}, {4}, {5}};
  EXPECT_EQ(limited(chain, 1), (std::vector<Indices>{all, all, {}, {0}, all}));
}

}  // namespace
}  // namespace nearwarp::runtime
