// Does `nearwarp compare` find everything that differs, and begin with what matters?
#include "host/timing/compare/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "host/core/error.h"
#include "host/timing/compare/decomposition.h"
#include "host/timing/compare/sentence.h"
#include "host/timing/report/use.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using compare::Document;
using Json = nlohmann::ordered_json;

Json run(const std::string& workload, const std::string& policy, uint64_t cycles) {
  Json json = Json::parse(R"({"size": "small", "machine": "tom", "overrides": [],
    "status": "complete", "core_mhz": 1400,
    "traffic": {"gpu_to_memory_bytes": 10}, "bandwidth_used": {"higher": 0.5},
    "energy": {"total_joules": 2, "parts": {"sm": 2}},
    "host": {"wall_seconds": 1},
    "counters": {"sm.issued": {"value": 100, "unit": "warp-instructions"},
                 "sm.none": {"value": 0, "unit": "events"}}})");
  json["workload"] = workload;
  json["policy"] = policy;
  json["cycles"] = cycles;
  return json;
}

Document document(std::vector<Json> runs) {
  Document d;
  d.version = "1";
  d.machine = {{"sm.warps", "48"}, {"l1.ways", "4"}};
  for (Json& r : runs) d.runs.push_back(std::move(r));
  return d;
}

TEST(Compare, EqualRunsDifferInNothingWhateverTheHostTook) {
  Document b = document({run("a", "tom", 100)});
  b.runs[0]["host"]["wall_seconds"] = 7;
  const auto d = compare::compare(document({run("a", "tom", 100)}), b);
  EXPECT_TRUE(d.none());
  EXPECT_TRUE(contains(compare::format(d, 20), "no difference"));
}

