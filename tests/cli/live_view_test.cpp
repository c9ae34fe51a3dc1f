// Can the view of --live be read at any time while runs go on, and are they looked at seldom
// enough?
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "host/api/looker.h"
#include "host/api/nearwarp.h"
#include "host/cli/live/view.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

using Json = nlohmann::json;

TEST(LiveView, IsReadWhileRunsGoOn) {
  const Program program = Program::workload("fwt").value();
  const Machine machine = Machine::load("tom").value();
  const std::vector<std::string> policies = {"baseline", "tom"};
  std::vector<Point> points;
  for (const std::string& policy : policies)
    points.push_back({program, machine, Policy::load(policy).value()});
  cli::LiveView view(machine, policies);
  view.begin(program);
  std::vector<Expected<Result>> results;
  std::atomic<bool> over = false;
  std::jthread runs([&] {
    BatchOptions options{.threads = 2, .time_left = true};
    options.progress = [&](const Progress& progress) {
      view.progress(progress);
      return true;
    };
    options.look = [&](size_t policy, const Result& result, bool ended) {
      view.show(policy, result, ended);
    };
    results = run_all(points, options);
    over = true;
  });
  do {
    const Json now = Json::parse(view.json());
    ASSERT_EQ(now["runs"].size(), policies.size());
    for (const Json& run : now["runs"])
      EXPECT_LE(run["done"].get<uint64_t>(), program.warp_instructions());
  } while (!over);
  runs.join();
  const Json last = Json::parse(view.json());
  for (size_t i = 0; i < policies.size(); ++i) {
    const Json& run = last["runs"][i];
    EXPECT_EQ(run["policy"], policies[i]);
    EXPECT_TRUE(run["over"].get<bool>());
    EXPECT_EQ(run["cycles"], results[i]->cycles);
    EXPECT_EQ(run["done"], program.warp_instructions());
  }
}

TEST(Looker, LooksNoMoreOftenAtARunThatHasComeFar) {
  const config::MachineConfig machine = config::load_machine("tom");
  const config::PolicyConfig policy = config::load_policy("baseline");
  sim::Replay run({&workload("vector-add", 50'000), &machine, &policy}, 0);
  run.begin();
  Looker watcher([](const report::RunResult&, bool) {});
  // The run begins late, as from a checkpoint, and then goes on after a long time without events.
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
