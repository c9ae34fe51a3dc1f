// SMs in stacks only: is what lies in another stack further away and slower by what the link takes,
// and does every stack's L2 hold what its SMs want?
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/machine/one_load.h"
#include "tests/machine/streams.h"

namespace nearwarp::testing {
namespace {

/// With all clocks the same, a tick is a cycle: 0.5 ns.
config::MachineConfig coda(std::vector<std::string> keys = {}) {
  keys.insert(keys.end(),
              {"clocks.dram_mhz=2000", "dram.other_clock=keep-cycles", "tlb.entries=0"});
  return config::load_machine("coda", keys);
}

TEST(Stacks, UnloadedLatencyIsTheSumOfItsParts) {
  const config::MachineConfig m = coda();
  const uint32_t hop = m.interconnect.channel_latency_cycles,
                 inside = m.stack.switch_latency_cycles;
  const uint32_t crossbar = 5;  // a traversal, and a wire before and behind it: docs/networks.md
  const uint32_t bus = 8;       // 128 bytes at 32 GB/s
  const uint32_t request = hop + crossbar + hop + m.l2.latency_cycles + 2 * inside;
  const uint32_t dram = 1 + m.dram.tRCD + m.dram.tCL + bus;
  // 136 bytes are two flits, in the switch and in the crossbar.
  const uint32_t reply = inside + 1 + inside + hop + crossbar + 1 + hop;
  // Over a link a request takes 8 bytes at 16 GB/s and its latency more, a reply 136 bytes, of
  // which the far switch would have had one cycle anyway, and passes a second switch.
  const uint32_t link = 1 + m.links.latency_cycles + 17 + m.links.latency_cycles;
  // A port of each stack: what has come whole to the switch in the middle goes on from there.
  for (const auto& [topology, more] : {std::pair{"pairs", 0u}, {"ports", 1 + 17u}, {"pool", 2u}}) {
    const config::MachineConfig machine = coda({std::string("links.topology=") + topology});
    for (uint32_t sm : {0u, 3u, 4u, 15u})
      for (uint32_t stack = 0; stack < 4; ++stack) {
        const report::RunResult r = one_load(machine, sm, line_of(machine, stack, 5));
        const bool remote = sm / 4 != stack;
        EXPECT_EQ(counter(r, "sm.miss_latency"),
                  request + dram + reply + (remote ? link + more : 0))
            << sm << " to " << stack << ", " << topology;
        EXPECT_EQ(r.traffic.memory_to_memory_bytes, remote ? 8u + 136 : 0u);
      }
  }
}

TEST(Stacks, WhatHasTheRemoteBandwidth) {
  // Loads of consecutive lines: three of four come from other stacks.
  PtxDevice d(R"(
.visible .entry k(.param .u64 data) {
  .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, 1024, %r1;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r3, 32;
LOOP:
  ld.global.u32 %r4, [%rd1];
  add.u64 %rd1, %rd1, 65536;
  sub.u32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra LOOP;
  ret;
})");
  const uint64_t data = d.device.allocate(64 * 32768);
  d.device.launch(d.module, "k", {16}, {1024}, 0, runtime::KernelArgs(data));
  const runtime::Recording recording = d.record();
  constexpr double kBytes = 16.0 * 32 * 32 * 128;
  // GB/s of data, from other stacks, that each may reach: 12 links, or 4 ports, or 1.
  for (const auto& [topology, links] : {std::pair{"pairs", 12}, {"ports", 4}, {"pool", 1}}) {
    const config::MachineConfig m = config::load_machine(
        "coda", std::vector<std::string>{std::string("links.topology=") + topology, "dram.tREFI=0",
                                         "tlb.entries=0"});
    const report::RunResult r =
        sim::replay_on_cpu(recording, m, config::load_policy("baseline"), {});
    const double remote = kBytes * 3 / 4 * 2000 / static_cast<double>(r.cycles) / 1000;
    const double bound = links * 16.0 * 128 / 136;
    EXPECT_LT(remote, bound) << topology;
    EXPECT_GT(remote, bound * (links == 12 ? 0.6 : 0.9)) << topology;
  }
  EXPECT_THROW(coda({"links.topology=ports", "links.latency_cycles=3"}), Error);
}

TEST(Stacks, PagesInFinePieces) {
  // Section 4.2: bits 11 and 10 of an address choose the stack of a page that is spread.
  for (const uint32_t bytes : {128u, 256u, 1024u, 4096u}) {
    const config::MachineConfig m = coda({"stack.interleave_bytes=" + std::to_string(bytes)});
    const AddressMap fgp = sim::machine_address_map(m);
    const AddressMap cgp = consecutive_bits_map(fgp, 5);
    for (uint64_t address = 0; address < (1u << 20); address += 128)
      ASSERT_EQ(fgp.stack_of(static_cast<LineAddr>(address / 128)), address / bytes % 4) << address;
    // A group of four pages is the same bytes of each stack in either mode.
    for (LineAddr group = 0; group < 4096; group += 128) {
      std::set<std::pair<uint32_t, uint32_t>> spread, whole;
      for (LineAddr line = group; line < group + 128; ++line) {
        spread.emplace(fgp.stack_of(line), fgp.within_stack(line));
        whole.emplace(cgp.stack_of(line), cgp.within_stack(line));
      }
      ASSERT_EQ(spread.size(), 128u);
      ASSERT_EQ(spread, whole);
    }
  }
  EXPECT_EQ(sim::machine_address_map(coda()).hash_stack, 1u);
  for (const char* bytes : {"64", "1000", "8192"})
    EXPECT_THROW(coda({std::string("stack.interleave_bytes=") + bytes}), Error);
}

TEST(Stacks, OwnChannelsAndLinksAreAsWideAsThePaperSays) {
  const config::MachineConfig m =
      config::load_machine("coda", std::vector<std::string>{"dram.tREFI=0", "tlb.entries=0"});
  const auto reached = [&](const Streams& s) {
    const report::RunResult r =
        sim::replay_on_cpu(record(s, m), m, config::load_policy("baseline"), {});
    EXPECT_EQ(counter(r, "dram.reads"), s.blocks * 32 * s.lines_each);
    return mbps(s, m, r);
  };
  // Local: 4 stacks of 256 GB/s. Changes of rows cost some of it.
  const double local = reached({16, 4, 128, 0});
  EXPECT_LT(local, 4 * 256'000.0);
  EXPECT_GT(local, 4 * 256'000.0 * 0.85);
  // Remote: each stack reads from one other over a port of 16 GB/s, which replies of 136 bytes
  // share with its own requests of 8.
  const double remote = reached({16, 4, 64, 1});
  EXPECT_LT(remote, 4 * 16'000.0 * 128 / 144);
  EXPECT_GT(remote, 4 * 16'000.0 * 128 / 144 * 0.99);
}

TEST(Stacks, AnL2HoldsLinesOfAllStacks) {
  // All SMs read the same lines of all stacks: every L2 fetches each of them once, three of four
  // from another stack.
  PtxDevice d(R"(
.visible .entry k(.param .u64 data) {
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1];
  ret;
})");
  const uint64_t data = d.device.allocate(4096);
  for (int launch = 0; launch < 3; ++launch)
    d.device.launch(d.module, "k", {16}, {1024}, 0, runtime::KernelArgs(data));
  const report::RunResult r = sim::replay_on_cpu(d.record(), coda({"l2.at_launch=keep"}),
                                                 config::load_policy("baseline"), {});
  constexpr uint32_t kLines = 32, kStacks = 4, kSms = 16, kLaunches = 3;
  EXPECT_EQ(counter(r, "l2.reads"), kLaunches * kSms * kLines);  // L1s are emptied between launches
  EXPECT_EQ(counter(r, "l2.read_misses"), kStacks * kLines);
  EXPECT_EQ(counter(r, "dram.reads"), kStacks * kLines);
  EXPECT_EQ(r.traffic.memory_to_memory_bytes, kStacks * (kLines - kLines / kStacks) * 144u);
}

/// Launches of a kernel whose only thread that does anything is in `stack`, where it reads or
/// writes one word.
struct Access {
  uint32_t stack;
  bool writes;
};

/// `home`: the stack whose memory has the word.
report::RunResult after(const std::vector<Access>& launches, uint32_t home,
                        std::vector<std::string> keys) {
  PtxDevice d(R"(
.visible .entry k(.param .u64 data, .param .u32 stack, .param .u32 writes) {
  .reg .b32 %r<6>; .reg .b64 %rd<2>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [stack];
  ld.param.u32 %r2, [writes];
  mov.u32 %r3, %ctaid.x;
  shr.u32 %r3, %r3, 2;
  setp.ne.u32 %p1, %r3, %r1;
  @%p1 bra DONE;
  mov.u32 %r4, %ctaid.x;
  and.b32 %r4, %r4, 3;
  setp.ne.u32 %p2, %r4, 0;
  @%p2 bra DONE;
  setp.ne.u32 %p3, %r2, 0;
  @%p3 st.global.u32 [%rd1], %r3;
  @!%p3 ld.global.u32 %r5, [%rd1];
DONE:
  ret;
})");
  const config::MachineConfig m = coda(std::move(keys));
  const AddressMap map = sim::machine_address_map(m);
  uint64_t word = d.device.allocate(4096);
  while (map.stack_of(static_cast<LineAddr>(word / 128)) != home) word += 128;
  for (const Access& a : launches)
    d.device.launch(d.module, "k", {16}, {1}, 0,
                    runtime::KernelArgs(word, a.stack, uint32_t{a.writes}));
  return sim::replay_on_cpu(d.record(), m, config::load_policy("baseline"), {});
}

std::vector<std::string> keys_of(const std::string& at_launch, bool back) {
  std::vector<std::string> keys{"l2.at_launch=" + at_launch};
  if (back) keys.insert(keys.end(), {"l2.write_policy=back", "l2.write_miss=fetch-on-write"});
  return keys;
}

TEST(Stacks, ALaunchSeesWhatAnotherStackHasWritten) {
  // Stack 0 reads, stack 1 writes, stack 0 reads again, from its own memory, stack 1's, a third's.
  for (const uint32_t home : {0u, 1u, 2u})
    for (const bool back : {false, true})
      for (const auto& [at_launch, misses] : {std::pair{"keep", 1u}, {"remote", 2u}, {"all", 2u}}) {
        const report::RunResult r =
            after({{0, false}, {1, true}, {0, false}}, home, keys_of(at_launch, back));
        EXPECT_EQ(counter(r, "l2.read_misses"), misses) << home << back << at_launch;
        EXPECT_EQ(counter(r, "l2.reads"), 2u);
      }
}

TEST(Stacks, AStackKeepsItsOwnLinesUntilOthersWriteThem) {
  const auto misses = [](const std::vector<Access>& launches, uint32_t home, const char* key) {
    return counter(after(launches, home, {std::string("l2.at_launch=") + key}), "l2.read_misses");
  };
  const std::vector<Access> reads{{0, false}, {0, false}};
  EXPECT_EQ(misses(reads, 0, "remote"), 1u);
  EXPECT_EQ(misses(reads, 0, "all"), 2u);
  EXPECT_EQ(misses(reads, 1, "remote"), 2u);  // it cannot know
  // Its own writes it has in its own slice.
  EXPECT_EQ(misses({{0, false}, {0, true}, {0, false}}, 0, "remote"), 1u);
  // A line that another stack reads is no older for it.
  EXPECT_EQ(misses({{0, false}, {1, false}, {0, false}}, 0, "remote"), 2u);
}

TEST(Stacks, WhatIsWrittenCrossesOnceALaunch) {
  // Stack 1 writes a word of stack 0's memory: through, its 32 bytes go at once; back, its line is
  // fetched, and returns when the next launch begins.
  const std::vector<Access> launches{{1, true}, {1, true}, {2, false}};
  const auto moved = [&](bool back) {
    return after(launches, 0, keys_of("remote", back)).traffic.memory_to_memory_bytes;
  };
  const uint64_t read = 8 + 136;
  EXPECT_EQ(moved(false), 2u * (40 + 8) + read);
  EXPECT_EQ(moved(true), 2u * (read + 136 + 8) + read);
}

TEST(Stacks, AnAtomicIsExecutedWhereItsLineLives) {
  // One thread of every stack adds to the same word of stack 0: three cross.
  PtxDevice d(R"(
.visible .entry k(.param .u64 data) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %ctaid.x;
  and.b32 %r2, %r1, 3;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra DONE;
  atom.global.add.u32 %r3, [%rd1], 1;
DONE:
  ret;
})");
  const config::MachineConfig m = coda();
  uint64_t word = d.device.allocate(4096);
  while (sim::machine_address_map(m).stack_of(static_cast<LineAddr>(word / 128)) != 0) word += 128;
  d.device.launch(d.module, "k", {16}, {1}, 0, runtime::KernelArgs(word));
  const runtime::Recording recording = d.record();
  for (const bool memory : {true, false}) {
    const config::MachineConfig machine =
        coda({std::string("l2.atomics=") + (memory ? "memory" : "slice")});
    const report::RunResult r =
        sim::replay_on_cpu(recording, machine, config::load_policy("baseline"), {});
    // There a packet with 32 bytes each way; in the slices each stack fetches the line.
    EXPECT_EQ(r.traffic.memory_to_memory_bytes, memory ? 3u * (40 + 40) : 3u * (8 + 136));
    EXPECT_EQ(counter(r, "l2.atomics_passed"), memory ? 4u : 0u);
    EXPECT_EQ(counter(r, "l2.atomics"), memory ? 0u : 4u);
    EXPECT_EQ(counter(r, "dram.write_commands"), memory ? 4u : 0u);
  }
}

TEST(Stacks, MoreRemoteBandwidthIsFaster) {
  const runtime::Recording& recording = workload("vector-add", 1'000'000);
  const auto cycles = [&](const char* key) {
    return sim::replay_on_cpu(recording,
                              config::load_machine("coda", std::vector<std::string>{key}),
                              config::load_policy("baseline"), {})
        .cycles;
  };
  EXPECT_LT(cycles("links.memory_to_memory_mbps=64000"),
            cycles("links.memory_to_memory_mbps=16000"));
}

TEST(Stacks, OtherNumbersOfThemRun) {
  const runtime::Recording& recording = workload("kmeans", 500'000);
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{"stack.count=1", "l2.slices=8", "l2.bytes=1048576"},
        {"stack.count=8", "l2.slices=64", "l2.bytes=8388608", "links.topology=pairs"},
        {"stack.count=2", "l2.slices=16", "l2.bytes=2097152", "links.topology=pool"},
        {"stack.count=8", "l2.slices=64", "l2.bytes=8388608"},
        {"l2.slices=4"},
        {"l2.at_launch=remote", "l2.write_policy=back", "l2.slices=4"},
        {"l2.at_launch=all", "l2.write_policy=back", "l2.write_miss=fetch-on-write"},
        {"stack.count=1", "l2.slices=8", "l2.bytes=1048576", "l2.at_launch=remote"},
        {"interconnect.topology=switch"},
        {"interconnect.topology=mesh"}}) {
    const report::RunResult r = sim::replay_on_cpu(recording, config::load_machine("coda", keys),
                                                   config::load_policy("baseline"), {});
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions) << keys[0];
  }
}

TEST(Stacks, AnyNumberOfGroupsRuns) {
  // With more groups than stacks those without a stack had thread blocks, and no SM for them.
  const runtime::Recording& recording = workload("kmeans", 500'000);
  for (const char* groups : {"2", "4", "5", "8", "16"}) {
    const std::vector<std::string> keys = {std::string("dispatch.groups=") + groups,
                                           "dispatch.row_blocks=1"};
    const report::RunResult r = sim::replay_on_cpu(recording, config::load_machine("coda"),
                                                   config::load_policy("baseline", keys), {});
    EXPECT_FALSE(r.partial) << groups;
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions) << groups;
  }
}

}  // namespace
}  // namespace nearwarp::testing
