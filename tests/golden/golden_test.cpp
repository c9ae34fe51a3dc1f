// Are the counters those of yesterday? Every counter of a set of runs is kept in counters/; a
// change that moves a cycle shows here. tools/golden --renew writes the files again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "host/timing/compare/decomposition.h"
#include "host/timing/compare/sentence.h"
#include "host/timing/report/json.h"
#include "tests/sim/hand_made.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

/// A program on a machine under a policy; with the overrides it names a file.
struct GoldenRun {
  std::string program, machine, policy;
  std::vector<std::string> overrides = {};
  std::string variant = {};  ///< names the overrides

  std::string file_name() const {
    return program + "." + machine + "." + policy + (variant.empty() ? "" : "." + variant) + ".txt";
  }
};

std::vector<GoldenRun> golden_runs() {
  return {
      {"vector-add", "bench80", "baseline"},
      {"fma", "bench80", "baseline"},
      {"gather", "bench80", "baseline"},
      {"kmeans", "gtx480", "baseline"},
      {"kmeans", "tom", "baseline"},
      {"kmeans", "tom", "ndp-controlled-bmap"},
      {"kmeans", "tom", "tom"},
      {"libor", "tom", "baseline"},
      {"libor", "tom", "ndp-uncontrolled-bmap"},
      {"libor", "tom", "tom"},
      {"libor", "tom", "ndp-controlled-bmap", {"stack.sm_warps=96"}, "wide"},
      {"bfs-rmat", "tom", "baseline"},
      {"bfs-rmat", "tom", "ndp-controlled-bmap"},
      {"bfs-rmat", "tom", "tom-oracle"},
      {"bfs-rmat", "tom", "tom", {"tlb.entries=0", "policy.mechanism=tom+opportunistic"}, "chains"},
      {"bfs-rmat",
       "tom",
       "tuned-tmap",
       {"tlb.entries=0", "policy.mechanism=tuning+opportunistic"},
       "chains"},
      {"scalarprod", "tom", "ndp-ideal"},
      {"scalarprod", "tom", "ndp-uncontrolled-tmap"},
      {"cfd", "tom", "tom", {"interconnect.topology=switch"}, "switch"},
      {"reduction", "tom", "ndp-controlled-bmap", {"sm.scheduler_policy=lrr"}, "lrr"},
      {"hand-made-barriers", "tom", "baseline"},
      {"hand-made-stores", "tom", "ndp-controlled-bmap"},
      {"hand-made-stores", "tom", "tom", {"mapping.learning_permille=50"}, "long-learning"},
      {"hand-made-atomics", "bench80", "baseline"},
      {"kmeans", "opportunistic", "baseline"},
      {"triad", "opportunistic", "llc-compute"},
      {"kmeans", "opportunistic", "llc-compute"},
      {"vecadd-strided", "opportunistic", "omni-compute"},
      {"fdtd", "opportunistic", "omni-compute"},
      {"kmeans", "coda", "baseline"},
      {"kmeans", "coda", "cgp-only"},
      {"kmeans", "coda", "coda-steal"},
      {"kmeans", "coda", "cgp-fta"},
      {"kmeans", "coda", "cgp-fta-migrate"},
      {"bfs-rmat", "mpu", "baseline"},
      {"vector-add", "mpu", "mpu"},
      {"reduction", "mpu", "mpu"},
      {"kmeans", "mpu", "mpu-near"},
      {"kmeans", "mpu", "mpu-hardware"},
      {"max-pool", "mpu", "ponb-pages"},
      {"max-pool", "mpu", "mpu-pages"},
      {"nearest-neighbour", "mpu", "mpu-pages", {"mpu.scalar_moves=true"}, "scalars"},
      {"blur-mpu", "mpu-sim", "mpu", {"dispatch.groups=128", "dispatch.row_blocks=1"}, "blocks"},
      {"gemv-mpu", "mpu-sim", "ponb"},
      {"kmeans", "pim-tuning", "previous-offload"},
      {"kmeans", "pim-tuning", "tuned"},
      {"row-sum", "pim-tuning", "tuned-aggressive", {"stack.sm_warps=128"}, "wide"},
      {"hist",
       "pim-tuning",
       "tuned-shared",
       {"tuning.adaptation=false", "offload.load_coalescing_percent=800",
        "stack_sm.shared_memory_bytes=8192"},
       "arrays"},
      {"kmeans",
       "discrete16",
       "baseline",
       {"l1.sectors=true", "l1.write_policy=allocate", "l2.sectors=true", "l2.write_policy=back",
        "l2.sectors_per_cycle=1", "l2.begins_with_data=true", "partitions.interleave_bytes=256",
        "partitions.hash=ipoly", "partitions.slices_own_banks=true"},
       "sectors"},
      {"hand-made-atomics",
       "discrete16",
       "baseline",
       {"l1.write_policy=local-back", "l2.sectors=true", "l2.write_policy=back"},
       "write-back"},
      {"kmeans", "a100", "baseline"},
      {"kmeans", "h100", "baseline"},
      {"hand-made-copies", "h100", "baseline"},
  };
}

