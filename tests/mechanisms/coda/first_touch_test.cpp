// Do pages lie with the thread blocks that touch them first, and is moving them paid for?
#include "host/mechanisms/coda/first_touch.h"

#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/recording/combine.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/stepping.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

constexpr uint32_t kStacks = 4;

report::RunResult run(const runtime::Recording& recording, const std::string& policy,
                      const std::vector<std::string>& keys = {},
                      const sim::SimOptions& options = {}) {
  return sim::replay_on_cpu(recording, config::load_machine("coda", keys),
                            config::load_policy(policy, keys), options);
}

/// Block b loads the whole of page b of an array that begins with a page.
runtime::Recording own_pages(uint32_t blocks) {
  PtxDevice d(R"(
.visible .entry k(.param .u64 data) {
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, 1024, %r1;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r3, [%rd1];
  ret;
})");
  const uint64_t data = d.device.allocate(uint64_t{blocks} * 4096);
  EXPECT_EQ(data % (kStacks * 4096), 0u);
  d.device.launch(d.module, "k", {blocks}, {1024}, 0, runtime::KernelArgs(data));
  return d.record("own pages");
}

/// One block of 1024 threads runs on an SM, four on a stack at a time.
constexpr uint32_t kRow = 4;
uint32_t stack_of_block(uint32_t block) { return block / kRow % kStacks; }

TEST(CodaFirstTouch, PagesAreWhereTheirThreadBlocksRun) {
  constexpr uint32_t kBlocks = 256;
  const report::RunResult r =
      run(own_pages(kBlocks), "cgp-fta", {"dispatch.groups=4", "tlb.walk_accesses=1"});
  EXPECT_EQ(counter(r, "pages.touched"), kBlocks);
  for (uint32_t stack = 0; stack < kStacks; ++stack)
    EXPECT_EQ(counter(r, "pages.stack" + std::to_string(stack)), kBlocks / kStacks);
  // Only entries of page tables still cross, 16 of them in a line, that each stack wants.
  const uint64_t spread = run(own_pages(kBlocks), "cgp-only").traffic.memory_to_memory_bytes;
  EXPECT_GT(spread, kBlocks * 32 * 3 / 4 * 128);
  EXPECT_LE(r.traffic.memory_to_memory_bytes, kBlocks / 16 * kStacks * 144);
}

TEST(CodaFirstTouch, MovedPagesCrossOnce) {
  constexpr uint32_t kBlocks = 256, kLines = 32;
  uint64_t elsewhere = 0;
  for (uint32_t b = 0; b < kBlocks; ++b) elsewhere += b % kStacks != stack_of_block(b) ? 1 : 0;
  const std::vector<std::string> affinity = {"dispatch.groups=4"};
  const report::RunResult known = run(own_pages(kBlocks), "cgp-fta", affinity),
                          cgp = run(own_pages(kBlocks), "cgp-fta-migrate", affinity),
                          fgp = run(own_pages(kBlocks), "cgp-fta-migrate",
                                    {"dispatch.groups=4", "pages.before_touch=fgp"});
  EXPECT_EQ(counter(cgp, "pages.moved"), elsewhere);
  EXPECT_EQ(counter(cgp, "pages.move_reads"), elsewhere * kLines);
  EXPECT_EQ(counter(fgp, "pages.moved"), kBlocks);
  // A read of a line and its reply are 144 bytes on a link.
  EXPECT_EQ(cgp.traffic.memory_to_memory_bytes - known.traffic.memory_to_memory_bytes,
            elsewhere * kLines * 144);
  EXPECT_EQ(fgp.traffic.memory_to_memory_bytes - known.traffic.memory_to_memory_bytes,
            kBlocks * kLines * 3 / 4 * 144);
  // A page that is moved stays in the L2 of where it goes until it is replaced.
  EXPECT_EQ(counter(cgp, "l2.write_allocates"), elsewhere * kLines);
  EXPECT_EQ(counter(cgp, "dram.writes"), counter(cgp, "l2.write_backs"));
  EXPECT_EQ(counter(cgp, "pages.repeated_reads"), 0u);  // nobody else wants them
  EXPECT_GT(cgp.cycles, known.cycles);
}

