// Are launches that Nsight Compute measured put beside those that were simulated?
#include "host/timing/compare/nsight.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "host/core/error.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

namespace fs = std::filesystem;

struct CsvFile {
  std::string path = (fs::temp_directory_path() / "nearwarp-nsight-test.csv").string();
  explicit CsvFile(const std::string& text) { std::ofstream(path) << text; }
  ~CsvFile() { fs::remove(path); }
};

const char* const kDetails =
    "==PROF== Connected to process 42\n"
    R"csv("ID","Process ID","Kernel Name","Device","Metric Name","Metric Unit","Metric Value"
"0","42","void add<float>(float *, int)","0","Elapsed Cycles","cycle","1,000"
"0","42","void add<float>(float *, int)","0","dram__bytes_read.sum","Mbyte","1.5"
"0","42","void add<float>(float *, int)","0","dram__bytes_write.sum","Kbyte","500"
"1","42","scale(float *)","0","Elapsed Cycles","cycle","4000"
"2","42","scale(float *)","0","Elapsed Cycles","cycle","2000"
)csv";
const char* const kRaw =
    R"csv("ID","Kernel Name","gpc__cycles_elapsed.max","dram__bytes.sum"
"","","cycle","Kbyte"
"0","add(float *, int)","1000","3"
"1","scale(float *)","4000","3"
"2","scale(float *)","2000","3"
)csv";

compare::Document run_of(const std::vector<std::pair<std::string, int>>& launches) {
  compare::Document d;
  d.path = "run.json";
  nlohmann::ordered_json run;
  run["kernels"] = nlohmann::ordered_json::array();
  for (const auto& [kernel, cycles] : launches)
    run["kernels"].push_back({{"kernel", kernel}, {"cycles", cycles}});
  run["counters"]["dram.bytes_read"]["value"] = 2e6;
  d.runs.push_back(run);
  return d;
}

TEST(Nsight, PagesAreRead) {
  for (const char* text : {kDetails, kRaw}) {
    const CsvFile file(text);
    EXPECT_TRUE(compare::is_nsight(file.path));
    const auto launches = compare::read_nsight(file.path);
    ASSERT_EQ(launches.size(), 3u);
    EXPECT_EQ(launches[0].cycles, 1000);
    EXPECT_EQ(launches[2].cycles, 2000);
    EXPECT_EQ(launches[0].dram_bytes, text == kRaw ? 3e3 : 2e6);
  }
}

TEST(Nsight, MetricsThatADeviceDoesNotHaveAreLeftOut) {
  const CsvFile file(
      R"csv("ID","Kernel Name","gpc__cycles_elapsed.max","Elapsed Cycles","dram__bytes.sum"
"","","cycle","cycle","Kbyte"
"0","add(float *, int)","nan","1000","nan"
)csv");
  const auto launches = compare::read_nsight(file.path);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].cycles, 1000);
  EXPECT_EQ(launches[0].dram_bytes, 0);

  const CsvFile none("\"ID\",\"Kernel Name\",\"Elapsed Cycles\"\n\"0\",\"add(float *)\",\"inf\"\n");
  EXPECT_THROW(compare::read_nsight(none.path), Error);
}

TEST(Nsight, CyclesAreComparedByLaunch) {
  const CsvFile file(kDetails);
  const auto launches = compare::read_nsight(file.path);
  const auto document =
      run_of({{"_Z3addIfEvPfi", 1100}, {"_Z5scalePf", 3600}, {"_Z5scalePf", 2000}});
  const auto pairs = compare::launch_pairs(launches, document);
  EXPECT_NEAR(compare::mean_error(pairs), (0.1 + 0.1 + 0) / 3, 1e-9);
  EXPECT_GT(compare::correlation(pairs), 0.99);
  const std::string text = compare::format(pairs, launches, document);
  EXPECT_TRUE(contains(text, "6.7 %")) << text;
  EXPECT_TRUE(contains(text, "2.0 MB measured, 2.0 MB simulated")) << text;
}

