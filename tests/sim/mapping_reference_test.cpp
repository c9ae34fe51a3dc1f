// Do the bulk passes find what a plain walk over the traces finds? Built-in workloads and compiled
// kernels, against a reference that shares no code with the passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "host/functional/instructions/decoded.h"
#include "host/mechanisms/tom/mapping_study.h"
#include "host/mechanisms/tom/offset_study.h"
#include "host/mechanisms/tom/report/sections.h"
#include "host/mechanisms/tom/trace_tables.h"
#include "host/recording/trace_replay.h"
#include "host/timing/machine/baseline_map.h"
#include "kernels/analytics/bulk.h"
#include "kernels/analytics/mapping_passes.h"
#include "tests/sim/whole_machine.h"
#include "tests/support/offload_image.h"

namespace nearwarp::sim {
namespace {

using testing::OffloadImage;
using testing::PtxDevice;
using testing::workload;

struct ReferenceAccess {
  uint32_t pc = 0;
  uint64_t address = 0;  ///< address of the first active lane
  std::vector<uint64_t> lines;
};
struct Instance {
  uint16_t candidate = 0;
  std::vector<ReferenceAccess> accesses;
};

/// Finds the instances of one launch by looking at every instruction.
class Reference {
 public:
  Reference(const runtime::Recording& recording, const OffloadImage& image, uint32_t launch,
            std::vector<Instance>& out)
      : kernel_(*recording.kernels[recording.launches[launch].kernel]), image_(image), out_(out) {
    const uint32_t kernel = recording.launches[launch].kernel;
    for (uint32_t k = 0; k < kernel; ++k)
      first_instr_ += static_cast<uint32_t>(recording.kernels[k]->instructions.size());
    first_block_ = image.kernels[kernel].first_block;
    runtime::TraceVisitor visitor;
    visitor.warp = [this](uint64_t, uint32_t) {
      end_run();
      leave();
    };
    visitor.run = [this](const runtime::BlockRun& run) {
      end_run();
      block_ = static_cast<int>(run.block);
    };
    visitor.access = [this](const runtime::MemoryAccess& a) { note(a); };
    runtime::replay(recording, launch, visitor);
    end_run();
    leave();
  }

 private:
  void note(const runtime::MemoryAccess& a) {
    if (kernel_.instructions[a.instruction].mod.space == ptx::Space::kConst) return;
    ReferenceAccess access;
    access.pc = a.instruction;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if ((a.mask >> lane & 1) == 0) continue;
      if ((a.address[lane] & trace::kSharedWindow) != 0) return;
      const uint64_t line = (a.address[lane] - exec::kDeviceBase) / 128;
      auto& lines = access.lines;
      if (lines.empty()) access.address = a.address[lane];
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
    accesses_.push_back(access);
  }
  void end_run() {
    if (block_ < 0) return;
    const compiler::Block& b = kernel_.blocks[static_cast<uint32_t>(block_)];
    for (uint32_t i = b.first; i < b.first + b.count; ++i) {
      const uint16_t candidate = image_.offload.candidate_of[first_instr_ + i];
      if (candidate != inside_) {
        leave();
        if (image_.offload.view().begins(first_instr_ + i)) inside_ = candidate;
      }
      if (inside_ == tom::kNoCandidate) continue;
      const bool in_rounds =
          !image_.offload.begins_round.empty() && image_.offload.candidates[inside_].has_heads;
      if (in_rounds ? image_.offload.begins_round[first_instr_ + i] != 0 : rounds_.empty())
        rounds_.emplace_back();
      if (rounds_.empty()) continue;  // in front of the loop
      Round& round = rounds_.back();
      if (i == b.first) round.iterations += image_.offload.weight[first_block_ + uint32_t(block_)];
      const std::vector<uint16_t>& inner_of = image_.offload.inner_of;
      const uint16_t inner = inner_of.empty() ? tom::kNoCandidate : inner_of[first_instr_ + i];
      if (inner != tom::kNoCandidate && image_.offload.candidates[inner].begin == first_instr_ + i)
        round.blocks.emplace_back().candidate = inner;
      for (ReferenceAccess& a : accesses_) {
        if (a.pc != i) continue;
        const auto add = [&](Instance& to) {
          to.accesses.push_back(a);
          to.accesses.back().pc = first_instr_ + i;
        };
        add(round.instance);
        if (inner != tom::kNoCandidate) add(round.blocks.back());
      }
    }
    accesses_.clear();
    block_ = -1;
  }
  void leave() {
    uint64_t ahead = 0;  // iterations from a round on
    for (const Round& round : rounds_) ahead += round.iterations;
    for (Round& round : rounds_) {
      if (ahead < image_.offload.candidates[inside_].threshold) {
        for (Instance& block : round.blocks)
          if (!block.accesses.empty()) out_.push_back(block);
      } else if (!round.instance.accesses.empty()) {
        round.instance.candidate = inside_;
        out_.push_back(round.instance);
      }
      ahead -= round.iterations;
    }
    rounds_.clear();
    inside_ = tom::kNoCandidate;
  }

