// Are traces written rightly: with clusters, with long parts, and to files that cannot be written
// to the end?
#include "host/recording/accel_sim/trace_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/accel_sim/tracez_file.h"
#include "host/recording/trace_replay.h"
#include "tests/sass/trace_files.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::sass {
namespace {

namespace fs = std::filesystem;
using testing::TraceFolder;

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Clusters of four blocks whose threads read words of the last one, and one of their own, so many
/// times.
runtime::Recording cluster(int launches, const std::string& size = "4, 1, 1",
                           runtime::Dim3 grid = {4}) {
  runtime::VirtualDevice d;
  const uint32_t module = d.load_module(std::make_shared<const compiler::Program>(
      compiler::compile_ptx(".version 8.6\n.target sm_90a\n.address_size 64\n"
                            ".visible .entry k(.param .u64 data)\n"
                            ".explicitcluster\n.reqnctapercluster " +
                                size +
                                "\n{\n"
                                "  .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
                                "  .shared .align 8 .b8 words[128];\n"
                                "  mov.u32 %r1, words;\n  mov.u32 %r2, %tid.x;\n"
                                "  shl.b32 %r2, %r2, 2;\n  add.u32 %r1, %r1, %r2;\n"
                                "  st.shared.u32 [%r1], %r2;\n"
                                "  cvt.u64.u32 %rd1, %r1;\n  cvta.shared.u64 %rd1, %rd1;\n"
                                "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n"
                                "  mapa.u64 %rd2, %rd1, 3;\n  ld.u32 %r3, [%rd2];\n"
                                "  mapa.shared::cluster.u32 %r4, %r1, 3;\n"
                                "  ld.shared::cluster.u32 %r5, [%r4];\n"
                                "  add.u32 %r3, %r3, %r5;\n  st.shared.u32 [%r1], %r3;\n"
                                "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n  ret;\n}\n",
                            "test.ptx")));
  const uint64_t data = d.allocate(8);
  for (int i = 0; i < launches; ++i)
    d.launch(module, "k", grid, {32}, 0, runtime::KernelArgs(data));
  return d.take_recording("test");
}

/// All counters but those of registers.
void expect_read_back_equal(const runtime::Recording& original) {
  const auto counters = [](const runtime::Recording& recording) {
    return sim::replay_on_cpu(recording, config::load_machine("h100"),
                              config::load_policy("baseline"), {})
        .counters;
  };
  const auto wanted = counters(original);
  for (const TraceForm form : {TraceForm::kIndexed, TraceForm::kText}) {
    const TraceFolder folder;
    const TraceProgram p = read_program(write_traces(original, folder.file("t"), form));
    runtime::validate(p.recording);
    EXPECT_EQ(p.recording.launches.at(0).cluster, original.launches.at(0).cluster);
    for (const std::string& warning : p.warnings)
      EXPECT_EQ(warning.find("ended by nothing"), std::string::npos) << warning;
    const auto read = counters(p.recording);
    ASSERT_EQ(read.size(), wanted.size());
    for (size_t i = 0; i < read.size(); ++i)
      if (wanted[i].name.find("register") == std::string::npos) {
        EXPECT_EQ(read[i].value, wanted[i].value) << wanted[i].name;
      }
  }
}

TEST(TraceWriter, ClustersAreReadBackEqual) {
  for (const auto& [size, shape, grid] :
       {std::tuple{"4, 1, 1", runtime::Dim3{4, 1, 1}, runtime::Dim3{8, 3, 1}},
        {"2, 2, 1", runtime::Dim3{2, 2, 1}, runtime::Dim3{4, 6, 2}}}) {
    SCOPED_TRACE(size);
    const runtime::Recording original = cluster(1, size, grid);
    EXPECT_EQ(original.launches.at(0).cluster, shape);
    expect_read_back_equal(original);
  }
}

/// Two blocks of a cluster tell an mbarrier something: the other one's, or each its own.
runtime::Recording tell(bool other) {
  runtime::VirtualDevice d;
  const uint32_t module = d.load_module(std::make_shared<const compiler::Program>(
      compiler::compile_ptx(std::string(".version 8.6\n.target sm_90a\n.address_size 64\n"
                                        ".visible .entry k(.param .u64 data)\n"
                                        ".explicitcluster\n.reqnctapercluster 2, 1, 1\n{\n"
                                        "  .reg .b32 %r<9>;\n  .shared .align 8 .b64 bar;\n"
                                        "  mov.u32 %r1, bar;\n  mov.u32 %r2, %cluster_ctarank;\n"
                                        "  mbarrier.init.shared.b64 [%r1], 1;\n"
                                        "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n") +
                                (other ? "  xor.b32 %r2, %r2, 1;\n" : "") +
                                "  mapa.shared::cluster.u32 %r3, %r1, %r2;\n"
                                "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];\n"
                                "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n  ret;\n}\n",
                            "test.ptx")));
  d.launch(module, "k", {2}, {1}, 0, runtime::KernelArgs(d.allocate(8)));
  d.launch(module, "k", {2}, {1}, 0, runtime::KernelArgs(d.allocate(8)));
  return d.take_recording("test");
}

/// Addresses of arrivals in a trace, in the order of the blocks.
std::vector<std::string> arrivals(const std::string& text) {
  std::vector<std::string> all;
  for (size_t at = 0; (at = text.find(" SYNCS.ARRIVE.TRANS64.RED ", at)) != std::string::npos;
       ++at) {
    const size_t line = text.find(" 0x", at) + 1;
    all.push_back(text.substr(line, text.find(' ', line) - line));
  }
  return all;
}

TEST(TraceWriter, WhatArrivesAtOtherBlocksHasTheirAddresses) {
  for (const bool other : {false, true}) {
    const TraceFolder folder;
    std::vector<std::string> told;
    write_traces(tell(other), folder.file("t"), TraceForm::kText,
                 [&](const std::string& message) { told.push_back(message); });
    EXPECT_EQ(told, std::vector<std::string>{});
    const std::vector<std::string> at = arrivals(content(folder.file("t") + "/kernel-1.traceg"));
    const std::string first = "0x0", second = "0x1000000";
    EXPECT_EQ(at, other ? (std::vector{second, first}) : (std::vector{first, second}));
  }
}

/// Blocks of clusters of three wait for one another in turns, ten times; the first begins.
TEST(TraceWriter, BlocksThatWaitForEachOtherAreReadBackEqual) {
  runtime::VirtualDevice d;
  const uint32_t module = d.load_module(std::make_shared<const compiler::Program>(
      compiler::compile_ptx(".version 8.6\n.target sm_90a\n.address_size 64\n"
                            ".visible .entry k(.param .u64 data)\n"
                            ".explicitcluster\n.reqnctapercluster 3, 1, 1\n{\n"
                            "  .reg .b32 %r<9>; .reg .pred %p<9>;\n"
                            "  .shared .align 8 .b64 bars[2];\n"
                            "  mov.u32 %r1, bars;\n  mov.u32 %r2, %cluster_ctarank;\n"
                            "  mbarrier.init.shared.b64 [%r1], 7;\n"
                            "  mbarrier.init.shared.b64 [%r1+8], 1;\n"
                            "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n"
                            "  add.u32 %r3, %r2, 1;\n  setp.eq.u32 %p1, %r3, 3;\n"
                            "  selp.u32 %r3, 0, %r3, %p1;\n"
                            "  mapa.shared::cluster.u32 %r4, %r1, %r3;\n"
                            "  mov.u32 %r5, 0;\n  setp.eq.u32 %p2, %r2, 0;\n"
                            "  @%p2 bra ARRIVES;\n"
                            "AGAIN:\n  and.b32 %r6, %r5, 1;\n"
                            "TRIES:\n"
                            "  mbarrier.try_wait.parity.shared.b64 %p3, [%r1+8], %r6;\n"
                            "  @!%p3 bra TRIES;\n  add.u32 %r5, %r5, 1;\n"
                            "ARRIVES:\n"
                            "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4+8];\n"
                            "  setp.lt.u32 %p4, %r5, 10;\n  @%p4 bra AGAIN;\n"
                            "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n  ret;\n}\n",
                            "test.ptx")));
  d.launch(module, "k", {6}, {1}, 0, runtime::KernelArgs(d.allocate(8)));
  expect_read_back_equal(d.take_recording("test"));
}

/// Blocks of a cluster need not follow each other in a file with an index.
TEST(TraceWriter, BlocksOfAClusterAreFoundByTheIndex) {
  const auto cycles = [](const TraceProgram& p) {
    return sim::replay_on_cpu(p.recording, config::load_machine("h100"),
                              config::load_policy("baseline"), {})
        .cycles;
  };
  const TraceFolder folder;
  const runtime::Recording original = cluster(1, "2, 2, 1", {4, 4, 1});
  const std::string list = write_traces(original, folder.file("t"));
  const uint64_t wanted = cycles(read_program(list));
  const std::string path = folder.file("t") + "/kernel-1.tracez", moved = path + ".moved";
  TracezFile file(path);
  std::vector<TracezBlock> blocks = file.blocks();
  std::sort(blocks.begin(), blocks.end(), [](const TracezBlock& a, const TracezBlock& b) {
    return std::tie(a.at[1], a.at[0]) < std::tie(b.at[1], b.at[0]);
  });
  EXPECT_NE(blocks.at(2).cluster[0], blocks.at(1).cluster[0]);
  TracezWriter writer(moved, file.header().substr(0, file.header().find('\0')));
  for (const TracezBlock& block : blocks) {
    TracezBlock written = block;
    written.warps.clear();
    writer.begin_block(written);
    for (const TracezBlock::Warp& warp : block.warps) {
      file.begin_warp(warp, "warp");
      writer.begin_warp();
      for (size_t part = 0; part < warp.parts.size(); ++part) {
        std::istringstream lines(file.next_part("warp"));
        for (std::string line; std::getline(lines, line);) writer.line(line);
      }
      writer.end_warp();
    }
  }
  writer.finish();
  fs::rename(moved, path);
  EXPECT_EQ(cycles(read_program(list)), wanted);
}

TEST(TraceWriter, BlocksOfAClusterSayWhereTheyAre) {
  const TraceFolder folder;
  write_traces(cluster(1, "2, 2, 1", {4, 2, 1}), folder.file("t"), TraceForm::kText);
  const std::string text = content(folder.file("t") + "/kernel-1.traceg");
  EXPECT_NE(text.find("-cluster dim = (2,2,1)\n"), std::string::npos);
  EXPECT_NE(
      text.find(
          "thread block = 3,1,0\ncluster id = 1,0,0\ncluster cta = 1,1,0\ncluster rank = 3\n"),
      std::string::npos);
  EXPECT_NE(
      text.find(
          "thread block = 0,1,0\ncluster id = 0,0,0\ncluster cta = 0,1,0\ncluster rank = 2\n"),
      std::string::npos);
}

TEST(TraceWriter, AnErrorLeavesWhatWasThere) {
  const TraceFolder folder;
  const std::string t = folder.file("t");
  for (const TraceForm form : {TraceForm::kIndexed, TraceForm::kText}) {
    fs::remove_all(t);
    const std::string extension = form == TraceForm::kText ? ".traceg" : ".tracez";
    const std::string list = write_traces(cluster(1), t, form);
    const std::string before = content(list), kernel = content(t + "/kernel-1" + extension);
    std::ofstream(t + "/kernel-1" + extension) << "changed";
    // Where the second launch is written to there is a folder that cannot go.
    const std::string blocked = t + "/kernel-2" + extension + ".tmp" + std::to_string(getpid());
    fs::create_directories(blocked + "/x");
    const std::string what = error_of([&] { write_traces(cluster(2), t, form); });
    EXPECT_NE(what.find("cannot write"), std::string::npos) << what;
    EXPECT_EQ(content(list), before);
    EXPECT_EQ(content(t + "/kernel-1" + extension), "changed");
    fs::remove_all(blocked);
    EXPECT_EQ(std::distance(fs::directory_iterator(t), fs::directory_iterator{}), 2);
    write_traces(cluster(2), t, form);
    EXPECT_EQ(content(t + "/kernel-1" + extension), kernel);
    EXPECT_EQ(std::distance(fs::directory_iterator(t), fs::directory_iterator{}), 3);
  }
}

/// A file of one block with warps of such lines.
void write(const std::string& path, const std::vector<std::vector<std::string>>& warps) {
  TracezWriter writer(path, "header");
  writer.begin_block({});
  for (const std::vector<std::string>& lines : warps) {
    writer.begin_warp();
    for (const std::string& line : lines) writer.line(line);
    writer.end_warp();
  }
  writer.finish();
}

TEST(Tracez, PartsHaveALimit) {
  const TraceFolder folder;
  const std::string path = folder.file("kernel-1.tracez");
  const std::string mega(size_t{1} << 20, ' ');
  write(path, {std::vector<std::string>(40, mega)});
  {
    TracezFile file(path);
    const TracezBlock::Warp& warp = file.blocks().at(0).warps.at(0);
    EXPECT_EQ(warp.instructions, 40u);
    file.begin_warp(warp, "warp");
    size_t bytes = 0;
    for (size_t i = 0; i < warp.parts.size(); ++i) bytes += file.next_part("warp").size();
    EXPECT_EQ(bytes, 40 * (mega.size() + 1));
  }
  write(path, {{std::string(size_t{17} << 20, ' ')}});
  TracezFile file(path);
  file.begin_warp(file.blocks().at(0).warps.at(0), "warp 0");
  const std::string what = error_of([&] { file.next_part("warp 0"); });
  EXPECT_NE(what.find("warp 0 is no zstd frame that tells its size, of 16 MiB at most"),
            std::string::npos)
      << what;
}

TEST(Tracez, WarpsAreReadOnce) {
  const TraceFolder folder;
  const std::string path = folder.file("kernel-1.tracez");
  write(path, {{"a"}, {"b"}});
  std::string text = content(path);
  uint64_t index = 0;
  std::memcpy(&index, text.data() + text.size() - 8, 8);
  // Blocks; a place of ten numbers, and warps; of each instructions, parts, offset, a part.
  const size_t first = index + 4 + 44 + 8, second = first + 8 + 4 + 8;
  uint64_t offset = 0;
  std::memcpy(&offset, text.data() + first, 8);
  std::memcpy(text.data() + second, &offset, 8);
  folder.write("kernel-1.tracez", text);
  const std::string what = error_of([&] { TracezFile file(path); });
  EXPECT_NE(what.find("a warp at byte " + std::to_string(offset) + " comes after one at byte " +
                      std::to_string(offset)),
            std::string::npos)
      << what;
}

}  // namespace
}  // namespace nearwarp::sass
