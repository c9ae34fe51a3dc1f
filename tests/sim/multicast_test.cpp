// Do mbarriers of other blocks of a cluster, and boxes for several blocks, take the time that the
// networks of their GPC take, and are boxes read once?
#include <gtest/gtest.h>

#include <map>

#include "tests/runtime/breadth_kernels.h"
#include "tests/runtime/plane_map.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/same_everywhere.h"

namespace nearwarp::testing {
namespace {

/// A launch of one cluster of so many blocks of so many threads. %r3: shared memory; %r4: an
/// mbarrier of one arrival; %r6: the rank; %rd1: memory.
runtime::Recording cluster(const std::string& body, uint32_t blocks, uint32_t grid = 0,
                           uint32_t threads = 1) {
  runtime::VirtualDevice d;
  const uint32_t module = d.load_module(std::make_shared<
                                        const compiler::Program>(compiler::compile_ptx(
      ".version 8.6\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 data)\n.explicitcluster\n.reqnctapercluster " +
          std::to_string(blocks) +
          ", 1, 1\n{\n  .reg .b16 %h<3>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<5>;\n"
          "  .shared .align 128 .b8 tile[65536]; .shared .align 8 .b64 bar;\n"
          "  ld.param.u64 %rd1, [data];\n"
          "  mov.u32 %r3, tile;\n  mov.u32 %r4, bar;\n  mov.u32 %r6, %cluster_ctarank;\n"
          "  mbarrier.init.shared.b64 [%r4], 1;\n"
          "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n" +
          body + "DONE:\n  barrier.cluster.arrive;\n  barrier.cluster.wait;\n  ret;\n}\n",
      "test.ptx")));
  const uint64_t data = d.allocate(1 << 20);
  d.launch(module, "k", {grid == 0 ? blocks : grid}, {threads}, 0, runtime::KernelArgs(data));
  return d.take_recording("test");
}

/// Two blocks tell each other's mbarrier something in turns. `tell`: at %r8 is the other's
/// mbarrier, at %r9 its shared memory; `before`: a round of those who wait.
runtime::Recording turns(int rounds, const std::string& tell, const std::string& before = "") {
  const std::string wait = "  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], %r10;\n  @!%p2 bra ";
  const std::string next =
      "  xor.b32 %r10, %r10, 1;\n  add.u32 %r11, %r11, 1;\n  setp.lt.u32 %p3, %r11, " +
      std::to_string(rounds) + ";\n  @%p3 bra ";
  return cluster(
      "  xor.b32 %r7, %r6, 1;\n  mapa.shared::cluster.u32 %r8, %r4, %r7;\n"
      "  mapa.shared::cluster.u32 %r9, %r3, %r7;\n"
      "  mov.u32 %r10, 0;\n  mov.u32 %r11, 0;\n  setp.eq.u32 %p1, %r6, 1;\n"
      "  @%p1 bra SECOND;\nFIRST:\n" +
          before + tell + "WAIT1:\n" + wait + "WAIT1;\n" + next + "FIRST;\n  bra DONE;\nSECOND:\n" +
          before + "WAIT2:\n" + wait + "WAIT2;\n" + tell + next + "SECOND;\n",
      2);
}
const std::string kArrive = "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];\n";
const std::string kStore =
    "  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r9], %r11, [%r8];\n";
const std::string kExpect = "  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 4;\n";

report::RunResult run(const runtime::Recording& recording,
                      const std::vector<std::string>& overrides = {}) {
  return sim::replay_on_cpu(recording, config::load_machine("h100", overrides),
                            config::load_policy("baseline"), {});
}
const std::string kNearer = "lsu.remote_shared_cycles=100";  // 148 by itself: wires of 25, not 37

/// The cycles that each of 100 more rounds costs.
uint64_t round(const std::string& tell, const std::string& before = "",
               const std::vector<std::string>& overrides = {}) {
  const uint64_t more = run(turns(300, tell, before), overrides).cycles -
                        run(turns(200, tell, before), overrides).cycles;
  EXPECT_EQ(more % 100, 0u);
  return more / 100;
}

TEST(Multicast, ArrivalsAtOtherBlocksPassTwoWires) {
  const uint64_t far = round(kArrive);
  EXPECT_EQ(far - round(kArrive, "", {kNearer}), 2u * 2 * 12);
  // From what arrives to the branch behind the wait 20 cycles, which takes 4; then the second block
  // issues its arrival, and the first one its loop's end before: two additions, of which the port
  // takes one every other cycle, a comparison and a branch. A cycle later it leaves.
  EXPECT_EQ(far, 2u * (20 + 4 + 1 + 2 * 37) + (2 + 4 + 4 + 4));
}

TEST(Multicast, CountedWordsPassTwoWires) {
  const uint64_t far = round(kStore, kExpect);
  EXPECT_EQ(far - round(kStore, kExpect, {kNearer}), 2u * 2 * 12);
  // Behind the word, a cycle later at least; the first block expects it before both.
  EXPECT_EQ(far, round(kArrive) + 2 * 1 + 1 + 2 * 8) << "its addresses are added up before";
}

/// The first `lanes` lanes tell mbarriers of their own block, lane 31 the other block's, if it
/// is to, all by one instruction, over and over.
runtime::Recording arrivals(int rounds, int lanes, bool others) {
  return cluster(
      "  mov.u32 %r1, %tid.x;\n  shl.b32 %r2, %r1, 3;\n  add.u32 %r2, %r3, %r2;\n"
      "  mbarrier.init.shared.b64 [%r2], 1;\n"
      "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n"
      "  xor.b32 %r7, %r6, 1;\n  setp.eq.u32 %p1, %r1, 31;\n"
      "  selp.b32 %r7, %r7, %r6, %p1;\n  mapa.shared::cluster.u32 %r8, %r2, %r7;\n"
      "  setp.lt.u32 %p4, %r1, " +
          std::to_string(lanes) + ";\n" + (others ? "  or.pred %p4, %p4, %p1;\n" : "") +
          "  mov.u32 %r11, 0;\nLOOP:\n"
          "  @%p4 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];\n"
          "  add.u32 %r11, %r11, 1;\n  setp.lt.u32 %p3, %r11, " +
          std::to_string(rounds) + ";\n  @%p3 bra LOOP;\n",
      2, 0, 32);
}

TEST(Multicast, ABlocksOwnMbarriersTakeACycleEachBesideOthers) {
  const auto more = [](const char* what, int lanes, bool others) {
    const report::RunResult few = run(arrivals(200, lanes, others)),
                            many = run(arrivals(300, lanes, others));
    return std::string(what) == "cycles" ? many.cycles - few.cycles
                                         : counter(many, what) - counter(few, what);
  };
  EXPECT_EQ(more("sm.shared_cycles", 31, false), 100u * 2 * 31);
  EXPECT_EQ(more("sm.shared_cycles", 31, true), 100u * 2 * 32);
  EXPECT_GE(more("cycles", 31, false), 100u * 31);
  EXPECT_GE(more("cycles", 31, true), 100u * 32);
}

TEST(Multicast, MbarriersOfBlocksThatAreNotThereAreRefused) {
  runtime::Recording r = turns(2, kArrive);
  const uint64_t wrong = trace::phase_word({0, 0, 1, 3});
  runtime::TraceStore changed;
  for (uint32_t c = 0; c < r.traces.size(); ++c) {
    runtime::TraceChunk chunk = *r.traces.chunk(c);
    for (uint64_t& word : chunk.words)
      if (word == trace::phase_word({0, 0, 1, 1}) || word == trace::phase_word({0, 0, 1, 2}))
        word = wrong;
    changed.append(std::move(chunk));
  }
  r.traces = std::move(changed);
  std::string what;
  try {
    run(r);
  } catch (const std::exception& e) {
    what = e.what();
  }
  EXPECT_NE(what.find("tells an mbarrier of rank 2 in a cluster of 2"), std::string::npos) << what;
}

/// Rank 0 fetches so many bytes for the blocks of a mask; these wait for them.
std::string fetch(uint32_t bytes, uint32_t mask) {
  return "  mov.u32 %r12, " + std::to_string(bytes) + ";\n  mov.u16 %h1, " + std::to_string(mask) +
         ";\n  cvt.u32.u16 %r13, %h1;\n  shr.u32 %r13, %r13, %r6;\n  and.b32 %r13, %r13, 1;\n"
         "  setp.eq.u32 %p1, %r13, 0;\n"
         "  @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], %r12;\n"
         "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n"
         "  setp.ne.u32 %p3, %r6, 0;\n  @%p3 bra BEGUN;\n"
         "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
         "[%r3], [%rd1], %r12, [%r4], %h1;\nBEGUN:\n  @%p1 bra DONE;\n"
         "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;\n  @!%p2 bra WAIT;\n"
         "  ld.shared.u32 %r5, [%r3];\n";
}
/// Each fetches them for itself.
std::string fetch_alone(uint32_t bytes) {
  return "  mov.u32 %r12, " + std::to_string(bytes) +
         ";\n  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], %r12;\n"
         "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
         "[%r3], [%rd1], %r12, [%r4];\n"
         "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;\n  @!%p2 bra WAIT;\n"
         "  ld.shared.u32 %r5, [%r3];\n";
}

TEST(Multicast, ABoxForSeveralBlocksIsReadOnce) {
  constexpr uint32_t kBytes = 65536, kLines = kBytes / 128;
  const report::RunResult alone = run(cluster(fetch_alone(kBytes), 4));
  EXPECT_EQ(counter(alone, "l2.reads"), 4u * kLines);
  EXPECT_EQ(counter(alone, "noc.shared_lines.delivered"), 0u);
  for (const auto& [mask, others] : {std::pair{15u, 3u}, {1u, 0u}, {2u, 1u}, {10u, 2u}}) {
    const report::RunResult together = run(cluster(fetch(kBytes, mask), 4));
    EXPECT_EQ(counter(together, "l2.reads"), kLines) << mask;
    EXPECT_EQ(counter(together, "noc.shared_lines.delivered"), others * kLines) << mask;
    EXPECT_EQ(counter(together, "noc.shared_lines.switch_bytes"), others * kBytes) << mask;
  }
}

TEST(Multicast, ABoxMayBeForAnotherBlockAlone) {
  const std::string body = R"(
  mov.u32 %r12, 4096;
  setp.ne.u32 %p1, %r6, 0;
  @%p1 bra OTHER;
  mapa.shared::cluster.u32 %r8, %r4, 1;
  mapa.shared::cluster.u32 %r9, %r3, 1;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], %r12, [%r8];
  bra DONE;
OTHER:
  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], %r12;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
  @!%p2 bra WAIT;
)";
  const report::RunResult far = run(cluster(body, 2)), nearer = run(cluster(body, 2), {kNearer});
  EXPECT_EQ(counter(far, "l2.reads"), 32u);
  EXPECT_EQ(counter(far, "noc.shared_lines.delivered"), 32u);
  EXPECT_EQ(far.cycles - nearer.cycles, 2u * 12);
}

