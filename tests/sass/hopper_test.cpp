// Are traces of asynchronous instructions timed as the programs that they are of?
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "host/core/error.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/accel_sim/trace_writer.h"
#include "host/recording/accel_sim/tracez_file.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"
#include "tests/runtime/plane_map.h"
#include "tests/sass/trace_files.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::sass {
namespace {

using testing::TraceFolder;

report::RunResult run(const runtime::Recording& recording) {
  return sim::replay_on_cpu(recording, config::load_machine("h100", {}),
                            config::load_policy("baseline"), {});
}

uint64_t counter(const report::RunResult& result, const std::string& name) {
  for (const report::Counter& c : result.counters)
    if (c.name == name) return c.value;
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

/// c = a b^T by blocks of 128 by 128, a producer and two consuming warp groups each.
runtime::Recording gemm(const std::string& kernel, uint32_t m, uint32_t n, uint32_t k) {
  runtime::BreadthDevice d("tile_kernels", {});
  const bool bytes = kernel == "gemm_e4m3";
  const uint32_t each = bytes ? 1 : 2;
  const uint64_t a = d.allocate(uint64_t{m} * k * each), b = d.allocate(uint64_t{n} * k * each),
                 c = d.allocate(uint64_t{m} * n * 4);
  const uint32_t type = bytes ? 0 : 6, box = 128 / each;
  const uint32_t rows = kernel == "gemm_together" ? 64 : 128;
  const runtime::PlaneMap ma(a, type, k, m, box, rows, 3), mb(b, type, k, n, box, rows, 3);
  d.launch(d.module, kernel, {n / 128, m / 128}, {384}, 4 * 2 * 128 * 128,
           runtime::KernelArgs(ma, mb, c, static_cast<int>(n), static_cast<int>(k / box)));
  return d.take_recording("gemm");
}

/// All counters but of registers, of whose wide ones machine instructions name the first.
void expect_same(const report::RunResult& read, const report::RunResult& wanted) {
  EXPECT_EQ(read.cycles, wanted.cycles);
  EXPECT_EQ(read.warp_instructions, wanted.warp_instructions);
  ASSERT_EQ(read.counters.size(), wanted.counters.size());
  for (size_t i = 0; i < read.counters.size(); ++i) {
    if (wanted.counters[i].name.starts_with("sm.register_")) continue;
    EXPECT_EQ(read.counters[i].value, wanted.counters[i].value) << wanted.counters[i].name;
  }
}

TEST(Hopper, AProgramsOwnTracesTakeItsTime) {
  for (const char* kernel : {"gemm_f16", "gemm_e4m3"}) {
    SCOPED_TRACE(kernel);
    const runtime::Recording original = gemm(kernel, 256, 256, 1024);
    const report::RunResult wanted = run(original);
    for (const TraceForm form : {TraceForm::kIndexed, TraceForm::kText}) {
      const TraceFolder folder;
      const TraceProgram p = read_program(write_traces(original, folder.file("t"), form));
      ASSERT_EQ(p.warnings.size(), 1u) << p.warnings.back();  // of the matrix unit
      runtime::validate(p.recording);
      expect_same(run(p.recording), wanted);
    }
  }
}

/// Boxes for several blocks of a cluster, and blocks that tell each other's mbarriers.
TEST(Hopper, WhatBlocksOfAClusterTellEachOtherTakesItsTime) {
  runtime::BreadthDevice d("tensors", {});
  const uint64_t out = d.allocate(16 * 33 * 4), sums = d.allocate(32 * 4);
  d.launch_clusters(d.module, "counted_words", {16}, {32}, {4, 1, 1}, 0,
                    runtime::KernelArgs(out, sums));
  for (const runtime::Recording& original :
       {gemm("gemm_together", 256, 512, 512), d.take_recording("words")}) {
    SCOPED_TRACE(original.launches.at(0).blocks_recorded);
    const report::RunResult wanted = run(original);
    for (const TraceForm form : {TraceForm::kIndexed, TraceForm::kText}) {
      const TraceFolder folder;
      std::vector<std::string> told;
      const TraceProgram p =
          read_program(write_traces(original, folder.file("t"), form,
                                    [&](const std::string& what) { told.push_back(what); }));
      EXPECT_EQ(told, std::vector<std::string>{});
      for (const std::string& warning : p.warnings)
        EXPECT_EQ(warning.find("ended by nothing"), std::string::npos) << warning;
      runtime::validate(p.recording);
      const report::RunResult read = run(p.recording);
      if (original.launches.at(0).blocks_recorded == 8) expect_same(read, wanted);
      // The words' kernel has a remainder, which machine instructions form otherwise.
      EXPECT_NEAR(static_cast<double>(read.cycles), static_cast<double>(wanted.cycles),
                  0.02 * static_cast<double>(wanted.cycles));
      EXPECT_EQ(counter(read, "noc.clusters.switch_bytes"),
                counter(wanted, "noc.clusters.switch_bytes"));
    }
  }
}

/// Two products with factors in registers, shuffles and special functions between them.
TEST(Hopper, AttentionsTracesTakeItsTime) {
  runtime::BreadthDevice d("attention", {});
  constexpr uint32_t kQueries = 256, kKeys = 512, kWidth = 64;
  const uint64_t q = d.allocate(kQueries * kWidth * 2), k = d.allocate(kKeys * kWidth * 2),
                 v = d.allocate(kKeys * kWidth * 2), out = d.allocate(kQueries * kWidth * 4);
  const runtime::PlaneMap mq(q, 6, kWidth, kQueries, kWidth, 128, 3),
      mk(k, 6, kWidth, kKeys, kWidth, 64, 3), mv(v, 6, kKeys, kWidth, 64, 64, 3);
  d.launch(d.module, "attention", {kQueries / 128}, {384}, 128 * 128 + 2 * 2 * 64 * 128,
           runtime::KernelArgs(mq, mk, mv, out, static_cast<int>(kKeys / 64), 0.05f));
  const runtime::Recording original = d.take_recording("attention");
  const report::RunResult wanted = run(original);
  const TraceFolder folder;
  const TraceProgram p = read_program(write_traces(original, folder.file("t")));
  runtime::validate(p.recording);
  const report::RunResult read = run(p.recording);
  EXPECT_EQ(read.warp_instructions, wanted.warp_instructions);
  EXPECT_EQ(counter(read, "l2.reads"), counter(wanted, "l2.reads"));
  expect_same(read, wanted);
}

/// Five points of a plane, whose boxes come and go as bulk copies.
TEST(Hopper, BoxesThatAreStoredAreTimedToo) {
  runtime::BreadthDevice d("tile_kernels", {});
  const uint64_t in = d.allocate(66 * 36 * 4), out = d.allocate(64 * 32 * 4);
  const runtime::PlaneMap from(in, 7, 36, 66, 36, 18, 0), to(out, 7, 32, 64, 32, 16, 0);
  d.launch(d.module, "stencil", {1, 4}, {128}, 0, runtime::KernelArgs(from, to, 0));
  const runtime::Recording original = d.take_recording("stencil");
  const report::RunResult wanted = run(original);
  const TraceFolder folder;
  const TraceProgram p = read_program(write_traces(original, folder.file("t")));
  runtime::validate(p.recording);
  const report::RunResult read = run(p.recording);
  for (const char* name : {"l2.writes", "sm.barriers", "sm.issued"})
    EXPECT_EQ(counter(read, name), counter(wanted, name)) << name;
  // Pieces outside of the plane have no place in a trace, so steps differ by a few.
  EXPECT_NEAR(static_cast<double>(counter(read, "l2.reads")),
              static_cast<double>(counter(wanted, "l2.reads")), 4);
  EXPECT_NEAR(static_cast<double>(read.cycles), static_cast<double>(wanted.cycles),
              0.02 * static_cast<double>(wanted.cycles));
}

// --- lines as a tracer writes them ---

constexpr char kMake[] =
    "0000 ffffffff 0 SYNCS.EXCH.64 2 UR4 UR6 8 1 0x100 0 0 {1ffffe}\n"
    "0010 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0 NoVal\n";
constexpr char kFetch[] =
    "0020 00000001 0 SYNCS.ARRIVE.TRANS64 2 R2 R3 8 1 0x100 0 0 {400}\n"
    "0030 00000001 0 UTMALDG.2D 2 UR8 UR10 16 0x100 0 1024 0 4 0x7f0000000000 8 128 128 128 128 "
    "128 128 128 0 NoVal\n";
constexpr char kTry[] =
    "0050 ffffffff 0 SYNCS.PHASECHK.TRANS64.TRYWAIT 2 R4 R5 8 1 0x100 0 0 {0}\n";
constexpr char kAgain[] = "0060 ffffffff 0 BRA 0 0 0 NoVal\n";
constexpr char kWork[] = "0070 ffffffff 1 R6 IADD3 2 R6 R7 0 0 NoVal\n";
constexpr char kUse[] =
    "0080 ffffffff 1 R8 LDS 1 R9 4 1 0x1000 4 0 NoVal\n"
    "0090 ffffffff 1 R8 IADD3 2 R8 R8 0 0 NoVal\n";
constexpr char kExit[] = "00a0 ffffffff 0 EXIT 0 0 0 NoVal\n";

/// Braces become the values of the last source of two, or none.
std::string lines(const std::vector<std::string>& parts, bool values = true) {
  std::string text;
  for (const std::string& p : parts) text += p;
  for (size_t at = 0; (at = text.find('{', at)) != std::string::npos;) {
    const size_t end = text.find('}', at);
    const std::string value = text.substr(at + 1, end - at - 1);
    text.replace(at, end - at + 1, values ? "Val 1 100 1 " + value : "NoVal");
  }
  return text;
}

testing::TraceText one_block(const std::vector<std::string>& warps) {
  testing::TraceText text;
  text.version = 6;
  text.binary = 90;
  text.block = {static_cast<uint32_t>(32 * warps.size()), 1, 1};
  text.thread_block("0,0,0\ncluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0", warps);
  return text;
}

TraceProgram read_block(const std::vector<std::string>& warps) {
  const TraceFolder folder;
  return read_program(folder.write("kernel-1.traceg", one_block(warps).text()));
}

const std::string kBarrier = std::string(kMake).substr(std::string(kMake).find("0010"));

report::RunResult fetched(const std::vector<std::string>& consumer, bool values = true) {
  const TraceProgram p =
      read_block({lines({kMake, kFetch, kExit}, values), lines(consumer, values)});
  runtime::validate(p.recording);
  return run(p.recording);
}

TEST(Hopper, AWaitEndsWithItsPhaseHoweverManyTriesThereWere) {
  const report::RunResult once = fetched({kBarrier, kTry, kAgain, kUse, kExit});
  EXPECT_GT(once.cycles, 400u);  // from memory
  EXPECT_EQ(counter(once, "l2.reads"), 8u);
  std::vector<std::string> often = {kBarrier};
  for (int i = 0; i < 1000; ++i) often.insert(often.end(), {kTry, kAgain});
  often.insert(often.end(), {kUse, kExit});
  const report::RunResult many = fetched(often);
  EXPECT_EQ(many.cycles, once.cycles);
  EXPECT_EQ(many.warp_instructions, once.warp_instructions);
  // Without a wait nobody waits.
  EXPECT_LT(fetched({kBarrier, kUse, kExit}).cycles + 20, once.cycles + counter(once, "l2.reads"));
}

TEST(Hopper, ATryThatMayFailIsNotWaitedFor) {
  std::vector<std::string> work(60, kWork);
  std::vector<std::string> before = {kBarrier, kTry, kAgain}, after = {kBarrier};
  before.insert(before.end(), work.begin(), work.end());
  after.insert(after.end(), work.begin(), work.end());
  const auto with_rest = [](std::vector<std::string> head) {
    head.insert(head.end(), {kTry, kAgain, kUse, kExit});
    return fetched(head);
  };
  const report::RunResult peeked = with_rest(before), plain = with_rest(after);
  EXPECT_EQ(peeked.warp_instructions, plain.warp_instructions + 2);
  EXPECT_LE(peeked.cycles, plain.cycles + 60);  // the try itself
}

TEST(Hopper, LanesThatHavePartedWaitEachForThemselves) {
  const auto by = [](std::string line, const std::string& lanes) {
    return line.replace(line.find("ffffffff"), 8, lanes);
  };
  std::vector<std::string> consumer = {kBarrier, by(kTry, "00000001"), by(kAgain, "00000001")};
  consumer.insert(consumer.end(), 60, by(kWork, "00000001"));
  consumer.insert(consumer.end(), {by(kTry, "fffffffe"), by(kAgain, "fffffffe"), kUse, kExit});
  // The first lane's work is behind its wait.
  EXPECT_GE(fetched(consumer).cycles, fetched({kBarrier, kTry, kAgain, kUse, kExit}).cycles + 60);
}

TEST(Hopper, WithoutValuesPhasesFollowFromTheOrder) {
  const std::vector<std::string> consumer = {kBarrier, kTry, kAgain, kUse, kExit};
  EXPECT_EQ(fetched(consumer, false).cycles, fetched(consumer).cycles);
}

TEST(Hopper, ProductsAreWaitedForInGroups) {
  const auto cycles = [](const std::string& commit, const std::string& wait) {
    std::string text;
    for (int i = 0; i < 4; ++i)
      text += "0000 ffffffff 1 R24 HGMMA.64x256x16.F32 1 R24 " + commit + " 0 0 NoVal\n";
    text += wait + kExit;
    return run(read_block({text, text, text, text}).recording).cycles;
  };
  const std::string wait = "0010 ffffffff 0 WARPGROUP.DEPBAR.LE 0 0 0 NoVal\n";
  // 64 x 256 x 16 products at 2048 a cycle, by each of four.
  EXPECT_GE(cycles("1", wait), 4u * 128);
  EXPECT_LT(cycles("1", wait), 4u * 128 + 200);  // its latency, and the launch
  EXPECT_LT(cycles("1", ""), cycles("1", wait));
}

TEST(Hopper, GroupsOfLoadsAreWaitedFor) {
  const auto cycles = [](uint32_t pending) {
    // The first group's line is there, and something comes from memory after the wait.
    std::string text =
        "00b0 ffffffff 1 R10 LDG.E.128 1 R2 16 1 0x7f0000000000 16 0 NoVal\n"
        "00c0 ffffffff 1 R10 IADD3 2 R10 R10 0 0 NoVal\n";
    for (int i = 0; i < 2; ++i)
      text += "0000 ffffffff 0 LDGSTS.E.128 1 R2 16 1 0x7f00000" + std::to_string(i) +
              "0000 16 0 NoVal\n0010 ffffffff 0 LDGDEPBAR 0 0 0 NoVal\n";
    text += "0020 ffffffff 0 DEPBAR.LE 0 0 " + std::to_string(pending) + " NoVal\n";
    text +=
        "00d0 ffffffff 1 R10 LDG.E 1 R2 4 1 0x7f0000020000 4 0 NoVal\n"
        "00c0 ffffffff 1 R10 IADD3 2 R10 R10 0 0 NoVal\n";
    return run(read_block({text + kUse + kExit}).recording).cycles;
  };
  EXPECT_GT(cycles(0), 400u + cycles(2));
  EXPECT_GT(cycles(0), cycles(1) + 200);  // the newer one comes from memory
}

TEST(Hopper, LoadsPastTheL1AskTheL2) {
  const auto copied = [](const std::string& bypass) {
    // A load, then a copy of the same lines.
    return run(read_block({"00b0 ffffffff 1 R10 LDG.E.128 1 R2 16 1 0x7f0000000000 16 0 NoVal\n"
                           "00c0 ffffffff 1 R10 IADD3 2 R10 R10 0 0 NoVal\n"
                           "0000 ffffffff 0 LDGSTS.E" +
                           bypass +
                           ".128 1 R2 16 1 0x7f0000000000 16 0 NoVal\n"
                           "0010 ffffffff 0 LDGDEPBAR 0 0 0 NoVal\n"
                           "0020 ffffffff 0 DEPBAR.LE 0 0 0 NoVal\n" +
                           kExit})
                   .recording);
  };
  EXPECT_EQ(counter(copied(""), "l2.reads"), 4u);
  EXPECT_EQ(counter(copied(".BYPASS"), "l2.reads"), 8u);
  EXPECT_EQ(counter(copied(".BYPASS"), "sm.l1.read_hits"), 0u);
}

TEST(Hopper, BarriersHaveTheirNumbersAndCounts) {
  // Two of four warps come late, and the other two have something to do after they have met.
  const auto cycles = [](const std::vector<int>& barriers, int threads) {
    const auto load = [](int warp) {
      return "0010 ffffffff 1 R10 LDG.E 1 R2 4 1 0x7f00000" + std::to_string(warp) +
             "0000 4 0 NoVal\n0020 ffffffff 1 R10 IADD3 2 R10 R10 0 0 NoVal\n";
    };
    std::vector<std::string> warps;
    for (int w = 0; w < 4; ++w) {
      const std::string meet = "0000 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 " +
                               std::to_string(barriers[w]) + ' ' + std::to_string(threads) +
                               " NoVal\n";
      warps.push_back((w % 2 == 0 ? meet + load(w) : load(w) + meet) + kExit);
    }
    const report::RunResult result = run(read_block(warps).recording);
    EXPECT_FALSE(result.partial);
    return result.cycles;
  };
  // Each with one that comes late, or those that come early with each other.
  EXPECT_GT(cycles({1, 1, 2, 2}, 64), cycles({1, 2, 1, 2}, 64) + 300);
  // All together, or the first two and the last two.
  EXPECT_GT(cycles({1, 1, 1, 1}, 128), cycles({1, 1, 1, 1}, 64) + 300);
}

// --- damaged files ---

std::string message(const std::string& path) {
  try {
    read_program(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string indexed(const TraceFolder& folder, const std::string& bad_line) {
  const std::string path = folder.file("kernel-1.tracez");
  testing::TraceText text = one_block({"", ""});
  TracezWriter writer(path, text.header());
  TracezBlock block;
  writer.begin_block(block);
  for (const std::string& last : {std::string(kExit), bad_line}) {
    writer.begin_warp();
    std::string all = lines({kBarrier, last});
    for (size_t at = 0; at < all.size(); at = all.find('\n', at) + 1)
      writer.line(all.substr(at, all.find('\n', at) - at));
    writer.end_warp();
  }
  writer.finish();
  return path;
}

TEST(Tracez, WrongLinesHaveTheirPlace) {
  const TraceFolder folder;
  EXPECT_EQ(message(indexed(folder, kExit)), "");
  const std::string bulk = "0020 00000001 0 UTMALDG.2D 2 UR8 UR10 16 0x100 0 1024 0 7 0 NoVal\n";
  const std::string what = message(indexed(folder, bulk));
  EXPECT_NE(what.find("thread block 0,0,0, warp 1, instruction 1"), std::string::npos) << what;
  const std::string wait = message(indexed(folder, "0020 1 0 WARPGROUP.DEPBAR.LE 0 0 0 Values\n"));
  EXPECT_NE(wait.find("thread block 0,0,0, warp 1, instruction 1"), std::string::npos) << wait;
  EXPECT_NE(wait.find("immediates or values cannot be read"), std::string::npos) << wait;
  EXPECT_NE(
      message(indexed(folder, "0020 1 0 HGMMA.64x8x16.F32 0 2 0 0 NoVal\n")).find("ends its group"),
      std::string::npos);
}

TEST(Tracez, DamagedFilesAreRefused) {
  const TraceFolder folder;
  const std::string path = indexed(folder, lines({kMake, kFetch, kTry, kExit}));
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (size_t n = 0; n < whole.size(); n += 3) {
    const std::string what = message(folder.write("kernel-1.tracez", whole.substr(0, n)));
    EXPECT_NE(what.find(" - "), std::string::npos) << n << ": " << what;
  }
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string text = whole;
    text[random() % text.size()] = static_cast<char>(random());
    folder.write("kernel-1.tracez", text);
    try {
      runtime::validate(read_program(folder.file("kernel-1.tracez")).recording);
      ++read;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(" - "), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(read, 0);
}

TEST(Tracez, BarriersThatNobodyReachesAreRefused) {
  const TraceFolder folder;
  const std::string alone = "0000 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 1 96 NoVal\n";
  const std::string what =
      message(folder.write("kernel-1.traceg", one_block({alone + kExit, kExit}).text()));
  EXPECT_NE(what.find("others that never come"), std::string::npos) << what;
}

TEST(Tracez, CharactersOfTextsChanged) {
  const TraceFolder folder;
  const std::string whole =
      one_block({lines({kMake, kFetch, kExit}), lines({kBarrier, kTry, kAgain, kUse, kExit})})
          .text();
  std::mt19937 random(2);
  int read = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string text = whole;
    text[random() % text.size()] = static_cast<char>(' ' + random() % 90);
    try {
      const TraceProgram p = read_program(folder.write("kernel-1.traceg", text));
      runtime::validate(p.recording);
      if (++read % 16 == 0) {
        EXPECT_FALSE(run(p.recording).partial);
      }
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(" - "), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace nearwarp::sass
