// Does a discrete GPU run, with any sharing of its memory, and does the way of stepping not show?
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "host/timing/machine/baseline_map.h"
#include "host/timing/machine/lay_out.h"
#include "host/timing/machine/shapes/shapes.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/hand_made.h"
#include "tests/sim/stepping.h"
#include "tests/support/general_steps.h"

namespace nearwarp::testing {
namespace {

report::RunResult run(const runtime::Recording& recording,
                      const std::vector<std::string>& keys = {},
                      const sim::SimOptions& options = {}) {
  return sim::replay_on_cpu(recording, config::load_machine("discrete16", keys),
                            config::load_policy("baseline"), options);
}

TEST(Discrete, RunsToItsEndAndLosesNothing) {
  for (const char* name : {"kmeans", "bfs-rmat", "libor"}) {
    const runtime::Recording& recording = workload(name, 1'000'000);
    const report::RunResult r = run(recording);
    EXPECT_FALSE(r.partial);
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions) << name;
    EXPECT_GT(counter(r, "l2.reads"), 0u);
    EXPECT_EQ(r.traffic.gpu_to_memory_bytes, 0u);  // there are no links
  }
}

TEST(Discrete, AtomicsAndWritesAreAcknowledged) {
  const runtime::Recording& recording = hand_made("hand-made-atomics");
  const report::RunResult r = run(recording);
  EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
  EXPECT_GT(counter(r, "l2.atomics"), 0u);
}

TEST(Discrete, AtomicsInPacketsOfTheirOwnAreAllServed) {
  const runtime::Recording& recording = hand_made("hand-made-atomics");
  const uint64_t lines = counter(run(recording), "sm.atomic_lines");
  uint64_t sectors = 0;
  for (const char* packets : {"sector", "lane"}) {
    const std::vector<std::string> keys{std::string("lsu.atomic_packets=") + packets};
    const report::RunResult expected = run(recording, keys);
    EXPECT_EQ(expected.warp_instructions, recording.warp_instructions);
    EXPECT_EQ(counter(expected, "l2.atomics"), counter(expected, "sm.atomic_lines"));
    EXPECT_GT(counter(expected, "l2.atomics"), lines);
    if (sectors != 0) {
      EXPECT_GE(counter(expected, "l2.atomics"), sectors);
    }
    sectors = counter(expected, "l2.atomics");
    for (const sim::SimOptions& options : ways_of_stepping())
      EXPECT_EQ(numbers(run(recording, keys, options)), numbers(expected)) << packets;
  }
  for (const char* machine : {"tom", "coda", "mpu", "opportunistic", "gtx480"}) {
    const std::vector<std::string> keys{"lsu.atomic_packets=lane"};
    const report::RunResult r = sim::replay_on_cpu(recording, config::load_machine(machine, keys),
                                                   config::load_policy("baseline"), {});
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions) << machine;
    EXPECT_EQ(counter(r, "sm.atomic_lines"), sectors) << machine;
  }
}

struct Sharing {
  const char* name;
  std::vector<std::string> keys;
};

class DiscreteSharing : public ::testing::TestWithParam<Sharing> {};

TEST_P(DiscreteSharing, SlicesAndChannelsAreUsedEvenly) {
  const runtime::Recording& recording = workload("kmeans", 1'000'000);
  const config::MachineConfig machine = config::load_machine("discrete16", GetParam().keys);
  const sim::ImageTables image = sim::build_image(recording, machine);
  const sim::System system = sim::lay_out(sim::make_graph({machine, image}));
  EXPECT_EQ(system.members("l2").size(), machine.l2.slices);
  EXPECT_EQ(system.members("dram").size(), machine.partitions.count * machine.partitions.channels);
  const report::RunResult r = run(recording, GetParam().keys);
  EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
}

