// Do mechanisms at SMs, L2 slices, vaults and links work in whole runs? A folder each, and the two
// lists (list.h, device_list.h), are all that a program needs to have them.
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

using Keys = std::vector<std::string>;

/// One warp reads four lines one after the other, and writes four others.
constexpr const char* kCopy = R"(
.visible .entry k(.param .u64 from, .param .u64 to) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  mov.u32 %r2, 0;
L1:
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd5], %f2;
  add.u64 %rd4, %rd4, 128;
  add.u64 %rd5, %rd5, 128;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 4;
  @%p1 bra L1;
  ret;
})";
constexpr uint64_t kLines = 4;

runtime::Recording one_warp() {
  PtxDevice d(kCopy);
  const uint64_t from = d.device.allocate(4096), to = d.device.allocate(4096);
  d.device.launch(d.module, "k", {1}, {32}, 0, runtime::KernelArgs(from, to));
  return d.record();
}

config::PolicyConfig policy(const std::string& mechanism, const std::string& base = "baseline") {
  return config::load_policy(base, Keys{"policy.mechanism=" + mechanism});
}
const config::MachineConfig& machine() {
  static const config::MachineConfig m = config::load_machine("tom", Keys{"tlb.entries=0"});
  return m;
}
report::RunResult run(const runtime::Recording& recording, const std::string& mechanism,
                      const sim::SimOptions& options = {}) {
  return sim::replay_on_cpu(recording, machine(), policy(mechanism), options);
}

TEST(MemoryHooks, ALineThatIsReadIsLookedUpTwice) {
  const runtime::Recording recording = one_warp();
  const report::RunResult without = run(recording, "none"), with = run(recording, "line_check");
  ASSERT_EQ(counter(without, "l2.reads"), kLines);
  EXPECT_EQ(counter(with, "line_check.looked_up"), kLines);
  EXPECT_EQ(counter(with, "line_check.there"), kLines);
  EXPECT_EQ(counter(with, "line_check.left_out"), 0u);
  EXPECT_EQ(counter(with, "l2.reads"), 2 * kLines);
  // The second look-up finds the line under way: memory is asked once.
  EXPECT_EQ(counter(with, "l2.read_misses"), counter(without, "l2.read_misses"));
  EXPECT_EQ(counter(with, "l2.read_merges"), kLines);
  EXPECT_EQ(counter(with, "dram.reads"), counter(without, "dram.reads"));
  EXPECT_EQ(counter(with, "l2.replies"), counter(without, "l2.replies"));
}

TEST(MemoryHooks, ALineThatIsWrittenIsReadAgain) {
  const runtime::Recording recording = one_warp();
  const report::RunResult without = run(recording, "none"), with = run(recording, "write_check");
  ASSERT_EQ(counter(without, "dram.writes"), kLines);
  ASSERT_EQ(counter(without, "dram.reads"), kLines);
  EXPECT_EQ(counter(with, "write_check.asked"), kLines);
  EXPECT_EQ(counter(with, "write_check.checked"), kLines);
  EXPECT_EQ(counter(with, "dram.writes"), kLines);
  EXPECT_EQ(counter(with, "dram.reads"), 2 * kLines);
}

TEST(MemoryHooks, ALineThatALinkHasIsAnsweredThere) {
  // An L2 of 64 KB asks again for what it has dropped.
  const config::MachineConfig small =
      config::load_machine("tom", Keys{"tlb.entries=0", "l2.bytes=65536"});
  const runtime::Recording& recording = workload("kmeans", 1'000'000);
  const auto of = [&](const std::string& mechanism) {
    return sim::replay_on_cpu(recording, small, policy(mechanism), {});
  };
  const report::RunResult without = of("none"), with = of("link_cache");
  EXPECT_EQ(with.warp_instructions, without.warp_instructions);
  EXPECT_GT(counter(with, "link_cache.answered"), 0u);
  // Each read that came to a link was answered there or by memory, and came back once.
  EXPECT_GE(counter(with, "link_cache.reads"), counter(with, "l2.read_misses"));
  EXPECT_EQ(counter(with, "link_cache.reads") - counter(with, "link_cache.answered"),
            counter(with, "link_cache.filled"));
  EXPECT_EQ(counter(with, "dram.reads"), counter(with, "link_cache.filled"));
  EXPECT_LT(with.traffic.memory_to_gpu_bytes, without.traffic.memory_to_gpu_bytes);
  EXPECT_NE(with.cycles, without.cycles);
}

