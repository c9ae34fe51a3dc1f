// Do whole programs run rightly under Omni-Compute?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/recording/combine.h"
#include "tests/mechanisms/same_results.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::workload;

report::RunResult run(const std::string& name, const std::vector<std::string>& overrides = {},
                      const SimOptions& options = {}, uint64_t limit = 1'000'000,
                      const std::string& policy = "omni-compute") {
  return replay_on_cpu(workload(name, limit), config::load_machine("opportunistic", overrides),
                       config::load_policy(policy, overrides), options);
}

TEST(OmniCompute, OffloadsWhatLiesInSeveralPartitions) {
  for (const char* name : {"copy-strided", "vecadd-strided"}) {
    SCOPED_TRACE(name);
    const report::RunResult r = run(name);  // checks conservation
    EXPECT_GT(counter(r, "chains.offloaded"), counter(r, "chains.instances") / 2);
    EXPECT_EQ(counter(r, "chains.to_sms"), counter(r, "chains.packets"));
    EXPECT_EQ(counter(r, "sm_service.taken") + counter(r, "chains.came_back"),
              counter(r, "chains.packets"));
    EXPECT_EQ(counter(r, "service.taken"), 0u);
    EXPECT_EQ(
        counter(r, "chains.full") + counter(r, "chains.elsewhere") + counter(r, "chains.offloaded"),
        counter(r, "chains.instances"));
    EXPECT_EQ(counter(r, "sm_service.queues"), 56u);
    const report::RunResult base = run(name, {}, {}, 1'000'000, "baseline");
    EXPECT_EQ(r.thread_instructions, base.thread_instructions);
    const auto stored = [](const report::RunResult& of) {  // lines, each once and as a whole
      return counter(of, "dram.bytes_written") + 128 * counter(of, "l2.lines_left_dirty");
    };
    EXPECT_EQ(stored(r), stored(base));
    EXPECT_LT(counter(r, "noc.flit_links"), counter(base, "noc.flit_links"));
  }
}

TEST(OmniCompute, LeavesToSlicesWhatLiesInOne) {
  for (const char* name : {"triad", "vecadd-aligned"}) {
    SCOPED_TRACE(name);
    const report::RunResult r = run(name);
    EXPECT_EQ(counter(r, "chains.to_sms"), 0u);
    EXPECT_EQ(r.cycles, run(name, {}, {}, 1'000'000, "llc-compute").cycles);
  }
}

