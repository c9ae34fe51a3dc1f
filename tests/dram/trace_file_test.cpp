// Are traces read as written, and damaged lines reported with their place?
#include "host/timing/dram/trace_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "host/config/config.h"
#include "host/core/error.h"

namespace nearwarp::dram {
namespace {

class TraceFile : public ::testing::Test {
 protected:
  ~TraceFile() override { std::remove(path_.c_str()); }
  Trace read(const std::string& text, const std::string& standard = "ddr3-1600k") {
    std::ofstream(path_) << text;
    return read_trace(path_, config::load_dram(standard));
  }
  std::string error_of(const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  std::string path_ = ::testing::TempDir() + "/nearwarp_trace_" +
                      std::to_string(reinterpret_cast<uintptr_t>(this)) + ".txt";
};

TEST_F(TraceFile, AccessesBlanksAndComments) {
  const Trace trace = read("# a comment\nR 0x0\n\n  W\t0x1f40  # another\r\nR 0X80\n");
  ASSERT_EQ(trace.accesses.size(), 3u);
  EXPECT_FALSE(trace.timed);
  EXPECT_EQ(trace.accesses[1].line, 0x1f40u / 64);
  EXPECT_EQ(trace.accesses[1].write, 1u);
  EXPECT_EQ(trace.accesses[2].line, 2u);
}

TEST_F(TraceFile, ALineWithoutEndIsNotReadWhole) {
  const std::string longest = "R 0x40 #" + std::string(4095 - 8, '.');
  EXPECT_EQ(read(longest).accesses.size(), 1u);
  EXPECT_EQ(read("R 0x0\n" + longest + "\nR 0x80\n").accesses.size(), 3u);
  EXPECT_NE(error_of("R 0x0\n" + longest + ".\nR 0x80\n").find(":2) - one has at most 4095"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(10'000, '\0')).find("a line without end"), std::string::npos);
  EXPECT_NE(error_of(std::string("R 0x0\0 1\n", 9)), "no error");
}

TEST_F(TraceFile, Cycles) {
  const Trace trace = read("R 0x0 5\nW 0x40 5\nR 0x0 70");
  ASSERT_EQ(trace.accesses.size(), 3u);
  EXPECT_TRUE(trace.timed);
  EXPECT_EQ(trace.accesses[2].cycle, 70u);
}

TEST_F(TraceFile, AddressesAreOfAllPseudoChannels) {
  // HBM3: 2 pseudo channels of 16 banks of 16384 rows of 1 KB, 2^29 bytes.
  EXPECT_EQ(read("R 0x1fffffe0\n", "hbm3-6400").accesses[0].line, 0x1fffffe0u / 32);
  EXPECT_THROW(read("R 0x20000000\n", "hbm3-6400"), Error);
}

TEST_F(TraceFile, DamagedLinesAreErrorsWithTheirPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"R 0x0\nX 0x40\n", ":2) - R or W"},
      {"R 64\n", ":1) - write it as 0x"},
      {"R 0x\n", ":1) - write it as 0x"},
      {"R 0x4g\n", ":1) - write it as 0x"},
      {"R\n", ":1) - an access is"},
      {"R 0x0 1 2\n", ":1) - an access is"},
      {"R 0x0 ten\n", ":1) - 0 to"},
      {"R 0x0 -1\n", ":1) - 0 to"},
      {"R 0x0 9\nR 0x0 8\n", ":2) - cycles must not go back"},
      {"R 0x0 9\nR 0x0\n", ":2) - either every access"},
      {"R 0x0\nR 0x0 9\n", ":2) - either every access"},
      {"R 0x10000000000\n", ":1) - raise organisation.rows"},
      {"# nothing\n", "has no access"},
  };
  for (const auto& [text, part] : cases) {
    const std::string message = error_of(text);
    EXPECT_NE(message.find(part), std::string::npos) << text << "gave: " << message;
  }
}

TEST_F(TraceFile, MissingFile) {
  try {
    read_trace("/nonexistent/trace", config::load_dram("ddr3-1600k"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot read '/nonexistent/trace'"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace nearwarp::dram