TEST(MemoryHooks, AllPlacesTogether) {
  const runtime::Recording& recording = workload("kmeans", 1'000'000);
  const std::string all = "loop_stall+line_check+write_check+link_cache";
  const report::RunResult without = run(recording, "none"), with = run(recording, all);
  EXPECT_GT(counter(with, "loop_stall.instances"), 0u);
  // Others want what they wanted, but in another order, and so other accesses hit.
  EXPECT_EQ(with.warp_instructions, without.warp_instructions);
  EXPECT_GT(counter(with, "line_check.looked_up"), 0u);
  EXPECT_EQ(counter(with, "line_check.looked_up"), counter(with, "line_check.there"));
  EXPECT_EQ(counter(with, "write_check.asked"), counter(with, "write_check.checked"));
  EXPECT_EQ(counter(with, "write_check.asked") + counter(with, "write_check.left_out"),
            counter(with, "dram.writes"));
  EXPECT_NE(with.cycles, without.cycles);
}

TEST(MemoryHooks, BesideOnesThatComeWithTheProgram) {
  const runtime::Recording& recording = workload("triad");
  const config::MachineConfig m = config::load_machine("opportunistic");
  const auto of = [&](const std::string& mechanism) {
    return sim::replay_on_cpu(recording, m, policy(mechanism, "llc-compute"), {});
  };
  const report::RunResult alone = of("opportunistic"),
                          both = of("opportunistic+line_check+write_check");
  EXPECT_GT(counter(both, "service.taken"), 0u);
  EXPECT_GT(counter(both, "line_check.looked_up"), 0u);
  EXPECT_EQ(counter(both, "line_check.looked_up"), counter(both, "line_check.there"));
  EXPECT_EQ(both.warp_instructions, alone.warp_instructions);
  EXPECT_NE(both.cycles, alone.cycles);
}

TEST(MemoryHooks, SlicesBySectorsHaveNone) {
  const config::MachineConfig m =
      config::load_machine("discrete16", Keys{"l1.sectors=true", "l1.write_policy=allocate",
                                              "l2.sectors=true", "l2.write_policy=back"});
  try {
    sim::replay_on_cpu(one_warp(), m, policy("line_check"), {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("looks lines up by sectors"), std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find("set l1.sectors=false and l2.sectors=false"),
              std::string::npos);
  }
}

TEST(MemoryHooks, TheWayOfSteppingDoesNotShow) {
  const runtime::Recording& recording = workload("kmeans", 300'000);
  const std::string all = "loop_stall+line_check+write_check+link_cache";
  const auto expected = numbers(run(recording, all));
  std::vector<sim::SimOptions> variations(2);
  variations[0].window_ticks = 997;
  variations[0].order_seed = 5;
  variations[1].threads = 2;
  for (const sim::SimOptions& o : variations) EXPECT_EQ(numbers(run(recording, all, o)), expected);
}

TEST(MemoryHooks, ADeviceFindsTheSame) {
  const runtime::Recording& recording = workload("kmeans", 300'000);
  const config::PolicyConfig p = policy("loop_stall+line_check+write_check+link_cache");
  const auto expected = numbers(run(recording, "loop_stall+line_check+write_check+link_cache"));
  kernels::EmulationOptions emulation;
  emulation.warps_per_block = 16;
  emulation.blocks_at_once = 4;
  emulation.seed = 11;
  kernels::EmulatedDevice device(emulation);
  const sim::ReplayJob job{&recording, &machine(), &p};
  EXPECT_EQ(numbers(run_on(device, {&job, 1})[0]), expected);
  const std::vector<sim::ReplayJob> two(2, job);
  for (const report::RunResult& r : run_as_batch(device, two)) EXPECT_EQ(numbers(r), expected);
}

}  // namespace
}  // namespace nearwarp::testing
