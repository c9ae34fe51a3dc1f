// Does CODA find how blocks use objects, and put both in one place?
#include "host/mechanisms/coda/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "host/core/error.h"
#include "host/mechanisms/coda/report/sections.h"
#include "host/recording/combine.h"
#include "host/recording/program_studies.h"
#include "tests/sim/stepping.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing::placement_test {
namespace {

report::RunResult run(const runtime::Recording& recording, const std::string& policy,
                      const std::vector<std::string>& keys = {},
                      const sim::SimOptions& options = {}) {
  return sim::replay_on_cpu(recording, config::load_machine("coda", keys),
                            config::load_policy(policy, keys), options);
}

const coda::PlacedObject& object(const report::RunResult& r, const std::string& name) {
  for (const coda::PlacedObject& o : coda::placed_of(r))
    if (o.name == name) return o;
  throw std::runtime_error(name);
}

TEST(CodaPlacement, OfTheKmeansExample) {
  // Section 4.3.2: with blocks of 256 points of 34 features, B is 256 * 34 * 4.
  const report::RunResult r = run(workload("kmeans"), "coda");
  EXPECT_TRUE(object(r, "points").localised);
  EXPECT_TRUE(object(r, "points").constant);
  EXPECT_EQ(object(r, "points").block_bytes, 256u * 34 * 4);
  EXPECT_EQ(object(r, "points").local, object(r, "points").accesses);
  // The transposed array: each block has a part of every row.
  EXPECT_FALSE(object(r, "features").localised);
  EXPECT_EQ(object(r, "features").block_bytes, 256u * 4);
}

TEST(CodaPlacement, WhatBlocksHaveForThemselvesStaysInTheirStacks) {
  const runtime::Recording& rows = workload("row-sum", 0, workloads::Size::kMedium);
  const report::RunResult spread = run(rows, "baseline"), coda = run(rows, "coda");
  EXPECT_GT(spread.traffic.memory_to_memory_bytes, 50'000'000u);
  // Page tables and thread blocks' messages cross between stacks all the same.
  EXPECT_LT(coda.traffic.memory_to_memory_bytes, spread.traffic.memory_to_memory_bytes / 100);
  EXPECT_LT(coda.cycles, spread.cycles);
  EXPECT_EQ(coda.warp_instructions, rows.warp_instructions);
}

TEST(CodaPlacement, EveryPageHasAFrameOfItsOwn) {
  const runtime::Recording& recording = workload("kmeans");
  coda::PlacementRules rules;
  rules.blocks_per_stack.assign(recording.launches.size(), 4);
  const auto uses = coda::study_objects(recording, rules);
  for (const bool cgp : {false, true}) {
    const coda::Placement p = coda::place_pages(recording, uses, rules, cgp, 50, 1 << 16);
    ASSERT_EQ(p.pages.size(), 1u);
    const std::vector<coda::PlacedPage>& pages = p.pages[0];
    EXPECT_GT(pages.size() * 4096, 2u * 544'000);  // points and features
    EXPECT_EQ(p.pages_fgp + p.pages_cgp, pages.size());
    EXPECT_GE(p.pages_held, pages.size());
    EXPECT_EQ(p.pages_held % 4, 0u);
    std::map<uint32_t, coda::PageMode> groups;
    std::map<uint32_t, size_t> frames;
    for (const coda::PlacedPage& page : pages) {
      EXPECT_EQ(frames[page.frame]++, 0u);
      EXPECT_EQ(groups.emplace(page.frame / 4, page.mode).first->second, page.mode);
    }
    if (cgp) {
      EXPECT_EQ(p.pages_fgp, 0u);
    } else {
      EXPECT_NE(p.pages_fgp, 0u);
      EXPECT_NE(p.pages_cgp, 0u);
    }
  }
}

TEST(CodaPlacement, CodeAndTracesAgreeWhereBothKnow) {
  for (const char* name : {"kmeans", "backprop", "scalarprod", "cfd"}) {
    const report::RunResult code = run(workload(name), "coda", {"pages.strides=code"}),
                            traces = run(workload(name), "coda", {"pages.strides=traces"});
    ASSERT_EQ(coda::placed_of(code).size(), coda::placed_of(traces).size());
    int agree = 0;
    for (size_t i = 0; i < coda::placed_of(code).size(); ++i) {
      const coda::PlacedObject &a = coda::placed_of(code)[i], &b = coda::placed_of(traces)[i];
      EXPECT_FALSE(b.from_code);
      EXPECT_EQ(a.from_code, a.block_bytes != 0) << name << " " << a.name;
      EXPECT_EQ(a.localised, a.from_code) << name << " " << a.name;
      if (a.from_code && b.constant && b.block_bytes != 0) {
        EXPECT_EQ(a.block_bytes, b.block_bytes) << name << " " << a.name;
        agree += 1;
      }
    }
    EXPECT_GT(agree, 1) << name;
  }
}

TEST(CodaPlacement, AskingForMoreOrLessThanIsLocal) {
  const runtime::Recording& recording = workload("kmeans");
  const report::RunResult all = run(recording, "coda", {"pages.local_percent=0"}),
                          some = run(recording, "coda"),
                          most = run(recording, "coda", {"pages.local_percent=100"});
  const auto localised = [](const report::RunResult& r) {
    return std::count_if(coda::placed_of(r).begin(), coda::placed_of(r).end(),
                         [](const coda::PlacedObject& o) { return o.localised; });
  };
  EXPECT_GT(localised(all), localised(some));
  EXPECT_LE(localised(most), localised(some));
  EXPECT_TRUE(object(most, "points").localised);
}

/// A recording that nobody has looked at.
runtime::Recording record(const std::string& name) {
  runtime::VirtualDevice device(runtime::VirtualDevice::Options{});
  workloads::find(name)->run(device, workloads::Size::kSmall);
  return device.take_recording(name);
}

/// A study that every run asks of a recording: which launches are alike.
constexpr uint64_t kOfAllRuns = 1;

TEST(CodaPlacement, TwentyPointsOfASweepReadTheTracesOnce) {
  const runtime::Recording recording = record("kmeans");
  const report::RunResult first = run(recording, "coda");
  for (int i = 1; i < 20; ++i) {
    // Keys that the analysis does not depend on, one point each.
    const std::string percent = std::to_string(5 * i);
    run(recording, "coda",
        {"links.memory_to_memory_mbps=" + std::to_string(8000 * i),
         "pages.local_percent=" + percent, "run.max_cycles=1000"});
  }
  EXPECT_EQ(recording.studies->made(), kOfAllRuns + 1);
  EXPECT_EQ(numbers(run(recording, "coda")), numbers(first));
}

TEST(CodaPlacement, AProgramThatIsRecordedAgainIsNotStudiedAgain) {
  runtime::ProgramStudies known;
  const std::vector<std::string> short_run = {"run.max_cycles=20000"};
  std::map<std::string, uint64_t> first;
  for (const int round : {0, 1}) {
    for (const char* name : {"kmeans", "row-sum"}) {
      runtime::Recording recording = record(name);
      recording.studies = known.of(name);
      const report::RunResult r = run(recording, "coda", short_run);
      EXPECT_EQ(recording.studies->made(), kOfAllRuns + 1) << name << " " << round;
      EXPECT_EQ(first.try_emplace(name, r.warp_instructions).first->second, r.warp_instructions);
    }
  }
  EXPECT_NE(known.of("kmeans"), known.of("row-sum"));
}

TEST(CodaPlacement, WhateverTheAnalysisDependsOnIsAnAnalysisOfItsOwn) {
  const runtime::Recording recording = record("kmeans");
  uint64_t made = kOfAllRuns;
  for (std::vector<std::string> keys :
       std::vector<std::vector<std::string>>{{"pages.strides=both"},
                                             {"pages.strides=code"},
                                             {"pages.strides=traces"},
                                             {"pages.chunk=page"},
                                             {"pages.chunk=rounded"},
                                             {"memory.page_bytes=8192", "tlb.page_bytes=8192"},
                                             {"dispatch.row_blocks=3"},
                                             {"sm.registers=16384"},
                                             {"gpu.sms=8"}}) {
    keys.emplace_back("run.max_cycles=20000");
    const report::RunResult after_others = run(recording, "coda", keys);
    made += 1;
    EXPECT_EQ(recording.studies->made(), made) << keys[0];
    const runtime::Recording unseen = record("kmeans");
    EXPECT_EQ(numbers(after_others), numbers(run(unseen, "coda", keys))) << keys[0];
  }
}

TEST(CodaPlacement, TheWayOfSteppingDoesNotShow) {
  const runtime::Recording& recording = workload("kmeans", 300'000);
  for (const char* policy : {"coda", "coda-steal", "cgp-only", "fgp-affinity"}) {
    const auto expected = numbers(run(recording, policy));
    for (const sim::SimOptions& options : ways_of_stepping(recording, 7))
      EXPECT_EQ(numbers(run(recording, policy, {}, options)), expected) << policy;
  }
}

TEST(CodaPlacement, TheLeastOfRoomOnlyTakesLonger) {
  const runtime::Recording& recording = workload("kmeans", 300'000);
  const report::RunResult r =
      run(recording, "coda",
          {"interconnect.queue_entries=2", "links.queue_entries=2", "stack.queue_entries=2",
           "l2.queue_entries=2", "interconnect.vc_flits=1", "l2.mshr_entries=1"});
  EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
}

TEST(CodaPlacement, SeveralProgramsAtOnce) {
  // Each has its objects where they would be by itself, in frames of its own.
  std::vector<runtime::Recording> programs;
  for (const char* name : {"kmeans", "row-sum"}) {
    runtime::VirtualDevice device(runtime::VirtualDevice::Options{});
    workloads::find(name)->run(device, workloads::Size::kSmall);
    programs.push_back(device.take_recording(name));
  }
  const uint64_t instructions = programs[0].warp_instructions + programs[1].warp_instructions;
  const runtime::Recording both = runtime::combine(std::move(programs));
  coda::PlacementRules rules;
  rules.blocks_per_stack.assign(both.launches.size(), 24);
  const coda::Placement p =
      coda::place_pages(both, coda::study_objects(both, rules), rules, false, 50, 1 << 16);
  std::map<uint32_t, size_t> frames;
  for (const auto& pages : p.pages)
    for (const coda::PlacedPage& page : pages) EXPECT_EQ(frames[page.frame]++, 0u);
  const report::RunResult r = run(both, "coda");
  EXPECT_EQ(r.warp_instructions, instructions);
  const report::RunResult alone = run(workload("kmeans"), "coda");
  EXPECT_EQ(object(r, "kmeans: points").block_bytes, object(alone, "points").block_bytes);
  EXPECT_TRUE(object(r, "row-sum: matrix").localised);
  EXPECT_EQ(numbers(r), numbers(run(both, "coda", {}, ways_of_stepping(both, 5)[0])));
}

TEST(CodaPlacement, WhatPagesInStacksCostTheHost) {
  // A processor in front of the stacks, with as much as it has in them, and the same pages.
  const runtime::Recording& recording = workload("vector-add");
  const auto host = [&](const std::string& policy, std::vector<std::string> keys = {}) {
    keys.emplace_back("dispatch.groups=1");
    return sim::replay_on_cpu(recording, config::load_machine("coda-host", keys),
                              config::load_policy(policy, keys), {});
  };
  const report::RunResult spread = host("baseline"), coda = host("coda"),
                          near = run(recording, "coda");
  EXPECT_EQ(coda.traffic.memory_to_memory_bytes, 0u);
  EXPECT_EQ(coda.traffic.memory_to_gpu_bytes, spread.traffic.memory_to_gpu_bytes);
  EXPECT_EQ(counter(coda, "pages.cgp"), counter(near, "pages.cgp"));
  EXPECT_EQ(counter(coda, "pages.fgp"), counter(near, "pages.fgp"));
  EXPECT_GT(coda.cycles, spread.cycles);
  EXPECT_LT(near.cycles * 2, spread.cycles);
  // Everything in one stack: a link of 16 bytes per cycle, where there are four.
  const report::RunResult one =
      host("coda", {"dispatch.row_blocks=1000000", "pages.local_percent=0"});
  EXPECT_GE(one.cycles, one.traffic.memory_to_gpu_bytes / 16);
  EXPECT_LT(spread.cycles, spread.traffic.memory_to_gpu_bytes / 16 / 2);
}

std::string error(const std::string& machine, const std::vector<std::string>& keys) {
  try {
    sim::replay_on_cpu(workload("kmeans"), config::load_machine(machine, keys),
                       config::load_policy("coda", keys), {});
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(CodaPlacement, SaysWhatIsMissing) {
  EXPECT_NE(error("gtx480", {})
                .find("machine 'gtx480': 'coda' needs memory in parts, a power of two of them, "
                      "for pages to lie in, and it has 6 partitions"),
            std::string::npos);
  EXPECT_NE(
      error("coda-host", {}).find("dispatch.groups is 4, where kernels run in front of the memory"),
      std::string::npos);
  EXPECT_THROW(coda::place_pages(workload("kmeans"), {}, {}, true, 50, 10), Error);
  EXPECT_NE(error("opportunistic", {"dispatch.groups=1", "partitions.hash=ipoly"})
                .find("lines do not go to partitions"),
            std::string::npos);
  EXPECT_NE(error("coda", {"dispatch.groups=2"}).find("dispatch.groups is 2"), std::string::npos);
  EXPECT_NE(error("coda", {"policy.mapping=bmap"})
                .find("it must be \"cgp\", \"coda\" or "
                      "\"fta\""),
            std::string::npos);
  EXPECT_NE(error("coda", {"policy.mechanism=none"}).find("policy.mapping"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::testing::placement_test
