// Do the table and the JSON document say what the results are, within their bounds?
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "host/core/error.h"
#include "host/mechanisms/tom/report/sections.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/file.h"
#include "host/timing/report/json.h"
#include "host/timing/report/registers.h"
#include "host/timing/report/sms.h"
#include "host/timing/report/table.h"
#include "tests/report/texts.h"

namespace nearwarp::report {
namespace {

namespace fs = std::filesystem;

TEST(Columns, AHeadingIsCutToItsCellsWhereTheNamesTakeTheWidth) {
  const std::string name = "a name that is wider than all";
  const auto table = [&](size_t width) {
    const std::string text = columns_text({name}, {{"a long heading", {"1234"}}}, width);
    return text.substr(0, text.find('\n'));
  };
  const std::string blank(name.size(), ' ');
  EXPECT_EQ(table(20), blank + "  a ..");
  EXPECT_EQ(table(name.size() + 1), blank + "  a ..");
  EXPECT_EQ(table(name.size() + 10), blank + "  a long..");
  EXPECT_EQ(table(100), blank + "  a long heading");
}

RunResult example(const std::string& policy, uint64_t cycles) {
  RunResult r;
  r.workload = "libor";
  r.size = "small";
  r.machine = "tom";
  r.policy = policy;
  r.core_mhz = 1400;
  r.cycles = cycles;
  r.warp_instructions = 50'000'000;
  r.thread_instructions = 1'600'000'000;
  r.offloaded_thread_instructions = 400'000'000;
  r.traffic = {123'456'789, 987'654'321, 11'000'000};
  r.link_use = {150, 700, 1000};
  r.wall_seconds = 12.5;
  r.counters = {{"sm.l1.read_hits", 42, "accesses", "Loads found in the L1."},
                {"dram.row_hits", 18'446'744'073'709'551'615u, "accesses", "Open rows."}};
  KernelRow& launch = r.kernels.emplace_back();
  launch.kernel = "pathcalc";
  launch.cycles = cycles;
  launch.warp_instructions = 50'000'000;
  launch.registers = 55;
  launch.registers_source = "ptxas sm_75";
  tom::candidates_of(r) = {{"pathcalc", 3, "libor.cu:41-57", 10, 6, 1, 2, 1}};
  return r;
}

using testing::row;
using testing::widest;
using testing::Words;

RunResult with_sms(RunResult run, uint64_t main, uint64_t in_stacks) {
  SmCycles sms;
  sms.sms = "sm";
  sms.count = main;
  run.sm_cycles.push_back(sms);
  sms.sms = "stack_sm";
  sms.count = in_stacks;
  if (in_stacks != 0) run.sm_cycles.push_back(sms);
  return run;
}

TEST(Table, NumbersOfSmsStandBelowTheSpeedUpsWhereTheyDiffer) {
  const RunResult baseline = with_sms(example("baseline", 30'000'000), 68, 0),
                  offload = with_sms(example("tom", 20'000'000), 64, 8);
  const std::string text = format_table(std::vector<RunResult>{baseline, offload});
  EXPECT_EQ(row(text, "SMs + in stacks"), (Words{"68", "64", "+", "8"})) << text;
  EXPECT_LT(text.find("speed-up"), text.find("SMs + in stacks"));
  EXPECT_EQ(format_table(std::vector<RunResult>{baseline, baseline}).find("in stacks"),
            std::string::npos);
  EXPECT_EQ(sms_of(run_json(offload)), sms_of(offload));
  EXPECT_EQ(different_sms_text({{"a", {68, 0}}, {"b", {64, 8}}, {"c", {64, 8}}, {"d", {}}}),
            "SMs: 68 (a), 64 + 8 in stacks (b, c)");
  EXPECT_EQ(different_sms_text({{"a", {68, 0}}, {"d", {}}}), "");
}

TEST(Table, AMappingThatFewInstancesChoseIsNoted) {
  RunResult run = example("tom", 20'000'000);
  tom::mapping_of(run).emplace();
  tom::mapping_of(run)->learnt = tom::mapping_of(run)->applied = true;
  tom::mapping_of(run)->total_instances = 1000;
  tom::mapping_of(run)->seen_instances = 1;
  const std::string few = "tom: the mapping of data was learnt. Only 1 of 1,000 instances decided";
  EXPECT_NE(testing::unwrapped(format_table(std::vector<RunResult>{run}, 80, false)).find(few),
            std::string::npos);
  EXPECT_EQ(run_json(run).at("mapping").at("instances").at("few"), true);
  tom::mapping_of(run)->seen_instances = 32;
  EXPECT_EQ(format_table(std::vector<RunResult>{run}).find("learnt"), std::string::npos);
  EXPECT_EQ(run_json(run).at("mapping").at("instances").at("few"), false);
}

TEST(Table, SaysWhatItsRowsAreWhereItIsToBe) {
  const std::vector<RunResult> runs = {example("baseline", 30'000'000)};
  const std::string with = format_table(runs), without = format_table(runs, 80, false);
  EXPECT_NE(with.find("thread-instructions per cycle"), std::string::npos);
  EXPECT_EQ(without.find("thread-instructions per cycle"), std::string::npos);
  EXPECT_EQ(with.substr(0, without.size()), without);
  EXPECT_LE(widest(format_table(runs, 40)), 40u);
}

TEST(Table, ShowsTheNumbers) {
  const std::vector<RunResult> runs = {example("baseline", 30'000'000),
                                       example("ndp-controlled-bmap", 20'000'000)};
  const std::string text = format_table(runs);
  EXPECT_EQ(row(text, "cycles"), (Words{"30,000,000", "20,000,000"}));
  EXPECT_EQ(row(text, "IPC"), (Words{"53.33", "80.00"}));
  EXPECT_EQ(row(text, "speed-up"), (Words{"1.000", "1.500"}));
  EXPECT_EQ(row(text, "GPU->memory [MB]"), (Words{"123.5", "123.5"}));
  EXPECT_EQ(row(text, "memory->GPU [MB]"), (Words{"987.7", "987.7"}));
  EXPECT_EQ(row(text, "memory<->memory [MB]"), (Words{"11.0", "11.0"}));
  EXPECT_EQ(row(text, "TX bandwidth used [%]"), (Words{"15.0", "15.0"}));
  EXPECT_EQ(row(text, "RX bandwidth used [%]"), (Words{"70.0", "70.0"}));
  EXPECT_EQ(row(text, "offloaded instr. [%]"), (Words{"25.0", "25.0"}));
  EXPECT_EQ(row(text, "simulated [Mwi/s]"), (Words{"4.00", "4.00"}));
}

TEST(Table, FitsInto80ColumnsHoweverManyPolicies) {
  for (size_t n : {1u, 2u, 3u, 4u, 9u}) {
    std::vector<RunResult> runs;
    for (size_t i = 0; i < n; ++i) {
      runs.push_back(example(i % 2 == 0 ? "ndp-uncontrolled-bmap" : "baseline",
                             18'446'744'073'709'551'615u - i));
    }
    runs[0].overrides = {"links.gpu_to_memory_mbps=160000", "links.memory_to_memory_mbps=80000",
                         "stack.tsv_mbps=20000"};
    const std::string text = format_table(runs);
    EXPECT_LE(widest(text), 80u) << text;
    size_t shown = 0;
    for (size_t at = text.find("ndp-uncontrolled-bmap"); at != std::string::npos;
         at = text.find("ndp-uncontrolled-bmap", at + 1)) {
      shown += 1;
    }
    EXPECT_EQ(shown, (n + 1) / 2);
  }
}

TEST(Table, ThreeShippedPoliciesStandSideBySide) {
  const std::vector<RunResult> runs = {example("baseline", 30'000'000),
                                       example("ndp-uncontrolled-bmap", 20'000'000),
                                       example("ndp-controlled-bmap", 20'000'000)};
  EXPECT_EQ(row(format_table(runs), "cycles").size(), 3u);
}

TEST(Table, LongNamesAreCut) {
  const std::vector<RunResult> runs = {example(std::string(200, 'x'), 10)};
  EXPECT_LE(widest(format_table(runs)), 80u);
}

TEST(Table, PartialRunsSaySoAndHaveNoSpeedUp) {
  std::vector<RunResult> runs = {example("baseline", 100), example("ndp-controlled-bmap", 50)};
  runs[1].partial = true;
  runs[1].partial_reason = "interrupted";
  const std::string text = format_table(runs);
  EXPECT_EQ(row(text, "speed-up"), (Words{"1.000", "-"}));
  EXPECT_NE(text.find("ndp-controlled-bmap*"), std::string::npos);
  EXPECT_NE(text.find("ndp-controlled-bmap is partial (interrupted)"), std::string::npos);
}

TEST(Table, AnEmptyRunDividesByNothing) {
  RunResult nothing;
  nothing.policy = "baseline";
  const std::string text = format_table(std::vector<RunResult>{nothing});
  EXPECT_EQ(row(text, "IPC"), Words{"0.00"});
  EXPECT_EQ(row(text, "RX bandwidth used [%]"), Words{"0.0"});
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
}

TEST(Registers, TableOfKernels) {
  RunResult run = example("baseline", 100);
  EXPECT_EQ(row(format_registers({&run, 1}), "pathcalc"), (Words{"55", "ptxas", "sm_75"}));
  KernelRow more = run.kernels[0];  // a launch in larger blocks, for which there is less room
  more.launch = 1;
  more.registers = 32;
  run.kernels.push_back(more);
  EXPECT_EQ(row(format_registers({&run, 1}), "pathcalc"), (Words{"55", "ptxas", "sm_75"}));
  more.kernel = "other";
  more.registers_source = "own allocation";
  run.kernels.push_back(more);
  EXPECT_EQ(row(format_registers({&run, 1}), "other"), (Words{"32", "own", "allocation"}));
  for (int i = 0; i < 100; ++i) {
    more.kernel = "_ZN3one3twoI" + std::to_string(i) + std::string(60, 'x');
    run.kernels.push_back(more);
  }
  const std::string text = format_registers({&run, 1});
  EXPECT_LE(widest(text), 80u) << text;
  EXPECT_NE(text.find("(79 other kernels: the document has all)"), std::string::npos) << text;
  run.kernels.clear();
  tom::candidates_of(run).clear();
  EXPECT_EQ(format_registers({&run, 1}), "");
}

TEST(Registers, PoliciesOfTheSameNumbersShareATable) {
  std::vector<RunResult> runs = {example("baseline", 100), example("tom", 100),
                                 example("mpu", 100)};
  std::string text = format_registers(runs);
  EXPECT_EQ(text.find("under"), std::string::npos) << text;
  runs[2].kernels[0].registers = 20;
  runs[2].kernels[0].registers_source = "own allocation, by location";
  text = format_registers(runs);
  EXPECT_NE(text.find("Registers per thread under baseline, tom, by which"), std::string::npos)
      << text;
  const std::string second = text.substr(text.find("Registers per thread under mpu, by which"));
  EXPECT_EQ(row(second, "pathcalc"), (Words{"20", "own", "allocation,", "by", "location"}));
}

TEST(Table, GroupsDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(Json, HoldsEverything) {
  RunResult run = example("baseline", 30'000'000);
  run.overrides = {"l1.ways=8"};
  const auto json = nlohmann::json::parse(format_json(
      std::vector<RunResult>{run},
      {"1.2.3",
       {{"l1.ways", "8"}, {"sm.charge_moves", "true"}, {"sm.scheduler_policy", "\"gto\""}}}));
  EXPECT_EQ(json["schema"], "nearwarp.run/1");
  EXPECT_EQ(json["nearwarp_version"], "1.2.3");
  EXPECT_EQ(json["machine"]["l1.ways"], 8);
  EXPECT_EQ(json["machine"]["sm.charge_moves"], true);
  EXPECT_EQ(json["machine"]["sm.scheduler_policy"], "gto");
  const auto& r = json["runs"][0];
  EXPECT_EQ(r["workload"], "libor");
  EXPECT_EQ(r["policy"], "baseline");
  EXPECT_EQ(r["overrides"][0], "l1.ways=8");
  EXPECT_EQ(r["status"], "complete");
  EXPECT_FALSE(r.contains("partial_reason"));
  EXPECT_EQ(r["cycles"], 30'000'000);
  EXPECT_DOUBLE_EQ(r["ipc"], 1.6e9 / 3e7);
  EXPECT_EQ(r["traffic"]["memory_to_memory_bytes"], 11'000'000);
  EXPECT_DOUBLE_EQ(r["bandwidth_used"]["gpu_to_memory"], 0.15);
  EXPECT_DOUBLE_EQ(r["bandwidth_used"]["memory_to_gpu"], 0.7);
  EXPECT_DOUBLE_EQ(r["bandwidth_used"]["higher"], 0.7);
  EXPECT_EQ(r["counters"]["sm.l1.read_hits"]["unit"], "accesses");
  EXPECT_EQ(r["counters"]["dram.row_hits"]["value"], 18'446'744'073'709'551'615u);
  EXPECT_EQ(r["kernels"][0]["kernel"], "pathcalc");
  EXPECT_EQ(r["kernels"][0]["registers"], 55);
  EXPECT_EQ(r["kernels"][0]["registers_source"], "ptxas sm_75");
  EXPECT_EQ(r["kernel_totals"][0]["registers"], 55);
  EXPECT_EQ(r["kernel_totals"][0]["registers_source"], "ptxas sm_75");
  EXPECT_EQ(r["candidates"][0]["refused_busy"], 2);
}

tom::MappingReport example_mapping() {
  tom::MappingReport m;
  m.learnt = m.applied = true;
  m.first_bit = 11;
  m.last_bit = 12;
  m.total_instances = 5000;
  m.wanted_instances = m.seen_instances = 5;
  m.seen_accesses = 90;
  m.scores = {{7, 40, 1}, {8, 50, 2}};
  m.interrupt_cycle = 100;
  m.standstill_cycle = 200;
  m.resume_cycle = 300;
  m.ranges = {{"L", 4096, 1000, true}};
  m.ranges_left_out = 6;
  return m;
}

TEST(Json, HoldsTheMapping) {
  RunResult run = example("tom", 1000);
  tom::mapping_of(run) = example_mapping();
  const auto mapping_of = [](const RunResult& r) {
    return nlohmann::json::parse(format_json(std::vector<RunResult>{r}, {}))["runs"][0]["mapping"];
  };
  auto m = mapping_of(run);
  EXPECT_EQ(m["source"], "learnt");
  EXPECT_EQ(m["applied"], true);
  EXPECT_EQ(m["bits"], nlohmann::json::parse("[11, 12]"));
  EXPECT_EQ(m["instances"],
            nlohmann::json::parse(R"({"total": 5000, "seen": 5, "wanted": 5, "few": true})"));
  EXPECT_EQ(m["accesses"], 90);
  EXPECT_EQ(m["scores"][1],
            nlohmann::json::parse(R"({"first_bit": 8, "at_destination": 50, "one_stack": 2})"));
  EXPECT_EQ(m["interrupt_cycle"], 100);
  EXPECT_EQ(m["standstill_cycle"], 200);
  EXPECT_EQ(m["resume_cycle"], 300);
  EXPECT_EQ(
      m["ranges"][0],
      nlohmann::json::parse(R"({"name": "L", "address": 4096, "bytes": 1000, "remapped": true})"));
  EXPECT_EQ(m["ranges_left_out"], 6);
  tom::mapping_of(run)->learnt = false;
  m = mapping_of(run);
  EXPECT_EQ(m["source"], "known");
  for (const char* learnt : {"interrupt_cycle", "standstill_cycle", "resume_cycle"})
    EXPECT_FALSE(m.contains(learnt)) << learnt;
  EXPECT_FALSE(m["instances"].contains("wanted"));
  tom::mapping_of(run)->applied = false;
  EXPECT_FALSE(mapping_of(run).contains("bits"));
  tom::mapping_of(run).reset();
  EXPECT_TRUE(mapping_of(run).is_null());
}

/// The words in back quotes of the paragraph that begins with `beginning`.
std::vector<std::string> quoted_in(const std::string& page, const std::string& beginning) {
  const size_t begin = page.find("\n" + beginning);
  EXPECT_NE(begin, std::string::npos) << beginning;
  const std::string text = page.substr(begin, page.find("\n\n", begin + 1) - begin);
  std::vector<std::string> words;
  for (size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at)) {
    const size_t end = text.find('`', at + 1);
    words.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return words;
}

/// The names of all members below `json`.
void add_names(const nlohmann::json& json, std::vector<std::string>& names) {
  for (const auto& [name, value] : json.items()) {
    if (json.is_object()) names.push_back(name);
    if (value.is_structured()) add_names(value, names);
  }
}

TEST(Json, DocumentationNamesEveryMember) {
  RunResult run = example("baseline", 1);
  run.partial = true;
  tom::candidates_of(run).at(0).entries = 1;  // as under tuned offloading
  tom::candidates_of(run).at(0).shared = "accumulator";
  tom::mapping_of(run) = example_mapping();
  run.energy.terms = {{EnergyPart::kSm, "sm.issue", {"sm.issued"}, 1, "energy.sm.issue_fj", 2}};
  std::ifstream stream(fs::path(NW_SOURCE_DIR) / "docs/json.md");
  std::ostringstream stored;
  stored << stream.rdbuf();
  const std::string page = stored.str();
  const auto json = nlohmann::json::parse(format_json(std::vector<RunResult>{run}, {}));
  const auto documented = [&](const std::string& name) {
    return page.find(name) != std::string::npos;
  };
  for (const auto& [name, value] : json.items()) EXPECT_TRUE(documented("`" + name)) << name;
  for (const auto& [name, value] : json["runs"][0].items()) {
    EXPECT_TRUE(documented("`" + name)) << name;
    if (name == "traffic" || name == "bandwidth_used" || name == "host") {
      for (const auto& inner : value.items()) EXPECT_TRUE(documented(name + "." + inner.key()));
    }
    if (name == "kernels") {
      for (const auto& inner : value[0].items()) EXPECT_TRUE(documented("`" + inner.key() + "`"));
    }
  }
  // Both ways: every member has its word, every word is a member (or a value).
  const std::pair<const char*, const char*> paragraphs[] = {{"candidates", "A row of `candidates`"},
                                                            {"mapping", "`mapping` is there"},
                                                            {"energy", "`energy` is an estimate"}};
  for (const auto& [member, beginning] : paragraphs) {
    std::vector<std::string> names;
    add_names(json["runs"][0][member], names);
    const std::vector<std::string> words = quoted_in(page, beginning);
    for (const std::string& name : names)
      EXPECT_NE(std::find(words.begin(), words.end(), name), words.end()) << name;
    for (const std::string& word : words) {
      if (word == member || word == "learnt" || word == "known" || word == "accumulator" ||
          word == "table" || word.find(' ') != word.npos)
        continue;  // `nearwarp analyze`
      EXPECT_NE(std::find(names.begin(), names.end(), word), names.end()) << word;
    }
  }
}

TEST(Json, SurvivesNamesThatAreNotUtf8) {
  RunResult run = example("bad\xff", 1);
  EXPECT_NO_THROW(nlohmann::json::parse(format_json(std::vector<RunResult>{run}, {})));
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("nearwarp_report_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::ifstream stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  fs::path folder_;
};

TEST_F(Files, WritesAndReplaces) {
  write_file(at("x.json"), "one");
  write_file(at("x.json"), "two");
  EXPECT_EQ(content(at("x.json")), "two");
  EXPECT_EQ(files(), 1u);
}

TEST_F(Files, FollowsLinks) {
  write_file(at("real"), "one");
  fs::create_symlink("real", at("link"));
  write_file(at("link"), "two");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(content(at("real")), "two");
}

TEST_F(Files, AFullDiskIsAnErrorAndTheDeviceStays) {
  try {
    write_file("/dev/full", "text");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("No space left on device"), std::string::npos);
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Files, MissingFoldersAreReportedBeforehand) {
  EXPECT_THROW(check_writable(at("no/x.json")), Error);
  EXPECT_THROW(write_file(at("no/x.json"), "text"), Error);
  EXPECT_THROW(check_writable(folder_.string()), Error);
  EXPECT_NO_THROW(check_writable(at("x.json")));
  EXPECT_EQ(files(), 0u);
}

TEST_F(Files, ATemporaryFileThatAKilledProcessLeftIsOverwritten) {
  const std::string left = at("x") + "." + std::to_string(::getpid()) + ".tmp";
  std::ofstream(left) << "half of a lo";
  EXPECT_NO_THROW(check_writable(at("x")));
  EXPECT_TRUE(fs::exists(left));
  write_file(at("x"), "text");
  EXPECT_EQ(files(), 1u);
}

TEST_F(Files, AFailedWriteKeepsTheOldFile) {
  write_file(at("x"), "old");
  // The temporary file's place is taken by a folder: opening it fails.
  fs::create_directory(at("x." + std::to_string(::getpid()) + ".tmp"));
  EXPECT_THROW(write_file(at("x"), "new"), Error);
  EXPECT_EQ(content(at("x")), "old");
}

}  // namespace
}  // namespace nearwarp::report
