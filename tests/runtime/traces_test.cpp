// Do the trace store, recordings on disk and the trace format work, corner cases included?
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "device/trace/reader.h"
#include "device/trace/writer.h"
#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/chunk_codec.h"
#include "host/recording/recording_file.h"
#include "host/recording/trace_replay.h"
#include "host/recording/trace_store.h"

namespace nearwarp::runtime {
namespace {

namespace fs = std::filesystem;

/// A directory of its own, removed at the end.
class Directory {
 public:
  Directory() {
    std::string name = (fs::temp_directory_path() / "nearwarp-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Directory() { fs::remove_all(path_); }
  std::string path() const { return path_; }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

TraceChunk random_chunk(uint32_t seed, uint32_t words) {
  std::mt19937_64 random(seed);
  TraceChunk c;
  c.first_block = 3 * seed;
  c.num_blocks = 2;
  c.warps_per_block = 2;
  c.warp_offset = {0, words / 5, words / 3, words / 2, words};
  for (uint32_t i = 0; i < words; ++i) c.words.push_back(random() >> (i % 50));
  return c;
}

void expect_equal(const TraceChunk& a, const TraceChunk& b) {
  EXPECT_EQ(a.first_block, b.first_block);
  EXPECT_EQ(a.num_blocks, b.num_blocks);
  EXPECT_EQ(a.warps_per_block, b.warps_per_block);
  EXPECT_EQ(a.warp_offset, b.warp_offset);
  EXPECT_EQ(a.words, b.words);
}

TEST(ChunkCodec, RoundTripAndCorruption) {
  for (const uint32_t words : {0u, 1u, 33u, 5000u}) {
    const TraceChunk c = random_chunk(words, words);
    std::vector<uint8_t> data = compress_chunk(c);
    expect_equal(c, decompress_chunk(data));
    for (size_t cut = 0; cut < data.size(); cut += data.size() / 7 + 1) {
      const std::vector<uint8_t> shorter(data.begin(), data.begin() + static_cast<long>(cut));
      EXPECT_THROW(decompress_chunk(shorter), Error);
    }
  }
}

TEST(TraceStore, SpillsBeyondTheBudgetAndLoadsAgain) {
  Directory directory;
  TraceStore::Options options;
  options.memory_budget_bytes = 100'000;
  options.spill_directory = directory.path();
  TraceStore store(options);
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(store.append(random_chunk(i, 2000)), i);
  EXPECT_EQ(store.size(), 40u);
  EXPECT_EQ(store.total_words(), 80'000u);
  EXPECT_EQ(directory.files(), 0u) << "the temporary file must have no name";
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t k = 0; k < 80; ++k) {
        const uint32_t i = (k * 7 + static_cast<uint32_t>(t) * 11) % 40;
        expect_equal(*store.chunk(i), random_chunk(i, 2000));
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_THROW(store.chunk(40), Error);
}

TEST(TraceStore, EqualChunksAreKeptOnce) {
  TraceStore::Options options;
  options.memory_budget_bytes = 10'000;  // some lie on disk
  TraceStore store(options);
  const uint32_t pattern[] = {0, 1, 0, 2, 2, 1, 3, 0};
  for (uint32_t round = 0; round < 5; ++round)
    for (const uint32_t seed : pattern) store.append(random_chunk(seed, 500));
  ASSERT_EQ(store.size(), 40u);
  EXPECT_EQ(store.total_words(), 20'000u);
  for (uint32_t i = 0; i < store.size(); ++i) {
    EXPECT_EQ(store.identity(i), pattern[i % 8]);
    expect_equal(*store.chunk(i), random_chunk(pattern[i % 8], 500));
  }
  const auto one = store.chunk(0);
  EXPECT_EQ(one.get(), store.chunk(2).get()) << "the same piece of memory";
  EXPECT_THROW(store.identity(40), Error);
}

TEST(TraceStore, FullDiskIsAnError) {
  Directory directory;
  // A limit on file sizes acts like a full disk; without the signal, write() fails.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = old;
  small.rlim_cur = 20'000;
  setrlimit(RLIMIT_FSIZE, &small);
  TraceStore::Options options;
  options.memory_budget_bytes = 10'000;
  options.spill_directory = directory.path();
  std::string message;
  try {
    TraceStore store(options);
    for (uint32_t i = 0; i < 40; ++i) store.append(random_chunk(i, 2000));
  } catch (const Error& e) {
    message = e.what();
  }
  Recording recording;
  for (uint32_t i = 0; i < 5; ++i) recording.traces.append(random_chunk(i, 2000));
  const std::string path = directory.path() + "/recording";
  std::string save_message;
  try {
    save_recording(recording, path);
  } catch (const Error& e) {
    save_message = e.what();
  }
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_NE(message.find("cannot write"), std::string::npos) << message;
  EXPECT_NE(save_message.find("cannot write the recording"), std::string::npos) << save_message;
  EXPECT_EQ(directory.files(), 0u) << "nothing half-written may stay";
}

TEST(TraceStore, UnusableDirectoryIsAnError) {
  TraceStore::Options options;
  options.memory_budget_bytes = 1;
  options.spill_directory = "/does/not/exist";
  TraceStore store(options);
  store.append(random_chunk(0, 100));
  EXPECT_THROW(store.append(random_chunk(1, 100)), Error);
}

TEST(TraceRecords, EveryFormReadsBack) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    uint32_t mask = static_cast<uint32_t>(random());
    if (round % 3 == 0) mask &= static_cast<uint32_t>(random()) & static_cast<uint32_t>(random());
    if (mask == 0) mask = 1u << (round % 32);
    if (round % 4 == 0) mask = ~0u;  // written with a processor's vectors
    uint64_t address[32];
    const int kind = round % 5;
    const int64_t stride = static_cast<int64_t>(random() % 70000) - 35000;
    for (uint32_t i = 0; i < 32; ++i) {
      if (kind == 0) address[i] = 0x7f2d'0000'0000 + static_cast<uint64_t>(stride * i);
      if (kind == 1) address[i] = 0x7f2d'0000'0000 + random() % 1'000'000;
      if (kind == 2) address[i] = 0x7f2d'0000'0000 + random() % (uint64_t{1} << 36);
      if (kind == 3) address[i] = 1024;
      if (kind == 4) address[i] = (i * 4) | trace::kSharedWindow;
    }
    if (round % 40 == 0) address[31] += 4;  // one lane alone is out of step
    uint64_t words[64], back[32];
    const uint32_t n = trace::write_record(words, mask, address);
    ASSERT_LE(n, trace::kMaxRecordWords);
    for (uint32_t cut = 0; cut < n; ++cut)
      ASSERT_EQ(trace::read_record(words, cut, mask, back), 0u);
    ASSERT_EQ(trace::read_record(words, n, mask, back), n);
    for (uint32_t i = 0; i < 32; ++i)
      ASSERT_TRUE((mask >> i & 1) == 0 || back[i] == address[i]) << kind << " lane " << i;
    if (kind == 3 || kind == 4) {
      EXPECT_EQ(n, 1u);
    }
  }
}

// --- Recordings of a real program ----------------------------------------------------------------

Recording record(const VirtualDevice::Options& options = {}, int blocks = 40) {
  VirtualDevice d(options);
  const uint32_t m = d.load_module(std::make_shared<const compiler::Program>(
      compiler::compile_ptx_file(NW_SOURCE_DIR "/tests/runtime/kernels/basic.ptx")));
  const int n = blocks * 128 - 5;
  std::vector<unsigned> in(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) in[static_cast<size_t>(i)] = static_cast<unsigned>(i % 700 + 1);
  const DevicePtr pi = d.upload(in, "in"), po = d.allocate(in.size() * 4, "out");
  for (int k = 0; k < 3; ++k)
    d.launch(m, "collatz", {static_cast<uint32_t>(blocks)}, {128}, 0, KernelArgs(pi, po, n));
  return d.take_recording("collatz");
}

void expect_same(const Recording& a, const Recording& b) {
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (size_t i = 0; i < a.kernels.size(); ++i) {
    const compiler::Kernel &x = *a.kernels[i], &y = *b.kernels[i];
    EXPECT_EQ(x.name, y.name);
    ASSERT_EQ(x.instructions.size(), y.instructions.size());
    for (size_t k = 0; k < x.instructions.size(); ++k) {
      EXPECT_EQ(x.instructions[k].op, y.instructions[k].op);
      EXPECT_EQ(x.instructions[k].mod.type, y.instructions[k].mod.type);
      EXPECT_EQ(x.instructions[k].dsts, y.instructions[k].dsts);
      EXPECT_EQ(x.instructions[k].srcs.size(), y.instructions[k].srcs.size());
      EXPECT_EQ(x.instructions[k].ptx_line, y.instructions[k].ptx_line);
    }
    ASSERT_EQ(x.blocks.size(), y.blocks.size());
    for (size_t k = 0; k < x.blocks.size(); ++k) {
      EXPECT_EQ(x.blocks[k].successors, y.blocks[k].successors);
      EXPECT_EQ(x.blocks[k].ipdom, y.blocks[k].ipdom);
    }
    EXPECT_EQ(x.registers.size(), y.registers.size());
    EXPECT_EQ(x.loops.size(), y.loops.size());
    EXPECT_EQ(x.live_in, y.live_in);
    EXPECT_EQ(x.num_physical, y.num_physical);
    EXPECT_EQ(compiler::source_text(x.machine_code), compiler::source_text(y.machine_code));
    EXPECT_EQ(x.machine_code.per_thread, y.machine_code.per_thread);
    EXPECT_EQ(x.source_files, y.source_files);
  }
  ASSERT_EQ(a.launches.size(), b.launches.size());
  for (size_t i = 0; i < a.launches.size(); ++i) {
    EXPECT_EQ(a.launches[i].grid, b.launches[i].grid);
    EXPECT_EQ(a.launches[i].block, b.launches[i].block);
    EXPECT_EQ(a.launches[i].num_chunks, b.launches[i].num_chunks);
    EXPECT_EQ(a.launches[i].thread_instructions, b.launches[i].thread_instructions);
  }
  ASSERT_EQ(a.allocations.size(), b.allocations.size());
  for (size_t i = 0; i < a.allocations.size(); ++i) {
    EXPECT_EQ(a.allocations[i].address, b.allocations[i].address);
    EXPECT_EQ(a.allocations[i].label, b.allocations[i].label);
  }
  EXPECT_EQ(a.warp_instructions, b.warp_instructions);
  EXPECT_EQ(a.truncated, b.truncated);
  ASSERT_EQ(a.traces.size(), b.traces.size());
  for (uint32_t i = 0; i < a.traces.size(); ++i)
    expect_equal(*a.traces.chunk(i), *b.traces.chunk(i));
}

TEST(Recordings, TheSameOnEveryRun) {
  const Recording a = record(), b = record();
  expect_same(a, b);
  validate(a);
}

TEST(Recordings, ChunksFollowTheOption) {
  VirtualDevice::Options options;
  options.chunk_blocks = 7;
  const Recording r = record(options);
  EXPECT_EQ(r.launches[0].num_chunks, 6u);
  EXPECT_EQ(r.traces.chunk(5)->num_blocks, 5u);
  EXPECT_EQ(r.launches[1].first_chunk, 6u);
  const TraceCounts chunked = validate(r), whole = validate(record());
  EXPECT_EQ(chunked.accesses, whole.accesses);
}

TEST(Recordings, SaveAndLoad) {
  Directory directory;
  const std::string path = directory.path() + "/r.nwrec";
  VirtualDevice::Options options;
  options.chunk_blocks = 4;
  const Recording r = record(options);
  save_recording(r, path);
  EXPECT_EQ(directory.files(), 1u);
  TraceStore::Options little;
  little.memory_budget_bytes = 1;
  const Recording back = load_recording(path, little);
  expect_same(r, back);
  validate(back);
  EXPECT_THROW(save_recording(r, directory.path() + "/no/such/place"), Error);
}

TEST(Recordings, WhoCountedRegistersIsKept) {
  Directory directory;
  const std::string path = directory.path() + "/r.nwrec";
  Recording r = record({}, 3);
  compiler::Kernel kernel = *r.kernels.at(0);
  for (const compiler::RegisterCount& count :
       {compiler::RegisterCount{},
        compiler::RegisterCount{compiler::RegisterSource::kCubin, 75, 55},
        compiler::RegisterCount{compiler::RegisterSource::kPtxas, 90, 23},
        compiler::RegisterCount{compiler::RegisterSource::kTrace, 0, 12}}) {
    kernel.machine_code = count;
    r.kernels[0] = std::make_shared<const compiler::Kernel>(kernel);
    save_recording(r, path);
    expect_same(r, load_recording(path));
  }
}

TEST(Recordings, DamagedFilesAreRefused) {
  Directory directory;
  const std::string path = directory.path() + "/r.nwrec";
  save_recording(record({}, 3), path);
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const auto write = [&](const std::string& data) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << data;
  };
  EXPECT_NO_THROW(load_recording(path));
  for (size_t i = 0; i < whole.size(); i += 1 + whole.size() / 200) {
    write(whole.substr(0, i));
    EXPECT_THROW(load_recording(path), Error) << "truncated to " << i;
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    write(flipped);
    EXPECT_THROW(load_recording(path), Error) << "byte " << i << " of " << whole.size();
  }
  write(whole + "x");
  EXPECT_THROW(load_recording(path), Error);
  EXPECT_THROW(load_recording(directory.path()), Error);
  EXPECT_THROW(load_recording(directory.path() + "/missing"), Error);
}

TEST(Recordings, OrdersThatCannotBeAreRefused) {
  Directory directory;
  const std::string path = directory.path() + "/r.nwrec";
  Recording r = record({}, 3);
  ASSERT_EQ(r.launches.size(), 3u);
  LaunchRecord& l = r.launches[2];
  l.after_all = false;
  l.stream = 3;
  for (const auto& after : {std::vector<uint32_t>{}, {0}, {1}, {0, 1}}) {
    l.after = after;
    save_recording(r, path);
    const Recording back = load_recording(path);
    EXPECT_EQ(back.launches[2].after, after);
    EXPECT_FALSE(back.launches[2].after_all);
    EXPECT_EQ(back.launches[2].stream, 3u);
    EXPECT_TRUE(back.launches[1].after_all);
  }
  for (const auto& after : {std::vector<uint32_t>{2}, {0, 3}, {1, 0}, {1, 1}, {0xffffffff}}) {
    l.after = after;
    save_recording(r, path);
    EXPECT_THROW(load_recording(path), Error);
  }
  l.after = {0};
  l.after_all = true;
  save_recording(r, path);
  EXPECT_THROW(load_recording(path), Error);
}

TEST(Recordings, LaunchesOfKernelsOrChunksThatAreNotThereAreRefused) {
  Directory directory;
  const std::string path = directory.path() + "/r.nwrec";
  const Recording r = record({}, 3);
  Recording wrong = record({}, 3);
  wrong.launches[2].kernel = static_cast<uint32_t>(r.kernels.size());
  save_recording(wrong, path);
  EXPECT_THROW(load_recording(path), Error);
  for (const uint32_t first : {r.traces.size(), 0xffffffffu}) {
    wrong.launches[2] = r.launches[2];
    wrong.launches[2].first_chunk = first;
    save_recording(wrong, path);
    EXPECT_THROW(load_recording(path), Error);
  }
  wrong.launches[2] = r.launches[2];
  save_recording(wrong, path);
  EXPECT_NO_THROW(load_recording(path));
}

TEST(Recordings, KeysDependOnEverything) {
  const std::string key = recording_key("ptx", "w", "small");
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(key, recording_key("ptx", "w", "small"));
  EXPECT_NE(key, recording_key("ptx2", "w", "small"));
  EXPECT_NE(key, recording_key("ptx", "w2", "small"));
  EXPECT_NE(key, recording_key("ptx", "w", "medium"));
  EXPECT_NE(key, recording_key("ptx", "w", "small", "x"));
  EXPECT_NE(recording_key("a", "bc", ""), recording_key("a", "b", "c"));
}

TEST(Recordings, InstructionLimitEndsAtAWholeBlock) {
  const Recording whole = record();
  VirtualDevice::Options options;
  options.max_thread_instructions = whole.thread_instructions / 2;
  const Recording r = record(options);
  EXPECT_TRUE(r.truncated);
  EXPECT_FALSE(whole.truncated);
  EXPECT_EQ(r.launches.size(), 2u);
  EXPECT_EQ(r.launches[0].blocks_recorded, 40u);
  EXPECT_LT(r.launches[1].blocks_recorded, 40u);
  EXPECT_GE(r.thread_instructions, options.max_thread_instructions);
  EXPECT_LT(r.thread_instructions,
            options.max_thread_instructions + whole.thread_instructions / 100);
  validate(r);
}

TEST(Recordings, WithoutTraces) {
  VirtualDevice::Options options;
  options.record_traces = false;
  const Recording r = record(options);
  EXPECT_EQ(r.traces.size(), 0u);
  EXPECT_EQ(r.thread_instructions, record().thread_instructions);
}

TEST(Recordings, InterruptedByTheProgressCallback) {
  VirtualDevice::Options options;
  int calls = 0;
  options.progress = [](uint64_t, void* context) { return ++*static_cast<int*>(context) < 2; };
  options.progress_context = &calls;
  EXPECT_THROW(record(options, 2000), Interrupted);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace nearwarp::runtime
