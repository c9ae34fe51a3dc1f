// Traces that are written: clusters, files that cannot be written to the end, and long parts.
#include "host/recording/accel_sim/trace_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <tuple>

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

TEST(TraceWriter, ClustersAreReadBackEqual) {
  const auto counters = [](const runtime::Recording& recording) {
    return sim::replay_on_cpu(recording, config::load_machine("h100"),
                              config::load_policy("baseline"), {})
        .counters;
  };
  for (const auto& [size, shape, grid] :
       {std::tuple{"4, 1, 1", runtime::Dim3{4, 1, 1}, runtime::Dim3{8, 3, 1}},
        {"2, 2, 1", runtime::Dim3{2, 2, 1}, runtime::Dim3{4, 6, 2}}}) {
    const runtime::Recording original = cluster(1, size, grid);
    const auto wanted = counters(original);
    for (const TraceForm form : {TraceForm::kIndexed, TraceForm::kText}) {
      const TraceFolder folder;
      const TraceProgram p = read_program(write_traces(original, folder.file("t"), form));
      runtime::validate(p.recording);
      EXPECT_EQ(p.recording.launches.at(0).cluster, shape);
      const auto read = counters(p.recording);
      ASSERT_EQ(read.size(), wanted.size());
      for (size_t i = 0; i < read.size(); ++i)
        if (wanted[i].name.find("register") == std::string::npos) {
          EXPECT_EQ(read[i].value, wanted[i].value) << size << ": " << wanted[i].name;
        }
    }
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

TEST(TraceWriter, WhatArrivesAtOtherBlocksIsNamedOnceAsLeftOut) {
  for (const bool other : {false, true}) {
    const TraceFolder folder;
    std::vector<std::string> told;
    write_traces(tell(other), folder.file("t"), TraceForm::kIndexed,
                 [&](const std::string& message) { told.push_back(message); });
    ASSERT_EQ(told.size(), other ? 1u : 0u);
    for (const std::string& message : told)
      EXPECT_NE(message.find("mbarriers of other thread blocks"), std::string::npos) << message;
  }
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
