// Restructured PTX: is it proved that nothing changes, is the proof refused where something would,
// and are results those of the original when both are executed?
#include "host/mechanisms/tuning/restructure/restructure.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "device/trace/format.h"
#include "host/core/error.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::compiler {
namespace {

const std::string& original() {
  static const std::string text = [] {
    std::ifstream file(std::string(NW_SOURCE_DIR) + "/tests/mechanisms/tuning/data/turns.ptx");
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }();
  return text;
}

std::string restructure(const Restructuring& what) {
  return restructured(original(), "turns.ptx", what);
}
std::string error_of(const Restructuring& what) {
  try {
    restructure(what);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// The kernel and the sizes of a launch.
struct Case {
  Restructuring what;
  uint32_t blocks = 1, threads = 64;
  uint32_t elements = 0;
};

/// The contents of `out` after a launch with (in, out, n), or with (out, n) of a kernel in place.
std::vector<uint32_t> execute(const std::string& ptx, const Case& c) {
  runtime::VirtualDevice device;
  const uint32_t module =
      device.load_module(std::make_shared<const Program>(compile_ptx(ptx, "turns.ptx")));
  std::vector<uint32_t> in(4096), out(4096, 7);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = i * 2654435761u >> 3;
  const auto d_in = device.upload(in, "in");
  const auto d_out = device.upload(c.what.kernel == "halves" ? in : out, "out");
  if (c.what.kernel == "halves") {
    device.launch(module, c.what.kernel, {c.blocks}, {c.threads}, 0,
                  runtime::KernelArgs(d_out, static_cast<int>(c.elements)));
  } else {
    device.launch(module, c.what.kernel, {c.blocks}, {c.threads}, 0,
                  runtime::KernelArgs(d_in, d_out, c.elements));
  }
  return device.download<uint32_t>(d_out, 4096);
}

constexpr uint32_t kElements[] = {0, 1, 31, 32, 33, 127, 128, 129, 1000, 1024, 4095};

void expect_same(Restructuring what, uint32_t blocks, uint32_t threads) {
  const std::string changed = restructure(what);
  for (const uint32_t n : kElements) {
    SCOPED_TRACE(what.kernel + " " + std::to_string(blocks) + " x " + std::to_string(threads) +
                 ", " + std::to_string(n));
    const Case c{what, blocks, threads, n};
    EXPECT_EQ(execute(changed, c), execute(original(), c));
  }
}

TEST(Restructure, AllThreadsOfTheGrid) {
  for (const uint32_t threads : {32, 64, 48, 1}) {
    expect_same({"squares", "0", false, true}, 3, threads);
    expect_same({"squares", "squares_param_1", false, true}, 2, threads);
    expect_same({"sum_of_all", "0", false, true, true}, 3, threads);
  }
}

TEST(Restructure, ThreadsOfABlock) {
  for (const uint32_t threads : {32, 96, 40, 1}) {
    expect_same({"odd_of_block", "0", true, true}, 1, threads);
    expect_same({"odd_of_block", "0", true, true}, 2, threads);
  }
  for (const uint32_t threads : {64, 128, 100}) {
    expect_same({"counts_of_block", "0", true, true}, 2, threads);
  }
}

TEST(Restructure, ABlockSizeThatTheProgramKnows) {
  expect_same({"halves", "0"}, 3, 64);
  // The launch has another than the program says: it does the same as before, whatever that is.
  expect_same({"halves", "0"}, 3, 32);
  expect_same({"halves", "0"}, 1, 128);
}

/// The lines of 128 bytes of its input that each of four warps of `squares` reads in 8 rounds.
std::vector<std::vector<uint64_t>> lines_of_warps(const std::string& ptx) {
  runtime::VirtualDevice device;
  const uint32_t module =
      device.load_module(std::make_shared<const Program>(compile_ptx(ptx, "turns.ptx")));
  const std::vector<uint32_t> zeros(1024);
  const uint64_t in = device.upload(zeros, "in"), out = device.upload(zeros, "out");
  device.launch(module, "squares", {2}, {64}, 0, runtime::KernelArgs(in, out, 1024u));
  const runtime::Recording recording = device.take_recording("squares");
  const auto chunk = recording.traces.chunk(recording.launches[0].first_chunk);
  std::vector<std::vector<uint64_t>> lines(4);
  for (uint32_t w = 0; w < 4; ++w)
    for (uint32_t i = chunk->warp_offset[w]; i < chunk->warp_offset[w + 1]; ++i) {
      const uint64_t word = chunk->words[i], address = trace::record_base(word);
      // Lanes side by side, in the input: no control word looks like that.
      if (trace::record_stride(word) == 4 && address >= in && address < in + 4096)
        lines[w].push_back((address - in) / 128);
    }
  return lines;
}

TEST(Restructure, AWarpTakesConsecutiveElements) {
  const auto before = lines_of_warps(original()),
             after = lines_of_warps(restructure({"squares", "0", false, true}));
  for (uint32_t w = 0; w < 4; ++w) {
    ASSERT_EQ(before[w].size(), 8u);
    ASSERT_EQ(after[w].size(), 8u);
    for (uint32_t round = 0; round < 8; ++round) {
      EXPECT_EQ(before[w][round], round * 4 + w);
      EXPECT_EQ(after[w][round], w * 8 + round);
    }
  }
}

TEST(Restructure, WhatHasBeenRestructuredIsNotTakenAgain) {
  const std::string changed = restructure({"squares", "0", false, true});
  EXPECT_THROW(restructured(changed, "turns.ptx", {"squares", "0", false, true}), Error);
}

TEST(Restructure, WhatWouldChangeResultsIsRefusedWithTheLine) {
  struct Refused {
    Restructuring what;
    const char* why;
  };
  const Refused some[] = {
      {{"squares", "0"}, "another pointer"},  // the arrays may overlap
      {{"float_sum", "0"}, "depends on the elements"},
      {{"float_sum", "0", false, true, true}, "depends on the rounds before"},
      {{"sum_of_all", "0", false, true}, "depends on the elements"},
      {{"shifts", "0", true, true, true}, "array[index]"},
      {{"who_was_it", "0", true, true}, "depends on the thread"},
      {{"last_index", "0", true, true, true}, "in more places than two"},
      {{"other_step", "0", true, true}, "in turns"},
      {{"waits", "0", true, true}, "work together"},
      {{"stops", "0", true, true}, "left in its middle"},
      {{"reads_back", "0", true, true}, "outside of the loop"},
      {{"counts_of_block", "0", false, true}, "in turns"},  // not those of the grid
      {{"squares", "0", true, true}, "in turns"},           // not those of a block
      {{"halves", "0", true, true}, "in turns"},
      {{"at_least_once", "0", true, true}, "without asking"},
  };
  for (const Refused& r : some) {
    const std::string error = error_of(r.what);
    EXPECT_NE(error.find(r.why), std::string::npos) << r.what.kernel << ": " << error;
    EXPECT_NE(error.find("turns.ptx:"), std::string::npos) << r.what.kernel << ": " << error;
  }
}

TEST(Restructure, WhatTheDeveloperVouchesForIsTaken) {
  // It is another program then: elements meet other threads.
  EXPECT_NE(restructure({"who_was_it", "0", true, true, true}), original());
}

TEST(Restructure, NamesThatAreNotThereAreSaid) {
  EXPECT_NE(error_of({"nobody", "0"}).find("there are squares, halves"), std::string::npos);
  EXPECT_NE(error_of({"", "0"}).find("name one of"), std::string::npos);
  EXPECT_NE(error_of({"squares", "9"}).find("squares_param_0, squares_param_1"), std::string::npos);
  EXPECT_NE(error_of({"squares", "2"}).find("no loop of squares"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::compiler
