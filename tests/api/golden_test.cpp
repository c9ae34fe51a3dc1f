// Does the public interface count what the kept files of counters say?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/api/results.h"

namespace nearwarp::testing {
namespace {

/// A kept file: the command of its run, which is its first line, and the other lines.
struct Kept {
  std::string path, program, machine, policy;
  std::vector<std::string> changes;
  std::set<std::string> lines;
};

Kept read(const std::string& path) {
  Kept kept;
  kept.path = path;
  std::ifstream file(path);
  std::string line, word, value;
  std::getline(file, line);
  std::istringstream command(line);
  command >> word >> word >> word >> kept.program;  // # nearwarp run PROGRAM
  while (command >> word >> value) {
    if (word == "--machine") kept.machine = value;
    if (word == "--policy") kept.policy = value;
    if (word == "--set") kept.changes.push_back(value);
  }
  while (std::getline(file, line)) kept.lines.insert(line);
  return kept;
}

/// A third of the files, without those of traces that only tests have. tests/golden runs all; this
/// test checks that the library gives the same results.
std::vector<Kept> kept_files() {
  std::set<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(NW_SOURCE_DIR "/tests/golden/counters"))
    if (!entry.path().filename().string().starts_with("hand-made"))
      paths.insert(entry.path().string());
  std::vector<Kept> files;
  size_t place = 0;
  for (const std::string& path : paths)
    if (place++ % 3 == 0) files.push_back(read(path));
  return files;
}

TEST(ApiGolden, CountersAreThoseOfTheFiles) {
  const std::vector<Kept> files = kept_files();
  ASSERT_GE(files.size(), 14u);
  std::vector<Point> points;
  for (const Kept& f : files)
    points.push_back(
        {program(f.program), Machine::load(f.machine, f.changes, Foreign::kPassedOver).value(),
         Policy::load_all(std::vector{f.policy}, f.changes, Foreign::kPassedOver).value().at(0)});
  const std::vector<Expected<Result>> results = run_all(points);
  ASSERT_EQ(results.size(), files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    ASSERT_TRUE(results[i]) << files[i].path << ": " << results[i].failure().message;
    const Result& r = *results[i];
    const auto expect = [&](const std::string& name, uint64_t value) {
      EXPECT_TRUE(files[i].lines.contains(name + " " + std::to_string(value)))
          << name << " is " << value << ", not that of " << files[i].path;
    };
    expect("cycles", r.cycles);
    expect("warp_instructions", r.warp_instructions);
    expect("thread_instructions", r.thread_instructions);
    expect("offloaded_thread_instructions", r.offloaded_thread_instructions);
    expect("gpu_to_memory", r.gpu_to_memory_bytes);
    expect("memory_to_gpu", r.memory_to_gpu_bytes);
    expect("memory_to_memory", r.memory_to_memory_bytes);
    EXPECT_GE(r.counters.size(), 50u);
    for (const Counter& c : r.counters) expect(c.name, c.value);
    for (const LaunchResult& l : r.launches) expect(l.kernel, l.cycles);
  }
}

}  // namespace
}  // namespace nearwarp::testing
