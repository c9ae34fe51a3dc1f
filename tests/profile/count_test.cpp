// Does a profile say what a program's traces have, and what a timing run counts?
#include "host/timing/profile/count.h"

#include <gtest/gtest.h>

#include "device/trace/writer.h"
#include "host/recording/repeats.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::profile::count_test {
namespace {

using report::AccessCounts;
using report::Profile;
using report::ProfileCounts;
using report::ProfileLine;

/// Line 6 onwards: a guarded load, a store of .v2, a generic load, shared memory, a reduction,
/// .local.
constexpr const char* kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .pred %q; .reg .b32 %r<4>; .reg .b64 %d<4>; .shared .b32 s[64]; .local .b32 l[4];
ld.param.u64 %d0, [p];
setp.eq.u64 %q, %d0, 0;
@%q ld.global.u32 %r0, [%d0];
st.global.v2.u32 [%d0], {%r0, %r0};
ld.u32 %r1, [%d0];
st.shared.u32 [s], %r1;
red.global.add.u32 [%d0], %r1;
st.local.u32 [l], %r1;
ret;
})";
constexpr uint64_t kBase = 0x7f00'0000'0000;

/// The words of a warp's trace.
struct Words {
  std::vector<uint64_t> words;
  void run(uint32_t mask, uint32_t repeats = 1) {
    words.push_back(trace::control_word(mask, 0, repeats));
  }
  void guard(uint32_t mask) { words.push_back(mask); }
  /// Lane i accesses first + step * i.
  void strided(uint32_t mask, uint64_t first, uint64_t step) {
    uint64_t address[32];
    for (uint64_t i = 0; i < 32; ++i) address[i] = first + step * i;
    record(mask, address);
  }
  void record(uint32_t mask, const uint64_t* address) {
    uint64_t out[trace::kMaxRecordWords];
    words.insert(words.end(), out, out + trace::write_record(out, mask, address));
  }
  void end() { words.push_back(0); }
};

/// All that the block does, for its lanes of `mask` and those of `guarded`.
void body(Words& w, uint32_t mask, uint32_t guarded, bool generic_is_shared) {
  w.guard(guarded);
  if (guarded != 0) w.strided(guarded, kBase, 128);
  w.strided(mask, kBase, 8);
  w.strided(mask, generic_is_shared ? trace::kSharedWindow : kBase + 4096, 4);
  w.strided(mask, 0, 4);
  uint64_t gathered[32];
  for (uint64_t i = 0; i < 32; ++i) gathered[i] = kBase + (i * 7 % 4) * 1'000'000;
  w.record(mask, gathered);
  w.strided(mask, kBase + (1 << 20), 4);
}

/// `launches` launches of one thread block of a warp.
runtime::Recording recording_of(const Words& w, uint32_t launches) {
  runtime::Recording r;
  r.name = "hand-made";
  const compiler::Program program = compiler::compile_ptx(kPtx, "k.ptx");
  r.kernels.push_back(std::make_shared<const compiler::Kernel>(program.kernels.at(0)));
  for (uint32_t i = 0; i < launches; ++i) {
    runtime::TraceChunk chunk;
    chunk.num_blocks = chunk.warps_per_block = 1;
    chunk.warp_offset = {0, static_cast<uint32_t>(w.words.size())};
    chunk.words = w.words;
    runtime::LaunchRecord launch;
    launch.block = {32};
    launch.first_chunk = r.traces.append(std::move(chunk));
    launch.num_chunks = 1;
    launch.blocks_recorded = 1;
    r.launches.push_back(launch);
  }
  return r;
}

void expect(const AccessCounts& c, uint64_t accesses, uint64_t lanes, uint64_t sectors,
            uint64_t lines, uint64_t bytes) {
  EXPECT_EQ(c.accesses, accesses);
  EXPECT_EQ(c.lanes, lanes);
  EXPECT_EQ(c.sectors, sectors);
  EXPECT_EQ(c.lines, lines);
  EXPECT_EQ(c.bytes, bytes);
}

const ProfileLine& ptx_line(const Profile& p, uint32_t line) {
  for (const ProfileLine& l : p.lines)
    if (l.line == 0 && l.ptx_line == line) return l;
  throw Error("no such line");
}

