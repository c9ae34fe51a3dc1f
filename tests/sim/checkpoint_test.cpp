// Does a run that goes on from a checkpoint end as if it had never stopped, on either backend, and
// is a file that cannot be gone on from refused?
#include "host/timing/run/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "host/mechanisms/tom/report/sections.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::sim {
namespace {

namespace fs = std::filesystem;
using testing::Configs;
using testing::KeepingObserver;
using testing::numbers;
using testing::simulate;
using testing::workload;

const std::vector<std::string> kFew = {"gpu.sms=4", "gpu.sms_with_ndp=4", "stack.vaults=4",
                                       "l2.slices=4"};

class Checkpoint : public ::testing::Test {
 protected:
  Checkpoint() : folder_(fs::path(::testing::TempDir()) / unique_name()) {
    fs::create_directories(folder_);
  }
  ~Checkpoint() override { fs::remove_all(folder_); }
  static std::string unique_name() {
    return std::string("checkpoint-") +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  std::string file(const std::string& name = "state") const { return folder_ / name; }

  /// Steps at most `slices` slices of `windows` windows on an emulated device; true: it has ended.
  bool some_way(ReplayJob system, uint64_t windows, int slices, report::RunResult* result) {
    kernels::EmulatedDevice device({});
    KeepingObserver observer(1, slices);
    AcceleratorBatchOptions options;
    options.slice = {windows, ~uint64_t{0}};
    options.way = in_batch_ ? DeviceWay::kBatch : DeviceWay::kTeams;
    in_batch_ = !in_batch_;  // who goes on may step it the other way
    AcceleratorBatch(device, options).run({&system, 1}, observer);
    if (!observer.outcomes[0].result.has_value()) {
      ADD_FAILURE() << observer.error(0);
      return true;
    }
    if (result != nullptr) *result = std::move(*observer.outcomes[0].result);
    return !observer.outcomes[0].stopped;
  }

  fs::path folder_;
  bool in_batch_ = false;
};

TEST_F(Checkpoint, ManyStopsOnADevice) {
  for (const char* policy : {"baseline", "ndp-controlled-bmap", "tom", "tom-oracle"}) {
    SCOPED_TRACE(policy);
    const runtime::Recording& recording = workload("kmeans", 100'000);
    Configs configs({policy}, kFew);
    ReplayJob system = configs.systems(recording)[0];
    system.checkpoint = file(policy);
    report::RunResult result;
    int stops = 0;
    while (!some_way(system, 11, 4, &result)) ++stops;
    EXPECT_GT(stops, 3);
    EXPECT_EQ(numbers(result), numbers(simulate(recording, policy, kFew)));
    EXPECT_EQ(tom::mapping_of(result).has_value(), std::string(policy).starts_with("tom"));
  }
}

TEST_F(Checkpoint, FromADeviceToTheCpuAndBack) {
  const runtime::Recording& recording = workload("bfs-rmat", 200'000);
  for (const char* policy : {"baseline", "tom"}) {
    SCOPED_TRACE(policy);
    Configs configs({policy}, kFew);
    ReplayJob system = configs.systems(recording)[0];
    system.checkpoint = file(policy);
    const auto expected = numbers(simulate(recording, policy, kFew));
    ASSERT_FALSE(some_way(system, 10, 2, nullptr));
    // The CPU goes on for a while, up to its first look at the clock, after 1024 windows.
    SimOptions options;
    options.checkpoint = system.checkpoint;
    options.window_ticks = 20;
    options.progress_interval = std::chrono::milliseconds(0);
    options.progress = [](const Progress&) { return false; };
    const report::RunResult part =
        sim::replay_on_cpu(recording, configs.machine, configs.policies[0], options);
    EXPECT_TRUE(part.partial);
    EXPECT_GT(part.warp_instructions, 0u);
    // The CPU and the device both take it to its end.
    const std::string copy = file("copy");
    fs::copy_file(system.checkpoint, copy, fs::copy_options::overwrite_existing);
    options = {};
    options.checkpoint = copy;
    EXPECT_EQ(numbers(sim::replay_on_cpu(recording, configs.machine, configs.policies[0], options)),
              expected);
    report::RunResult result;
    EXPECT_TRUE(some_way(system, 1'000'000, 1000, &result));
    EXPECT_EQ(numbers(result), expected);
  }
}

TEST_F(Checkpoint, WhatHasEndedEndsAtOnce) {
  const runtime::Recording& recording = workload("vector-add", 50'000);
  SimOptions options;
  options.checkpoint = file();
  const auto machine = config::load_machine("tom", kFew);
  const auto policy = config::load_policy("baseline");
  const auto first = sim::replay_on_cpu(recording, machine, policy, options);
  EXPECT_TRUE(fs::exists(file()));
  EXPECT_EQ(numbers(sim::replay_on_cpu(recording, machine, policy, options)), numbers(first));
}

TEST_F(Checkpoint, PathsOfTracesNameNoFolders) {
  runtime::Recording recording;
  Configs configs({"baseline"}, kFew);
  const ReplayJob system = configs.systems(recording)[0];
  for (const std::string& name : {std::string("traces/kernelslist.g"),
                                  std::string("/traces/kernelslist.g"), std::string(1000, 'x')}) {
    recording.name = name;
    const fs::path path = checkpoint_path(folder_, system);
    EXPECT_EQ(path.parent_path(), folder_);
    EXPECT_LE(path.filename().string().size(), 255u);
  }
  EXPECT_TRUE(fs::path(checkpoint_path(folder_, system)).filename().string().starts_with("xxx"));
}

class Refusal : public Checkpoint {
 protected:
  Refusal() {
    system_ = configs_.systems(workload("vector-add", 50'000))[0];
    system_.checkpoint = file();
    write_checkpoint(system_, "some state");
  }
  std::string refusal() const {
    try {
      read_checkpoint(system_);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  void change(uint64_t at, char c) const {
    std::fstream f(file(), std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(static_cast<std::streamoff>(at));
    f.put(c);
  }
  Configs configs_{{"baseline"}, kFew};
  ReplayJob system_;
};

TEST_F(Refusal, GoodFilesAreRead) {
  EXPECT_EQ(read_checkpoint(system_), "some state");
  system_.checkpoint = file("other");
  EXPECT_EQ(read_checkpoint(system_), std::nullopt);
  system_.checkpoint = "";
  EXPECT_EQ(read_checkpoint(system_), std::nullopt);
}

TEST_F(Refusal, AnotherRun) {
  config::MachineConfig machine = configs_.machine;
  machine.l2.latency_cycles += 1;
  system_.machine = &machine;
  EXPECT_NE(refusal().find("another run"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find(file()), std::string::npos) << refusal();
}

TEST_F(Refusal, DamagedFiles) {
  const auto size = fs::file_size(file());
  for (uint64_t at = 0; at < size; ++at) {
    write_checkpoint(system_, "some state");
    std::ifstream in(file(), std::ios::binary);
    in.seekg(static_cast<std::streamoff>(at));
    const int old = in.get();
    change(at, static_cast<char>(old ^ 0x10));
    if (at >= 12 && at < 16) continue;  // reserved
    EXPECT_NE(refusal(), "") << at;
  }
  for (uint64_t left = 0; left < size; ++left) {
    write_checkpoint(system_, "some state");
    fs::resize_file(file(), left);
    EXPECT_NE(refusal(), "") << left;
  }
}

TEST_F(Refusal, AStateOfAnotherMachineIsNotTaken) {
  Replay run(system_, 0);
  EXPECT_THROW(run.begin(), Error);
}

}  // namespace
}  // namespace nearwarp::sim