TEST(Multicast, EnergyIsChargedByTheBytesThatGoOn) {
  const report::RunResult r = run(cluster(fetch(8192, 15), 4));
  std::map<std::string, uint64_t> counts;
  for (const report::EnergyTerm& term : r.energy.terms)
    if (term.energy != 0) counts[term.name] = term.count;
  EXPECT_EQ(counts["network.shared_lines"], 3u * 8192);
  EXPECT_EQ(counts["network.shared_line_wires"], 2u * 3 * 8192);
}

TEST(Multicast, OthersHaveABoxTwoWiresLater) {
  const auto cycles = [](uint32_t mask, const std::vector<std::string>& overrides = {}) {
    return run(cluster(fetch(128, mask), 4), overrides).cycles;
  };
  const uint64_t own = cycles(1), others = cycles(2);
  EXPECT_EQ(cycles(1, {kNearer}), own);
  EXPECT_EQ(others - cycles(2, {kNearer}), 2u * 12);
  EXPECT_EQ(others, cycles(10) - 1) << "a copy a cycle";
  // Two wires, and two cycles of a line into the SM, which has 64 bytes a cycle.
  EXPECT_GE(others, own + 2 * 37 + 2);
  EXPECT_LE(others, own + 2 * 37 + 4);
}

TEST(Multicast, LinesGoOnACopyACycleAndIntoAnSmAsFastAsItsShareOfThePort) {
  const auto more = [](uint32_t mask, const std::vector<std::string>& overrides = {}) {
    return run(cluster(fetch(65536, mask), 8), overrides).cycles -
           run(cluster(fetch(1024, mask), 8), overrides).cycles;
  };
  constexpr uint64_t kLines = 512 - 8;
  const auto is = [](uint64_t cycles, uint64_t expected) {
    EXPECT_GE(cycles, expected - expected / 50);
    EXPECT_LE(cycles, expected + expected / 50);
  };
  is(more(3), kLines * 128 / 64);
  is(more(3, {"interconnect.flit_bytes=96"}), kLines * 128 / 32);
  is(more(255), kLines * 7);
}