std::string folder() { return std::string(NW_SOURCE_DIR) + "/tests/golden/counters/"; }
bool renew() { return std::getenv("NEARWARP_RENEW_GOLDEN") != nullptr; }

const runtime::Recording& recording_of(const std::string& program) {
  return is_hand_made(program) ? hand_made(program) : workload(program);
}

/// Everything that a run found, a line each, in the order of the report.
std::string as_text(const GoldenRun& run, const report::RunResult& result) {
  std::ostringstream out;
  out << "# nearwarp run " << run.program << " --size small --machine " << run.machine
      << " --policy " << run.policy;
  for (const std::string& o : run.overrides) out << " --set " << o;
  out << "\n";
  for (const auto& [name, value] : numbers(result)) out << name << " " << value << "\n";
  return out.str();
}

/// The first lines in which two texts differ, at most `most`.
std::string differences(const std::string& was, const std::string& is, int most) {
  std::istringstream a(was), b(is);
  std::string line_a, line_b, text;
  while (most > 0) {
    const bool more_a = static_cast<bool>(std::getline(a, line_a));
    const bool more_b = static_cast<bool>(std::getline(b, line_b));
    if (!more_a && !more_b) break;
    if (!more_a) line_a = "(nothing)";
    if (!more_b) line_b = "(nothing)";
    if (line_a == line_b) continue;
    text += "\n  was " + line_a + ", is " + line_b;
    most -= 1;
  }
  return text;
}

/// The overrides of a run under its policy or another, which takes its own mechanisms.
std::vector<std::string> overrides_under(const GoldenRun& run, const std::string& policy) {
  std::vector<std::string> overrides = run.overrides;
  if (policy != run.policy)
    std::erase_if(overrides, [](const std::string& o) { return o.starts_with("policy."); });
  return overrides;
}

/// The result of a run, under its policy or another; each is simulated once in a process.
const report::RunResult& result_of(const GoldenRun& run, const std::string& policy) {
  static std::map<std::string, std::unique_ptr<report::RunResult>> kept;
  std::string name = run.program + " " + run.machine + " " + policy;
  for (const std::string& o : run.overrides) name += " " + o;
  std::unique_ptr<report::RunResult>& result = kept[name];
  if (result == nullptr) {
    result = std::make_unique<report::RunResult>(sim::replay_on_cpu(
        recording_of(run.program), config::load_machine(run.machine, run.overrides),
        config::Loader().policy(policy, overrides_under(run, policy)), sim::SimOptions{}));
  }
  return *result;
}

class Golden : public ::testing::TestWithParam<GoldenRun> {};