  const compiler::Kernel& kernel_;
  const OffloadImage& image_;
  std::vector<Instance>& out_;
  uint32_t first_instr_ = 0, first_block_ = 0;
  int block_ = -1;
  std::vector<ReferenceAccess> accesses_;  // of the current execution of a block
  uint16_t inside_ = tom::kNoCandidate;
  /// A round of the candidate that the warp is in with which an instance begins.
  struct Round {
    Instance instance;
    std::vector<Instance> blocks;  // candidates within it
    uint64_t iterations = 0;
  };
  std::vector<Round> rounds_;
};

std::vector<Instance> instances_of(const runtime::Recording& recording, const OffloadImage& image) {
  std::vector<Instance> all;
  for (uint32_t i = 0; i < recording.launches.size(); ++i) Reference(recording, image, i, all);
  return all;
}

template <class StackOf>
MappingCounts count(const std::vector<Instance>& instances, uint64_t n, StackOf stack_of) {
  MappingCounts c;
  for (uint64_t i = 0; i < n; ++i) {
    const uint32_t destination = stack_of(instances[i].accesses[0].lines[0]);
    std::set<uint32_t> stacks;
    for (const ReferenceAccess& a : instances[i].accesses) {
      for (const uint64_t line : a.lines) {
        stacks.insert(stack_of(line));
        c.at_destination += stack_of(line) == destination;
      }
    }
    c.one_stack += stacks.size() == 1;
    c.stacks_touched[stacks.size() - 1] += 1;
  }
  return c;
}

void expect_equal(const MappingCounts& a, const MappingCounts& b) {
  EXPECT_EQ(a.at_destination, b.at_destination);
  EXPECT_EQ(a.one_stack, b.one_stack);
  EXPECT_EQ(a.stacks_touched, b.stacks_touched);
}

/// The study of the first n instances against the reference.
void compare(const runtime::Recording& recording, const std::vector<Instance>& instances,
             const MappingStudy& study, const AddressMap& map, uint64_t n) {
  n = std::min<uint64_t>(n, instances.size());
  EXPECT_EQ(study.instances, n);
  uint64_t accesses = 0;
  std::vector<bool> touched(recording.allocations.size(), false);
  for (uint64_t i = 0; i < n; ++i) {
    for (const ReferenceAccess& access : instances[i].accesses) {
      accesses += access.lines.size();
      for (const uint64_t line : access.lines) {
        for (size_t a = 0; a < touched.size(); ++a) {
          const runtime::Allocation& r = recording.allocations[a];
          const uint64_t address = exec::kDeviceBase + line * 128;
          if (address + 128 > r.address && address < r.address + r.bytes) touched[a] = true;
        }
      }
    }
  }
  EXPECT_EQ(study.accesses, accesses);
  EXPECT_EQ(study.touched, touched);
  const uint32_t mask = (1u << map.stack_bits) - 1;
  for (uint32_t m = 0; m < kNumMappings; ++m)
    expect_equal(study.mapping[m], count(instances, n, [&](uint64_t line) {
                   return static_cast<uint32_t>(line >> m) & mask;
                 }));
  expect_equal(study.baseline, count(instances, n, [&](uint64_t line) {
                 return map.stack_of(static_cast<LineAddr>(line));
               }));
}

/// Offsets by the definition in offset_study.h, pair by pair.
void compare_offsets(const std::vector<Instance>& instances,
                     const std::vector<CandidateOffsets>& found) {
  struct Pair {
    uint64_t expected = 0, compared = 0, fixed = 0;
  };
  // By candidate: an instruction may be of two, of which one is within the other.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Pair> pairs;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> executions, not_first;
  std::vector<uint64_t> counts(found.size(), 0);
  for (const Instance& instance : instances) {
    counts.at(instance.candidate) += 1;
    std::map<uint32_t, uint64_t> last;
    for (const ReferenceAccess& a : instance.accesses) {
      executions[{instance.candidate, a.pc}] += 1;
      not_first[{instance.candidate, a.pc}] += !last.empty();
      for (const auto& [pc, address] : last) {
        Pair& p = pairs[{instance.candidate, a.pc, pc}];
        if (p.compared++ == 0) p.expected = a.address - address;
        p.fixed += a.address - address == p.expected;
      }
      last[a.pc] = a.address;
    }
  }
  for (size_t c = 0; c < found.size(); ++c) {
    EXPECT_EQ(found[c].instances, counts[c]);
    for (const InstructionOffsets& row : found[c].instructions) {
      const auto id = static_cast<uint32_t>(c);
      EXPECT_EQ(row.executions, (executions[{id, row.pc}]));
      EXPECT_EQ(row.not_first, (not_first[{id, row.pc}]));
      double best = 0;
      for (const auto& [key, p] : pairs)
        if (std::get<0>(key) == id && std::get<1>(key) == row.pc)
          best = std::max(best, double(p.fixed) / double(p.compared));
      if (row.compared == 0) {
        EXPECT_EQ(best, 0);
        continue;
      }
      EXPECT_EQ(double(row.fixed) / double(row.compared), best);
      const Pair& p = pairs.at({id, row.pc, row.predecessor_pc});
      EXPECT_EQ(p.compared, row.compared);
      EXPECT_EQ(p.fixed, row.fixed);
    }
  }
}

OffloadImage image_of(const runtime::Recording& recording,
                      const std::vector<std::string>& overrides = {},
                      const std::vector<std::string>& of_policy = {}) {
  return OffloadImage(recording, config::load_machine("tom", overrides),
                      config::load_policy("ndp-controlled-bmap", of_policy));
}

/// Compares all instances, and the first ones, under a policy with these keys.
void compare_all(const runtime::Recording& recording, const std::vector<std::string>& of_policy) {
  SCOPED_TRACE(of_policy.front());
  const OffloadImage image = image_of(recording, {}, of_policy);
  const AddressMap map = machine_address_map(config::load_machine("tom"));
  const std::vector<Instance> instances = instances_of(recording, image);
  EXPECT_EQ(count_instances(recording, image, image.offload), instances.size());
  compare(recording, instances, study_mappings(recording, image, image.offload, map), map,
          kAllInstances);
  compare_offsets(instances, study_offsets(recording, image, image.offload));
  const uint64_t n = instances.size();
  for (const uint64_t first : {uint64_t{1}, n / 3, n - (n != 0), n, n + 1})
    compare(recording, instances, study_mappings(recording, image, image.offload, map, first), map,
            first);
}

class MappingReference : public ::testing::TestWithParam<const char*> {};

TEST_P(MappingReference, Workload) {
  compare_all(workload(GetParam()), {"offload.decide=round"});
  compare_all(workload(GetParam()), {"offload.decide=round", "offload.inner_blocks=false"});
  compare_all(workload(GetParam()), {"offload.decide=entry", "offload.granularity=loop"});
}

INSTANTIATE_TEST_SUITE_P(Small, MappingReference,
                         ::testing::Values("libor", "kmeans", "bfs-rmat", "backprop", "cfd", "ray",
                                           "fwt", "scalarprod", "reduction"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

TEST(MappingReferenceOptions, MovesThatAreNotChargedChangeNothing) {
  const runtime::Recording& recording = workload("cfd");
  const AddressMap map;
  const OffloadImage image = image_of(recording);
  const OffloadImage unmoved = image_of(recording, {"sm.charge_moves=false"});
  const MappingStudy with = study_mappings(recording, image, image.offload, map);
  const MappingStudy without = study_mappings(recording, unmoved, unmoved.offload, map);
  EXPECT_EQ(with.instances, without.instances);
  EXPECT_EQ(with.accesses, without.accesses);
}

TEST(MappingReferenceOptions, ChunksAndThreadsDoNotMatter) {
  const runtime::Recording& whole = workload("bfs-rmat");
  const OffloadImage image = image_of(whole);
  const AddressMap map;
  const uint64_t instances = count_instances(whole, image, image.offload);
  EXPECT_GT(instances, 1000u);
  const uint64_t firsts[] = {instances / 5, kAllInstances};
  const auto study = [&](const runtime::Recording& r, uint64_t first, const StudyOptions& o) {
    return study_mappings(r, image, image.offload, map, first, o);
  };
  const std::array expected{study(whole, firsts[0], {}), study(whole, firsts[1], {})};
  for (const uint32_t chunk_blocks : {1u, 7u, 0u}) {
    runtime::VirtualDevice::Options options;
    options.chunk_blocks = chunk_blocks;
    runtime::VirtualDevice device(options);
    workloads::find("bfs-rmat")->run(device, workloads::Size::kSmall);
    const runtime::Recording recording = device.take_recording("bfs-rmat");
    for (const unsigned threads : {1u, 2u, 5u}) {
      StudyOptions o;
      o.threads = threads;
      EXPECT_EQ(count_instances(recording, image, image.offload, o), instances);
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(study(recording, firsts[i], o), expected[i]);
    }
  }
}

TEST(MappingReferenceOptions, TilesAndPlainLoopsGiveTheSame) {
  const runtime::Recording& recording = workload("cfd");
  const OffloadImage image = image_of(recording);
  const AddressMap map;
  const TraceTables tables(image, image.offload);
  const MappingStudy expected = study_mappings(recording, image, image.offload, map);
  analytics::MappingParams params;
  params.grid.device_base = exec::kDeviceBase;
  params.baseline = map;
  for (const uint32_t tile : {1u, 7u, 1000u}) {
    analytics::MappingPasses<analytics::SerialBulk> passes(analytics::SerialBulk{}, tile);
    analytics::MappingTotals totals;
    for (const TracePart& part : parts_with_candidates(recording, image, tables)) {
      const auto chunk = recording.traces.chunk(part.chunk);
      passes.study(tables.span(*chunk, part.launch), params, {}, kAllInstances, totals);
    }
    EXPECT_EQ(totals.instances, expected.instances);
    EXPECT_EQ(totals.accesses, expected.accesses);
    for (uint32_t m = 0; m < kNumMappings; ++m) {
      EXPECT_EQ(totals.at_destination[m], expected.mapping[m].at_destination);
      EXPECT_EQ(totals.stacks_touched[m][0], expected.mapping[m].one_stack);
    }
    EXPECT_EQ(totals.at_destination[analytics::kBaseline], expected.baseline.at_destination);
  }
}

/// Instances that the simulated machine came to and that would have been offloaded.
TEST(MappingReferenceOptions, TheSimulatedMachineMeetsTheSameInstances) {
  for (const char* name : {"libor", "bfs-rmat", "reduction", "scalarprod"}) {
    const runtime::Recording& recording = workload(name);
    const report::RunResult r =
        testing::simulate(recording, "ndp-uncontrolled-bmap", {"offload.decide=entry"});
    uint64_t offloaded = 0;
    for (const tom::CandidateRow& c : tom::candidates_of(r)) offloaded += c.offloaded;
    const OffloadImage image = image_of(recording, {}, {"offload.decide=entry"});
    EXPECT_EQ(count_instances(recording, image, image.offload), offloaded) << name;
  }
}

TEST(MappingReferenceOptions, CompiledKernel) {
  // Two arrays of 2^16 bytes, the same index in both: bits below 16 keep an instance together.
  PtxDevice d(R"(
.visible .entry add(.param .u64 a, .param .u64 b)
{
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd5, %r4, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f1, [%rd6];
  ld.global.f32 %f2, [%rd7];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd6], %f3;
  st.global.f32 [%rd7], %f3;
  ret;
}
)");
  const runtime::DevicePtr a = d.device.allocate(1 << 16, "a");
  const runtime::DevicePtr b = d.device.allocate(1 << 16, "b");
  d.device.allocate(1 << 16, "c");
  d.device.launch(d.module, "add", {128}, {128}, 0, runtime::KernelArgs(a, b));
  const runtime::Recording recording = d.record();
  const OffloadImage image = image_of(recording);
  ASSERT_EQ(image.offload.candidates.size(), 1u);
  const AddressMap map = machine_address_map(config::load_machine("tom"));
  const MappingStudy study = study_mappings(recording, image, image.offload, map);
  compare(recording, instances_of(recording, image), study, map, kAllInstances);
  EXPECT_EQ(study.instances, 128 * 4u);
  EXPECT_EQ(study.accesses, 4 * study.instances);
  EXPECT_EQ(study.best(), 0u);
  for (uint32_t m = 0; m + 2 + 7 <= 16; ++m) EXPECT_EQ(study.mapping[m].one_stack, 512u) << m;
  EXPECT_EQ(study.mapping[9].one_stack, 0u);  // bits 16 and 17
  EXPECT_EQ(study.touched, (std::vector<bool>{true, true, false}));
}

}  // namespace
}  // namespace nearwarp::sim
