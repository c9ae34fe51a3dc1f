// Makes the tables of candidates' loops for the device.
#include "host/mechanisms/tom/loop_tables.h"

#include <algorithm>
#include <map>

#include "host/mechanisms/tom/settings.h"

namespace nearwarp::tom {

namespace {

using sim::ImageTables;

/// The image's index of a block's first issued instruction; kNotIssued: none is issued.
uint32_t first_issued(const compiler::Block& block, const std::vector<uint32_t>& at) {
  static_assert(ImageTables::kNotIssued == UINT32_MAX);
  uint32_t first = ImageTables::kNotIssued;
  for (uint32_t i = block.first; i < block.first + block.count; ++i) first = std::min(first, at[i]);
  return first;
}

}  // namespace

LoopTables find_loops(const runtime::Recording& recording, const tuning::TuningParams& params,
                      compiler::LoopChoice choice, uint8_t mark, OffloadTables& tables,
                      ImageTables& image) {
  LoopTables out;
  out.params = params;
  out.head_of.assign(image.instrs.size(), tuning::kNoHead);
  if (params.round_is_instance) tables.begins_round.assign(image.instrs.size(), 0);
  std::map<uint32_t, compiler::BlockRegisters> registers;  // by kernel
  for (size_t k = 0; k < tables.candidates.size(); ++k) {
    Candidate& entry = tables.candidates[k];
    const compiler::Kernel& kernel = *recording.kernels[entry.kernel];
    entry.order = static_cast<uint8_t>(std::min(63u, tables.info[k].id));
    const auto& of_kernel = registers.try_emplace(entry.kernel, kernel).first->second;
    for (const compiler::CandidateLoop& loop :
         compiler::loops_of(kernel, of_kernel, tables.info[k], choice)) {
      const uint32_t at = first_issued(kernel.blocks[loop.header], image.index_of[entry.kernel]);
      if (at == ImageTables::kNotIssued || tables.candidate_of[at] != k) continue;
      out.head_of[at] = static_cast<uint16_t>(out.heads.size());
      out.heads.push_back(
          {static_cast<uint16_t>(loop.live_in_bytes), static_cast<uint16_t>(loop.changed_bytes)});
      entry.has_heads = true;
      if (params.round_is_instance) tables.begins_round[at] = 1;
      image.instrs[at].marks = static_cast<uint8_t>(image.instrs[at].marks | mark);
    }
  }
  return out;
}

LoopTables toms_loops(const runtime::Recording& recording, const config::MachineConfig& machine,
                      const config::PolicyConfig& policy, uint8_t mark, OffloadTables& tables,
                      ImageTables& image) {
  tuning::TuningParams p;
  p.room_known =
      policy.table<OffloadSettings>().room_known && policy.table<OffloadSettings>().dynamic_control;
  if (policy.table<OffloadSettings>().decide == "entry") return {p, {}, {}};
  p.on = p.inside = p.round_is_instance = true;
  p.after_refusal = tuning::Pause::kRound;
  p.begin_cycles = 1;  // for the instruction that marks a candidate's beginning (section 4.2)
  p.trial_cycles = machine.table<OffloadParts>().pipeline_latency_cycles;
  return find_loops(recording, p, compiler::LoopChoice::kOutermost, mark, tables, image);
}

}  // namespace nearwarp::tom