TEST_P(DiscreteSharing, EveryLineHasItsOwnPlace) {
  // No two lines of a channel share bank, row and column.
  const config::MachineConfig machine = config::load_machine("discrete16", GetParam().keys);
  const AddressMap map = sim::machine_address_map(machine);
  const uint32_t channels = machine.partitions.channels;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>> places;
  constexpr uint32_t kLines = 1u << 14;
  for (LineAddr line = 0; line < kLines; ++line) {
    const Location at = map.locate(line);
    places.insert({at.stack, at.vault % channels, at.vault / channels, at.bank, at.row, at.column});
  }
  EXPECT_EQ(places.size(), kLines);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DiscreteSharing,
    ::testing::Values(
        Sharing{"two_slices_a_channel", {}},
        Sharing{"four_slices_a_channel", {"partitions.count=2"}},
        Sharing{"one_to_one", {"partitions.channels=2"}},
        Sharing{"two_channels_a_slice", {"partitions.channels=4"}},
        Sharing{"one_partition", {"partitions.count=1", "partitions.channels=4"}},
        Sharing{"six_partitions", {"partitions.count=6", "l2.slices=12", "l2.bytes=786432"}},
        Sharing{"three_slices_three_channels",
                {"partitions.channels=3", "l2.slices=12", "l2.bytes=786432"}},
        Sharing{"five_channels_a_slice",
                {"partitions.count=3", "partitions.channels=5", "l2.slices=3", "l2.bytes=196608"}},
        Sharing{"halves", {"l2.link_latency_cycles=20"}},
        Sharing{"halves_of_three",
                {"partitions.count=6", "l2.slices=12", "l2.bytes=786432", "gpu.sms=12",
                 "l2.link_latency_cycles=20", "l2.link_bytes=8"}},
        Sharing{"copies",
                {"l2.link_latency_cycles=20", "l2.link_copies=true", "l2.sectors=true",
                 "l2.write_policy=back"}},
        Sharing{"copies_of_three",
                {"partitions.count=6", "l2.slices=12", "l2.bytes=786432", "gpu.sms=12",
                 "l2.link_latency_cycles=20", "l2.link_bytes=8", "l2.link_copies=true",
                 "l2.sectors=true", "l2.write_policy=back"}},
        Sharing{"chunks", {"partitions.interleave_bytes=256"}},
        Sharing{"chunks_without_hash", {"partitions.interleave_bytes=512", "partitions.hash=none"}},
        Sharing{"own_banks", {"partitions.slices_own_banks=true"}},
        Sharing{"as_in_gtx480",
                {"partitions.count=6", "l2.slices=12", "l2.bytes=786432",
                 "partitions.interleave_bytes=256", "partitions.hash=none",
                 "partitions.slices_own_banks=true"}},
        Sharing{"as_in_qv100",
                {"partitions.interleave_bytes=256", "partitions.hash=ipoly",
                 "partitions.slices_own_banks=true"}},
        Sharing{"whole_packets", {"interconnect.topology=switch"}}),
    [](const auto& test) { return test.param.name; });

TEST(Discrete, SlicesWhoseNumberIsNoPowerOfTwoShareOutLinesOfAnyStride) {
  for (const char* name : {"a100", "h100", "h200"}) {
    const config::MachineConfig machine = config::load_machine(name);
    const AddressMap map = sim::machine_address_map(machine);
    ASSERT_NE(map.stacks, 0u) << name;
    const uint32_t slices = machine.l2.slices, each = slices / machine.partitions.count;
    for (uint32_t shift = 0; shift < 13; ++shift)
      for (const uint32_t stride :
           {1u << shift, 3u << shift, 5u << shift, (1u << shift) + 1, slices << shift}) {
        constexpr uint32_t kLines = 4000;
        std::vector<uint32_t> lines(slices);
        for (uint32_t i = 0; i < kLines; ++i)
          lines[map.stack_of(i * stride) * each + map.slice_in_stack(i * stride)] += 1;
        // A slice that got twice its share would halve the bandwidth.
        EXPECT_LE(*std::max_element(lines.begin(), lines.end()), kLines / slices * 8 / 5)
            << name << " " << stride;
      }
  }
}