TEST(Profile, ExactNumbersOfASmallKernel) {
  Words w;
  w.run(0xffffffff, 2);  // one that repeats: its records follow each other
  body(w, 0xffffffff, 0x0000000f, false);
  body(w, 0xffffffff, 0, true);
  w.run(0x000000ff);
  body(w, 0x000000ff, 0x000000ff, false);
  w.end();
  const Profile p = count(recording_of(w, 3), {});
  ASSERT_EQ(p.kernels.size(), 1u);
  EXPECT_EQ(p.launches, 3u);
  EXPECT_EQ(p.kernels[0].launches, 3u);
  const ProfileCounts& k = p.kernels[0].counts;
  EXPECT_EQ(k.warp_instructions, 3u * 3 * 9);
  EXPECT_EQ(k.thread_instructions, 3u * 9 * (32 + 32 + 8));

  const ProfileCounts& guarded = ptx_line(p, 8).counts;
  EXPECT_EQ(guarded.warp_instructions, 9u);
  EXPECT_EQ(guarded.thread_instructions, 3u * 72) << "of the block, not the guard";
  expect(guarded.loads, 3 * 2, 3 * (4 + 8), 3 * (4 + 8), 3 * (4 + 8), 3 * 4 * (4 + 8));
  expect(ptx_line(p, 9).counts.stores, 9, 3 * 72, 3 * (8 + 8 + 2), 3 * (2 + 2 + 1),
         3 * (256 + 256 + 64));
  const ProfileCounts& generic = ptx_line(p, 10).counts;
  expect(generic.loads, 6, 3 * (32 + 8), 3 * (4 + 1), 3 * 2, 3 * (128 + 32));
  expect(generic.shared, 3, 3 * 32, 0, 0, 0);
  expect(ptx_line(p, 11).counts.shared, 9, 3 * 72, 0, 0, 0);
  expect(ptx_line(p, 12).counts.atomics, 9, 3 * 72, 3 * 12, 3 * 12, 3 * 12 * 4);
  expect(ptx_line(p, 13).counts.local, 9, 3 * 72, 3 * 9, 3 * 3, 3 * (128 + 128 + 32));
  expect(k.loads, 12, 3 * 52, 3 * 17, 3 * 14, 3 * (48 + 160));
  expect(k.shared, 12, 3 * 104, 0, 0, 0);

  ASSERT_EQ(p.lines.size(), 9u);
  EXPECT_EQ(p.lines[0].ptx_line, 9u) << "of equals the one with most sectors";
  EXPECT_EQ(ptx_line(p, 6).counts.memory().accesses, 0u) << "parameters leave no records";

  Options options;
  options.line_bytes = 32;
  EXPECT_EQ(count(recording_of(w, 3), options).all.loads.lines, k.loads.sectors);
}

TEST(Profile, LaunchesLeftOutCount) {
  Words w;
  w.run(1);
  body(w, 1, 0, false);
  w.end();
  runtime::Recording r = recording_of(w, 5);
  runtime::limit_repeats(r, 2);
  ASSERT_EQ(r.launches.size(), 2u);
  const Profile p = count(r, {});
  EXPECT_EQ(p.launches, 5u);
  EXPECT_EQ(p.all.warp_instructions, 45u);
  expect(p.all.stores, 5, 5, 5, 5, 40);
}

TEST(Profile, StopsAndFails) {
  Words w;
  w.run(1);
  body(w, 1, 0, false);
  w.end();
  Options options;
  options.progress = [](uint64_t, uint64_t) { return false; };
  EXPECT_THROW(count(recording_of(w, 1), options), Interrupted);
  w.words.pop_back();
  EXPECT_THROW(count(recording_of(w, 1), {}), Error);
}

class ProfileOf : public ::testing::TestWithParam<std::string> {};

TEST_P(ProfileOf, SumsAreTheCountersOfATimingRun) {
  const runtime::Recording& recording = testing::workload(GetParam(), 600'000);
  const Profile p = count(recording, {});
  const report::RunResult run = testing::simulate(recording, "baseline");
  EXPECT_EQ(p.all.warp_instructions, testing::counter(run, "sm.issued"));
  EXPECT_EQ(p.all.thread_instructions, testing::counter(run, "sm.issued_threads"));
  EXPECT_EQ(p.all.warp_instructions, recording.warp_instructions);
  EXPECT_EQ(p.launches, recording.launches.size());
  // The counters have the loads and stores of local memory apart.
  EXPECT_EQ(p.all.memory().lines, testing::counter(run, "sm.load_lines") +
                                      testing::counter(run, "sm.store_lines") +
                                      testing::counter(run, "sm.atomic_lines"));
  EXPECT_EQ(p.all.atomics.lines, testing::counter(run, "sm.atomic_lines"));
  EXPECT_EQ(p.all.shared.accesses, testing::counter(run, "sm.shared_accesses"));
  uint64_t launches = 0;
  ProfileCounts kernels, lines;
  for (const report::ProfileKernel& k : p.kernels) {
    launches += k.launches;
    kernels.add(k.counts);
  }
  for (const ProfileLine& l : p.lines) lines.add(l.counts);
  EXPECT_EQ(launches, p.launches);
  for (const ProfileCounts* sum : {&kernels, &lines}) {
    EXPECT_EQ(sum->warp_instructions, p.all.warp_instructions);
    EXPECT_EQ(sum->thread_instructions, p.all.thread_instructions);
    EXPECT_EQ(sum->memory().sectors, p.all.memory().sectors);
    EXPECT_EQ(sum->shared.accesses, p.all.shared.accesses);
  }
}

TEST_P(ProfileOf, ThreadsChangeNothing) {
  const runtime::Recording& recording = testing::workload(GetParam(), 600'000);
  Options options;
  const std::string one = report::profile_json({count(recording, options)}, {});
  for (const unsigned threads : {2u, 7u}) {
    options.threads = threads;
    EXPECT_EQ(report::profile_json({count(recording, options)}, {}), one);
  }
}

INSTANTIATE_TEST_SUITE_P(, ProfileOf,
                         ::testing::Values("vector-add", "kmeans", "bfs-rmat", "libor", "reduction",
                                           "backprop"),
                         [](const auto& of) { return testing::test_name(of.param); });

}  // namespace
}  // namespace nearwarp::profile::count_test
