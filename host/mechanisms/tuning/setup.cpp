#include "host/mechanisms/tuning/setup.h"

#include <algorithm>
#include <map>

#include "host/mechanisms/tuning/pass/loop_heads.h"

namespace nearwarp::tuning {

namespace {

using sim::ImageTables;

TuningParams params_of(const config::PolicyConfig& policy) {
  const config::PolicyConfig::Tuning& t = policy.tuning;
  TuningParams p;
  p.on = true;
  p.inside = t.pimbegin == "inside";
  p.adaptation = t.adaptation;
  p.full_history = t.full_history;
  p.room_known = t.room_known;
  p.history_rounds = static_cast<uint8_t>(t.history_rounds);
  p.threshold_percent = t.threshold_percent;
  p.begin_cycles = t.pimbegin_cycles;
  const auto pause = [](const std::string& until) {
    return until == "round"   ? Pause::kRound
           : until == "entry" ? Pause::kEntry
           : until == "loop"  ? Pause::kLoop
                              : Pause::kWarp;
  };
  p.after_refusal = pause(t.after_refusal);
  p.after_return = pause(t.after_return);
  return p;
}

/// The first instruction of a block that is issued; kNotIssued: none is.
uint32_t first_issued(const compiler::Block& block, const std::vector<uint32_t>& at) {
  for (uint32_t i = block.first; i < block.first + block.count; ++i)
    if (at[i] != ImageTables::kNotIssued) return at[i];
  return ImageTables::kNotIssued;
}

}  // namespace

tom::LoopTables set_up(const runtime::Recording& recording, const config::PolicyConfig& policy,
                       uint8_t mark, tom::OffloadTables& tables, ImageTables& image) {
  tom::LoopTables out;
  out.params = params_of(policy);
  out.head_of.assign(image.instrs.size(), kNoHead);
  const auto choice = policy.tuning.rounds == "innermost" ? compiler::LoopChoice::kInnermost
                                                          : compiler::LoopChoice::kOutermost;
  std::map<uint32_t, compiler::BlockRegisters> registers;  // by kernel
  for (size_t k = 0; k < tables.candidates.size(); ++k) {
    tom::Candidate& entry = tables.candidates[k];
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
      image.instrs[at].marks = static_cast<uint8_t>(image.instrs[at].marks | mark);
    }
  }
  return out;
}

}  // namespace nearwarp::tuning
