// Do damaged traces give either an error with the place or a program that is consistent, and
// nothing else?
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "host/core/error.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/trace_replay.h"
#include "tests/sass/trace_files.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sass {
namespace {

using testing::TraceFolder;
using testing::TraceText;

/// A small program with everything in it.
std::string sample() {
  TraceText text;
  text.grid = {2, 1, 1};
  text.block = {64, 1, 1};
  const std::string warp =
      "0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0 \n"
      "0010 0000ffff 1 R4 LDG.E.64 1 R2 8 1 0x7f0000000000 8\n"
      "0020 00000005 1 R4 LD.E 1 R2 4 0 0x7f3a00000010 0x7f3a00000014\n"
      "0030 00000007 0 STL 2 R2 R4 4 2 0xfffdc8 0 0\n"
      "0040 ffffffff 1 R4 LDSM.16.M88.4 1 R2 16 1 0x0 16\n"
      "0050 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0\n"
      "0060 00000000 0 EXIT 0 0 \n"
      "0070 ffffffff 0 EXIT 0 0 \n";
  text.thread_block("0,0,0", {warp, warp});
  text.thread_block("1,0,0", {warp, ""});
  return text.text();
}

/// Reads it; what is accepted must be consistent, and run to its end.
bool accepted(const TraceFolder& folder, const std::string& content, bool simulated = false) {
  try {
    const TraceProgram p = read_program(folder.write("kernel-1.traceg", content));
    runtime::validate(p.recording);
    if (!simulated) return true;
    const report::RunResult result = testing::simulate(p.recording, "baseline");
    EXPECT_EQ(result.warp_instructions, p.recording.warp_instructions);
    return true;
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find(" - "), std::string::npos) << what;  // what would be right
    return false;
  }
}

TEST(Damage, TheSampleIsRight) {
  const TraceFolder folder;
  EXPECT_TRUE(accepted(folder, sample()));
}

TEST(Damage, CutOffAnywhere) {
  const TraceFolder folder;
  const std::string whole = sample();
  const size_t end = whole.rfind("#END_TB") + 7;
  for (size_t n = 0; n < end; ++n) {
    SCOPED_TRACE(n);
    EXPECT_FALSE(accepted(folder, whole.substr(0, n)));
  }
  EXPECT_TRUE(accepted(folder, whole.substr(0, end)));
}

TEST(Damage, CharactersChanged) {
  const TraceFolder folder;
  const std::string whole = sample();
  std::mt19937 random(1);
  int whole_ones = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string text = whole;
    for (uint32_t n = 1 + random() % 3; n != 0; --n) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text[at] = "0123456789 \n-RxF.,"[random() % 18];
          break;
        case 2:
          text.erase(at, 1 + random() % 20);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
    }
    if (accepted(folder, text, i < 1000)) ++whole_ones;
  }
  EXPECT_GT(whole_ones, 100);  // or else most changes are of one kind
}

TEST(Damage, CompressedBytesChanged) {
  const TraceFolder folder;
  std::mt19937 random(2);
  for (const std::string& whole : {testing::xz(sample()), testing::zstd(sample())}) {
    for (int i = 0; i < 500; ++i) {
      std::string text = whole;
      text[random() % text.size()] = static_cast<char>(random());
      if (random() % 2 != 0) text.resize(random() % text.size());
      accepted(folder, text);
    }
  }
}

TEST(Damage, ErrorsNameFileAndLine) {
  const TraceFolder folder;
  const auto message = [&](const std::function<void(std::string&)>& change) {
    std::string text = sample();
    change(text);
    try {
      read_program(folder.write("kernel-1.traceg", text));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto replaced = [&](const std::string& from, const std::string& to) {
    return message([&](std::string& text) { text.replace(text.find(from), from.size(), to); });
  };
  EXPECT_NE(replaced("insts = 8", "insts = 9").find("ends after 8 of 9"), std::string::npos);
  EXPECT_NE(replaced("insts = 8", "insts = 7").find("kernel-1.traceg:"), std::string::npos);
  EXPECT_NE(replaced("warp = 1", "warp = 2").find("has warps 0 to 1"), std::string::npos);
  EXPECT_NE(replaced("warp = 1", "warp = 0").find("twice"), std::string::npos);
  EXPECT_NE(replaced("1,0,0", "0,0,0").find("twice"), std::string::npos);
  EXPECT_NE(replaced("1,0,0", "2,0,0").find("outside of the grid"), std::string::npos);
  EXPECT_NE(replaced("(2,1,1)", "(3,1,1)").find("2 of 3 thread blocks"), std::string::npos);
  EXPECT_NE(replaced("8 1 0x7f0000000000 8", "8 7 0x7f0000000000 8").find(":22) - write 0 (list)"),
            std::string::npos);
}

}  // namespace
}  // namespace nearwarp::sass
