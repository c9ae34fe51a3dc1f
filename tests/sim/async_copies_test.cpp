// Do bulk copies, mbarriers, products of warp groups and asynchronous loads take the time that
// their units take?
#include <gtest/gtest.h>

#include "tests/runtime/breadth_kernels.h"
#include "tests/runtime/plane_map.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/same_everywhere.h"

namespace nearwarp::testing {
namespace {

/// c = a b^T in f16 by blocks of 128 by 128, a producer and two consuming warp groups each; of a
/// and b the first `parts` of 64 columns, or all.
runtime::Recording gemm(uint32_t m, uint32_t n, uint32_t k, uint64_t limit = 0,
                        uint32_t parts = 0) {
  runtime::VirtualDevice::Options options;
  options.max_thread_instructions = limit;
  options.execute_beyond_limit = limit != 0;
  runtime::BreadthDevice d("tile_kernels", options);
  const uint64_t a = d.allocate(uint64_t{m} * k * 2), b = d.allocate(uint64_t{n} * k * 2),
                 c = d.allocate(uint64_t{m} * n * 4);
  const runtime::PlaneMap ma(a, 6, k, m, 64, 128, 3), mb(b, 6, k, n, 64, 128, 3);
  d.launch(d.module, "gemm_f16", {n / 128, m / 128}, {384}, 4 * 2 * 128 * 128,
           runtime::KernelArgs(ma, mb, c, static_cast<int>(n),
                               static_cast<int>(parts != 0 ? parts : k / 64)));
  return d.take_recording("gemm");
}

/// A launch of one block of the kernel k(data, n), of 64 threads, for 9.0.
runtime::Recording one_block(const std::string& body, uint32_t n) {
  runtime::VirtualDevice d;
  const uint32_t module = d.load_module(std::make_shared<const compiler::Program>(
      compiler::compile_ptx(".version 8.6\n.target sm_90a\n.address_size 64\n"
                            ".visible .entry k(.param .u64 data, .param .u32 n) {\n"
                            "  .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<6>;\n"
                            "  .shared .align 128 .b8 tile[65536]; .shared .align 8 .b64 bar;\n"
                            "  ld.param.u64 %rd1, [data];\n  ld.param.u32 %r1, [n];\n"
                            "  mov.u32 %r2, %tid.x;\n  mov.u32 %r3, tile;\n  mov.u32 %r4, bar;\n" +
                                body + "  ret;\n}\n",
                            "test.ptx")));
  const uint64_t data = d.allocate(1 << 20);
  d.launch(module, "k", {1}, {64}, 0, runtime::KernelArgs(data, n));
  return d.take_recording("test");
}

/// One thread fetches n bytes, and all wait for them.
const char* const kFetch = R"(
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra BEGUN;
  mbarrier.init.shared.b64 [%r4], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], %r1;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], %r1, [%r4];
BEGUN:
  bar.sync 0;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
  @!%p2 bra WAIT;
  ld.shared.u32 %r5, [%r3];
)";

report::RunResult run(const runtime::Recording& recording,
                      const std::vector<std::string>& overrides = {}) {
  return sim::replay_on_cpu(recording, config::load_machine("h100", overrides),
                            config::load_policy("baseline"), {});
}

uint64_t counter_of(const report::RunResult& result, const std::string& name) {
  for (const auto& [counter, value] : numbers(result))
    if (counter == name) return static_cast<uint64_t>(value);
  ADD_FAILURE() << "no counter " << name;
  return 0;
}
uint64_t cycles(const report::RunResult& result) { return counter_of(result, "cycles"); }