TEST(Compare, CyclesComeFirstThenConfigurationThenCountersByWeight) {
  Document a = document({run("a", "tom", 100)}), b = document({run("a", "tom", 110)});
  b.machine = {{"sm.warps", "96"}, {"l1.ways", "4"}};
  const auto set = [](Document& d, const char* name, uint64_t value) {
    d.runs[0]["counters"][name] = {{"value", value}, {"unit", "warp-instructions"}};
  };
  set(a, "sm.many", 1'000'000);
  set(b, "sm.many", 900'000);
  set(a, "sm.few", 10);
  set(b, "sm.few", 1000);
  const auto d = compare::compare(a, b);
  EXPECT_EQ(d.settings, std::vector<std::string>{"sm.warps: 48 -> 96"});
  ASSERT_EQ(d.runs.size(), 1u);
  ASSERT_EQ(d.runs[0].changes.size(), 3u);
  EXPECT_EQ(d.runs[0].changes[0].name, "cycles");
  EXPECT_EQ(d.runs[0].changes[1].name, "sm.many") << "a tenth of a million weighs more";
  EXPECT_DOUBLE_EQ(d.runs[0].changes[1].weight, 0.1);
  EXPECT_EQ(d.runs[0].changes[2].name, "sm.few");
  EXPECT_DOUBLE_EQ(d.runs[0].changes[2].weight, 990 / 1e6);
  const std::string text = compare::format(d, 1);
  EXPECT_LT(text.find("cycles"), text.find("sm.warps: 48 -> 96"));
  EXPECT_LT(text.find("sm.warps: 48 -> 96"), text.find("sm.many"));
  EXPECT_TRUE(contains(text, "energy [mJ]")) << "what is equal is said too" << text;
  EXPECT_TRUE(contains(text, "equal")) << text;
  EXPECT_TRUE(contains(text, "and 1 that matter less")) << text;
  const Json json = compare::compare_json(d);
  EXPECT_EQ(json["schema"], "nearwarp.compare/1");
  EXPECT_EQ(json["changes"][1]["name"], "sm.many");
  EXPECT_EQ(json["changes"][1]["second"], 900'000);
}

TEST(Compare, ASentenceSaysWhereTheCyclesAre) {
  Document a = document({run("a", "baseline", 1000)}), b = document({run("a", "tom", 1600)});
  EXPECT_EQ(compare::compare(a, b).runs.at(0).sentence, "a: 600 cycles lost under tom (+60.0 %)");
  Document same = document({run("a", "tom", 1001)});
  Json learning = run("a", "tom", 1600);
  learning["mapping"] = {{"source", "learnt"}, {"applied", false}, {"instances", {{"wanted", 3}}}};
  EXPECT_EQ(compare::compare(a, document({learning})).runs.at(0).sentence,
            "a: 600 cycles lost under tom (+60.0 %); the mapping was being learnt to the end, with "
            "memory behind PCI-E");
  learning["mapping"]["instances"]["wanted"] = 0;
  EXPECT_EQ(compare::compare(a, document({learning})).runs.at(0).sentence,
            "a: 600 cycles lost under tom (+60.0 %)")
      << "without candidates nothing is learnt";
  EXPECT_EQ(compare::compare(a, same).runs.at(0).sentence,
            "a: tom changes next to nothing (+0.1 % cycles)");
}

TEST(Compare, WhatRunsAreAboutComesFirstAndFewEventsLast) {
  Document a = document({run("a", "tom", 1'000'000)}), b = document({run("a", "tom", 1'000'001)});
  a.runs[0]["ipc"] = 100.5;
  b.runs[0]["ipc"] = 100.4;
  b.runs[0]["energy"]["total_joules"] = 2.5;
  b.runs[0]["traffic"]["gpu_to_memory_bytes"] = 11;
  a.runs[0]["counters"]["l2.read_merges"] = {{"value", 3}, {"unit", "lines"}};
  b.runs[0]["counters"]["l2.read_merges"] = {{"value", 2}, {"unit", "lines"}};
  b.runs[0]["counters"]["sm.issued"]["value"] = 102;
  const compare::Difference d = compare::compare(a, b);
  std::vector<std::string> names;
  for (const compare::Change& c : d.runs.at(0).changes) names.push_back(c.name);
  EXPECT_EQ(names, (std::vector<std::string>{"cycles", "ipc", "energy.total_joules",
                                             "traffic.gpu_to_memory_bytes", "sm.issued",
                                             "l2.read_merges"}));
}

TEST(Compare, LinesFitATerminal) {
  Document a = document({run("a", "tom", 1)}), b = document({run("a", "tom", 2)});
  a.machine.emplace_back("machine.description", std::string(30, 'a') + " " + std::string(60, 'b'));
  for (int i = 0; i < 60; ++i) {
    const std::string name = "sm.a_counter_with_quite_a_long_name." + std::to_string(i);
    a.runs[0]["counters"][name] = {{"value", 1}, {"unit", ""}};
    b.runs[0]["counters"]["other." + name] = {{"value", 1}, {"unit", ""}};
    b.runs[0]["overrides"].push_back("sm.key_" + std::to_string(i) + "=1");
  }
  const std::string wide = "sm.another_counter_with_an_even_longer_name_than_others";
  a.runs[0]["counters"][wide] = {{"value", 1'000'000'000}, {"unit", "warp-instructions"}};
  b.runs[0]["counters"][wide] = {{"value", 3'000'000'000}, {"unit", "warp-instructions"}};
  const compare::Difference d = compare::compare(a, b);
  EXPECT_LE(longest_line(compare::format(d, 20)), 80u) << compare::format(d, 20);
  EXPECT_LE(longest_line(compare::format(d, 0, 70)), 70u) << compare::format(d, 0, 70);
  EXPECT_TRUE(contains(compare::format(d, 20), " more (`most`)"));
  EXPECT_FALSE(contains(compare::format(d, 0), "--all"));
}

TEST(Compare, NumbersOfSmsThatDifferAreAmongTheSettings) {
  Document a = document({run("a", "baseline", 100)}), b = document({run("a", "tom", 110)});
  EXPECT_EQ(compare::compare(a, b).runs.at(0).settings,
            std::vector<std::string>{"policy: baseline -> tom"});  // old documents
  a.runs[0]["sm_cycles"] = Json::parse(R"([{"sms": "sm", "count": 68}])");
  b.runs[0]["sm_cycles"] =
      Json::parse(R"([{"sms": "sm", "count": 64}, {"sms": "stack_sm", "count": 4}])");
  EXPECT_EQ(compare::compare(a, b).runs.at(0).settings,
            (std::vector<std::string>{"policy: baseline -> tom", "SMs: 68 -> 64 + 4 in stacks"}));
}

TEST(Compare, RunsAreMatchedByWhatTheyAreAndLeftOversByWorkload) {
  const auto d =
      compare::compare(document({run("a", "baseline", 1), run("a", "tom", 2), run("b", "tom", 3)}),
                       document({run("b", "baseline", 3), run("a", "tom", 2), run("c", "tom", 1)}));
  ASSERT_EQ(d.runs.size(), 2u);
  EXPECT_TRUE(d.runs[0].changes.empty());
  EXPECT_EQ(d.runs[1].settings, std::vector<std::string>{"policy: tom -> baseline"});
  EXPECT_EQ(d.only_a, std::vector<std::string>{"a (small) on tom under baseline"});
  EXPECT_EQ(d.only_b, std::vector<std::string>{"c (small) on tom under tom"});
  EXPECT_FALSE(d.none());
}

TEST(Compare, OtherValuesOfAKeyLeavePoliciesWithThemselves) {
  Document b = document({run("a", "tom", 3), run("a", "baseline", 2)});
  for (Json& r : b.runs) r["overrides"] = {"sm.warps=96"};
  const auto d = compare::compare(document({run("a", "baseline", 1), run("a", "tom", 2)}), b);
  ASSERT_EQ(d.runs.size(), 2u);
  EXPECT_EQ(d.runs[0].title, "a (small) on tom under baseline");
  ASSERT_EQ(d.runs[1].changes.size(), 1u);
  EXPECT_DOUBLE_EQ(d.runs[1].changes[0].relative(), 0.5);
  EXPECT_TRUE(d.only_a.empty() && d.only_b.empty());
}

TEST(Compare, RunsThatAreThereTwiceAreMatchedInTheirOrder) {
  const Document twice = document({run("a", "tom", 1), run("a", "tom", 2)});
  EXPECT_TRUE(compare::compare(twice, twice).none());
}

TEST(Compare, CountersThatOneOfThemHasNotAreNamed) {
  Document b = document({run("a", "tom", 100)});
  b.runs[0]["counters"]["sm.new"] = {{"value", 1}, {"unit", ""}};
  b.runs[0]["counters"].erase("sm.none");
  const auto d = compare::compare(document({run("a", "tom", 100)}), b);
  EXPECT_EQ(d.runs[0].only_a, std::vector<std::string>{"sm.none"});
  EXPECT_EQ(d.runs[0].only_b, std::vector<std::string>{"sm.new"});
}

TEST(Compare, ReadsRunsAndSweepsOfTheProgram) {
  const TemporaryFolder folder;
  const std::string a = folder.file("a.json"), b = folder.file("b.json"), s = folder.file("s");
  ASSERT_EQ(run_program({"run", "fma", "--policy", "baseline", "--json", a}).exit_code, 0);
  ASSERT_EQ(
      run_program({"run", "fma", "--policy", "baseline", "--json", b, "--set", "sm.schedulers=1"})
          .exit_code,
      0);
  ASSERT_EQ(run_program({"sweep", "fma", "--policy", "baseline", "--out", s}).exit_code, 0);
  const Outcome equal = run_program({"compare", a, s, "--exit-code"});
  EXPECT_EQ(equal.exit_code, 0) << equal.out << equal.err;
  EXPECT_TRUE(contains(equal.out, "no difference")) << equal.out;
  const std::string json = folder.file("d.json"), csv = folder.file("d.csv");
  const Outcome other = run_program({"compare", a, b, "--exit-code", "--json", json, "--csv", csv});
  EXPECT_EQ(Json::parse(read_text(json))["changes"][0]["name"], "cycles");
  EXPECT_EQ(count_lines(read_text(csv)), Json::parse(read_text(json))["changes"].size() + 1);
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.out, "sm.schedulers: 2 -> 1")) << other.out;
  EXPECT_TRUE(contains(other.out, "cycles")) << other.out;
}

TEST(Compare, WhatHoldsNoRunsIsRefused) {
  const TemporaryFolder folder;
  write_text(folder.file("x"), "nothing\n");
  const Outcome outcome = run_program({"compare", folder.file("x"), folder.file("x")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "holds no runs")) << outcome.err;
  EXPECT_EQ(run_program({"compare", folder.file("none"), folder.file("x")}).exit_code, 1);
}

/// A run of two kernels on `sms` SMs; of each kernel's cycles `waits` for memory, the rest issues.
Json run_of_kernels(uint64_t sms, std::vector<std::pair<uint64_t, uint64_t>> kernels,
                    uint64_t outside) {
  uint64_t cycles = outside;
  Json json = run("a", "tom", 0);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const auto [all, waits] = kernels[i];
    Json uses;
    for (const report::CycleUse& use : report::kCycleUses) uses[use.name] = 0;
    uses["memory"] = waits * sms + (i == 0 ? 1 : 0);  // means need not be whole
    uses["issued"] = (all - waits) * sms - (i == 0 ? 1 : 0);
    json["kernel_totals"].push_back({{"kernel", "k" + std::to_string(i)},
                                     {"cycles", all},
                                     {"sm_cycles", {{{"sms", "sm"}, {"uses", uses}}}}});
    cycles += all;
  }
  json["cycles"] = cycles;
  json["sm_cycles"] = {{{"sms", "sm"}, {"count", sms}}};
  return json;
}

TEST(Compare, CyclesAreDividedIntoKernelsAndCausesThatAddUp) {
  const Json a = run_of_kernels(3, {{1000, 400}, {500, 100}}, 20);
  const Json b = run_of_kernels(7, {{2500, 1800}, {450, 90}}, 25);
  const compare::Decomposition d = compare::decompose(a, b);
  EXPECT_EQ(d.cycles, 1500 - 50 + 5);
  ASSERT_EQ(d.kernels.size(), 3u);
  EXPECT_EQ(d.kernels[0].kernel, "k0");
  EXPECT_EQ(d.kernels[0].cycles, 1500);
  EXPECT_EQ(d.kernels[2].kernel, "outside of kernels");
  int64_t of_kernels = 0;
  for (const compare::KernelShare& k : d.kernels) {
    of_kernels += k.cycles;
    int64_t of_causes = 0;
    for (const compare::CycleShare& c : k.causes) of_causes += c.cycles;
    if (!k.causes.empty()) {
      EXPECT_EQ(of_causes, k.cycles) << k.kernel;
    }
  }
  EXPECT_EQ(of_kernels, d.cycles);
  ASSERT_FALSE(d.causes.empty());
  EXPECT_EQ(d.causes[0].what, "wait for memory");
  EXPECT_EQ(d.causes[0].cycles, 1390);
  const std::string text = compare::format(compare::compare(document({a}), document({b})), 20, 80);
  EXPECT_TRUE(contains(text, "+1,455 core cycles: k0 +1,500, k1 -50, outside of kernels +5"))
      << text;
  EXPECT_TRUE(contains(text, "SMs wait for memory +1,390")) << text;
}

const compare::CycleShare& cause_of(const std::vector<compare::CycleShare>& causes,
                                    const std::string& what) {
  const auto at = std::ranges::find(causes, what, &compare::CycleShare::what);
  if (at == causes.end()) throw Error("no cause " + what);
  return *at;
}

std::map<std::string, int64_t> parts_of(const compare::CycleShare& cause) {
  std::map<std::string, int64_t> parts;
  for (const compare::CyclePart& part : cause.parts) parts[part.what] = part.cycles;
  return parts;
}

using Parts = std::map<std::string, int64_t>;

TEST(Compare, WaitingForMemoryIsDividedByWherePacketsWere) {
  Json a = run_of_kernels(3, {{1000, 400}, {500, 100}}, 0);
  Json b = run_of_kernels(7, {{2500, 1800}, {450, 90}}, 0);
  const auto place = [](const char* text, uint64_t ticks, bool between) {
    return Json{{"name", text}, {"text", text}, {"ticks", ticks}, {"between_stacks", between}};
  };
  a["way"] = {place("RX links", 30, false), place("banks", 20, false)};
  b["way"] = {place("RX links", 70, false), place("PCI-E", 30, false)};
  const compare::Decomposition d = compare::decompose(a, b);
  // 500 1/3 cycles before, 1890 1/7 after.
  const Parts parts = parts_of(cause_of(d.causes, "wait for memory"));
  EXPECT_EQ(parts, (Parts{{"RX links", 1323 - 300}, {"PCI-E", 567}, {"banks", -200}}));
  EXPECT_TRUE(cause_of(d.kernels[0].causes, "wait for memory").parts.empty())
      << "places are known of all kernels together";
  EXPECT_TRUE(contains(compare::sentence(a, b, "x", "b"),
                       "1,500 in k0 alone, whose warps wait longer for memory (mostly RX links)"))
      << compare::sentence(a, b, "x", "b");
  // In a phase of a mechanism the sentence does not say where packets were: the mechanism moves
  // them.
  Json in_phase = b;
  in_phase["kernels"] = {{{"kernel", "k0"}, {"begin_cycle", 0}, {"cycles", 2500}}};
  in_phase["phases"] = {
      {{"name", "learns"}, {"stands_still", false}, {"begin_cycle", 0}, {"end_cycle", 2000}}};
  EXPECT_TRUE(
      compare::sentence(a, in_phase, "x", "b").ends_with("whose warps wait longer for memory"))
      << compare::sentence(a, in_phase, "x", "b");
  for (Json* run : {&a, &b}) (*run)["kernel_totals"][0]["kernel"] = "_Z3addPfiS_";
  EXPECT_TRUE(contains(compare::sentence(a, b, "x", "b"), "1,500 in add alone, whose"))
      << compare::sentence(a, b, "x", "b");
  // Main SMs do not wait for links between stacks if stacks have SMs of their own.
  b["way"].push_back(place("cross-stack links", 1000, true));
  EXPECT_TRUE(parts_of(cause_of(compare::decompose(a, b).causes, "wait for memory"))
                  .contains("cross-stack links"));
  b["sm_cycles"].push_back({{"sms", "stack_sm"}, {"count", 4}});
  EXPECT_EQ(parts_of(cause_of(compare::decompose(a, b).causes, "wait for memory")), parts);
  a.erase("way");
  EXPECT_TRUE(cause_of(compare::decompose(a, b).causes, "wait for memory").parts.empty());
}

/// Cycles of SMs without warps count as what the other SMs wait for, unless work is spread
/// otherwise.
TEST(Compare, SmsWithoutWarpsWaitForWhatTheOthersWaitFor) {
  const auto run_of = [](uint64_t cycles, uint64_t memory, uint64_t issued) {
    Json json = run_of_kernels(1, {{cycles, memory}}, 0);
    Json& uses = json["kernel_totals"][0]["sm_cycles"][0]["uses"];
    uses["memory"] = memory;
    uses["issued"] = issued;
    uses["no_warp"] = cycles - memory - issued;
    return json;
  };
  const auto more = [](const Json& a, const Json& b, const char* what) {
    const compare::Decomposition d = compare::decompose(a, b);
    const auto& causes = d.kernels.at(0).causes;
    const auto at = std::ranges::find(causes, what, &compare::CycleShare::what);
    return at == causes.end() ? 0 : at->cycles;
  };
  // One SM in ten has a warp before and after: all of the change is what this one does.
  const Json before = run_of(1000, 50, 50);
  EXPECT_EQ(more(before, run_of(3000, 240, 60), "wait for memory"), 1900);
  EXPECT_EQ(more(before, run_of(3000, 240, 60), "issue"), 100);
  EXPECT_EQ(more(before, run_of(3000, 240, 60), "have no warp"), 0);
  EXPECT_EQ(more(before, run_of(500, 10, 40), "wait for memory"), -400);
  // If fewer SMs have work afterwards, that part of the change is due to how work is spread.
  EXPECT_EQ(more(before, run_of(3000, 100, 50), "wait for memory"), 500);
  EXPECT_EQ(more(before, run_of(3000, 100, 50), "have no warp"), 1500);
  // A sentence says first that SMs run out of warps if that is most of the change; else not at all.
  EXPECT_TRUE(
      compare::sentence(before, run_of(3000, 100, 50), "x", "b")
          .ends_with("in k0, whose SMs run out of warps, and whose warps wait longer for memory"))
      << compare::sentence(before, run_of(3000, 100, 50), "x", "b");
  EXPECT_TRUE(compare::sentence(before, run_of(3000, 240, 60), "x", "b")
                  .ends_with("in k0, whose warps wait longer for memory"))
      << compare::sentence(before, run_of(3000, 240, 60), "x", "b");
  // Cycles without a warp that do not change count for nothing.
  EXPECT_EQ(more(before, run_of(1010, 60, 50), "wait for memory"), 10);
  EXPECT_EQ(more(before, run_of(1010, 60, 50), "have no warp"), 0);
}

/// `k0` has one launch, of 1000 cycles, in which warps waited for offloaded work and the mechanism.
Json offloading_run(uint64_t offload, uint64_t mechanism) {
  Json json = run_of_kernels(1, {{1000, 0}}, 0);
  Json& uses = json["kernel_totals"][0]["sm_cycles"][0]["uses"];
  uses["issued"] = 1000 - offload - mechanism;
  uses["memory"] = 0;
  uses["offload"] = offload;
  uses["mechanism"] = mechanism;
  json["kernels"] = {{{"kernel", "k0"}, {"begin_cycle", 0}, {"cycles", 1000}}};
  return json;
}

/// Cycles that are saved while the mapping is being learnt are no gain of the mapping.
TEST(Compare, WhatIsSavedWhileAMappingIsLearntIsSaidToBe) {
  const Json a = offloading_run(0, 0);
  Json b = run_of_kernels(1, {{600, 0}}, 0);
  b["kernels"] = {{{"kernel", "k0"}, {"begin_cycle", 0}, {"cycles", 600}}};
  b["mapping"] = {{"source", "learnt"},
                  {"applied", true},
                  {"instances", {{"wanted", 4}}},
                  {"resume_cycle", 500}};
  b["phases"] = {
      {{"name", "learns"}, {"stands_still", false}, {"begin_cycle", 0}, {"end_cycle", 500}}};
  const char* const clause = "until the mapping was learnt, memory was behind PCI-E for 500 cycles";
  EXPECT_TRUE(contains(compare::sentence(a, b, "x", "b"), clause))
      << compare::sentence(a, b, "x", "b");
  b["phases"][0]["end_cycle"] = 100;
  EXPECT_FALSE(contains(compare::sentence(a, b, "x", "b"), clause));
}

TEST(Compare, WaitingForOffloadedWorkIsDividedByWhatExecutedIt) {
  const Json a = offloading_run(0, 0);
  Json b = offloading_run(600, 0);
  EXPECT_TRUE(cause_of(compare::decompose(a, b).causes, "wait for offloaded work").parts.empty());
  Json uses;
  for (const report::CycleUse& use : report::kCycleUses) uses[use.name] = 0;
  uses["memory"] = 60;
  uses["issued"] = 40;
  uses["no_warp"] = 5000;  // main SMs do not wait for SMs without warps
  b["kernel_totals"][0]["sm_cycles"].push_back({{"sms", "stack_sm"}, {"uses", uses}});
  b["candidates"] = {{{"kernel", "k0"}, {"local_lines", 10}, {"remote_lines", 30}},
                     {{"kernel", "k1"}, {"local_lines", 1000}, {"remote_lines", 0}}};
  const compare::Decomposition d = compare::decompose(a, b);
  const Parts parts{
      {"remote lines", 270}, {"lines of the own stack", 90}, {"issue near memory", 240}};
  EXPECT_EQ(parts_of(cause_of(d.causes, "wait for offloaded work")), parts);
  EXPECT_EQ(parts_of(cause_of(d.kernels[0].causes, "wait for offloaded work")), parts);
  const std::string text = compare::format_shortly(d, "b over a", 200);
  EXPECT_EQ(text, "");  // no cycle more
}

TEST(Compare, WaitingAtBarriersBesideOffloadedWarpsIsSaidToBe) {
  const Json a = run_of_kernels(1, {{500, 0}}, 0);
  Json b = run_of_kernels(1, {{1000, 0}}, 0);
  b["kernel_totals"][0]["sm_cycles"][0]["uses"]["memory"] = 0;
  b["kernel_totals"][0]["sm_cycles"][0]["uses"]["issued"] = 400;
  b["kernel_totals"][0]["sm_cycles"][0]["uses"]["barrier"] = 600;
  EXPECT_TRUE(compare::sentence(a, b, "x", "b").ends_with("whose warps wait longer at barriers"))
      << compare::sentence(a, b, "x", "b");
  Json uses;
  for (const report::CycleUse& use : report::kCycleUses) uses[use.name] = 0;
  uses["memory"] = 100;
  b["kernel_totals"][0]["sm_cycles"].push_back({{"sms", "stack_sm"}, {"uses", uses}});
  EXPECT_TRUE(contains(compare::sentence(a, b, "x", "b"),
                       "whose warps wait longer at barriers, while offloaded ones wait for memory"))
      << compare::sentence(a, b, "x", "b");
}

/// Warps that wait to be offloaded wait for offloaded warps, and these for what SMs near memory
/// mostly do: remote lines are the reason only if these SMs wait for memory more than they issue.
TEST(Compare, ASentenceSaysWhatHoldsUpOffloadedWarps) {
  const Json a = run_of_kernels(1, {{500, 0}}, 0);
  const auto said = [&](uint64_t offload, uint64_t mechanism, uint64_t issued, uint64_t memory) {
    Json b = offloading_run(offload, mechanism);
    Json uses;
    for (const report::CycleUse& use : report::kCycleUses) uses[use.name] = 0;
    uses["memory"] = memory;
    uses["issued"] = issued;
    uses["no_warp"] = 50;
    b["kernel_totals"][0]["sm_cycles"].push_back({{"sms", "stack_sm"}, {"uses", uses}});
    b["candidates"] = {{{"kernel", "k0"}, {"local_lines", 10}, {"remote_lines", 30}}};
    const std::string text = compare::sentence(a, b, "x", "b");
    return text.substr(text.find("whose"));
  };
  EXPECT_EQ(said(600, 0, 900, 50), "whose offloaded warps are more than stack SMs can issue");
  EXPECT_EQ(said(600, 0, 50, 900), "whose offloaded warps wait for remote lines");
  EXPECT_EQ(
      said(100, 600, 900, 50),
      "whose warps wait for room near memory, where others are more than stack SMs can issue");
  EXPECT_EQ(said(100, 600, 50, 900),
            "whose warps wait for room near memory, where others wait for remote lines");
  EXPECT_EQ(said(100, 600, 1, 1), "whose warps wait for the mechanism");
  EXPECT_EQ(said(600, 0, 1, 2), "whose offloaded warps wait for remote lines");
}

TEST(Compare, WaitingForTheMechanismHasThePhasesInWhichAllStandsStill) {
  const Json a = offloading_run(0, 0);
  Json b = offloading_run(0, 500);
  b["phases"] = {
      {{"name", "learns"}, {"begin_cycle", 0}, {"end_cycle", 700}, {"stands_still", false}},
      {{"name", "put in place"}, {"begin_cycle", 700}, {"end_cycle", 900}, {"stands_still", true}},
      {{"name", "later"}, {"begin_cycle", 990}, {"end_cycle", 2000}, {"stands_still", true}}};
  EXPECT_EQ(parts_of(cause_of(compare::decompose(a, b).causes, "wait for the mechanism")),
            (Parts{{"put in place", 200}, {"later", 10}, {"decisions and registers", 290}}));
}

TEST(Compare, OtherKernelsAreNotDivided) {
  const Json a = run_of_kernels(3, {{1000, 400}}, 0);
  EXPECT_TRUE(compare::decompose(a, run_of_kernels(3, {{1000, 400}, {5, 1}}, 0)).empty());
  EXPECT_TRUE(compare::decompose(run("a", "tom", 5), run("a", "tom", 6)).empty());
}

}  // namespace
}  // namespace nearwarp::testing
