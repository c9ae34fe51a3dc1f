// Is what --live shows a state of the runs, read at any time, and does looking at them cost little?
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "host/cli/live/view.h"
#include "host/timing/run/cpu_replay.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

TEST(LiveView, IsReadWhileRunsGoOn) {
  const runtime::Recording& recording = workload("kmeans", 50'000);
  const config::MachineConfig machine = config::load_machine("tom");
  const std::vector<std::string> policies = {"baseline", "tom"};
  std::vector<config::PolicyConfig> configs;
  for (const std::string& policy : policies) configs.push_back(config::load_policy(policy));
  cli::LiveView view(machine, policies);
  const std::vector<uint64_t> work(policies.size(), recording.warp_instructions);
  view.begin("kmeans", work);
  std::vector<uint64_t> cycles(policies.size());
  std::atomic<size_t> under_way = policies.size();
  std::vector<std::jthread> runs;
  for (size_t i = 0; i < policies.size(); ++i)
    runs.emplace_back([&, i] {
      sim::SimOptions options;
      options.watcher = view.watcher(i);
      cycles[i] = sim::replay_on_cpu(recording, machine, configs[i], options).cycles;
      under_way -= 1;
    });
  uint64_t done = 0;
  do {
    view.progress(std::vector<uint64_t>{++done, 1}, 2.5);
    const Json now = Json::parse(view.json());
    ASSERT_EQ(now["runs"].size(), policies.size());
    EXPECT_EQ(now["seconds_left"], 2.5);
    for (const Json& run : now["runs"]) {
      if (run["over"].get<bool>()) continue;
      EXPECT_LE(run["done"].get<uint64_t>(), done);
    }
  } while (under_way != 0);
  runs.clear();
  const Json last = Json::parse(view.json());
  for (size_t i = 0; i < policies.size(); ++i) {
    const Json& run = last["runs"][i];
    EXPECT_EQ(run["policy"], policies[i]);
    EXPECT_TRUE(run["over"].get<bool>());
    EXPECT_EQ(run["cycles"], cycles[i]);
    EXPECT_EQ(run["done"], recording.warp_instructions);
  }
}

TEST(LiveView, LooksNoMoreOftenAtARunThatHasComeFar) {
  const config::MachineConfig machine = config::load_machine("tom");
  const config::PolicyConfig policy = config::load_policy("baseline");
  cli::LiveView view(machine, {"baseline"});
  sim::Replay run({&workload("vector-add", 50'000), &machine, &policy}, 0);
  run.begin();
  sim::RunWatcher& watcher = *view.watcher(0);
  // As from a checkpoint, and after a time in which nothing happens.
  for (const uint64_t cycle : {1'000'000'000u, 2'000'000'000u}) {
    const Tick now = cycle * run.system().core_period;
    run.control().next = now;
    if (cycle == 1'000'000'000)
      watcher.begin(run);
    else
      watcher.look(run);
    EXPECT_GT(watcher.next_look(), now);
  }
}

}  // namespace
}  // namespace nearwarp::testing
