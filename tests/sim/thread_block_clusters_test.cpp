// Do thread blocks of a cluster reach each other's shared memory, and meet, in the time that the
// networks of their GPC and the front end take?
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "host/recording/recording_file.h"
#include "host/recording/recording_journal.h"
#include "host/timing/run/launch_timer.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/same_everywhere.h"

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
/// With three SMs at most, of which each has room for five blocks of 40,000 bytes.
const std::vector<std::string> kSmallGpcs = {"gpu.gpcs=64", "gpu.sms_per_tpc=1"};

/// The message of the error that `what` throws; empty if it throws none.
template <class F>
std::string error_of(F&& what) {
  try {
    what();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

runtime::TraceStore traces_of(const runtime::Recording& recording) {
  runtime::TraceStore store;
  for (uint32_t i = 0; i < recording.launches[0].num_chunks; ++i)
    store.append(*recording.traces.chunk(i));
  return store;
}

uint64_t cycles(const runtime::Recording& recording,
                const std::vector<std::string>& overrides = {}) {
  return run(recording, overrides).cycles;
}

/// The cycles that 100 more rounds cost, for each of them.
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
  // Without a network accesses do not delay each other.
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

/// A launch of `number` clusters, of whose blocks an SM has room for one; they meet, are busy for
/// some 2000 cycles, and meet again.
runtime::Recording busy_clusters(uint32_t number, uint32_t cluster) {
  const std::string busy =
      "  mov.u32 %r9, 0;\nLOOP:\n  add.u32 %r9, %r9, 1;\n  setp.lt.u32 %p2, %r9, 150;\n"
      "  @%p2 bra LOOP;\n";
  return clusters(kMeet + busy + kMeet, number * cluster, 32, cluster, 120000);
}

/// The clusters of so many blocks that a GPU has room for, one block an SM: GPCs get TPCs of
/// `per_tpc` SMs in turns.
uint32_t room_for(uint32_t cluster, uint32_t gpcs, uint32_t per_tpc) {
  const uint32_t tpcs = 132 / per_tpc;
  uint32_t room = 0;
  for (uint32_t g = 0; g < gpcs; ++g)
    room += (tpcs / gpcs + (g < tpcs % gpcs ? 1 : 0)) * per_tpc / cluster;
  return room;
}

/// Waves of as many clusters as there is room for take a wave's time each, wherever the last one
/// ends.
void expect_waves(uint32_t cluster, uint32_t room, const std::vector<std::string>& overrides = {}) {
  const report::RunResult one = run(busy_clusters(1, cluster), overrides);
  const uint64_t wave = one.cycles;
  EXPECT_GT(wave, 1500u);
  for (const uint32_t number : {room, room + 1, 2 * room, 2 * room + 1, 3 * room - 1}) {
    const report::RunResult r = run(busy_clusters(number, cluster), overrides);
    EXPECT_FALSE(r.partial);
    EXPECT_EQ(r.warp_instructions, number * one.warp_instructions);
    const uint64_t waves = (number + room - 1) / room;
    // Blocks that come while others end begin before all have: waves do not wait for each other.
    EXPECT_GT(r.cycles, waves * wave - wave / 2) << number << " of " << cluster;
    EXPECT_LT(r.cycles, waves * wave + wave / 2) << number << " of " << cluster;
  }
}

TEST(ThreadBlockClusters, WithOneBlockAnSmTheyComeInWaves) {
  EXPECT_EQ(room_for(2, 8, 2), 66u);
  EXPECT_EQ(room_for(9, 8, 2), 10u);  // two GPCs of 18 SMs, six of 16
  EXPECT_EQ(room_for(16, 8, 2), 8u);
  for (uint32_t cluster = 2; cluster <= 16; ++cluster)
    expect_waves(cluster, room_for(cluster, 8, 2));
}

TEST(ThreadBlockClusters, WithOneBlockAnSmSomeGpcsMayHaveRoomForNone) {
  // 64 GPCs, of which four have three SMs, and the others two.
  EXPECT_EQ(room_for(3, 64, 1), 4u);
  expect_waves(2, room_for(2, 64, 1), kSmallGpcs);
  expect_waves(3, room_for(3, 64, 1), kSmallGpcs);
}

TEST(ThreadBlockClusters, OnesThatFitOnNoGpcAreRefused) {
  const runtime::Recording large = clusters(kMeet, 16, 32, 16, 40000);
  EXPECT_NO_THROW(run(large));  // 16 SMs and more
  const std::string refused = error_of([&] { run(large, kSmallGpcs); });
  for (const char* const part : {"kernel k, launched with a grid of (16,1,1)", "16 thread blocks",
                                 "machine h100 has room for 15 such blocks on its 3 SMs",
                                 "change gpu.gpcs or the [sm] keys"})
    EXPECT_NE(refused.find(part), std::string::npos) << refused;
}

TEST(ThreadBlockClusters, OnesThatFitOnNoGpcAreRefusedInALaterLaunch) {
  const runtime::Recording small = clusters(kMeet, 16, 32, 8, 4000),
                           large = clusters(kMeet, 16, 32, 16, 40000);
  sim::LaunchTimer timer(config::load_machine("h100", kSmallGpcs), config::load_policy("baseline"));
  for (const runtime::Recording* r : {&small, &large}) timer.add_kernel(*r->kernels[0]);
  EXPECT_GT(timer.launch(small.launches[0], traces_of(small)), 0u);
  EXPECT_GT(timer.launch(small.launches[0], traces_of(small)), 0u);
  runtime::LaunchRecord later = large.launches[0];
  later.kernel = 1;
  const std::string refused = error_of([&] { timer.launch(later, traces_of(large)); });
  EXPECT_NE(refused.find("has room for 15 such blocks"), std::string::npos) << refused;
}

TEST(ThreadBlockClusters, QueuesForGroupsOfSmsDoNotGoWithThem) {
  const runtime::Recording recording = clusters(kMeet, 16, 32, 4);
  const std::vector<std::string> groups = {"dispatch.groups=2"}, no_gpcs = {"gpu.gpcs=0"};
  const config::PolicyConfig policy = config::load_policy("baseline", groups);
  const std::string refused =
      error_of([&] { sim::replay_on_cpu(recording, config::load_machine("h100"), policy, {}); });
  EXPECT_NE(refused.find("dispatch.groups is 2"), std::string::npos) << refused;
  EXPECT_NE(refused.find("or gpu.gpcs=0"), std::string::npos) << refused;
  EXPECT_EQ(error_of([&] {
              sim::replay_on_cpu(recording, config::load_machine("h100", no_gpcs), policy, {});
            }),
            "");
}

TEST(ThreadBlockClusters, ImpossibleOnesInRecordingsAreRefused) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("nearwarp-clusters-" + std::to_string(getpid()) + ".nwtrace");
  runtime::Recording r = clusters(kMeet, 64, 32, 16);
  for (const runtime::Dim3 wrong :
       {runtime::Dim3{32, 1, 1}, {0, 1, 1}, {3, 1, 1}, {1, 2, 1}, {0x10000, 0x10000, 0x10000}}) {
    r.launches[0].cluster = wrong;
    runtime::save_recording(r, path.string());
    const std::string refused = error_of([&] { runtime::load_recording(path.string()); });
    EXPECT_NE(refused.find("launch 0 has clusters that cannot be"), std::string::npos) << refused;
    {
      runtime::JournalWriter journal(path.string(), "test");
      journal.kernel(*r.kernels[0]);
      runtime::LaunchRecord launch = r.launches[0];
      launch.num_chunks = 0;
      journal.launch(launch, 0);
    }
    const std::string damaged = error_of([&] { runtime::load_journal(path.string()); });
    EXPECT_NE(damaged.find("launch 0 has clusters that cannot be"), std::string::npos) << damaged;
  }
  std::filesystem::remove(path);
}

TEST(ThreadBlockClusters, EnergyIsChargedByTheBytesThatPassTheirNetworks) {
  const report::RunResult few = run(clusters(loads(kFirst, 200), 2, 32, 2)),
                          many = run(clusters(loads(kFirst, 300), 2, 32, 2));
  const auto more = [&](const std::string& name) {
    return counter(many, name) - counter(few, name);
  };
  // 100 requests without data, and as many answers of 128 bytes, over a wire at each end.
  EXPECT_EQ(more("noc.clusters.switch_bytes"), 100u * (1 + 128));
  EXPECT_EQ(more("noc.clusters.bytes"), 2 * 100u * (1 + 128));
  EXPECT_EQ(more("noc.flits"), 0u) << "flits of the GPU's networks have another size";
  std::map<std::string, uint64_t> counts;
  for (const report::EnergyTerm& term : many.energy.terms)
    if (term.energy != 0) counts[term.name] = term.count;
  EXPECT_EQ(counts["network.clusters"], counter(many, "noc.clusters.switch_bytes"));
  EXPECT_EQ(counts["network.cluster_wires"], counter(many, "noc.clusters.bytes"));
  for (const report::EnergyTerm& term :
       run(clusters(loads(kFirst, 1), 2, 32, 2), {"gpu.gpcs=0"}).energy.terms)
    EXPECT_NE(term.name, "network.clusters");
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
                                           clusters(loads(kOne, 20), 330, 96, 3),
                                           busy_clusters(25, 7)};
  const config::MachineConfig machine = config::load_machine("h100");
  const config::PolicyConfig policy = config::load_policy("baseline");
  for (const runtime::Recording& recording : recordings)
    expect_same_everywhere(recording, machine, policy);
}

}  // namespace
}  // namespace nearwarp::testing
