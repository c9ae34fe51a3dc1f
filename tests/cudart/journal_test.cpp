// Is what a journal holds there again, however it was cut off?
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "host/core/error.h"
#include "host/core/hash.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/recording_journal.h"
#include "tests/cudart/library.h"

namespace nearwarp::cudart {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::temp_directory_path() / ("nearwarp-journal-" + std::to_string(getpid()));
  }
  void TearDown() override { fs::remove(path_); }

  /// Executes vector_add some times; returns what a device without a journal recorded.
  runtime::Recording write(int launches, uint64_t max_thread_instructions = 0) {
    runtime::JournalWriter journal(path_, "test");
    execute(launches, &journal, max_thread_instructions);
    journal.end();
    return execute(launches, nullptr, max_thread_instructions);
  }

  runtime::Recording execute(int launches, runtime::RecordingSink* sink, uint64_t most) {
    runtime::VirtualDevice::Options options;
    options.sink = sink;
    options.max_thread_instructions = most;
    options.execute_beyond_limit = true;
    options.chunk_blocks = 3;
    runtime::VirtualDevice device(options);
    const auto program = std::make_shared<compiler::Program>(
        compiler::compile_ptx(read_ptx("kernels.ptx"), "kernels.ptx"));
    for (compiler::Kernel& kernel : program->kernels)
      kernel.machine_code = {compiler::RegisterSource::kCubin, 75, 55};
    const uint32_t module = device.load_module(program);
    const std::vector<float> ones(1000, 1.0f);
    const auto a = device.upload(ones), b = device.upload(ones), c = device.upload(ones);
    for (int i = 0; i < launches; ++i)
      device.launch(module, "vector_add", {8, 1, 1}, {128, 1, 1}, 0,
                    runtime::KernelArgs(a, b, c, 1000));
    EXPECT_EQ(device.download<float>(c, 1000), std::vector<float>(1000, 2.0f));
    return device.take_recording("test");
  }

  static void expect_equal(const runtime::Recording& a, const runtime::Recording& b) {
    EXPECT_EQ(a.warp_instructions, b.warp_instructions);
    EXPECT_EQ(a.thread_instructions, b.thread_instructions);
    EXPECT_EQ(a.truncated, b.truncated);
    EXPECT_EQ(a.allocations.size(), b.allocations.size());
    EXPECT_EQ(a.kernels.size(), b.kernels.size());
    ASSERT_EQ(a.launches.size(), b.launches.size());
    ASSERT_EQ(a.traces.size(), b.traces.size());
    for (uint32_t i = 0; i < a.traces.size(); ++i) {
      EXPECT_EQ(a.traces.chunk(i)->words, b.traces.chunk(i)->words);
      EXPECT_EQ(a.traces.identity(i), b.traces.identity(i));
      EXPECT_EQ(a.traces.chunk(i)->first_block, b.traces.chunk(i)->first_block);
    }
  }

  std::string path_;
};

TEST_F(JournalTest, HoldsTheRecording) {
  const runtime::Recording expected = write(5);
  const runtime::Journal journal = runtime::load_journal(path_);
  EXPECT_TRUE(journal.ended);
  EXPECT_FALSE(journal.damaged);
  EXPECT_EQ(journal.recording.name, "test");
  EXPECT_EQ(journal.recording.launches.size(), 5u);
  const compiler::RegisterCount& count = journal.recording.kernels.at(0)->machine_code;
  EXPECT_EQ(compiler::source_text(count), "cubin sm_75");
  EXPECT_EQ(count.per_thread, 55u);
  expect_equal(journal.recording, expected);
}

TEST_F(JournalTest, RepetitionsTakeLittleRoom) {
  const auto bytes = [this](int launches) {
    write(launches);
    return fs::file_size(path_);
  };
  const auto one = bytes(1), two = bytes(2), many = bytes(50);
  EXPECT_LT(two - one, one / 3);
  EXPECT_EQ(many - two, 48 * (two - one));
}

