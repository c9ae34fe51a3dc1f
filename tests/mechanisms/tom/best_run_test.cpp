// Is the run that the search finds the one that trying every run finds?
#include "host/mechanisms/tom/pass/best_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "host/mechanisms/tom/pass/suffix_sums.h"
#include "tests/mechanisms/tom/every_run.h"

namespace nearwarp::compiler {
namespace {

using Code = std::vector<RunInstruction>;
using Found = InstructionRun;

constexpr CrossingCosts kCosts{.live_in = 10, .live_out = 10};

RunInstruction arithmetic(RegId to, std::vector<RegId> from) {
  return {.uses = std::move(from), .defs = {to}, .specials = {}};
}
RunInstruction guarded(RegId guard, RegId to) {
  return {.guarded = true, .uses = {guard}, .defs = {to}, .specials = {}};
}
RunInstruction store(RegId address, int64_t saving) {
  return {.access = true, .saving = saving, .uses = {address}, .defs = {}, .specials = {}};
}
RunInstruction fence() { return {.forbidden = true, .uses = {}, .defs = {}, .specials = {}}; }

std::optional<InstructionRun> best_of(const Code& code, const std::vector<RegId>& live_out,
                                      CrossingCosts costs = kCosts) {
  return RunSearch(code, live_out, costs).best_runs(0, static_cast<uint32_t>(code.size())).back();
}

TEST(BestRun, LeavesOutWhatCostsMore) {
  const Code code = {arithmetic(3, {1, 2}), store(3, 12), store(3, 12), arithmetic(5, {4})};
  EXPECT_EQ(best_of(code, {5}), (Found{.first = 1, .last = 2, .total = -14}));
  // Without what it computes the first instruction is for nothing, and saves a live-in.
  EXPECT_EQ(best_of({arithmetic(3, {}), store(3, 12)}, {}), (Found{0, 1, -12}));
}

TEST(BestRun, OfEqualsTheShortestThenTheLast) {
  const RunInstruction nothing{.uses = {}, .defs = {}, .specials = {}};
  EXPECT_EQ(best_of({nothing, store(1, 12), nothing}, {}), (Found{1, 1, -2}));
  EXPECT_EQ(best_of({store(1, 12), fence(), store(2, 12)}, {}), (Found{2, 2, -2}));
  EXPECT_EQ(best_of({store(1, 12), fence(), store(2, 6), store(2, 6)}, {}), (Found{0, 0, -2}));
}

TEST(BestRun, NeedsAnAccessThatMayBeThere) {
  RunInstruction call = store(1, 12);
  call.control = true;
  RunInstruction atomic = store(1, 12);
  atomic.forbidden = true;
  EXPECT_EQ(best_of({arithmetic(1, {2})}, {}), std::nullopt);
  EXPECT_EQ(best_of({call}, {}), std::nullopt);
  EXPECT_EQ(best_of({atomic}, {}), std::nullopt);
  EXPECT_EQ(best_of({}, {}), std::nullopt);
  EXPECT_EQ(best_of({call, arithmetic(2, {1})}, {}), (Found{0, 1, -2}));
  // One that saves nothing is an access, too.
  EXPECT_EQ(best_of({store(1, 0)}, {}), (Found{0, 0, 10}));
}

TEST(BestRun, GuardedDefinitionBringsTheOldValueBack) {
  // Register 2 is written under a guard (1), and read behind the code.
  const Code code = {guarded(1, 2), store(1, 100)};
  const Crossings live = RunSearch(code, {2}, kCosts).crossings(0, 1);
  EXPECT_EQ(live.live_ins, (std::set<RegId>{1, 2}));
  EXPECT_EQ(live.live_outs, (std::set<RegId>{2}));
  const Crossings dead = RunSearch(code, {}, kCosts).crossings(0, 1);
  EXPECT_EQ(dead.live_ins, (std::set<RegId>{1}));
  EXPECT_TRUE(dead.live_outs.empty());
  EXPECT_EQ(best_of(code, {2}), (Found{1, 1, -90}));
}

TEST(BestRun, OverwrittenGuardedDefinitions) {
  // A register written under a guard counts though all lanes overwrite it, time and again: as a
  // live-in of the runs that begin with it, as long as the register is live behind them.
  Code code;
  for (int i = 0; i < 3; ++i) {
    code.push_back(guarded(1, 2));
    code.push_back(arithmetic(2, {}));
    code.push_back(store(1, 1));
  }
  code.push_back(arithmetic(3, {2}));
  code.push_back(store(1, 1));
  const EveryRun every(code, {2}, kCosts);
  const RunSearch search(code, {2}, kCosts);
  for (uint32_t begin = 0; begin < code.size(); ++begin) {
    const auto end = static_cast<uint32_t>(code.size());
    EXPECT_EQ(search.best_runs(begin, end).back(), every.best(begin, end)->run) << begin;
  }
  EXPECT_EQ(search.crossings(3, 10).live_ins, (std::set<RegId>{1, 2}));
  EXPECT_EQ(search.crossings(4, 10).live_ins, (std::set<RegId>{1}));
}

/// Code of some kind at random: how often there is what, and of how many registers.
class RandomCode {
 public:
  explicit RandomCode(uint32_t seed) : random_(seed) {
    registers_ = below(12) + 1;
    percent_guarded_ = below(3) * 30;
    percent_access_ = 5 + below(60);
    percent_special_ = below(2) * 15;
    percent_rare_ = below(2) * 8;
    // Few values, so that many runs are equal; costs that are none are possible.
    costs_ = {.live_in = below(4), .live_out = below(4)};
    for (int64_t& saving : savings_) saving = below(5);
  }