TEST(AsyncCopies, ABoxTakesALineInACycleAndNoIssueSlots) {
  const report::RunResult few = run(one_block(kFetch, 1024)), many = run(one_block(kFetch, 65536));
  EXPECT_EQ(counter_of(many, "l2.reads"), 512u);
  // The copies differ by the cycles of their lines alone.
  const uint64_t lines = 512 - 8;
  EXPECT_GE(cycles(many), cycles(few) + lines);
  EXPECT_LE(cycles(many), cycles(few) + lines + lines / 10);
  // Threads that wait longer do not issue more instructions.
  EXPECT_EQ(counter_of(many, "sm.issued"), counter_of(few, "sm.issued"));
}

TEST(AsyncCopies, AWaitEndsWithItsLastByte) {
  // A box from memory takes no less than a load, and its mbarrier is asked about once more.
  const std::string plain = "  ld.global.u32 %r5, [%rd1];\n  st.shared.u32 [%r3], %r5;\n";
  const uint64_t load = cycles(run(one_block(plain, 0))), box = cycles(run(one_block(kFetch, 128)));
  EXPECT_GT(box, load);
  EXPECT_LT(box, load + 200);
}

TEST(AsyncCopies, GroupsOfStoresAreWaitedForUntilTheyAreReadOrWritten) {
  const auto with_wait = [](const std::string& wait) {
    return cycles(run(one_block(R"(
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra DONE;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16384;
  cp.async.bulk.commit_group;
)" + wait + R"(
  ld.global.u32 %r5, [%rd1+262144];
  add.u32 %r5, %r5, 1;
  st.global.u32 [%rd1+262144], %r5;
DONE:
)",
                                0)));
  };
  const uint64_t written = with_wait("  cp.async.bulk.wait_group 0;\n"),
                 read = with_wait("  cp.async.bulk.wait_group.read 0;\n"),
                 pending = with_wait("  cp.async.bulk.wait_group 1;\n");
  EXPECT_GT(written, read + 150);  // a way to the L2 and back
  EXPECT_GE(read, pending);
  EXPECT_GT(read, pending + 50);  // 128 lines, less what overlaps
}

TEST(AsyncCopies, ProductsTakeTheirUnitAndWaitForTheirFactors) {
  // 48 parts of 128 x 128 x 64 products more, of the same rows; 2048 of them are a cycle's.
  const auto few = [] { return gemm(128, 128, 4096, 0, 16); };
  const uint64_t more = cycles(run(gemm(128, 128, 4096))) - cycles(run(few()));
  const uint64_t least = uint64_t{48} * 128 * 128 * 64 / 2048;
  EXPECT_GE(more, least);
  EXPECT_LE(more, least + least / 50);
  // At half the rate they take twice as long, with room for those of both groups.
  const std::vector<std::string> half = {"sm.matrix_products_per_cycle=1024", "sm.port_queue=8"};
  const uint64_t slow = cycles(run(gemm(128, 128, 4096), half)) - cycles(run(few(), half));
  EXPECT_GE(slow, 2 * least);
  EXPECT_LE(slow, 2 * least + least / 50);
}

TEST(AsyncCopies, BoxesAreReadOnce) {
  const report::RunResult r = run(gemm(256, 128, 1024));
  // Rows of a and b, and c is written once.
  EXPECT_EQ(counter_of(r, "l2.reads"), 2 * (128 + 128) * 1024 * 2 / 128u);
  EXPECT_EQ(counter_of(r, "dram.bytes_read"), (256 + 128) * 1024 * 2u);
}

/// Each thread copies `copies` words to shared memory, each in a group, before it waits.
std::string async_loads(int copies, const std::string& wait, const std::string& cache = "ca",
                        int bytes = 4) {
  const std::string each = std::to_string(bytes);
  std::string text = "  mul.lo.u32 %r6, %r2, " + each + ";\n  add.u32 %r7, %r3, %r6;\n" +
                     "  mul.wide.u32 %rd2, %r2, " + each + ";\n  add.u64 %rd3, %rd1, %rd2;\n";
  for (int i = 0; i < copies; ++i)
    text += "  cp.async." + cache + ".shared.global [%r7+" + std::to_string(64 * bytes * i) +
            "], [%rd3+" + std::to_string(4096 * i) + "], " + each + ";\n  cp.async.commit_group;\n";
  return text + wait + "  ld.shared.u32 %r5, [%r7];\n";
}