TEST(Nsight, OtherProgramsAreRefused) {
  const CsvFile file(kRaw);
  const auto launches = compare::read_nsight(file.path);
  EXPECT_THROW(compare::launch_pairs(launches, run_of({{"add", 1}})), Error);
  EXPECT_THROW(compare::launch_pairs(launches, run_of({{"add", 1}, {"scale", 1}, {"add", 1}})),
               Error);
}

std::vector<compare::LaunchPair> pairs_of(const std::string& measured,
                                          const std::string& simulated) {
  const compare::MeasuredLaunch launch{measured, "", 1000, 0};
  return compare::launch_pairs({launch}, run_of({{simulated, 1000}}));
}

TEST(Nsight, KernelsAreTheSameByTheirWholeNames) {
  for (const char* name :
       {"f", "f(int)", "void f<int>(float *)", "(anonymous namespace)::f(int)",
        "void <unnamed>::f(int)", "void a::b<(c)3, d<e> >::f<(int)2>(g::h<int> *)", "_Z1fi",
        "_ZN12_GLOBAL__N_11fEi"})
    for (const char* simulated : {"f", "_Z1fIiEvPf", "_ZN12_GLOBAL__N_11fEi"}) {
      SCOPED_TRACE(std::string(name) + " " + simulated);
      EXPECT_EQ(pairs_of(name, simulated).at(0).kernel, "f");
    }
  for (const auto& [measured, simulated] :
       {std::pair{"sum(int)", "cluster_sum"}, std::pair{"f(int)", "_Z2ffi"},
        std::pair{"(anonymous namespace)::f(int)", "_Z1gi"}, std::pair{"<unnamed>::f(int)", "g"},
        std::pair{"f(g)", "_Z1hP1f"}, std::pair{"(int)", "f"}, std::pair{"", "f"}}) {
    SCOPED_TRACE(std::string(measured) + " " + simulated);
    EXPECT_THROW(pairs_of(measured, simulated), Error);
  }
  const CsvFile nameless("\"ID\",\"Kernel Name\",\"gpc__cycles_elapsed.max\"\n\"0\",\"\",\"3\"\n");
  EXPECT_THROW(compare::read_nsight(nameless.path), Error);
}

TEST(Nsight, TheOrderOfMetricsDoesNotMatter) {
  std::vector<std::pair<std::string, int>> metrics = {
      {"Elapsed Cycles", 1001},          {"dram__bytes.sum", 3000},
      {"dram__bytes_read.sum", 2500},    {"dram__bytes_write.sum", 600},
      {"gpc__cycles_elapsed.max", 1000}, {"sm__cycles_elapsed.max", 999}};
  std::sort(metrics.begin(), metrics.end());
  do {
    std::string head = R"("ID","Kernel Name")", values = R"csv("0","f(int)")csv";
    for (const auto& [name, value] : metrics) {
      head += ",\"" + name + '"';
      values += ",\"" + std::to_string(value) + '"';
    }
    const CsvFile file(head + '\n' + values + '\n');
    const auto launches = compare::read_nsight(file.path);
    ASSERT_EQ(launches.at(0).cycles, 1000) << head;
    ASSERT_EQ(launches.at(0).dram_bytes, 3000) << head;
  } while (std::next_permutation(metrics.begin(), metrics.end()));
}

TEST(Nsight, DamagedFilesAreRefusedWithTheirLine) {
  const std::string whole = kRaw;
  const CsvFile file(whole.substr(0, whole.rfind(',')));
  try {
    compare::read_nsight(file.path);
    FAIL() << "a line that is cut off";
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), ":5)")) << error.what();
  }
  const CsvFile without(R"csv("ID","Kernel Name","dram__bytes.sum"
"0","add","3"
)csv");
  EXPECT_THROW(compare::read_nsight(without.path), Error);
}

}  // namespace
}  // namespace nearwarp::testing
