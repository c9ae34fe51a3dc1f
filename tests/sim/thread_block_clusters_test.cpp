// Do thread blocks of a cluster reach each other's shared memory, and meet, in the time that the
// networks of their GPC and the front end take?
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "host/recording/recording_file.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::testing {
namespace {

/// A launch of `blocks` blocks of so many threads in clusters of `cluster`. %r3: shared memory;
/// %r6: the rank, %r7: the number of the cluster's blocks.
runtime::Recording clusters(const std::string& body, uint32_t blocks, uint32_t threads,
                            uint32_t cluster, uint32_t shared_bytes = 4096) {
  runtime::VirtualDevice d;
  const uint32_t module =
      d.load_module(std::make_shared<const compiler::Program>(compiler::compile_ptx(
          ".version 8.6\n.target sm_90a\n.address_size 64\n"
          ".visible .entry k(.param .u64 data)\n.explicitcluster\n.reqnctapercluster " +
              std::to_string(cluster) +
              ", 1, 1\n{\n  .reg .b32 %r<20>; .reg .pred %p<3>;\n  .shared .align 128 .b8 words[" +
              std::to_string(shared_bytes) +
              "];\n  mov.u32 %r3, words;\n  mov.u32 %r2, %tid.x;\n  shl.b32 %r2, %r2, 2;\n"
              "  mov.u32 %r6, %cluster_ctarank;\n  mov.u32 %r7, %cluster_nctarank;\n"
              "  add.u32 %r3, %r3, %r2;\n" +
              body + "  ret;\n}\n",
          "test.ptx")));
  d.launch(module, "k", {blocks}, {threads}, 0, runtime::KernelArgs(d.allocate(8)));
  return d.take_recording("test");
}

const std::string kMeet = "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n";

/// Between two meetings, `times` loads by all threads of the ranks for which `of` sets %p1, each
/// warp's from the rank in %r8: 128 bytes.
std::string loads(const std::string& of, int times, bool dependent = false) {
  std::string body = kMeet + "  mov.u32 %r9, 0;\n  mov.u32 %r10, 0;\n" + of +
                     "  mapa.shared::cluster.u32 %r4, %r3, %r8;\n  @!%p1 bra DONE;\n"
                     "LOOP:\n  ld.shared::cluster.u32 %r5, [%r4];\n";
  if (dependent) body += "  and.b32 %r5, %r5, 0;\n  add.u32 %r4, %r4, %r5;\n";
  return body + "  add.u32 %r9, %r9, 1;\n  setp.lt.u32 %p2, %r9, " + std::to_string(times) +
         ";\n  @%p2 bra LOOP;\nDONE:\n" + kMeet;
}
/// Rank 0 reads from rank 1.
const std::string kFirst = "  setp.eq.u32 %p1, %r6, 0;\n  mov.u32 %r8, 1;\n";
/// Each reads from the next.
const std::string kRing =
    "  setp.ge.u32 %p1, %r6, 0;\n  add.u32 %r8, %r6, 1;\n  rem.u32 %r8, %r8, %r7;\n";
/// All others read from rank 0.
const std::string kOne = "  setp.ne.u32 %p1, %r6, 0;\n  mov.u32 %r8, 0;\n";

report::RunResult run(const runtime::Recording& recording,
                      const std::vector<std::string>& overrides = {}) {
  return sim::replay_on_cpu(recording, config::load_machine("h100", overrides),
                            config::load_policy("baseline"), {});
}
uint64_t cycles(const runtime::Recording& recording,
                const std::vector<std::string>& overrides = {}) {
  return run(recording, overrides).cycles;
}

/// What 100 more rounds cost each.
uint64_t round(const std::string& of, uint32_t threads, uint32_t cluster, bool dependent = false,
               const std::vector<std::string>& overrides = {}) {
  const auto at = [&](int times) {
    return cycles(clusters(loads(of, times, dependent), cluster, threads, cluster), overrides);
  };
  const uint64_t more = at(300) - at(200);
  EXPECT_EQ(more % 100, 0u);
  return more / 100;
}

TEST(ThreadBlockClusters, ARequestAndItsAnswerPassFourWires) {
  const uint64_t far = round(kFirst, 1, 2, true);
  const uint64_t nearer = round(kFirst, 1, 2, true, {"lsu.remote_shared_cycles=100"});
  EXPECT_EQ(far - nearer, 48u);
  // Without the network it is the same: requests and answers are of one flit.
  EXPECT_EQ(far, round(kFirst, 1, 2, true, {"gpu.gpcs=0"}));
  // 128 bytes are eight flits, of which the last one counts.
  EXPECT_EQ(round(kFirst, 32, 2, true), far + 7);
}

TEST(ThreadBlockClusters, AnSmsPortMovesSixteenBytesACycle) {
  // 32 warps read 128 bytes each, which is longer than a request and its answer take.
  EXPECT_EQ(round(kFirst, 1024, 2), 32u * 8);
  EXPECT_EQ(round(kFirst, 1024, 2, false, {"lsu.remote_shared_bytes=8"}), 32u * 16);
  // As fast where each block reads from the next: an SM's ports both ways are its own.
  EXPECT_EQ(round(kRing, 1024, 4), 32u * 8);
  // All from one: its port is what they share.
  EXPECT_EQ(round(kOne, 1024, 4), 3u * 32 * 8);
  // Without a network nobody is in anybody's way.
  EXPECT_LT(round(kOne, 1024, 4, false, {"gpu.gpcs=0"}), 32u * 8);
}

TEST(ThreadBlockClusters, BarriersTakeTwoWaysOfControl) {
  const auto meetings = [&](int n, const std::vector<std::string>& overrides) {
    std::string body;
    for (int i = 0; i < n; ++i) body += kMeet;
    return cycles(clusters(body, 4, 64, 4), overrides);
  };
  const auto each = [&](const std::vector<std::string>& overrides) {
    const uint64_t more = meetings(30, overrides) - meetings(10, overrides);
    EXPECT_EQ(more % 20, 0u);
    return more / 20;
  };
  EXPECT_EQ(each({}) - each({"gpu.gpcs=0"}), 2u * 37);
}

TEST(ThreadBlockClusters, BlocksThatEndAreNotWaitedFor) {
  const std::string body =
      "  setp.eq.u32 %p1, %r6, 3;\n  @%p1 bra DONE;\n" + kMeet + kMeet + "DONE:\n";
  EXPECT_FALSE(run(clusters(body, 16, 64, 4)).partial);
}

TEST(ThreadBlockClusters, OnesThatFitOnNoGpcAreRefused) {
  const runtime::Recording large = clusters(kMeet, 16, 32, 16, 40000);
  EXPECT_NO_THROW(run(large));  // 16 SMs and more
  try {
    run(large, {"gpu.gpcs=64", "gpu.sms_per_tpc=1"});  // three SMs at most, five blocks on each
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("a GPC has room for 15 such blocks"), std::string::npos)
        << e.what();
  }
}

