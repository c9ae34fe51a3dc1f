#include "host/mechanisms/tuning/setup.h"

#include "host/mechanisms/tom/settings.h"
#include "host/mechanisms/tuning/settings.h"

namespace nearwarp::tuning {

namespace {

TuningParams params_of(const config::PolicyConfig& policy) {
  const Settings& t = policy.table<Settings>();
  TuningParams p;
  p.on = true;
  p.inside = t.pimbegin == "inside";
  p.adaptation = t.adaptation;
  p.full_history = t.full_history;
  p.room_known = policy.table<tom::OffloadSettings>().room_known;
  p.history_rounds = static_cast<uint8_t>(t.history_rounds);
  p.threshold_percent = t.threshold_percent;
  p.begin_cycles = p.trial_cycles = t.pimbegin_cycles;
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

}  // namespace

tom::LoopTables set_up(const runtime::Recording& recording, const config::PolicyConfig& policy,
                       uint8_t mark, tom::OffloadTables& tables, sim::ImageTables& image) {
  const auto choice = policy.table<Settings>().rounds == "innermost"
                          ? compiler::LoopChoice::kInnermost
                          : compiler::LoopChoice::kOutermost;
  return tom::find_loops(recording, params_of(policy), choice, mark, tables, image);
}

}  // namespace nearwarp::tuning
