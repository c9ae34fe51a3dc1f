// Does each shape of machine accept its own keys, and refuse others and values that break its
// rules?
#include <gtest/gtest.h>

#include <algorithm>

#include "host/config/schema.h"
#include "host/config/shape.h"
#include "tests/config/texts.h"

namespace nearwarp::config {
namespace {

TEST(Shapes, HaveTheirOwnKeys) {
  const std::vector<KeyDescription> stacked = describe(load_machine("tom")),
                                    discrete = describe(load_machine("discrete16"));
  const auto has = [](const std::vector<KeyDescription>& keys, const std::string& key) {
    return std::any_of(keys.begin(), keys.end(), [&](const auto& k) { return k.key == key; });
  };
  EXPECT_TRUE(has(stacked, "links.latency_cycles"));
  EXPECT_FALSE(has(stacked, "partitions.count"));
  EXPECT_FALSE(has(discrete, "links.latency_cycles"));
  EXPECT_TRUE(has(discrete, "partitions.count"));
  EXPECT_NO_THROW(validate(load_machine("discrete16"), "here"));
}

TEST(Shapes, RefuseKeysOfOthers) {
  expect_contains(override_error("partitions.count=2"),
                  "is a key of machines with machine.shape = \"discrete\" or \"mesh\" - this one "
                  "is \"stacked\"");
  expect_contains(override_error("machine.shape=discrete"), "this one is \"discrete\"");
  expect_contains(
      message_of([] { load_machine("discrete16", std::vector<std::string>{"stack.count=2"}); }),
      "is a key of machines with machine.shape = \"stacked\" or \"stacks\"");
  expect_contains(override_error("near_bank.units=2"), "machine.shape = \"near_bank\"");
  expect_contains(override_error("memory.local_memory=slot"), "\"discrete\" or \"mesh\"");
}

TEST(Shapes, LeaveOutWhatTheyLack) {
  const auto has = [](const char* machine, const std::string& key) {
    const std::vector<KeyDescription> keys = describe(load_machine(machine));
    return std::any_of(keys.begin(), keys.end(), [&](const auto& k) { return k.key == key; });
  };
  EXPECT_TRUE(has("coda", "stack.count") && has("coda", "links.memory_to_memory_mbps"));
  EXPECT_FALSE(has("coda", "links.gpu_to_memory_mbps") || has("coda", "stack.sms"));
  EXPECT_FALSE(has("coda", "offload.metadata_entries") || has("coda", "gpu.sms_per_cluster"));
  EXPECT_TRUE(has("mpu", "near_bank.units") && has("mpu", "links.memory_to_memory_mbps"));
  EXPECT_FALSE(has("mpu", "l2.bytes") || has("mpu", "interconnect.vcs") ||
               has("mpu", "stack.count"));
  EXPECT_TRUE(has("opportunistic", "mesh.width") && has("opportunistic", "partitions.count"));
  EXPECT_FALSE(has("discrete16", "mesh.width"));
  for (const char* machine : {"coda", "mpu", "opportunistic"})
    EXPECT_NO_THROW(validate(load_machine(machine), "here"));
}

TEST(Shapes, SayWhatTheyHave) {
  // Every choice of the key has an entry.
  std::string_view choices = find_key<MachineConfig>("machine.shape")->choices;
  size_t shapes = 0;
  while (!choices.empty()) {
    MachineConfig machine;
    machine.shape = choices.substr(0, choices.find(' '));
    choices.remove_prefix(std::min(choices.size(), machine.shape.size() + 1));
    EXPECT_EQ(shape_of(machine).name, machine.shape);
    shapes += 1;
  }
  EXPECT_EQ(shapes, 5u);
  MachineConfig wrong;
  wrong.name = "mine";
  wrong.shape = "torus";
  expect_contains(message_of([&] { shape_of(wrong); }),
                  "machine 'mine': there is no shape \"torus\" - these are: \"stacked\", ");
  EXPECT_EQ(shapes_with([](const Shape& s) { return s.tiles; }), "\"mesh\"");
  EXPECT_EQ(shapes_with([](const Shape& s) { return s.in_stacks(); }), "\"stacked\" or \"stacks\"");

  const MachineConfig tom = load_machine("tom"), coda = load_machine("coda"),
                      mpu = load_machine("mpu"), tiles = load_machine("opportunistic");
  EXPECT_TRUE(shape_of(tom).stacks_behind_links() && !shape_of(coda).stacks_behind_links());
  EXPECT_TRUE(shape_of(coda).sms_in_stacks() && !shape_of(tom).sms_in_stacks());
  EXPECT_TRUE(shape_of(tiles).slices && !shape_of(mpu).slices);
  EXPECT_EQ(memory_parts(tom), tom.stack.count);
  EXPECT_EQ(memory_parts(tiles), tiles.partitions.count);
  EXPECT_EQ(memory_parts(mpu), mpu.gpu.sms);
}

TEST(Shapes, WhatLoadsLeaveForLaterOnes) {
  const auto error = [](const std::vector<std::string>& keys) {
    return message_of([&] { load_machine("discrete16", keys); });
  };
  EXPECT_EQ(error({"l1.keep=misses"}), "");
  EXPECT_EQ(error({"l1.keep=nothing"}), "");
  for (const char* key : {"l1.allocate=fill", "l1.write_policy=local-back", "l1.mshr_entries=128"})
    expect_contains(error({"l1.keep=nothing", key}), "that needs l1.sectors = false");
  EXPECT_EQ(load_machine("mpu").l1.keep, "nothing");
  EXPECT_EQ(load_machine("mpu-sim").l1.keep, "remote");
  expect_contains(error({"l1.keep=remote"}), "have memory of their own");
  EXPECT_EQ(load_machine("tom").l1.keep, "lines");
}

TEST(Shapes, RulesBetweenKeysOfStacksAndNearBanks) {
  const auto error = [](const char* machine, const std::string& text) {
    return message_of([&] { load_machine(machine, std::vector<std::string>{text}); });
  };
  EXPECT_EQ(error("coda", "gpu.sms=32"), "");
  expect_contains(error("coda", "gpu.sms=18"), "it must be a multiple of stack.count, 4");
  expect_contains(error("mpu", "gpu.sms=100"), "it must be a multiple of near_bank.processors, 8");
  expect_contains(error("mpu", "near_bank.processors_per_row=3"), "near_bank.processors is 8");
  expect_contains(error("mpu", "near_bank.cores_per_row=5"), "it must divide the cores");
  expect_contains(error("mpu", "near_bank.interleave_bytes=64"), "at least l1.line_bytes");
  expect_contains(error("mpu", "interconnect.topology=crossbar"), "it must be \"mesh\"");
  EXPECT_EQ(memory_mbps(load_machine("coda")), 4 * 256'000u);
  EXPECT_EQ(memory_mbps(load_machine("mpu")), 128 * 16'000u);
  EXPECT_EQ(memory_mbps(load_machine("opportunistic")), 500'000u);
}

TEST(Shapes, RulesOfGpcs) {
  const auto error = [](const std::string& text) {
    return message_of([&] { load_machine("h100", std::vector<std::string>{text}); });
  };
  EXPECT_EQ(error("gpu.gpcs=0"), "");
  EXPECT_EQ(error("gpu.gpcs=5"), "");  // 28 SMs at most
  expect_contains(error("gpu.gpcs=4"), "gpu.gpcs is 4 (");
  expect_contains(error("gpu.gpcs=4"), "one of them then has 34 SMs");
  expect_contains(error("gpu.sms_per_tpc=16"), "one of them then has 32 SMs");
  expect_contains(error("lsu.remote_shared_bytes=0"), "must move a byte a cycle");
  expect_contains(error("lsu.remote_shared_cycles=150"), "a multiple of 4, and not 0");
  expect_contains(error("lsu.remote_shared_cycles=0"), "a multiple of 4, and not 0");
}

TEST(Shapes, RulesOfHalvesOfTheL2) {
  const auto error = [](const std::vector<std::string>& texts, const char* machine = "h100") {
    return message_of([&] { load_machine(machine, texts); });
  };
  const std::string halves = "l2.link_latency_cycles=50";
  EXPECT_EQ(error({halves}), "");
  EXPECT_EQ(error({halves, "l2.link_bytes=2048"}), "");
  expect_contains(error({"l2.link_bytes=2048"}), "that needs l2.link_latency_cycles");
  expect_contains(
      error({halves, "partitions.count=3", "l2.slices=12", "l2.bytes=786432"}, "discrete16"),
      "partitions.count, 3, must be even");
  expect_contains(error({halves, "gpu.sms=4"}, "discrete16"), "each half needs an SM's port");
  expect_contains(error({halves, "interconnect.topology=butterfly"}, "discrete16"),
                  "not \"butterfly\"");
  EXPECT_NE(error({halves}, "opportunistic"), "");
  const std::string copies = "l2.link_copies=true";
  EXPECT_EQ(error({halves, copies}), "");
  expect_contains(error({copies}), "that needs l2.link_latency_cycles");
  expect_contains(error({halves, copies, "l2.sectors=false", "l2.sectors_per_cycle=0"}),
                  "that needs l2.sectors = true");
  expect_contains(error({halves, copies, "l2.write_policy=through"}), "l2.write_policy = \"back\"");
  expect_contains(error({halves, copies, "l2.mshr_entries=1"}), "two ways and two MSHRs");
  expect_contains(error({halves, copies, "l2.begins_with_data=true"}), "begins empty");
}

TEST(Shapes, RulesOfADiscreteGpu) {
  const auto error = [](const std::string& text) {
    return message_of([&] { load_machine("discrete16", std::vector<std::string>{text}); });
  };
  EXPECT_EQ(error("partitions.count=8"), "");
  EXPECT_EQ(error("partitions.channels=4"), "");
  EXPECT_EQ(error("partitions.count=16").rfind("l2.slices", 0), 0u);
  EXPECT_EQ(error("partitions.channels=3").rfind("partitions.channels", 0), 0u);
  const std::vector<std::string> six{"partitions.count=6", "l2.slices=12", "l2.bytes=786432"};
  EXPECT_EQ(message_of([&] { load_machine("discrete16", six); }), "");
  const std::vector<std::string> three{"partitions.count=4", "l2.slices=12", "l2.bytes=786432"};
  expect_contains(message_of([&] { load_machine("discrete16", three); }),
                  "must be a power of two for each");
  EXPECT_EQ(error("l2.slices=128").rfind("l2.", 0), 0u);
  EXPECT_EQ(error("partitions.interleave_bytes=192").rfind("partitions.interleave_bytes", 0), 0u);
  EXPECT_EQ(error("partitions.interleave_bytes=64").rfind("partitions.interleave_bytes", 0), 0u);
  EXPECT_EQ(error("partitions.hash=ipoly"), "");
  EXPECT_EQ(error("l1.write_policy=local-back"), "");
  EXPECT_EQ(error("l1.allocate=fill"), "");
  EXPECT_EQ(error("l1.write_policy=allocate").rfind("l1.write_policy", 0), 0u);
  for (const char* function : {"linear", "xor", "fermi", "folded", "ipoly"})
    EXPECT_EQ(error("l2.set_function=" + std::string(function)), "");
  const auto gtx480 = [](std::vector<std::string> texts) {
    return message_of([&] { load_machine("gtx480", texts); });
  };
  expect_contains(gtx480({"l1.allocate=fill"}), "l1.write_policy = \"local-back\" it must be");
  EXPECT_EQ(gtx480({"l2.set_function=fermi"}), "");
  expect_contains(gtx480({"l2.bytes=1572864", "l2.set_function=fermi"}),
                  "that is for 32 or 64 sets of lines of 128 bytes, not 128 of 128");
  expect_contains(gtx480({"l2.bytes=6291456", "l2.set_function=ipoly"}),
                  "that is for 2 to 256 sets, not 512");
  expect_contains(gtx480({"l1.bytes=512", "l1.set_function=ipoly"}),
                  "not 1 - choose folded or xor");
  expect_contains(
      message_of([] { load_machine("gtx480", std::vector<std::string>{"l1.line_bytes=64"}); }),
      "memory.local_memory = \"slot\" needs 128");
  const std::vector<std::string> ipoly{"partitions.count=6", "l2.slices=12", "l2.bytes=786432",
                                       "partitions.hash=ipoly"};
  expect_contains(message_of([&] { load_machine("discrete16", ipoly); }),
                  "must be powers of two, and at most 256 together, not 6 of 2");
  expect_contains(error("dram.row_bytes=128"),
                  "dram.row_bytes is 128 (`set` dram.row_bytes=128) - it must be at least "
                  "l1.line_bytes for each L2 slice of a channel, 256");
  EXPECT_EQ(error("dram.row_bytes=256"), "");
  EXPECT_EQ(gtx480({"dram.row_bytes=128"}), "");  // its slices have banks of their own
  EXPECT_EQ(memory_mbps(load_machine("discrete16")), 250'000u);
  EXPECT_EQ(memory_mbps(load_machine("tom")), 320'000u);
}

}  // namespace
}  // namespace nearwarp::config
