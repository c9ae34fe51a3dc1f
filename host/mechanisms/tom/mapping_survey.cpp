// Everything that `nearwarp analyze --mappings` reports of a recorded program.
#include "host/mechanisms/tom/mapping_survey.h"

#include <bit>
#include <map>

#include "host/mechanisms/tom/loop_tables.h"
#include "host/mechanisms/tom/offset_study.h"
#include "host/mechanisms/tom/pass/print.h"
#include "host/recording/trace_replay.h"
#include "host/timing/machine/baseline_map.h"

namespace nearwarp::sim {

namespace {

/// Shares of the instances from which a mapping is chosen (TOM, Figure 6).
constexpr uint32_t kPermille[] = {1, 5, 10};

/// The PTX lines of an image's memory instructions. The image has a kernel's instructions in order,
/// without moves if these are not charged.
class PtxLines {
 public:
  PtxLines(const runtime::Recording& recording, const ImageTables& image) {
    for (uint32_t k = 0; k < recording.kernels.size(); ++k) {
      const compiler::Kernel& kernel = *recording.kernels[k];
      for (uint32_t b = 0; b < kernel.blocks.size(); ++b) {
        const sm::ImageBlock& block = image.blocks[image.kernels[k].first_block + b];
        uint32_t pc = block.first;
        for (uint32_t i = 0; i < kernel.blocks[b].count; ++i) {
          const compiler::Instruction& in = kernel.instructions[kernel.blocks[b].first + i];
          if (!runtime::leaves_record(in)) continue;
          while ((image.instrs[pc].flags & sm::kHasRecord) == 0) ++pc;
          lines_[pc++] = in.ptx_line;
        }
      }
    }
  }
  uint32_t of(uint32_t pc) const { return lines_.at(pc); }

 private:
  std::map<uint32_t, uint32_t> lines_;
};

tom::MappingQuality quality(const MappingCounts& counts, uint32_t first_bit, uint32_t stacks) {
  tom::MappingQuality q;
  q.first_bit = first_bit;
  q.at_destination = counts.at_destination;
  q.one_stack = counts.one_stack;
  q.stacks.assign(counts.stacks_touched.begin(), counts.stacks_touched.begin() + stacks);
  return q;
}

tom::CandidatePattern pattern(const CandidateOffsets& offsets, const PtxLines& lines) {
  tom::CandidatePattern p;
  p.instances = offsets.instances;
  p.fixed_share = offsets.share();
  if (offsets.instances != 0) p.category = category_text(offsets.category());
  for (const InstructionOffsets& i : offsets.instructions) {
    tom::OffsetRow row;
    row.ptx_line = lines.of(i.pc);
    row.executions = i.executions;
    row.not_first = i.not_first;
    if (i.compared != 0) row.predecessor_ptx_line = lines.of(i.predecessor_pc);
    row.compared = i.compared;
    row.fixed = i.fixed;
    p.instructions.push_back(row);
  }
  return p;
}

void add_patterns(const runtime::Recording& recording, const ImageTables& image,
                  const tom::OffloadTables& offload, const std::vector<CandidateOffsets>& offsets,
                  tom::MappingAnalysis& out) {
  const PtxLines lines(recording, image);
  for (uint32_t i = 0; i < kNumOffsetCategories; ++i)
    out.categories.push_back({category_text(static_cast<OffsetCategory>(i)), 0, 0});
  for (size_t i = 0; i < offsets.size(); ++i) {
    tom::CandidatePattern p = pattern(offsets[i], lines);
    const compiler::OffloadCandidate& c = offload.info[i];
    const compiler::Kernel& kernel = *recording.kernels[offload.candidates[i].kernel];
    p.kernel = kernel.name;
    p.id = c.id;
    p.source_lines = compiler::source_lines(kernel, c);
    out.candidates.push_back(std::move(p));
    if (offsets[i].instances == 0) continue;
    tom::CategoryRow& row = out.categories[static_cast<uint32_t>(offsets[i].category())];
    row.candidates += 1;
    row.instances += offsets[i].instances;
  }
}

}  // namespace

tom::MappingAnalysis analyze_mappings(const runtime::Recording& recording,
                                      const config::MachineConfig& machine,
                                      const config::PolicyConfig& policy,
                                      const StudyOptions& options) {
  require_stacks(machine, "a survey of mappings of lines to stacks");
  ImageTables image = build_image(recording, machine);
  tom::OffloadTables offload = tom::build_offload_tables(recording, machine, policy, image);
  if (config::has_mechanism(policy, "tom"))
    tom::toms_loops(recording, machine, policy, 0, offload, image);
  const AddressMap map = machine_address_map(machine);
  StudyOptions study_options = options;
  study_options.line_bytes = machine.l1.line_bytes;
  // There are two passes over all traces, the studies of mappings and of offsets.
  uint64_t before = 0;
  if (options.progress) {
    study_options.progress = [&](uint64_t done, uint64_t total) {
      return options.progress(before * total + done, 2 * total);
    };
  }
  const MappingStudy all =
      study_mappings(recording, image, offload, map, kAllInstances, study_options);
  before = 1;
  const std::vector<CandidateOffsets> offsets =
      study_offsets(recording, image, offload, study_options.progress);
  study_options.progress = nullptr;

  tom::MappingAnalysis out;
  out.workload = recording.name;
  out.machine = machine.name;
  out.policy = policy.name;
  out.warp_instructions = recording.warp_instructions;
  out.launches = recording.launches.size();
  out.stacks = machine.stack.count;
  out.line_bytes = machine.l1.line_bytes;
  out.instances = all.instances;
  out.accesses = all.accesses;
  const auto line_shift = static_cast<uint32_t>(std::countr_zero(machine.l1.line_bytes));
  out.baseline = quality(all.baseline, 0, out.stacks);
  for (uint32_t m = 0; m < kNumMappings; ++m)
    out.mappings.push_back(quality(all.mapping[m], line_shift + m, out.stacks));
  out.best = all.best();
  for (const uint32_t permille : kPermille) {
    if (all.instances == 0) break;
    const uint64_t n = (all.instances * permille + 999) / 1000;
    const uint32_t best = study_mappings(recording, image, offload, map, n, study_options).best();
    out.choices.push_back({permille, n, line_shift + best, all.mapping[best].one_stack,
                           all.mapping[best].at_destination});
  }
  add_patterns(recording, image, offload, offsets, out);
  for (size_t i = 0; i < recording.allocations.size(); ++i) {
    const runtime::Allocation& a = recording.allocations[i];
    out.allocations.push_back({a.label, a.address, a.bytes, all.touched[i]});
  }
  return out;
}

}  // namespace nearwarp::sim
