// Do table and CSV show what the file holds?
#include "host/timing/sweep/table.h"

#include <gtest/gtest.h>

#include "host/mechanisms/tom/report/sections.h"
#include "tests/sweep/sweep_rig.h"

namespace nearwarp::testing {
namespace {

using sweep::Plan;

class Table : public ::testing::Test {
 protected:
  /// Runs with cycles of 100 for the first policy, 100 / speed-up for the others.
  std::string table(const Plan& plan, double speedup = 2) {
    rig_.runner.simulate = [=](const sim::ReplayJob& system) {
      report::RunResult result = made_up(system);
      if (system.machine->sm.warps == 16) throw Error("it is stuck");
      result.partial = system.machine->sm.warps == 32;
      result.cycles =
          system.policy->name == "baseline" ? 1000 : static_cast<uint64_t>(1000 / speedup);
      report::EnergyTerm term;
      term.energy = 2'000'000'000'000;  // 2 mJ, of the SMs
      result.energy.terms = {term};
      return result;
    };
    rig_.run(plan, path_);
    return sweep::format_table(plan, sweep::ResultsFile(path_));
  }

  SweepRig rig_;
  TemporaryFolder folder_;
  std::string path_ = folder_.file("x");
};

TEST_F(Table, SpeedupsOverTheFirstPolicy) {
  const std::string text = table(sweep::expand(definition({"sm.warps=8,16,32", "l1.ways=4"})));
  EXPECT_EQ(text,
            "6 points, size small, on machine tom, l1.ways=4\n"
            "\n"
            "                   baseline cycles  ndp-controlled-bmap\n"
            "-------------------------------------------------------\n"
            "alpha sm.warps=8             1,000                2.000\n"
            "alpha sm.warps=16           failed               failed\n"
            "alpha sm.warps=32           1,000*                    *\n"
            "\n"
            "                   baseline energy [mJ]  ndp-controlled-bmap\n"
            "------------------------------------------------------------\n"
            "alpha sm.warps=8                  2.000                1.000\n"
            "alpha sm.warps=16                failed               failed\n"
            "alpha sm.warps=32                2.000*                    *\n"
            "\n"
            "Speed-up over baseline for the same other keys, and energy (an estimate)\n"
            "relative to its. *: partial, the run reached run.max_cycles.\n");
}

TEST_F(Table, NotesSayWherePoliciesHaveOtherSmsAndWhereFewInstancesDecided) {
  rig_.runner.simulate = [](const sim::ReplayJob& system) {
    report::RunResult result = made_up(system);
    result.cycles = 1000;
    report::SmCycles sms;
    sms.sms = "sm";
    sms.count = system.policy->name == "baseline" ? 68 : 64;
    result.sm_cycles = {sms};
    if (system.policy->name == "baseline") return result;
    sms.sms = "stack_sm";
    sms.count = 4;
    result.sm_cycles.push_back(sms);
    tom::mapping_of(result).emplace();
    tom::mapping_of(result)->learnt = tom::mapping_of(result)->applied = true;
    tom::mapping_of(result)->seen_instances = 1;
    return result;
  };
  const Plan plan = sweep::expand(definition({"sm.warps=8,16"}));
  rig_.run(plan, path_);
  const std::string text = sweep::format_table(plan, sweep::ResultsFile(path_), 400);
  EXPECT_TRUE(contains(text,
                       "SMs: 68 (baseline), 64 + 4 in stacks (ndp-controlled-bmap). Mappings "
                       "learnt from fewer than 32 instances, which is luck: alpha under "
                       "ndp-controlled-bmap (1).\n"))
      << text;
}

TEST_F(Table, APolicyIsExactIfAllOfItsPointsAre) {
  rig_.runner.simulate = [](const sim::ReplayJob& system) {
    report::RunResult result = made_up(system);
    const bool small = system.machine->sm.warps == 16;
    result.launches.emplace().exact = small || system.policy->name == "baseline";
    return result;
  };
  // The other policy has an approximated point, and an exact one after it.
  const Plan plan = sweep::expand(definition({"sm.warps=8,16"}));
  rig_.run(plan, path_);
  const std::string text = sweep::format_table(plan, sweep::ResultsFile(path_), 400);
  EXPECT_TRUE(contains(text, "had gone to the next SM, but under baseline: exact.")) << text;
}

TEST_F(Table, PointsThatAreNotThereAreLines) {
  rig_.surroundings.stop_at = 1;
  const std::string text = table(sweep::expand(definition({"sm.warps=8"})));
  EXPECT_TRUE(contains(text, "-                    -")) << text;  // no baseline to compare with
}

TEST_F(Table, ManyPointsAreSummarised) {
  std::string values = "l1.mshr_entries=1";
  for (int i = 2; i <= 41; ++i) values += "," + std::to_string(i);
  const std::string text =
      table(sweep::expand(definition({values, "sm.warps=8"}, {"alpha", "beta"})), 1.25);
  EXPECT_LE(count_lines(text), 12u);
  EXPECT_TRUE(contains(text, "1.250 (1.250-1.250)")) << text;
  EXPECT_TRUE(contains(text, "geometric mean"));
  EXPECT_TRUE(contains(text, "82")) << text;
}

TEST_F(Table, LinesFitATerminal) {
  const std::string text = table(sweep::expand(
      definition({"sm.warps=8,16", "l1.bytes=16384,32768", "links.gpu_to_memory_mbps=80000,8000"},
                 {"alpha", "a-workload-with-quite-a-long-name"},
                 {"baseline", "ndp-uncontrolled-bmap", "ndp-controlled-bmap"})));
  EXPECT_LE(longest_line(text), 80u) << text;
}

TEST_F(Table, CsvHasARowPerPointAndAColumnPerKeyThatVaries) {
  const Plan plan = sweep::expand(definition(
      {"sm.warps=8,16,32", "l1.ways=4", "machine.description=\"a, b\",\"say \\\"c\\\"\""}));
  table(plan);
  const sweep::ResultsFile file(path_);
  const std::string csv = sweep::format_csv(plan, {}, file);
  EXPECT_EQ(count_lines(csv), 13u);
  EXPECT_EQ(
      csv.substr(0, csv.find('\n')),
      "id,workload,size,machine,policy,sm.warps,machine.description,status,cycles,ipc,speedup,"
      "gpu_to_memory_bytes,memory_to_gpu_bytes,memory_to_memory_bytes,offloaded_fraction,"
      "gpu_to_memory_used,memory_to_gpu_used,energy_joules,sm_joules,l2_joules,network_joules,"
      "links_joules,dram_joules,leakage_joules,cycles_error,speedup_error,approximated,error");
  EXPECT_TRUE(contains(
      csv, plan.points[1].id + ",alpha,small,tom,ndp-controlled-bmap,8,\"a, b\",complete,500,6.4,2,"
                               "0,0,0,0,0.3333333333333333,0,0.002,0.002,0,0,0,0,0,,,,\n"))
      << csv;
  EXPECT_TRUE(contains(csv, ",16,\"a, b\",failed,,,,,,,,,,,,,,,,,,,,it is stuck\n")) << csv;
  EXPECT_TRUE(contains(csv, ",32,\"a, b\",partial,1000,3.2,,")) << csv;
  EXPECT_EQ(count_lines(sweep::format_csv(plan, {1, 2}, file)), 7u);
}

}  // namespace
}  // namespace nearwarp::testing