TEST(OmniCompute, TheSmallestQueues) {
  // Requests that wait for requests: in one virtual channel, one flit of room.
  const std::vector<std::string> smallest = {
      "chains.offload_entries=1", "chains.service_entries=1",
      "chains.buffer_entries=1",  "interconnect.queue_entries=48",
      "interconnect.vcs=1",       "interconnect.vc_flits=1",
      "l2.mshr_entries=1"};
  std::vector<std::string> many = smallest;
  many[0] = "chains.offload_entries=48";
  std::vector<std::string> channels = many;  // and in eight, which packets take as they are free
  channels[4] = "interconnect.vcs=8";
  for (const auto& keys : {smallest, many, channels})
    for (const char* name : {"vecadd-strided", "copy-strided"}) {
      SCOPED_TRACE(name);
      const report::RunResult r = run(name, keys, {}, 500'000);
      EXPECT_GT(counter(r, "sm_service.taken"), 0u);
      EXPECT_EQ(counter(r, "sm_service.peak"), 1u);
      if (keys != many) continue;
      EXPECT_GT(counter(r, "sm_service.refused"), 0u);
      // A chain of one operand is dealt with in a cycle, so only others are turned away.
      if (name == std::string("vecadd-strided")) {
        EXPECT_GT(counter(r, "sm_service.turned_away"), 0u);
      }
    }
}

TEST(OmniCompute, ProgramsOfAllKinds) {
  for (const char* name : {"bfs-rmat", "mvt", "reduction-global", "srad", "spmv"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(run(name).warp_instructions, workload(name, 1'000'000).warp_instructions);
  }
}

TEST(OmniCompute, ReadingsThatAreKeys) {
  const report::RunResult both = run("vecadd-strided");
  const report::RunResult route = run("vecadd-strided", {"chains.meet=route"});
  EXPECT_GT(counter(route, "chains.elsewhere"), counter(both, "chains.elsewhere"));
  EXPECT_GT(counter(route, "chains.to_sms"), 0u);
  const std::vector<std::string> few = {"chains.service_entries=4"};
  EXPECT_GT(counter(run("vecadd-strided", few), "sm_service.refused"), 0u);
  const report::RunResult back =
      run("vecadd-strided", {"chains.service_entries=4", "chains.when_full=refuse"});
  EXPECT_EQ(counter(back, "sm_service.refused"), 0u);
  EXPECT_EQ(counter(back, "sm_service.turned_away"), counter(back, "chains.came_back"));
  EXPECT_GT(counter(back, "sm_service.turned_away"), 0u);
  const report::RunResult left = run("vecadd-strided", {"chains.ack=forwarded"});
  EXPECT_EQ(counter(left, "sm_service.wait_stored"), 0u);
  EXPECT_GT(counter(both, "sm_service.wait_stored"), 0u);
}

TEST(OmniCompute, ReadingsTheSameWhateverTheWindows) {
  const std::vector<std::string> keys = {"chains.meet=route", "chains.when_full=refuse",
                                         "chains.ack=forwarded", "chains.service_entries=4"};
  SimOptions odd;
  odd.window_ticks = 7;
  const report::RunResult expected = run("vecadd-strided", keys, {}, 300'000);
  EXPECT_EQ(testing::numbers(run("vecadd-strided", keys, odd, 300'000)),
            testing::numbers(expected));
}

TEST(OmniCompute, AnAluOfTheQueuesOwn) {
  const report::RunResult idle = run("vecadd-strided", {}, {}, 0);
  EXPECT_GT(counter(idle, "sm_service.alu_waits"), 0u);
  const report::RunResult narrow =
      run("vecadd-strided", {"chains.sm_alu=own", "chains.alu_lanes=4"});
  EXPECT_EQ(counter(narrow, "sm_service.alu_cycles"), 8 * counter(narrow, "sm_service.taken"));
}

TEST(OmniCompute, LeavesSharedMemoryToKernelsThatNeedIt) {
  // Queues of 256 entries want 64 KB of 48.
  const report::RunResult r = run("vecadd-strided", {"chains.service_entries=256"});
  EXPECT_EQ(counter(r, "sm_service.queues"), 0u);
  EXPECT_EQ(counter(r, "chains.offloaded"), 0u);
}

TEST(OmniCompute, OtherNetworksHaveNoSmsOnTheirWays) {
  for (const char* topology : {"crossbar", "butterfly"}) {
    const std::string key = std::string("interconnect.topology=") + topology;
    EXPECT_EQ(counter(run("vecadd-strided", {key}, {}, 300'000), "sm_service.queues"), 0u);
    EXPECT_GT(counter(run("triad", {key}, {}, 300'000), "chains.offloaded"), 0u);
  }
  EXPECT_THROW(replay_on_cpu(workload("triad", 300'000), config::load_machine("discrete16", {}),
                             config::load_policy("omni-compute", {}), {}),
               Error);
}

TEST(OmniCompute, TheSameWhateverTheWindows) {
  for (const char* name : {"vecadd-strided", "fdtd", "bfs-rmat"})
    testing::expect_same_in_windows({"opportunistic", "omni-compute"}, name, 300'000);
}

TEST(OmniCompute, TheSameOnADevice) {
  testing::expect_same_on_a_device({"opportunistic", "omni-compute"}, "vecadd-strided", 300'000);
}

TEST(OmniCompute, SeveralProgramsAtOnce) {
  // The programs' chains share queues, but read different data.
  std::vector<runtime::Recording> two;
  for (const char* name : {"vecadd-strided", "copy-strided"}) {
    runtime::VirtualDevice::Options options;
    options.max_thread_instructions = 300'000;
    runtime::VirtualDevice device(options);
    workloads::find(name)->run(device, workloads::Size::kSmall);
    two.push_back(device.take_recording(name));
  }
  const runtime::Recording recording = runtime::combine(std::move(two));
  const report::RunResult r = replay_on_cpu(recording, config::load_machine("opportunistic", {}),
                                            config::load_policy("omni-compute", {}), {});
  EXPECT_GT(counter(r, "chains.to_sms"), 0u);
  EXPECT_EQ(r.applications.size(), 2u);
}

}  // namespace
}  // namespace nearwarp::sim