TEST_F(JournalTest, ALimitCutsWithinALaunchAndExecutionGoesOn) {
  const runtime::Recording expected = write(5, 25000);
  const runtime::Journal journal = runtime::load_journal(path_);
  expect_equal(journal.recording, expected);
  EXPECT_TRUE(journal.recording.truncated);
  EXPECT_GE(journal.recording.thread_instructions, 25000u);
  EXPECT_LT(journal.recording.thread_instructions, 29000u);
  EXPECT_LT(journal.recording.launches.back().blocks_recorded, 8u);
}

TEST_F(JournalTest, CutOffAnywhereItHoldsTheLaunchesBefore) {
  write(4);
  const auto bytes = fs::file_size(path_);
  size_t most = 0;
  for (auto size = bytes; size-- > 0;) {
    fs::resize_file(path_, size);
    if (size % 7 != 0 && size + 100 < bytes) continue;  // some of them will do
    try {
      const runtime::Journal journal = runtime::load_journal(path_);
      EXPECT_LE(journal.recording.launches.size(), 4u);
      EXPECT_FALSE(journal.ended);
      most = std::max(most, journal.recording.launches.size());
      for (uint32_t i = 0; i < journal.recording.traces.size(); ++i)
        journal.recording.traces.chunk(i);
    } catch (const Error&) {
      EXPECT_LT(size, 200u) << "only the beginning must be there";
    }
  }
  EXPECT_EQ(most, 4u);
}

TEST_F(JournalTest, OrdersThatCannotBeAreRefused) {
  const runtime::Recording recording = write(3);
  const auto load = [&](bool after_all, const std::vector<uint32_t>& after) {
    runtime::JournalWriter journal(path_, "test");
    journal.kernel(*recording.kernels[0]);
    for (uint32_t i = 0; i < 3; ++i) {
      runtime::LaunchRecord launch = recording.launches[i];
      launch.num_chunks = 0;
      launch.first_chunk = 0;
      if (i == 2) {
        launch.after_all = after_all;
        launch.after = after;
      }
      journal.launch(launch, 0);
    }
    return runtime::load_journal(path_).recording.launches[2].after;
  };
  for (const auto& after : {std::vector<uint32_t>{}, {0}, {1}, {0, 1}})
    EXPECT_EQ(load(false, after), after);
  for (const auto& after : {std::vector<uint32_t>{2}, {0, 3}, {1, 0}, {1, 1}, {0xffffffff}})
    EXPECT_THROW(load(false, after), Error);
  EXPECT_THROW(load(true, {0}), Error);
}

TEST_F(JournalTest, ChunksThatCannotBeAreRefused) {
  write(1);
  std::ifstream in(path_, std::ios::binary);
  const std::string right{std::istreambuf_iterator<char>(in), {}};
  const auto word = [&](const std::string& text, size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, &text.at(at), 8);
    return value;
  };
  // An entry has its type behind four bytes, then its size and a checksum; the fourth type is that
  // of chunks, which begin with numbers of words, bytes in memory and blocks.
  size_t chunk = 0;
  while (word(right, chunk) >> 32 != 3) chunk += 24 + word(right, chunk + 8);
  for (const size_t number : {0, 1, 2}) {
    std::string text = right;
    const uint64_t value = (word(text, chunk + 24 + 8 * number)) + (uint64_t{1} << 40);
    std::memcpy(&text[chunk + 24 + 8 * number], &value, 8);
    const uint64_t sum =
        checksum(std::string_view(text).substr(chunk + 24, word(text, chunk + 8)), 3);
    std::memcpy(&text[chunk + 16], &sum, 8);
    std::ofstream(path_, std::ios::binary) << text;
    try {
      runtime::load_journal(path_);
      ADD_FAILURE() << "number " << number << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind(path_, 0), 0u) << error.what();
    }
  }
}

TEST_F(JournalTest, OtherFilesAreRefused) {
  std::ofstream(path_) << "not a journal, but long enough to hold the header of an entry";
  EXPECT_THROW(runtime::load_journal(path_), Error);
  EXPECT_THROW(runtime::load_journal("/no/such/file"), Error);
}

}  // namespace
}  // namespace nearwarp::cudart