TEST(Discrete, TheWayOfSteppingDoesNotShow) {
  const runtime::Recording& recording = workload("kmeans", 500'000);
  const auto expected = numbers(run(recording));
  for (const sim::SimOptions& options : ways_of_stepping())
    EXPECT_EQ(numbers(run(recording, {}, options)), expected) << options.window_ticks;
}

const std::vector<std::string>& write_back() {
  static const std::vector<std::string> keys = {"l2.sectors=true", "l2.write_policy=back",
                                                "l2.sectors_per_cycle=1"};
  return keys;
}

TEST(Discrete, WithWriteBackTheWayOfSteppingDoesNotShow) {
  const runtime::Recording& recording = workload("kmeans", 500'000);
  std::vector<std::string> keys = write_back();
  keys.emplace_back("l2.bytes=65536");  // so that lines are written back
  keys.emplace_back("partitions.hash=ipoly");
  const report::RunResult expected = run(recording, keys);
  EXPECT_GT(counter(expected, "l2.write_backs"), 0u);
  EXPECT_GT(counter(expected, "l2.sectors_left_dirty"), 0u);
  for (const sim::SimOptions& options : ways_of_stepping())
    EXPECT_EQ(numbers(run(recording, keys, options)), numbers(expected)) << options.window_ticks;
}

TEST(Discrete, NorDoesItWithOtherPoliciesOfTheL1) {
  const runtime::Recording& recording = workload("kmeans", 100'000);
  for (const std::vector<std::string>& own :
       {std::vector<std::string>{"l1.write_policy=local-back"},
        {"l1.sectors=true", "l1.write_policy=allocate", "l1.mshr_entries=100"},
        {"l1.allocate=fill"},
        {"l1.allocate=fill", "l1.sectors=true", "l1.write_policy=allocate", "l1.bytes=4096",
         "l1.set_function=linear", "l1.mshr_entries=100", "interconnect.split_packets=true"}}) {
    std::vector<std::string> keys = write_back();
    keys.insert(keys.end(), own.begin(), own.end());
    const report::RunResult expected = run(recording, keys);
    EXPECT_EQ(expected.warp_instructions, recording.warp_instructions);
    std::vector<sim::SimOptions> variations(3);
    variations[0].window_ticks = 113;
    variations[0].order_seed = 3;
    variations[1].threads = 2;
    variations[1].order_seed = 5;
    use_general_steps(variations[2]);
    for (const sim::SimOptions& options : variations)
      EXPECT_EQ(numbers(run(recording, keys, options)), numbers(expected)) << own.front();
  }
}

TEST(Discrete, WhatIsWrittenBackIsWhatWasWritten) {
  const runtime::Recording& recording = workload("vector-add", 500'000);
  const report::RunResult through = run(recording), back = run(recording, write_back());
  EXPECT_EQ(counter(back, "dram.bytes_written"), 32 * counter(back, "l2.sectors_written_back"));
  EXPECT_EQ(counter(through, "dram.bytes_written"), 32 * (counter(back, "l2.sectors_written_back") +
                                                          counter(back, "l2.sectors_left_dirty")));
}

TEST(Discrete, DataThatIsThereAtTheBeginningIsNotFetched) {
  const runtime::Recording& recording = workload("vector-add", 500'000);
  for (const bool back : {false, true}) {
    std::vector<std::string> keys = back ? write_back() : std::vector<std::string>{};
    const uint64_t cold = counter(run(recording, keys), "dram.bytes_read");
    keys.emplace_back("l2.begins_with_data=true");
    keys.emplace_back("l2.bytes=67108864");
    EXPECT_GT(cold, 100'000u);
    EXPECT_LE(counter(run(recording, keys), "dram.bytes_read"), 128u);
    keys.back() = "l2.bytes=1048576";  // holds but a part
    const uint64_t part = counter(run(recording, keys), "dram.bytes_read");
    EXPECT_LE(part, cold);
  }
}

TEST(Discrete, PartitionsAreThoseOfGpgpuSim) {
  const AddressMap plain = sim::machine_address_map(config::load_machine("gtx480"));
  for (uint32_t chunk = 0; chunk < 1000; ++chunk) {
    for (const LineAddr line : {2 * chunk, 2 * chunk + 1}) {
      EXPECT_EQ(plain.stack_of(line), chunk % 6);
      EXPECT_EQ(plain.slice_in_stack(line), chunk / 6 % 2);
      EXPECT_EQ(plain.locate(line).bank % 2, chunk / 6 % 2);
    }
  }
  // In partition 5, slice 1 a row has 32 lines, 16 chunks; then comes the next bank.
  EXPECT_EQ(plain.locate(2 * (5 + 6)).bank, 1u);
  EXPECT_EQ(plain.locate(2 * (5 + 6 + 12 * 15)).column, 30u);
  EXPECT_EQ(plain.locate(2 * (5 + 6 + 12 * 16)).bank, 3u);
  const AddressMap hashed = sim::machine_address_map(config::load_machine("qv100"));
  const auto place = [&](uint32_t chunk) {
    return hashed.stack_of(2 * chunk) * 2 + hashed.slice_in_stack(2 * chunk);
  };
  for (uint32_t chunk = 0; chunk < 64; ++chunk)
    EXPECT_EQ(place(chunk), chunk % 32 * 2 + chunk / 32);
  // x^6 = x + 1, x^7 = x^2 + x, x^12 = x^2 + 1 modulo x^6 + x + 1.
  EXPECT_EQ(place(1u << 6), 0b000011u);
  EXPECT_EQ(place(1u << 7), 0b000110u);
  EXPECT_EQ(place(1u << 12), 0b000101u);
  EXPECT_EQ(place(1u << 12 | 1u << 6 | 3), 0b000110u ^ 0b000110u);
}

TEST(Discrete, MoreBandwidthIsFaster) {
  const runtime::Recording& recording = workload("vector-add", 1'000'000);
  const uint64_t cycles = run(recording).cycles;
  EXPECT_GT(run(recording, {"partitions.channel_mbps=10000"}).cycles, cycles);
  EXPECT_LT(run(recording, {"partitions.latency_cycles=4"}).cycles, cycles);
}

TEST(Discrete, HalvesShareTheirLink) {
  const runtime::Recording& recording = workload("vector-add", 1'000'000);
  const auto keys = [](uint32_t latency, uint32_t bytes) -> std::vector<std::string> {
    return {"l2.link_latency_cycles=" + std::to_string(latency),
            "l2.link_bytes=" + std::to_string(bytes)};
  };
  const report::RunResult one = run(recording), halves = run(recording, keys(20, 0)),
                          narrow = run(recording, keys(20, 2));
  EXPECT_GT(halves.cycles, one.cycles);
  EXPECT_LT(halves.cycles, run(recording, keys(200, 0)).cycles);
  // Half of what is read comes over the link, where it has two bytes a cycle each way.
  const uint64_t bytes = counter(narrow, "dram.bytes_read");
  EXPECT_GE(narrow.cycles, bytes / 4 / 2);
  EXPECT_GT(narrow.cycles, 2 * halves.cycles);
  for (const std::vector<std::string>& k : {keys(20, 2), keys(7, 0)}) {
    const report::RunResult expected = run(recording, k);
    for (const sim::SimOptions& options : ways_of_stepping())
      EXPECT_EQ(numbers(run(recording, k, options)), numbers(expected)) << k.front();
  }
}

TEST(Discrete, MechanismsInStacksNeedStacks) {
  const runtime::Recording& recording = workload("kmeans", 100'000);
  for (const char* policy : {"tom", "ndp-controlled-bmap", "tom-oracle"}) {
    try {
      sim::replay_on_cpu(recording, config::load_machine("discrete16"), config::load_policy(policy),
                         {});
      FAIL() << policy;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("on machine 'discrete16': 'tom' needs memory stacks"),
                std::string::npos)
          << e.what();
    }
  }
}

}  // namespace
}  // namespace nearwarp::testing