TEST(CodaFirstTouch, ThePagesOfAllBlocksAreMovedOnce) {
  // All blocks read the same pages at the same time: one of them moves each, the others wait.
  PtxDevice d(R"(
.visible .entry k(.param .u64 data) {
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r3, [%rd1];
  ret;
})");
  const uint64_t data = d.device.allocate(4 * 4096);
  d.device.launch(d.module, "k", {16}, {1024}, 0, runtime::KernelArgs(data));
  const runtime::Recording recording = d.record();
  const report::RunResult r = run(recording, "cgp-fta-migrate", {"pages.before_touch=fgp"});
  EXPECT_EQ(counter(r, "pages.touched"), 4u);
  EXPECT_EQ(counter(r, "pages.moved"), 4u);
  EXPECT_GT(counter(r, "pages.repeated_reads"), 15u);
  EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
}

TEST(CodaFirstTouch, TheWayOfSteppingDoesNotShow) {
  for (const char* name : {"kmeans", "bfs-rmat"}) {
    const runtime::Recording& recording = workload(name, 300'000);
    for (const std::vector<std::string>& keys :
         std::vector<std::vector<std::string>>{{"pages.before_touch=known"},
                                               {"pages.before_touch=cgp"},
                                               {"pages.before_touch=fgp", "dispatch.groups=4"}}) {
      const auto expected = numbers(run(recording, "cgp-fta", keys));
      for (const sim::SimOptions& options : ways_of_stepping(recording, 7))
        EXPECT_EQ(numbers(run(recording, "cgp-fta", keys, options)), expected) << keys[0];
    }
  }
}

TEST(CodaFirstTouch, ADeviceGivesTheSame) {
  const runtime::Recording& recording = workload("kmeans", 300'000);
  const config::MachineConfig machine = config::load_machine("coda");
  const config::PolicyConfig known = config::load_policy("cgp-fta"),
                             moved = config::load_policy("cgp-fta-migrate");
  const std::vector<sim::ReplayJob> jobs = {{&recording, &machine, &known},
                                            {&recording, &machine, &moved}};
  for (const kernels::EmulationOptions& emulation :
       {kernels::EmulationOptions{.seed = 4},
        {.warps_per_block = 3, .largest_team = 8, .seed = 6, .threads = 2}}) {
    kernels::EmulatedDevice device(emulation);
    for (const auto& results : {run_on(device, jobs), run_as_batch(device, jobs)}) {
      EXPECT_EQ(numbers(results[0]), numbers(run(recording, "cgp-fta")));
      EXPECT_EQ(numbers(results[1]), numbers(run(recording, "cgp-fta-migrate")));
    }
  }
}

TEST(CodaFirstTouch, TheLeastOfRoomOnlyTakesLonger) {
  const runtime::Recording& recording = workload("kmeans", 300'000);
  const report::RunResult r =
      run(recording, "cgp-fta-migrate",
          {"interconnect.queue_entries=2", "links.queue_entries=2", "stack.queue_entries=2",
           "l2.queue_entries=2", "interconnect.vc_flits=1", "l2.mshr_entries=1", "tlb.walkers=1",
           "tlb.walk_accesses=3"});
  EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
  EXPECT_GT(counter(r, "pages.moved"), 0u);
}

TEST(CodaFirstTouch, SeveralProgramsAtOnce) {
  std::vector<runtime::Recording> programs;
  uint64_t pages = 0;
  for (const char* name : {"kmeans", "row-sum"}) {
    runtime::VirtualDevice device(runtime::VirtualDevice::Options{});
    workloads::find(name)->run(device, workloads::Size::kSmall);
    programs.push_back(device.take_recording(name));
    pages += counter(run(programs.back(), "cgp-fta"), "pages.touched");
  }
  const uint64_t instructions = programs[0].warp_instructions + programs[1].warp_instructions;
  const report::RunResult r = run(runtime::combine(std::move(programs)), "cgp-fta-migrate");
  EXPECT_EQ(r.warp_instructions, instructions);
  EXPECT_EQ(counter(r, "pages.touched"), pages);
}

std::string error(const std::string& machine, const std::vector<std::string>& keys) {
  try {
    sim::replay_on_cpu(workload("kmeans"), config::load_machine(machine, keys),
                       config::load_policy("cgp-fta", keys), {});
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(CodaFirstTouch, SaysWhatIsMissing) {
  EXPECT_NE(error("coda", {"tlb.entries=0"}).find("tlb.entries is 0 - a page's first touch"),
            std::string::npos);
  EXPECT_NE(error("coda", {"tlb.page_bytes=16384"}).find("tlb.page_bytes is 16384"),
            std::string::npos);
  EXPECT_NE(error("coda-host", {})
                .find("'coda' needs SMs in the memory stacks, whose first touches place pages"),
            std::string::npos);
}

}  // namespace
}  // namespace nearwarp::testing
