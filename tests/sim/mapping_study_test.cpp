// Which mapping keeps the accesses of candidates' instances together? Traces are hand-made, so that
// the answer is known.
#include "host/mechanisms/tom/mapping_study.h"

#include <gtest/gtest.h>

#include "host/core/error.h"
#include "tests/support/recorded_program.h"

namespace nearwarp::sim {
namespace {

using namespace nearwarp::testing;

constexpr uint64_t kLine = 128;

/// A program with a candidate of two loads and a store between two other blocks.
struct Simple {
  Program p;
  Traces t;
  uint32_t before, body, after;
  Simple() {
    before = p.block({alu(0, {}), load(3)});
    body = p.block({load(1), load(2), store({1})}, 1);
    after = p.block({exit_instr()});
    p.candidate({body}, {});
  }
  /// Adds a warp with an instance for each base, which accesses whole lines at base, base + d1 and
  /// base + d2.
  void warp(const std::vector<uint64_t>& bases, uint64_t d1, uint64_t d2) {
    t.begin_block();
    t.warp();
    for (const uint64_t base : bases) {
      t.run(before).at(77 * kLine, 4);
      t.run(body).at(base, 4).at(base + d1, 4).at(base + d2, 4);
    }
    t.run(after).end();
  }
  RecordedProgram record(uint32_t chunk_blocks = 1000) {
    p.launches.clear();
    p.launch(static_cast<uint32_t>(t.first_warp.size()), 1);
    return {p, t, chunk_blocks};
  }
};

uint64_t touching(const MappingCounts& c, uint32_t stacks) { return c.stacks_touched[stacks - 1]; }

TEST(MappingStudy, ArraysAPowerOfTwoApart) {
  // Offsets of 2^14 and 2^15: every mapping below bit 14 keeps an instance in one stack.
  Simple s;
  for (uint64_t i = 0; i < 64; ++i) s.warp({i * kLine}, 1 << 14, 1 << 15);
  const RecordedProgram r = s.record();
  const MappingStudy study = study_mappings(r.recording, r.image, r.offload, AddressMap{});
  EXPECT_EQ(study.instances, 64u);
  EXPECT_EQ(study.accesses, 3 * 64u);
  EXPECT_EQ(count_instances(r.recording, r.image, r.offload), 64u);
  for (uint32_t m = 0; m < kNumMappings; ++m) {
    // Mapping m looks at bits m and m + 1 of the line; the arrays differ in bit 7 or in bit 8.
    const bool first = m != 6 && m != 7, second = m != 7 && m != 8;
    EXPECT_EQ(study.mapping[m].at_destination, 64u * (1 + first + second)) << m;
    EXPECT_EQ(study.mapping[m].one_stack, first && second ? 64u : 0u) << m;
  }
  EXPECT_EQ(study.best(), 0u);
}

TEST(MappingStudy, LargeStrideFavoursHighBits) {
  // An instance walks over lines 0 to 7 of its own 128 kB: only bits 10 and up are constant.
  Program p;
  const uint32_t body = p.block({load(1)}, 1), after = p.block({exit_instr()});
  p.candidate({body}, {});
  Traces t;
  for (uint64_t i = 0; i < 32; ++i) {
    t.begin_block();
    t.warp().run(body, kFull, 8);
    for (uint64_t k = 0; k < 8; ++k) t.at((i << 17) + k * kLine, 4);
    t.run(after).end();
  }
  p.launch(32, 1);
  const RecordedProgram r(p, t);
  const MappingStudy study = study_mappings(r.recording, r.image, r.offload, AddressMap{});
  EXPECT_EQ(study.best(), 3u);
  EXPECT_EQ(study.instances, 32u);
  EXPECT_EQ(study.accesses, 256u);
  EXPECT_EQ(study.mapping[0].at_destination, 64u);   // two of eight lines in each stack
  EXPECT_EQ(study.mapping[1].at_destination, 64u);   // pairs of lines
  EXPECT_EQ(study.mapping[2].at_destination, 128u);  // four lines in each of two stacks
  EXPECT_EQ(study.mapping[3].at_destination, 256u);
  EXPECT_EQ(touching(study.mapping[0], 4), 32u);
  EXPECT_EQ(touching(study.mapping[1], 4), 32u);
  EXPECT_EQ(touching(study.mapping[2], 2), 32u);
  EXPECT_EQ(touching(study.mapping[3], 1), 32u);
}

TEST(MappingStudy, OneLineIsATie) {
  Simple s;
  s.warp({0x12345 * kLine, 7 * kLine}, 0, 0);
  const RecordedProgram r = s.record();
  const MappingStudy study = study_mappings(r.recording, r.image, r.offload, AddressMap{});
  for (const MappingCounts& c : study.mapping) {
    EXPECT_EQ(c.one_stack, 2u);
    EXPECT_EQ(c.at_destination, 6u);
  }
  EXPECT_EQ(study.baseline.one_stack, 2u);
  EXPECT_EQ(study.best(), 0u);
}

TEST(MappingStudy, NoMappingIsGoodForAGather) {
  // Lane i goes to line (i mod 4) << k of all k: each pair of bits takes all values.
  Program p;
  const uint32_t body = p.block({load(1)}), after = p.block({exit_instr()});
  p.candidate({body}, {});
  Traces t;
  uint64_t address[32];
  for (uint64_t i = 0; i < 32; ++i) {
    uint64_t line = 0;
    for (uint32_t bit = 0; bit < 12; bit += 2) line |= ((i + bit) * (bit + 1) % 4) << bit;
    address[i] = kBase + (i << 20) + line * kLine;
  }
  t.begin_block();
  t.warp().run(body).addresses(kFull, address).run(after).end();
  p.launch(1, 1);
  const RecordedProgram r(p, t);
  const MappingStudy study = study_mappings(r.recording, r.image, r.offload, AddressMap{});
  EXPECT_EQ(study.accesses, 32u);
  for (uint32_t m = 0; m < kNumMappings; m += 2) {
    EXPECT_EQ(study.mapping[m].at_destination, 8u) << m;
    EXPECT_EQ(touching(study.mapping[m], 4), 1u) << m;
  }
}

TEST(MappingStudy, BaselineIsTheMachinesMap) {
  Simple s;
  for (uint64_t i = 0; i < 50; ++i) s.warp({i * 977 * kLine}, 3 << 12, 5 << 13);
  const RecordedProgram r = s.record();
  AddressMap map;
  map.stack_bits = 3;
  const MappingStudy study = study_mappings(r.recording, r.image, r.offload, map);
  uint64_t at = 0, one = 0;
  for (uint64_t i = 0; i < 50; ++i) {
    const auto stack = [&](uint64_t d) {
      return map.stack_of(static_cast<LineAddr>(i * 977 + d / kLine));
    };
    at += 1 + (stack(3 << 12) == stack(0)) + (stack(5 << 13) == stack(0));
    one += stack(3 << 12) == stack(0) && stack(5 << 13) == stack(0);
  }
  EXPECT_EQ(study.baseline.at_destination, at);
  EXPECT_EQ(study.baseline.one_stack, one);
  uint64_t all = 0;
  for (const uint64_t n : study.mapping[4].stacks_touched) all += n;
  EXPECT_EQ(all, 50u);
}

TEST(MappingStudy, FirstInstancesExactly) {
  // Warps with 3, 0, 2, 1 instances; instance number i alone in line 4 i.
  Simple s;
  const auto base = [](uint64_t i) { return i * 4 * kLine; };
  s.warp({base(0), base(1), base(2)}, 0, kLine);
  s.warp({}, 0, 0);
  s.warp({base(3), base(4)}, 0, 2 * kLine);
  s.warp({base(5)}, 0, 0);
  for (const uint32_t chunk_blocks : {1u, 3u, 100u}) {
    RecordedProgram r = s.record(chunk_blocks);
    for (uint64_t i = 0; i < 6; ++i) r.recording.allocations.push_back({kBase + base(i), 512, ""});
    EXPECT_EQ(count_instances(r.recording, r.image, r.offload), 6u);
    for (uint64_t n = 0; n <= 7; ++n) {
      const MappingStudy study = study_mappings(r.recording, r.image, r.offload, AddressMap{}, n);
      EXPECT_EQ(study.instances, std::min<uint64_t>(n, 6));
      EXPECT_EQ(study.accesses, 3 * std::min<uint64_t>(n, 6));
      EXPECT_EQ(study.mapping[0].one_stack, n < 6 ? 0u : 1u);
      for (uint64_t i = 0; i < 6; ++i) EXPECT_EQ(study.touched.at(i), i < n) << i << " of " << n;
    }
  }
}

TEST(MappingStudy, ConditionsBelowTheThresholdDoNotCount) {
  for (const uint32_t threshold : {0u, 1u, 3u, 4u, 5u}) {
    Program p;
    const uint32_t before = p.block({alu(0, {})});
    const uint32_t body = p.block({load(1), branch()}, 1);
    const uint32_t after = p.block({exit_instr()});
    tom::Candidate c;
    c.threshold = threshold;
    p.candidate({body}, c);
    Traces t;
    t.begin_block();
    t.warp();
    for (uint32_t iterations = 1; iterations <= 5; ++iterations) {
      t.run(before).run(body, kFull, iterations);
      for (uint32_t k = 0; k < iterations; ++k) t.at(k * kLine, 4);
    }
    t.run(after).end();
    p.launch(1, 1);
    const RecordedProgram r(p, t);
    const uint64_t expected = threshold == 0 ? 5 : 6 - threshold;
    EXPECT_EQ(count_instances(r.recording, r.image, r.offload), expected);
    EXPECT_EQ(study_mappings(r.recording, r.image, r.offload, AddressMap{}).instances, expected);
  }
}

TEST(MappingStudy, InstancesWithoutGlobalAccessesDoNotCount) {
  Program p;
  const uint32_t body = p.block({memory(sm::Action::kLoad, 1, {}, 4, true), load(2)}, 1);
  const uint32_t other = p.block({memory(sm::Action::kSharedLoad, 1, {})});
  const uint32_t after = p.block({exit_instr()});
  p.candidate({body}, {});
  p.candidate({other}, {});
  Traces t;
  t.begin_block();
  t.warp();
  t.run(body).guard(0).at_shared(trace::kSharedWindow | 64, 4);  // no lane; shared memory
  t.run(after);
  t.run(body, 0xff).guard(0x80).at(kLine, 0).at_shared(trace::kSharedWindow | 64, 4);
  t.run(after).run(other).at_shared(0, 4).run(after).end();
  p.launch(1, 1);
  const RecordedProgram r(p, t);
  const MappingStudy study = study_mappings(r.recording, r.image, r.offload, AddressMap{});
  EXPECT_EQ(count_instances(r.recording, r.image, r.offload), 1u);
  EXPECT_EQ(study.instances, 1u);
  EXPECT_EQ(study.accesses, 1u);
}

TEST(MappingStudy, InstancesBeginWhereTheCandidateIsEntered) {
  // The candidate's loop repeats without leaving it; another candidate follows at once; a warp that
  // enters in the middle does not begin an instance.
  Program p;
  const uint32_t head = p.block({load(1)}), latch = p.block({store({1})});
  const uint32_t next = p.block({alu(2, {}), load(2), alu(3, {2})});
  const uint32_t after = p.block({exit_instr()});
  p.candidate({head, latch}, {});
  p.candidate({next}, {});
  p.candidate_of[p.blocks[next].first + 2] = tom::kNoCandidate;
  Traces t;
  t.begin_block();
  t.warp();
  for (int i = 0; i < 3; ++i) t.run(head).at(0, 4).run(latch).at(0, 4);
  t.run(next).at(0, 4);                                       // a second instance
  t.run(next, kFull, 2).at(0, 4).at(0, 4);                    // left and entered again, twice
  t.run(latch).at(0, 4).run(after);                           // in the middle: none
  t.run(latch).at(0, 4).run(head).at(0, 4).run(after).end();  // the last one, from its beginning
  p.launch(1, 1);
  const RecordedProgram r(p, t);
  const MappingStudy study = study_mappings(r.recording, r.image, r.offload, AddressMap{});
  EXPECT_EQ(study.instances, 1u + 1 + 2 + 1);
  EXPECT_EQ(study.accesses, 6u + 1 + 2 + 1);
}

TEST(MappingStudy, EveryAllocationThatHoldsTheAddressIsMarked) {
  Simple s;
  s.warp({16 * kLine}, 4 * kLine, 40 * kLine);  // lines 16, 20, 56; line 77 outside of candidates
  RecordedProgram r = s.record();
  auto& a = r.recording.allocations;
  a.push_back({kBase + 16 * kLine, 4 * kLine, "line 16"});
  a.push_back({kBase + 16 * kLine, 64 * kLine, "reused, larger"});
  a.push_back({kBase + 24 * kLine, 8 * kLine, "between"});
  a.push_back({kBase + 56 * kLine, 1, "a byte of line 56"});
  a.push_back({kBase + 60 * kLine, 100 * kLine, "line 77 only"});
  a.push_back({kBase + 20 * kLine, 0, "empty"});
  const MappingStudy study = study_mappings(r.recording, r.image, r.offload, AddressMap{});
  EXPECT_EQ(study.touched, (std::vector<bool>{true, true, false, true, false, false}));
}

TEST(MappingStudy, ProgressMayStopIt) {
  Simple s;
  for (uint64_t i = 0; i < 10; ++i) s.warp({i * kLine}, 0, 0);
  RecordedProgram r = s.record(1);
  r.recording.launches[0].warp_instructions = 100;
  StudyOptions options;
  options.threads = 1;
  uint64_t calls = 0, last = 0;
  options.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, 100u);
    EXPECT_GT(done, last);
    last = done;
    return ++calls < 4;
  };
  EXPECT_THROW(count_instances(r.recording, r.image, r.offload, options), Error);
  EXPECT_EQ(calls, 4u);
  options.progress = [&](uint64_t done, uint64_t) {
    last = done;
    return true;
  };
  last = 0;
  EXPECT_EQ(study_mappings(r.recording, r.image, r.offload, AddressMap{}, kAllInstances, options)
                .instances,
            10u);
  EXPECT_EQ(last, 100u);
}

}  // namespace
}  // namespace nearwarp::sim