TEST_P(Golden, CountersAreThoseOfTheFile) {
  const GoldenRun& run = GetParam();
  const report::RunResult& result = result_of(run, run.policy);
  ASSERT_FALSE(result.partial);
  const std::string is = as_text(run, result);
  const std::string path = folder() + run.file_name();
  if (renew()) {
    std::ofstream(path) << is;
    GTEST_SKIP() << path << " written";
  }
  std::ifstream file(path);
  ASSERT_TRUE(file.is_open()) << path << " is missing - write it with tools/golden --renew";
  std::stringstream was;
  was << file.rdbuf();
  EXPECT_TRUE(was.str() == is) << run.file_name()
                               << ": counters differ from those kept; if that is meant, run "
                                  "tools/golden --renew and say in tests/golden/CHANGES.md why:"
                               << differences(was.str(), is, 12);
}

std::string name_of_run(const ::testing::TestParamInfo<GoldenRun>& test) {
  std::string name = test.param.file_name();
  name.resize(name.size() - 4);
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
}

std::vector<GoldenRun> golden_changes() {
  std::vector<GoldenRun> runs = golden_runs();
  std::erase_if(runs, [](const GoldenRun& run) { return run.policy == "baseline"; });
  return runs;
}

INSTANTIATE_TEST_SUITE_P(Runs, Golden, ::testing::ValuesIn(golden_runs()), name_of_run);

/// The cycles that a policy changes are divided into kernels, and those into uses by SMs: none is
/// over, and nothing counted twice.
class GoldenChange : public ::testing::TestWithParam<GoldenRun> {};

TEST_P(GoldenChange, OverTheBaselineAddsUp) {
  const GoldenRun& run = GetParam();
  const auto before = report::run_json(result_of(run, "baseline"));
  const auto after = report::run_json(result_of(run, run.policy));
  const compare::Decomposition d = compare::decompose(before, after);
  ASSERT_FALSE(d.empty()) << "the kernels are the same";
  EXPECT_EQ(d.cycles, after["cycles"].get<int64_t>() - before["cycles"].get<int64_t>());
  int64_t of_kernels = 0, of_causes = 0, known = 0;
  for (const compare::KernelShare& k : d.kernels) {
    of_kernels += k.cycles;
    int64_t of_kernel = 0;
    for (const compare::CycleShare& c : k.causes) of_kernel += c.cycles;
    if (k.causes.empty()) continue;
    known += 1;
    of_causes += of_kernel;
    EXPECT_EQ(of_kernel, k.cycles) << k.kernel;
  }
  EXPECT_EQ(of_kernels, d.cycles);
  EXPECT_GT(known, 0) << "what SMs did is known of no kernel";
  int64_t of_all = 0;
  for (const compare::CycleShare& c : d.causes) of_all += c.cycles;
  EXPECT_EQ(of_all, of_causes);
  const auto parts_add_up = [](const std::vector<compare::CycleShare>& causes) {
    for (const compare::CycleShare& c : causes) {
      int64_t of_parts = 0;
      for (const compare::CyclePart& part : c.parts) of_parts += part.cycles;
      if (!c.parts.empty()) {
        EXPECT_EQ(of_parts, c.cycles) << c.what;
      }
    }
  };
  for (const compare::KernelShare& k : d.kernels) parts_add_up(k.causes);
  parts_add_up(d.causes);
  for (const compare::CycleShare& c : d.causes)
    EXPECT_FALSE(c.what == "wait for memory" && c.parts.empty()) << "where, is not said";
  EXPECT_FALSE(compare::sentence(before, after, run.program, run.policy).empty());
}

INSTANTIATE_TEST_SUITE_P(Runs, GoldenChange, ::testing::ValuesIn(golden_changes()), name_of_run);

/// A file that no run writes any more would be believed for ever.
TEST(GoldenFiles, BelongToRuns) {
  std::vector<std::string> known;
  for (const GoldenRun& run : golden_runs()) known.push_back(run.file_name());
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const std::string name = entry.path().filename().string();
    EXPECT_NE(std::find(known.begin(), known.end(), name), known.end()) << name;
  }
}

}  // namespace
}  // namespace nearwarp::testing