  Code instructions(uint32_t size) {
    Code code(size);
    for (RunInstruction& in : code) {
      in.forbidden = chance(percent_rare_);
      in.control = chance(percent_rare_);
      in.guarded = chance(percent_guarded_);
      in.access = chance(percent_access_);
      if (in.access) in.saving = savings_[below(2)];
      for (uint32_t n = below(4); n > 0; --n) in.uses.push_back(below(registers_));
      for (uint32_t n = below(3); n > 0; --n) in.defs.push_back(below(registers_));
      for (; chance(percent_special_);)
        in.specials.push_back(static_cast<ptx::SpecialReg>(below(3)));
    }
    return code;
  }
  std::vector<RegId> live_out() {
    std::vector<RegId> live;
    for (RegId reg = 0; reg < registers_ + 2; ++reg) {
      if (chance(30)) live.push_back(reg);
    }
    return live;
  }
  CrossingCosts costs() const { return costs_; }
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

 private:
  bool chance(uint32_t percent) { return below(100) < percent; }

  std::mt19937 random_;
  uint32_t registers_, percent_guarded_, percent_access_, percent_special_, percent_rare_;
  CrossingCosts costs_;
  int64_t savings_[2];
};

void expect_same(RandomCode& random, uint32_t size) {
  const Code code = random.instructions(size);
  const std::vector<RegId> live_out = random.live_out();
  const EveryRun every(code, live_out, random.costs());
  const RunSearch search(code, live_out, random.costs());
  for (const uint32_t begin : {0u, random.below(size)}) {
    const std::vector<std::optional<InstructionRun>> found = search.best_runs(begin, size);
    ASSERT_EQ(found.size(), size - begin + 1);
    for (uint32_t end = begin; end <= size; ++end) {
      const EveryRun::Tried* best = every.best(begin, end);
      ASSERT_EQ(found[end - begin].has_value(), best != nullptr) << begin << "-" << end;
      if (best == nullptr) continue;
      ASSERT_EQ(found[end - begin]->first, best->run.first) << begin << "-" << end;
      ASSERT_EQ(found[end - begin]->last, best->run.last) << begin << "-" << end;
      ASSERT_EQ(found[end - begin]->total, best->run.total) << begin << "-" << end;
    }
  }
  for (const EveryRun::Tried& tried : every.ending_with(random.below(size))) {
    const Crossings crossings = search.crossings(tried.run.first, tried.run.last);
    ASSERT_EQ(crossings.live_ins, tried.crossings.live_ins);
    ASSERT_EQ(crossings.live_outs, tried.crossings.live_outs);
    ASSERT_EQ(crossings.specials, tried.crossings.specials);
  }
}

TEST(BestRun, OfRandomCode) {
  for (uint32_t seed = 0; seed < 5000; ++seed) {
    RandomCode random(seed);
    ASSERT_NO_FATAL_FAILURE(expect_same(random, 1 + random.below(32))) << "seed " << seed;
  }
}

TEST(BestRun, OfLongerRandomCode) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    RandomCode random(seed);
    ASSERT_NO_FATAL_FAILURE(expect_same(random, 150)) << "seed " << seed;
  }
}

TEST(SuffixSums, AreThoseOfARow) {
  std::mt19937 random(1);
  for (uint32_t size = 1; size < 40; ++size) {
    SuffixSums sums(size);
    std::vector<int64_t> row(size, 0);
    std::vector<bool> open(size, false);
    EXPECT_EQ(sums.least_at(), SuffixSums::kNowhere);
    for (int n = 0; n < 100; ++n) {
      uint32_t begin = random() % (size + 1), end = random() % (size + 1);
      if (begin > end) std::swap(begin, end);
      const int64_t amount = static_cast<int64_t>(random() % 5) - 2;
      sums.add(begin, end, amount);
      for (uint32_t i = begin; i < end; ++i) row[i] += amount;
      const uint32_t place = random() % size;
      sums.open(place);
      open[place] = true;
      uint32_t least = SuffixSums::kNowhere;
      for (uint32_t i = 0; i < size; ++i) {
        if (open[i] && (least == SuffixSums::kNowhere || row[i] <= row[least])) least = i;
      }
      ASSERT_EQ(sums.least_at(), least) << size;
      ASSERT_EQ(sums.least(), row[least]) << size;
    }
  }
}

}  // namespace
}  // namespace nearwarp::compiler
