// Does the explanation of offloading say what became of each candidate's instances?
#include "host/timing/report/explain.h"

#include <gtest/gtest.h>

#include "host/mechanisms/tom/report/sections.h"
#include "tests/report/texts.h"

namespace nearwarp::report {
namespace {

using testing::row;
using testing::unwrapped;
using testing::widest;
using testing::Words;

RunResult example() {
  RunResult r;
  r.policy = "tom";
  tom::CandidateRow c;
  c.kernel = "pathcalc";
  c.id = 3;
  c.source_lines = "bench/workloads/libor/libor.cu:41-57, /usr/include/math.h:5";
  c.instances = 11'000;
  c.offloaded = 6000;
  c.refused_condition = 1000;
  c.refused_busy = 2000;
  c.refused_pending = 2000;
  c.learning = 40;
  c.local_lines = 300;
  c.remote_lines = 100;
  c.kept = 5000;
  c.kept_cycles = 500'000;
  c.returned = 6000;
  c.offloaded_cycles = 1'500'000;
  c.stack_slots = 192;
  c.home_warps = 2880;
  tom::candidates_of(r) = {c};
  return r;
}

TEST(Explanation, ShowsTheNumbers) {
  // Wide enough for all columns beside each other.
  const std::string text = format_explanation(example(), 200);
  EXPECT_EQ(row(text, "pathcalc 3 "),
            (Words{"11,000", "6,000", "1,000", "2,000", "2,000", "40", "300", "100", "75.0", "100",
                   "250", "192", "2,880", "0.40", "2.6", "60.0"}));
  EXPECT_NE(text.find("Candidate blocks under tom:"), std::string::npos);
  EXPECT_NE(text.find("pathcalc 3: libor.cu:41-57, math.h:5\n"), std::string::npos);
}

TEST(Explanation, WhatColumnsAreIsSaidOnceForAllRuns) {
  RunResult baseline, other = example();
  baseline.policy = "baseline";
  other.policy = "other";
  const std::vector<RunResult> runs = {baseline, example(), other};
  const std::string legend = explanation_legend(runs);
  const size_t first = legend.find("Candidate blocks (kernel and number");
  EXPECT_NE(first, std::string::npos) << legend;
  EXPECT_EQ(legend.find("Candidate blocks", first + 1), std::string::npos) << legend;
  EXPECT_EQ(legend.find("Loops"), std::string::npos) << legend;
  EXPECT_EQ(legend.find("Memory objects"), std::string::npos) << legend;
  EXPECT_LE(widest(legend), 80u);
  EXPECT_EQ(unwrapped(format_explanation(other)).find("(steady)"), std::string::npos);
  EXPECT_EQ(explanation_legend(std::vector<RunResult>{baseline}), "");
}

TEST(Explanation, InstancesAddUpWhereSomeAccessNothing) {
  RunResult run = example();
  tom::candidates_of(run)[0].no_memory_access = 123;
  tom::candidates_of(run)[0].instances += 123;
  tom::candidates_of(run)[0].kept += 123;
  const std::string text = format_explanation(run, 200);
  EXPECT_EQ(row(text, "pathcalc 3 "),
            (Words{"11,123", "6,000", "1,000", "2,000", "2,000", "123", "40", "300", "100", "75.0",
                   "98", "250", "192", "2,880", "0.39", "2.5", "59.3"}));
}

TEST(Explanation, MeansAreOfInstancesThatEnded) {
  RunResult run = example();
  run.partial = true;
  tom::candidates_of(run)[0].returned = 1500;  // the others are still away
  EXPECT_EQ(row(format_explanation(run, 200), "pathcalc 3 ")[10], "1000");
}

TEST(Explanation, WhatASteadyStateWouldOffload) {
  tom::CandidateRow c;
  c.stack_slots = 192;
  c.home_warps = 2880;
  c.kept = 10, c.kept_cycles = 36'000;
  c.returned = 100, c.offloaded_cycles = 120'000;
  EXPECT_DOUBLE_EQ(c.advantage(), 3);
  EXPECT_DOUBLE_EQ(c.steady_share(), 576.0 / 3456.0);  // 17 %
  c.instances = 150, c.refused_condition = 40, c.offloaded = 100;
  EXPECT_DOUBLE_EQ(c.offloaded_share(), 100.0 / 110.0);
}

TEST(Explanation, RoundsOfTunedOffloading) {
  RunResult run = example();
  EXPECT_EQ(format_explanation(run, 200).find("rounds, near"), std::string::npos);
  tom::CandidateRow& c = tom::candidates_of(run)[0];
  c.entries = 7000;
  c.sent_back = 1500;
  c.home_rounds = 4000, c.home_cycles = 800'000;
  c.near_rounds = 12'000;
  c.returned = 6000, c.offloaded_cycles = 600'000;
  const std::string text = format_explanation(run, 200);
  const std::string rounds = text.substr(text.find("Loops under"));
  // The columns: entries, trials, returned, at end, sent back, rounds, their share, cycles per
  // round.
  EXPECT_EQ(row(rounds, "pathcalc 3 "), (Words{"7,000", "11,000", "6,000", "4,500", "1,500",
                                               "4,000", "12,000", "75.0", "200", "50"}));
  EXPECT_LE(widest(format_explanation(run)), 80u);
}

TEST(Explanation, NothingIsDividedByZero) {
  RunResult run = example();
  tom::candidates_of(run) = {tom::CandidateRow()};
  tom::candidates_of(run)[0].kernel = "k";
  const std::string text = format_explanation(run, 200);
  EXPECT_EQ(row(text, "k 0 "), (Words{"0", "0", "0", "0", "0", "0", "0", "0", "-", "-", "-", "0",
                                      "0", "-", "-", "-"}));
  EXPECT_EQ(text.find("nan"), std::string::npos);
  tom::candidates_of(run).clear();
  EXPECT_EQ(format_explanation(run), "");
}

TEST(Explanation, FitsInto80Columns) {
  RunResult run = example();
  tom::candidates_of(run).push_back(tom::candidates_of(run)[0]);
  tom::CandidateRow& big = tom::candidates_of(run).back();
  big.kernel = "_Z" + std::string(200, 'x');
  big.id = 12;
  big.instances = big.offloaded = big.local_lines = 18'446'744'073'709'551'615u;
  const std::string text = format_explanation(run);
  EXPECT_LE(widest(text), 80u) << text;
  // A name that is cut off keeps its number.
  EXPECT_NE(text.find(".. 12 "), std::string::npos);
  EXPECT_NE(text.find(".. 12: libor.cu:41-57, math.h:5"), std::string::npos);
}

TEST(Explain, WhatBecameOfChains) {
  RunResult r;
  r.policy = "llc-compute";
  const auto count = [&](const char* name, uint64_t value) {
    r.counters.push_back({name, value, "", ""});
  };
  EXPECT_EQ(format_explanation(r, 80), "");
  count("chains.found", 3);
  count("chains.instances", 2000);
  count("chains.offloaded", 500);
  count("chains.l1_hits", 1500);
  count("chains.packets", 600);
  count("chains.came_back", 200);
  count("chains.away_cycles", 50'000);
  count("service.taken", 400);
  count("service.cycles", 32'000);
  count("service.peak", 96);
  count("service.wait_operands", 24'000);
  count("service.wait_stored", 7'900);
  count("service.wait_read", 100);
  const std::string text = format_explanation(r, 80);
  EXPECT_LE(widest(text), 80u);
  const std::string words = unwrapped(text);
  EXPECT_NE(words.find("3 in the code. A warp waited 100 core cycles"), std::string::npos) << text;
  EXPECT_NE(words.find("Of 600 ComputePackets 200 found"), std::string::npos) << text;
  EXPECT_NE(words.find("stayed 80 cycles of the L2 in the mean, at most 96"), std::string::npos);
  EXPECT_NE(words.find("they waited for: operands 75 %, the store's acknowledgement 25 %."),
            std::string::npos)
      << words;
  EXPECT_EQ(row(text, "kept: operand in the L1"), (Words{"1,500", "75.0"}));
  EXPECT_EQ(words.find("other SMs"), std::string::npos);
}

TEST(Explain, ChainsThatOtherSmsExecute) {
  RunResult r;
  const auto count = [&](const char* name, uint64_t value) {
    r.counters.push_back({name, value, "", ""});
  };
  count("chains.found", 1);
  count("sm_service.queues", 0);
  EXPECT_NE(unwrapped(format_explanation(r, 80)).find("No SM executes chains of others"),
            std::string::npos);
  r.counters.back().value = 56;
  count("chains.to_sms", 300);
  count("sm_service.taken", 200);
  count("sm_service.cycles", 50'000);
  count("sm_service.refused", 60);
  count("sm_service.turned_away", 40);
  const std::string words = unwrapped(format_explanation(r, 80));
  EXPECT_NE(words.find("300 of the packets went to other SMs"), std::string::npos) << words;
  EXPECT_NE(words.find("stayed 250 core cycles"), std::string::npos) << words;
  EXPECT_NE(words.find("100 found it full"), std::string::npos) << words;
}

}  // namespace
}  // namespace nearwarp::report