TEST(AsyncCopies, AsynchronousLoadsAreUnderWayTogether) {
  const uint64_t one = cycles(run(one_block(async_loads(1, "  cp.async.wait_all;\n"), 0))),
                 six = cycles(run(one_block(async_loads(6, "  cp.async.wait_all;\n"), 0))),
                 // More groups than are kept.
      thirty = cycles(run(one_block(async_loads(30, "  cp.async.wait_group 0;\n"), 0)));
  EXPECT_GT(one, 400u);  // from memory
  EXPECT_LT(six, one + 150);
  EXPECT_GT(thirty, six);
  EXPECT_LT(thirty, 6 * one);
}

/// A line is loaded, then copied twice with `cache`, and loaded again.
report::RunResult copied_twice(const std::string& cache, const std::string& machine = "h100") {
  const std::string copy = "  cp.async." + cache + ".shared.global [%r7], [%rd3], 16;\n" +
                           "  cp.async.commit_group;\n  cp.async.wait_all;\n";
  const runtime::Recording r = one_block(
      "  setp.ge.u32 %p1, %r2, 8;\n  @%p1 bra DONE;\n"
      "  shl.b32 %r6, %r2, 4;\n  add.u32 %r7, %r3, %r6;\n"
      "  mul.wide.u32 %rd2, %r2, 16;\n  add.u64 %rd3, %rd1, %rd2;\n"
      "  ld.global.u32 %r8, [%rd3];\n  add.u32 %r9, %r8, 1;\n  st.shared.u32 [%r7+4096], %r9;\n" +
          copy + copy +
          "  ld.volatile.global.u32 %r8, [%rd3];\n  add.u32 %r9, %r8, 1;\n"
          "  st.shared.u32 [%r7+4096], %r9;\nDONE:\n",
      0);
  return sim::replay_on_cpu(r, config::load_machine(machine), config::load_policy("baseline"), {});
}

TEST(AsyncCopies, CachedAtTheL2AloneTheyPassTheL1) {
  for (const char* machine : {"h100", "a100", "v100"}) {
    SCOPED_TRACE(machine);
    const report::RunResult all = copied_twice("ca", machine), past = copied_twice("cg", machine);
    // A line for the loads and both copies: one miss and three hits; or a miss, a hit, and two
    // reads of the L2, which leave in the L1 what is there.
    EXPECT_EQ(counter_of(all, "l2.reads"), 1u);
    EXPECT_EQ(counter_of(past, "l2.reads"), 3u);
    EXPECT_EQ(counter_of(all, "sm.l1.read_misses"), 1u);
    EXPECT_EQ(counter_of(past, "sm.l1.read_misses"), 1u);
    EXPECT_EQ(counter_of(all, "sm.l1.read_hits"), 3u);
    EXPECT_EQ(counter_of(past, "sm.l1.read_hits"), 1u);
    EXPECT_EQ(counter_of(past, "sm.l1.invalidated_lines"), 0u);
    // Both copies hit in the L2, one after the other, where the others hit in the L1.
    EXPECT_GT(cycles(past), cycles(all) + 2 * 100);
    for (const char* name : {"sm.loads", "sm.load_lines", "sm.issued", "dram.bytes_read"})
      EXPECT_EQ(counter_of(past, name), counter_of(all, name)) << name;
  }
}