TEST(ThreadBlockClusters, AreKeptInRecordings) {
  const runtime::Recording recording = clusters(loads(kOne, 20), 64, 128, 16);
  const auto path = std::filesystem::temp_directory_path() /
                    ("nearwarp-clusters-" + std::to_string(getpid()) + ".nwtrace");
  runtime::save_recording(recording, path.string());
  const runtime::Recording read = runtime::load_recording(path.string());
  EXPECT_EQ(read.launches.at(0).cluster, (runtime::Dim3{16, 1, 1}));
  EXPECT_EQ(numbers(run(read)), numbers(run(recording)));
  std::filesystem::remove(path);
}

TEST(ThreadBlockClusters, AreTheSameInAnyWindowsOnThreadsAndOnADevice) {
  const runtime::Recording recordings[] = {clusters(loads(kRing, 20), 64, 128, 16),
                                           clusters(loads(kOne, 20), 330, 96, 3)};
  const config::MachineConfig machine = config::load_machine("h100");
  const config::PolicyConfig policy = config::load_policy("baseline");
  for (const runtime::Recording& recording : recordings) {
    const auto expected = numbers(sim::replay_on_cpu(recording, machine, policy, {}));
    sim::SimOptions windows;
    windows.threads = 2;
    windows.window_ticks = 7;
    EXPECT_EQ(numbers(sim::replay_on_cpu(recording, machine, policy, windows)), expected);
    kernels::EmulationOptions emulation;
    emulation.warps_per_block = 16;
    emulation.blocks_at_once = 12;
    kernels::EmulatedDevice device(emulation);
    const sim::ReplayJob job{&recording, &machine, &policy};
    EXPECT_EQ(numbers(run_on(device, {&job, 1}).at(0)), expected);
  }
}

}  // namespace
}  // namespace nearwarp::testing