/// While a long box goes on to all blocks, a short one is asked for, in whose place another one has
/// been before; rank 1 waits for one of them, and then does something else for long.
uint64_t short_behind_long(const std::string& awaited) {
  return run(cluster("  add.u32 %r7, %r3, 61440;\n  add.u32 %r8, %r3, 61448;\n"
                     "  mbarrier.init.shared.b64 [%r7], 1;\n"
                     "  mbarrier.init.shared.b64 [%r8], 1;\n"
                     "  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 49152;\n"
                     "  mbarrier.arrive.expect_tx.shared.b64 _, [%r7], 128;\n"
                     "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n"
                     "  mov.u16 %h1, 255;\n  setp.ne.u32 %p1, %r6, 0;\n  @%p1 bra BEGUN;\n"
                     "  mbarrier.arrive.expect_tx.shared.b64 _, [%r8], 128;\n"
                     "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%r3], [%rd1], 128, [%r8];\n"
                     "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%r3], [%rd1], 49152, [%r4], %h1;\n"
                     "FIRST:\n  mbarrier.try_wait.parity.shared.b64 %p2, [%r8], 0;\n"
                     "  @!%p2 bra FIRST;\n"
                     "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%r3], [%rd1], 128, [%r7], %h1;\nBEGUN:\n"
                     "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p2, [" +
                         awaited +
                         "], 0;\n  @!%p2 bra WAIT;\n  mov.u32 %r11, 0;\n"
                         "  setp.ne.u32 %p1, %r6, 1;\n  @%p1 bra DONE;\nLOOP:\n"
                         "  add.u32 %r11, %r11, 1;\n  setp.lt.u32 %p3, %r11, 2000;\n"
                         "  @%p3 bra LOOP;\n",
                     8))
      .cycles;
}