TEST(AsyncCopies, NewerGroupsAreNotWaitedFor) {
  // The second group's line comes from memory, the first one's has been read before.
  const auto with_wait = [](const std::string& wait) {
    return cycles(
        run(one_block("  mul.wide.u32 %rd4, %r2, 4;\n  add.u64 %rd5, %rd1, %rd4;\n"
                      "  ld.global.u32 %r8, [%rd5];\n  add.u32 %r9, %r8, 1;\n" +
                          async_loads(2, wait) +
                          "  ld.global.u32 %r10, [%rd1+65536];\n"
                          "  add.u32 %r10, %r10, %r5;\n  st.shared.u32 [%r3], %r10;\n",
                      0)));
  };
  EXPECT_GT(with_wait("  cp.async.wait_group 0;\n"), with_wait("  cp.async.wait_group 1;\n") + 200);
}

TEST(AsyncCopies, ArrivalsOfCopiesWaitForThem) {
  const std::string head = R"(
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra BEGUN;
  mbarrier.init.shared.b64 [%r4], 64;
BEGUN:
  bar.sync 0;
  shl.b32 %r6, %r2, 2;
  add.u32 %r7, %r3, %r6;
)";
  const std::string tail = R"(
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
  @!%p2 bra WAIT;
)";
  const uint64_t copied = cycles(run(one_block(head + R"(
  cp.async.ca.shared.global [%r7], [%rd1], 4;
  cp.async.mbarrier.arrive.noinc.shared.b64 [%r4];
)" + tail,
                                               0)));
  const uint64_t arrived =
      cycles(run(one_block(head + "  mbarrier.arrive.shared.b64 _, [%r4];\n" + tail, 0)));
  EXPECT_GT(copied, arrived + 400);
}

TEST(AsyncCopies, ArrivalsOfCopiesThatHitTakeAHitsTime) {
  const auto with_arrival = [](const std::string& arrival) {
    return cycles(run(one_block(R"(
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra BEGUN;
  mbarrier.init.shared.b64 [%r4], 64;
BEGUN:
  shl.b32 %r6, %r2, 2;
  add.u32 %r7, %r3, %r6;
  mul.wide.u32 %rd4, %r2, 4;
  add.u64 %rd5, %rd1, %rd4;
  ld.global.u32 %r8, [%rd5];
  add.u32 %r9, %r8, 1;
  st.shared.u32 [%r7+4096], %r9;
  bar.sync 0;
)" + arrival + R"(
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
  @!%p2 bra WAIT;
)",
                                0)));
  };
  const uint64_t arrived = with_arrival("  mbarrier.arrive.shared.b64 _, [%r4];\n");
  const uint64_t copied = with_arrival(
      "  cp.async.ca.shared.global [%r7], [%rd5], 4;\n"
      "  cp.async.mbarrier.arrive.noinc.shared.b64 [%r4];\n");
  EXPECT_GE(copied, arrived + 30);  // of 40 cycles, less the access to shared memory
  EXPECT_LE(copied, arrived + 60);
}

TEST(AsyncCopies, APhaseMayHaveMoreEventsThanSixteenBits) {
  // One thread arrives 70,000 times; the other warp waits, and then computes for a while.
  const auto with_wait = [](const std::string& wait) {
    return cycles(run(one_block(R"(
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra BEGUN;
  mbarrier.init.shared.b64 [%r4], 70000;
BEGUN:
  bar.sync 0;
  mov.u32 %r6, 0;
  setp.ge.u32 %p2, %r2, 32;
  @%p2 bra OTHER;
  @%p1 bra DONE;
NEXT:
  mbarrier.arrive.shared.b64 _, [%r4];
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p3, %r6, 70000;
  @%p3 bra NEXT;
  bra DONE;
OTHER:
)" + wait + R"(
LOOP:
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p3, %r6, 20000;
  @%p3 bra LOOP;
DONE:
)",
                                0)));
  };
  const uint64_t waits = with_wait(R"(
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p4, [%r4], 0;
  @!%p4 bra WAIT;
)");
  EXPECT_GE(waits, with_wait("") + 20000);  // one after the other
}

