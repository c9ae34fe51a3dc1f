// Which accesses lie at a fixed offset from earlier ones? Traces by hand, with known shares.
#include "host/mechanisms/tom/offset_study.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "host/core/error.h"
#include "tests/support/recorded_program.h"

namespace nearwarp::sim {
namespace {

using namespace nearwarp::testing;

/// A candidate with loads at pcs 0, 1, ..., and instances given by the addresses of its accesses.
struct Loads {
  Program p;
  Traces t;
  uint32_t body, after;
  explicit Loads(uint32_t loads) {
    std::vector<sm::ImageInstr> instrs;
    for (uint32_t i = 0; i < loads; ++i) instrs.push_back(load(static_cast<int>(i)));
    body = p.block(instrs, 1);
    after = p.block({exit_instr()});
    p.candidate({body}, {});
    t.begin_block();
    t.warp();
  }
  /// Adds an instance whose loads access these offsets, round by round.
  Loads& instance(const std::vector<uint64_t>& offsets) {
    const uint32_t rounds = static_cast<uint32_t>(offsets.size()) / p.blocks[body].count;
    t.run(body, kFull, rounds);
    for (const uint64_t offset : offsets) t.at(offset, 4);
    t.run(after);
    return *this;
  }
  CandidateOffsets study() {
    Traces ended = t;
    ended.end();
    p.launches.clear();
    p.launch(1, 1);
    const RecordedProgram r(p, ended);
    return study_offsets(r.recording, r.image, r.offload).at(0);
  }
};

TEST(OffsetStudy, TwoArraysWithTheSameIndex) {
  Loads l(2);
  const CandidateOffsets c = l.instance({100, 5100}).instance({9000, 14000}).study();
  EXPECT_EQ(c.instances, 2u);
  EXPECT_EQ(c.category(), OffsetCategory::kAll);
  EXPECT_EQ(c.share(), 1.0);
  ASSERT_EQ(c.instructions.size(), 2u);
  // The first load is the instance's first access, so there is no offset to it.
  EXPECT_EQ(c.instructions[0].executions, 2u);
  EXPECT_EQ(c.instructions[0].not_first, 0u);
  EXPECT_EQ(c.instructions[0].compared, 0u);
  EXPECT_EQ(c.instructions[1].not_first, 2u);
  EXPECT_EQ(c.instructions[1].predecessor_pc, 0u);
  EXPECT_EQ(c.instructions[1].compared, 2u);
  EXPECT_EQ(c.instructions[1].fixed, 2u);
}

TEST(OffsetStudy, AStrideIsAnOffsetToItself) {
  Loads l(1);
  const CandidateOffsets c = l.instance({0, 128, 256, 384}).instance({70000, 70128}).study();
  EXPECT_EQ(c.category(), OffsetCategory::kAll);
  EXPECT_EQ(c.instructions[0].executions, 6u);
  EXPECT_EQ(c.instructions[0].not_first, 4u);
  EXPECT_EQ(c.instructions[0].compared, 4u);
  EXPECT_EQ(c.instructions[0].fixed, 4u);
}

TEST(OffsetStudy, SharesAndCategories) {
  // The second load is 64 bytes after the first in `expected` of the instances, else somewhere.
  const auto category = [](uint32_t expected, uint32_t of) {
    Loads l(2);
    for (uint64_t i = 0; i < of; ++i)
      l.instance({i * 100'000, i * 100'000 + (i < expected ? 64 : 1000 + i * 8)});
    const CandidateOffsets c = l.study();
    EXPECT_EQ(c.instructions[1].compared, of);
    EXPECT_EQ(c.instructions[1].fixed, expected);
    EXPECT_EQ(c.share(), double(expected) / of);
    return c.category();
  };
  EXPECT_EQ(category(8, 8), OffsetCategory::kAll);
  EXPECT_EQ(category(7, 8), OffsetCategory::kFrom75);
  EXPECT_EQ(category(6, 8), OffsetCategory::kFrom75);
  EXPECT_EQ(category(5, 8), OffsetCategory::kFrom50);
  EXPECT_EQ(category(4, 8), OffsetCategory::kFrom50);
  EXPECT_EQ(category(3, 8), OffsetCategory::kFrom25);
  EXPECT_EQ(category(2, 8), OffsetCategory::kFrom25);
  EXPECT_EQ(category(2, 9), OffsetCategory::kBelow25);
  EXPECT_EQ(category(1, 8), OffsetCategory::kNone);  // the expected offset never occurred again
}

TEST(OffsetStudy, TheBestPredecessorCounts) {
  // The third load has a fixed offset to the first, not to the second.
  Loads l(3);
  for (uint64_t i = 0; i < 4; ++i) l.instance({i * 5000, i * i * 700 + 100'000, i * 5000 + 256});
  const CandidateOffsets c = l.study();
  EXPECT_EQ(c.instructions[2].predecessor_pc, 0u);
  EXPECT_EQ(c.instructions[2].fixed, 4u);
  EXPECT_EQ(c.instructions[1].fixed, 1u);
  EXPECT_EQ(c.instructions[1].compared, 4u);
  EXPECT_EQ(c.share(), (4 * 1.0 + 4 * 0.25) / 8);
  EXPECT_EQ(c.category(), OffsetCategory::kFrom50);
}

TEST(OffsetStudy, NothingToCompare) {
  Loads one(1);
  EXPECT_EQ(one.instance({0}).instance({640}).study().category(), OffsetCategory::kSingleAccess);
  EXPECT_EQ(one.study().share(), 0.0);
  Loads none(2);
  const CandidateOffsets c = none.study();
  EXPECT_EQ(c.instances, 0u);
  EXPECT_EQ(c.category(), OffsetCategory::kSingleAccess);
}

TEST(OffsetStudy, FirstActiveLaneDecides) {
  Program p;
  const uint32_t body = p.block({memory(sm::Action::kLoad, 0, {}, 4, true), load(1)});
  const uint32_t after = p.block({exit_instr()});
  p.candidate({body}, {});
  Traces t;
  t.begin_block();
  t.warp();
  t.run(body).guard(0xf0).at(0, 8).at(1000, 8).run(after);  // lane 4 at 32; lane 0 at 1000
  t.run(body).guard(0).at(1000, 8).run(after);              // no lane: no access
  t.run(body).guard(0x80000000).at(0, 8).at(1216, 8).run(after).end();  // lane 31 at 248
  p.launch(1, 1);
  const RecordedProgram r(p, t);
  const CandidateOffsets c = study_offsets(r.recording, r.image, r.offload).at(0);
  EXPECT_EQ(c.instances, 3u);
  EXPECT_EQ(c.instructions[0].executions, 2u);
  EXPECT_EQ(c.instructions[1].executions, 3u);
  EXPECT_EQ(c.instructions[1].not_first, 2u);
  EXPECT_EQ(c.instructions[1].fixed, 2u);  // 968 both times
}

TEST(OffsetStudy, LittleMemoryTakesMorePassesForTheSame) {
  Program p;
  const uint32_t small = p.block({load(0), load(1)}), large = p.block({load(2), load(3), load(4)});
  const uint32_t after = p.block({exit_instr()});
  p.candidate({small}, {});
  p.candidate({large}, {});
  Traces t;
  t.begin_block();
  t.warp();
  for (uint64_t i = 0; i < 9; ++i) {
    t.run(small).at(i * 4096, 4).at(i * 4096 + (i % 3 == 0 ? 64 : 128), 4);
    t.run(large).at(i * 8192, 4).at(i * i * 700 + 100'000, 4).at(i * 8192 + 256 * (i / 7), 4);
    t.run(after);
  }
  t.end();
  p.launch(1, 1);
  const RecordedProgram r(p, t);
  const auto study = [&](uint64_t bytes, uint64_t& told) {
    uint64_t done = 0;
    const auto progress = [&](uint64_t so_far, uint64_t total) {
      EXPECT_GE(so_far, done);
      EXPECT_LE(so_far, total);
      done = so_far;
      told += 1;
      return true;
    };
    return study_offsets(r.recording, r.image, r.offload, progress, bytes);
  };
  uint64_t once = 0;
  const std::vector<CandidateOffsets> expected = study(kBytesOfPairs, once);
  // Two rows of two pairs and three of three.
  for (const auto& [pairs, passes] : {std::pair{0, 5}, {4, 4}, {6, 3}, {7, 2}, {13, 1}}) {
    uint64_t told = 0;
    const std::vector<CandidateOffsets> found = study(uint64_t{24} * pairs, told);
    EXPECT_EQ(told, once * passes) << pairs;
    ASSERT_EQ(found.size(), expected.size());
    for (size_t c = 0; c < found.size(); ++c) {
      EXPECT_EQ(found[c].instances, expected[c].instances);
      ASSERT_EQ(found[c].instructions.size(), expected[c].instructions.size());
      for (size_t i = 0; i < found[c].instructions.size(); ++i) {
        const InstructionOffsets &a = found[c].instructions[i], &b = expected[c].instructions[i];
        EXPECT_EQ(std::tie(a.pc, a.executions, a.not_first, a.predecessor_pc, a.compared, a.fixed),
                  std::tie(b.pc, b.executions, b.not_first, b.predecessor_pc, b.compared, b.fixed));
      }
    }
  }
}

TEST(OffsetStudy, BlocksOfMoreAccessesThanTablesHoldAreRefused) {
  const auto study = [](uint32_t loads) {
    Program p;
    const uint32_t large = p.block(std::vector<sm::ImageInstr>(loads, load(0)));
    const uint32_t body = p.block({load(1), load(2)}), after = p.block({exit_instr()});
    p.candidate({body}, {});
    Traces t;
    t.begin_block();
    t.warp();
    t.run(large);
    for (uint32_t i = 0; i < loads; ++i) t.at(uint64_t{i} * 128, 4);
    t.run(body).at(0, 4).at(640, 4).run(after).end();
    p.launch(1, 1);
    const RecordedProgram r(p, t);
    return study_offsets(r.recording, r.image, r.offload).at(0);
  };
  const CandidateOffsets c = study(65'535);
  ASSERT_EQ(c.instances, 1u);
  EXPECT_EQ(c.instructions[0].executions, 1u);
  EXPECT_EQ(c.instructions[1].compared, 1u);
  EXPECT_THROW(study(65'536), Error);
}

TEST(OffsetStudy, ProgressMayStopIt) {
  Loads l(1);
  l.instance({0, 1});
  l.t.end();
  l.p.launch(1, 1);
  const RecordedProgram r(l.p, l.t);
  EXPECT_THROW(
      study_offsets(r.recording, r.image, r.offload, [](uint64_t, uint64_t) { return false; }),
      Error);
}

}  // namespace
}  // namespace nearwarp::sim