TEST(Multicast, OfSeveralBoxesTheOneAskedForFirstGoesFirst) {
  const uint64_t longer = short_behind_long("%r4"), shorter = short_behind_long("%r7");
  EXPECT_GE(shorter, longer);
  EXPECT_LE(shorter, longer + 7) << "asked for long before";
}

TEST(Multicast, WithoutANetworkNobodyWaitsForOthers) {
  for (const runtime::Recording& recording :
       {turns(20, kArrive), turns(20, kStore, kExpect), cluster(fetch(4096, 15), 4)}) {
    const report::RunResult apart = run(recording, {"gpu.gpcs=0"});
    EXPECT_FALSE(apart.partial);
    EXPECT_LT(apart.cycles, run(recording).cycles);
  }
}

/// c = a b^T in f16 by blocks of 128 by 128; `kernel` by clusters of 2 by 2, or by blocks.
runtime::Recording gemm(const std::string& kernel, uint32_t m, uint32_t n, uint32_t k) {
  runtime::BreadthDevice d("tile_kernels");
  const uint64_t a = d.allocate(uint64_t{m} * k * 2), b = d.allocate(uint64_t{n} * k * 2),
                 c = d.allocate(uint64_t{m} * n * 4);
  const uint32_t rows = kernel == "gemm_together" ? 64 : 128;
  const runtime::PlaneMap ma(a, 6, k, m, 64, rows, 3), mb(b, 6, k, n, 64, rows, 3);
  d.launch(d.module, kernel, {n / 128, m / 128}, {384}, 4 * 2 * 128 * 128,
           runtime::KernelArgs(ma, mb, c, static_cast<int>(n), static_cast<int>(k / 64)));
  return d.take_recording("gemm");
}

TEST(Multicast, ProductsOfClustersReadHalf) {
  constexpr uint64_t kLines = 4 * (128 + 128) * 1024 * 2 / 128;
  const report::RunResult alone = run(gemm("gemm_f16", 256, 256, 1024)),
                          together = run(gemm("gemm_together", 256, 256, 1024));
  EXPECT_EQ(counter(alone, "l2.reads"), kLines);
  EXPECT_EQ(counter(together, "l2.reads"), kLines / 2);
  EXPECT_EQ(counter(together, "noc.shared_lines.delivered"), kLines / 2);
  // Matrix units are what both wait for, but for the way of the first boxes and at the end.
  EXPECT_LT(together.cycles, alone.cycles + alone.cycles / 10);
}

/// Words and additions for the next blocks of a cluster, and a bulk reduction (nvcc).
runtime::Recording counted_words() {
  runtime::BreadthDevice d("tensors");
  const uint64_t out = d.allocate(16 * 33 * 4), sums = d.allocate(32 * 4);
  d.launch_clusters(d.module, "counted_words", {16}, {32}, {4, 1, 1}, 0,
                    runtime::KernelArgs(out, sums));
  return d.take_recording("words");
}

TEST(Multicast, IsTheSameInAnyWindowsOnThreadsAndOnADevice) {
  const runtime::Recording recordings[] = {gemm("gemm_together", 256, 512, 256),
                                           turns(10, kStore, kExpect), counted_words(),
                                           cluster(fetch(8192, 0xfffe), 16, 32)};
  const config::MachineConfig machine = config::load_machine("h100");
  const config::PolicyConfig policy = config::load_policy("baseline");
  for (const runtime::Recording& recording : recordings)
    expect_same_everywhere(recording, machine, policy);
}

}  // namespace
}  // namespace nearwarp::testing