TEST(AsyncCopies, SharedMemoryOfOtherBlocksIsFar) {
  // A block's thread reads what some blocks of its cluster have, one after the other.
  const auto more = [](const std::string& reader, const std::vector<int>& read, bool generic) {
    const std::string mapped =
        generic ? "mapa.u64 %rd4, %rd3, " : "mapa.shared::cluster.u32 %r4, %r3, ";
    std::string body =
        "  mov.u32 %r3, word;\n  cvt.u64.u32 %rd2, %r3;\n  cvta.shared.u64 %rd3, %rd2;\n"
        "  mov.u32 %r5, 0;\n  mov.u64 %rd5, 0;\n  st.shared.u32 [%r3], %r5;\n"
        "  mov.u32 %r6, %cluster_ctarank;\n"
        "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n"
        "  setp.ne.u32 %p1, %r6, " +
        reader + ";\n  @%p1 bra DONE;\n";
    for (const int rank : read)
      body += "  " + mapped + std::to_string(rank) + ";\n" +
              (generic ? "  add.u64 %rd4, %rd4, %rd5;\n  ld.u32 %r5, [%rd4];\n"
                         "  cvt.u64.u32 %rd5, %r5;\n"
                       : "  add.u32 %r4, %r4, %r5;\n  ld.shared::cluster.u32 %r5, [%r4];\n");
    body += "  add.u32 %r5, %r5, 1;\nDONE:\n  barrier.cluster.arrive;\n  barrier.cluster.wait;\n";
    runtime::VirtualDevice d;
    const uint32_t module = d.load_module(std::make_shared<const compiler::Program>(
        compiler::compile_ptx(".version 8.6\n.target sm_90a\n.address_size 64\n"
                              ".visible .entry k(.param .u64 data)\n"
                              ".explicitcluster\n.reqnctapercluster 4, 1, 1\n{\n"
                              "  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n"
                              "  .shared .align 8 .b8 word[8];\n" +
                                  body + "  ret;\n}\n",
                              "test.ptx")));
    d.launch(module, "k", {4}, {1}, 0, runtime::KernelArgs(d.allocate(8)));
    const runtime::Recording recording = d.take_recording("test");
    const auto at = [&](int cycles_more) {
      return cycles(run(recording,
                        {"gpu.gpcs=0", "lsu.remote_shared_cycles=" + std::to_string(cycles_more)}));
    };
    return at(1000) - at(0);
  };
  for (const bool generic : {false, true}) {
    EXPECT_EQ(more("0", {1, 2, 3}, generic), 3000u) << generic;
    EXPECT_EQ(more("2", {0, 1, 2, 3}, generic), 3000u) << generic;
    // A block's own shared memory, named by the block's rank in the cluster, is not remote.
    EXPECT_EQ(more("0", {0, 0, 0}, generic), 0u) << generic;
    EXPECT_EQ(more("2", {2, 2}, generic), 0u) << generic;
  }
}

TEST(AsyncCopies, TracesThatWereCutDoNotWait) {
  const runtime::Recording cut = gemm(128, 128, 1024, 100'000);
  EXPECT_TRUE(cut.truncated);
  const report::RunResult r = run(cut);
  EXPECT_FALSE(r.partial);
  EXPECT_LT(cycles(r), cycles(run(gemm(128, 128, 1024))));
}

TEST(AsyncCopies, CountersAreEqualOnADeviceAndInAnyWindows) {
  const runtime::Recording recordings[] = {
      gemm(256, 128, 256), one_block(async_loads(30, "  cp.async.wait_all;\n"), 0),
      one_block(async_loads(30, "  cp.async.wait_all;\n", "cg", 16), 0)};
  const config::MachineConfig machine = config::load_machine("h100");
  const config::PolicyConfig policy = config::load_policy("baseline");
  for (const runtime::Recording& recording : recordings)
    expect_same_everywhere(recording, machine, policy);
}

}  // namespace
}  // namespace nearwarp::testing
