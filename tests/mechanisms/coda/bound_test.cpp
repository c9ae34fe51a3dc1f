// Do programs that are bound to stacks run there, with their pages there, and nowhere else?
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "host/core/error.h"
#include "host/mechanisms/coda/placement.h"
#include "host/recording/bind.h"
#include "host/recording/combine.h"
#include "host/timing/run/checkpoint.h"
#include "host/timing/run/replay.h"
#include "tests/sim/stepping.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing::bound_test {
namespace {

/// A program of `names`, each as on the command line: "row-sum@0".
runtime::Recording together(const std::vector<std::string>& names) {
  std::vector<runtime::Recording> programs;
  for (const std::string& text : names) {
    const runtime::BoundName bound = runtime::bound_name(text);
    runtime::VirtualDevice device(runtime::VirtualDevice::Options{});
    workloads::find(bound.name)->run(device, workloads::Size::kSmall);
    programs.push_back(device.take_recording(bound.name));
    runtime::bind(programs.back(), bound.stacks);
  }
  if (programs.size() == 1) return std::move(programs.front());
  return runtime::combine(std::move(programs));
}

uint64_t blocks_of(const runtime::Recording& recording, uint32_t application) {
  uint64_t blocks = 0;
  for (const runtime::LaunchRecord& l : recording.launches)
    if (l.application == application) blocks += l.blocks_recorded;
  return blocks;
}

/// Thread blocks that have ended on the SMs of each stack of machine `coda`, four in each.
class BlocksOfStacks final : public sim::RunWatcher {
 public:
  std::vector<uint64_t> blocks = std::vector<uint64_t>(4);
  Tick next_look() const override { return kNever; }
  void look(sim::Replay&) override {}
  void end(sim::Replay& run, const report::RunResult&) override {
    for (size_t i = 0; i < run.system().sms.size(); ++i)
      sim::with_sm(run.system(), run.system().sms[i],
                   [&](auto& sm) { blocks.at(i / 4) += sm.counters.blocks_finished; });
  }
};

struct Ran {
  report::RunResult result;
  std::vector<uint64_t> blocks;  ///< by stack
};

Ran run(const runtime::Recording& recording, const std::string& policy,
        std::vector<std::string> keys = {}) {
  BlocksOfStacks watcher;
  sim::SimOptions options;
  options.watcher = &watcher;
  Ran ran;
  ran.result = sim::replay_on_cpu(recording, config::load_machine("coda", keys),
                                  config::load_policy(policy, keys), options);
  ran.blocks = watcher.blocks;
  return ran;
}

using Blocks = std::vector<uint64_t>;

TEST(BoundPrograms, RunOnTheSmsOfTheirStacksAlone) {
  const runtime::Recording both = together({"row-sum@0", "vector-add@2"});
  const uint64_t rows = blocks_of(both, 0), vectors = blocks_of(both, 1);
  ASSERT_NE(rows, vectors);
  // One queue for all SMs, and Eq. (1) within a program's stacks, with and without stealing.
  for (const char* policy : {"baseline", "cgp-only", "coda", "coda-steal", "fgp-affinity"})
    EXPECT_EQ(run(both, policy).blocks, (Blocks{rows, 0, vectors, 0})) << policy;
}

TEST(BoundPrograms, OneMayHaveSeveralStacks) {
  const runtime::Recording both = together({"row-sum@1-2", "vector-add@0"});
  const uint64_t rows = blocks_of(both, 0), vectors = blocks_of(both, 1);
  const Blocks blocks = run(both, "fgp-affinity", {"dispatch.row_blocks=8"}).blocks;
  // Rows of eight blocks to stack 1 and 2 in turns.
  uint64_t first = 0;
  for (uint64_t b = 0; b < rows; ++b) first += b / 8 % 2 == 0 ? 1 : 0;
  EXPECT_EQ(blocks, (Blocks{vectors, first, rows - first, 0}));
}

TEST(BoundPrograms, OneProgramTwiceIsTwoPrograms) {
  const runtime::Recording both = together({"row-sum@0", "row-sum@3"});
  EXPECT_EQ(both.applications, (std::vector<std::string>{"row-sum@0", "row-sum@3"}));
  const Ran ran = run(both, "cgp-only");
  EXPECT_EQ(ran.blocks, (Blocks{blocks_of(both, 0), 0, 0, blocks_of(both, 1)}));
  // Nothing of the one is in the way of the other, and a stack is like another.
  ASSERT_EQ(ran.result.applications.size(), 2u);
  const Ran alone = run(together({"row-sum@0"}), "cgp-only");
  const double slower = double(ran.result.cycles) / double(alone.result.cycles);
  EXPECT_LT(slower, 1.05);
}

TEST(BoundPrograms, AnUnboundOneHasAllStacks) {
  const runtime::Recording both = together({"row-sum@0", "vector-add"});
  const Blocks blocks = run(both, "baseline").blocks;
  for (const uint64_t of_stack : blocks) EXPECT_GT(of_stack, 0u);
  EXPECT_EQ(blocks[0] + blocks[1] + blocks[2] + blocks[3], blocks_of(both, 0) + blocks_of(both, 1));
  EXPECT_GE(blocks[0], blocks_of(both, 0));
}

TEST(BoundPrograms, NothingCrossesBetweenStacksWhenTheirPagesAreThere) {
  const runtime::Recording all = together({"row-sum@0", "kmeans@1", "vector-add@2", "bfs-rmat@3"});
  // Page tables lie in all stacks: without walks, not a byte is left.
  const std::vector<std::string> no_walks = {"tlb.entries=0"};
  for (const char* policy : {"cgp-only", "coda"}) {
    const report::RunResult near = run(all, policy, no_walks).result;
    EXPECT_EQ(near.traffic.memory_to_memory_bytes, 0u) << policy;
    EXPECT_EQ(near.warp_instructions, all.warp_instructions);
  }
  const report::RunResult walks = run(all, "cgp-only").result;
  EXPECT_GT(counter(walks, "sm.tlb.walk_reads"), 0u);
  // A request of a header and a line back for each that goes to another stack.
  EXPECT_LE(walks.traffic.memory_to_memory_bytes,
            counter(walks, "sm.tlb.walk_reads") * (8 + 8 + 128));
  EXPECT_GT(run(all, "baseline", no_walks).result.traffic.memory_to_memory_bytes, 5'000'000u);
}

TEST(BoundPrograms, PagesLieInTheirStacks) {
  const runtime::Recording all = together({"row-sum@2", "kmeans@1-3", "vector-add"});
  coda::PlacementRules rules;
  rules.bound = {{2}, {1, 2, 3}, {}};
  rules.blocks_per_stack.assign(all.launches.size(), 4);
  std::map<uint32_t, size_t> frames;
  for (const bool cgp : {true, false}) {
    const auto uses = cgp ? std::vector<coda::ObjectUse>{} : coda::study_objects(all, rules);
    const coda::Placement p = coda::place_pages(all, uses, rules, cgp, 50, 1 << 16);
    ASSERT_EQ(p.pages.size(), 3u);
    std::vector<std::map<uint32_t, size_t>> pages(3);  // of mode CGP, by program and stack
    frames.clear();
    for (size_t program = 0; program < 3; ++program)
      for (const coda::PlacedPage& page : p.pages[program]) {
        EXPECT_EQ(frames[page.frame]++, 0u);
        if (page.mode == coda::PageMode::kCgp) pages[program][page.frame % 4] += 1;
      }
    ASSERT_EQ(pages[0].size(), 1u);
    EXPECT_TRUE(pages[0].contains(2));
    EXPECT_EQ(pages[1].count(0), 0u);
    EXPECT_EQ(pages[1].size(), 3u);
    EXPECT_EQ(pages[2].size(), 4u);
    if (!cgp) continue;
    // In turns: as many in each, but for what is left over.
    EXPECT_LE(pages[1][1] - pages[1][3], 1u);
    EXPECT_EQ(p.pages_fgp, 0u);
  }
  // A program with one stack touches nothing elsewhere, whatever the distance of its blocks.
  for (const coda::ObjectUse& use : coda::study_objects(all, rules)) {
    if (all.allocations[use.allocation].application != 0 || !use.touched) continue;
    EXPECT_EQ(use.local, use.accesses);
  }
}

TEST(BoundPrograms, TheAnalysisIsOneOfTheStacks) {
  const runtime::Recording r = together({"kmeans@1-2"});
  coda::PlacementRules rules;
  rules.blocks_per_stack.assign(r.launches.size(), 4);
  const auto all = coda::study_objects(r, rules);
  rules.bound = {{1, 2}};
  const auto two = coda::study_objects(r, rules);
  EXPECT_EQ(r.studies->made(), 2u);
  bool differ = false;
  for (size_t i = 0; i < all.size(); ++i) differ |= all[i].local != two[i].local;
  EXPECT_TRUE(differ);
}

TEST(BoundPrograms, TheWayOfSteppingDoesNotShow) {
  const runtime::Recording both = together({"row-sum@0", "kmeans@1-2"});
  for (const char* policy : {"baseline", "coda-steal", "cgp-only", "cgp-fta"}) {
    const auto machine = config::load_machine("coda", {});
    const auto p = config::load_policy(policy, {});
    const auto expected = numbers(sim::replay_on_cpu(both, machine, p, {}));
    for (const sim::SimOptions& options : ways_of_stepping(both, 7))
      EXPECT_EQ(numbers(sim::replay_on_cpu(both, machine, p, options)), expected) << policy;
  }
}

TEST(BoundPrograms, ADeviceFindsTheSame) {
  const runtime::Recording both = together({"row-sum@0", "kmeans@1-2"});
  const std::vector<std::string> short_run = {"run.max_cycles=20000"};
  const auto machine = config::load_machine("coda", short_run);
  std::vector<config::PolicyConfig> policies;
  for (const char* name : {"baseline", "coda-steal", "cgp-only"})
    policies.push_back(config::load_policy(name, short_run));
  std::vector<sim::ReplayJob> systems;
  for (const config::PolicyConfig& policy : policies) systems.push_back({&both, &machine, &policy});
  kernels::EmulatedDevice device({});
  const auto found = run_on(device, systems);
  ASSERT_EQ(found.size(), policies.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(numbers(found[i]), numbers(sim::replay_on_cpu(both, machine, policies[i], {})))
        << policies[i].name;
}

TEST(BoundPrograms, ACheckpointIsOneOfTheStacks) {
  const auto machine = config::load_machine("coda", {});
  const auto policy = config::load_policy("baseline", {});
  runtime::Recording r = together({"row-sum@0"});
  const std::string first = sim::run_fingerprint({&r, &machine, &policy});
  r.bound_stacks = {2};
  EXPECT_NE(sim::run_fingerprint({&r, &machine, &policy}), first);
}

std::string error(const std::string& name, const std::string& machine,
                  const std::vector<std::string>& keys = {},
                  const std::string& policy = "baseline") {
  try {
    sim::replay_on_cpu(together({name}), config::load_machine(machine, keys),
                       config::load_policy(policy, keys), {});
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(BoundPrograms, SaysWhatIsWrong) {
  EXPECT_NE(error("row-sum@4", "coda")
                .find("row-sum@4: the program is bound to memory stacks, and machine 'coda' has no "
                      "stack 4 - its stacks are 0 to 3"),
            std::string::npos);
  for (const char* elsewhere : {"tom", "coda-host", "gtx480", "mpu"})
    EXPECT_NE(error("row-sum@0", elsewhere).find("runs kernels elsewhere"), std::string::npos)
        << elsewhere;
  EXPECT_NE(error("row-sum@0", "coda", {"dispatch.groups=2"})
                .find("dispatch.groups: 2 groups of SMs, and programs are bound to some of 4 "
                      "stacks - 1 or 4 groups go with that"),
            std::string::npos);
}

TEST(BoundPrograms, NamesAreReadAsTheyAreWritten) {
  for (const auto& [text, name, stacks] :
       std::vector<std::tuple<std::string, std::string, uint32_t>>{{"kmeans", "kmeans", 0},
                                                                   {"kmeans@0", "kmeans", 1},
                                                                   {"kmeans@3", "kmeans", 8},
                                                                   {"a@b@1-2", "a@b", 6},
                                                                   {"x@31", "x", 1u << 31},
                                                                   {"x@0-31", "x", ~0u}}) {
    const runtime::BoundName read = runtime::bound_name(text);
    EXPECT_EQ(read.name, name);
    EXPECT_EQ(read.stacks, stacks) << text;
    EXPECT_EQ(read.name + runtime::binding_text(stacks), text);
  }
  for (const char* wrong : {"kmeans@", "@0", "kmeans@x", "kmeans@2-1", "kmeans@-1", "kmeans@1-",
                            "kmeans@0,1", "kmeans@32", "kmeans@0-99999999999"})
    EXPECT_THROW(runtime::bound_name(wrong), Error) << wrong;
}

}  // namespace
}  // namespace nearwarp::testing::bound_test
