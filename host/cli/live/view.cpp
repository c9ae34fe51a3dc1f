// The view of a run that goes on.
#include "host/cli/live/view.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "host/cli/expected.h"
#include "host/core/json_as_text.h"

namespace nearwarp::cli {

namespace {

using Clock = std::chrono::steady_clock;

nlohmann::ordered_json uses_json(const RunLook& look) {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (const SmLook& sms : look.sms) {
    nlohmann::ordered_json uses = nlohmann::ordered_json::array();
    for (const SmLook::Use& use : sms.uses)
      uses.push_back({{"what", use.what}, {"share", use.share}});
    classes.push_back(
        {{"sms", sms.sms}, {"count", sms.count}, {"warps", sms.warps}, {"uses", uses}});
  }
  return classes;
}

}  // namespace

LiveView::LiveView(Machine machine, const std::vector<std::string>& policies)
    : machine_(std::move(machine)) {
  for (const std::string& policy : policies) runs_.emplace_back().policy = policy;
}

void LiveView::begin(const Program& program) {
  const std::scoped_lock lock(mutex_);
  program_ = program.name();
  seconds_left_.reset();
  begun_ = Clock::now();
  for (Run& run : runs_) run = {run.policy, 0, program.warp_instructions(), {}, {}, false};
}

void LiveView::progress(const Progress& progress) {
  const std::scoped_lock lock(mutex_);
  for (size_t i = 0; i < runs_.size() && i < progress.of_each.size(); ++i) {
    runs_[i].done = progress.of_each[i];
    runs_[i].total = progress.total_of_each[i];
  }
  seconds_left_ = progress.seconds_left;
}

void LiveView::show(size_t policy, const Result& result, bool over) {
  const std::scoped_lock lock(mutex_);
  Run& run = runs_[policy];
  if (run.all.has_value() && run.all->cycles < result.cycles)
    run.of_late = taken(look_at(result, &*run.all));
  if (!run.of_late.has_value()) run.of_late = taken(look_at(result));
  run.all = result;
  run.over = over;
}

std::string LiveView::json() const {
  const std::scoped_lock lock(mutex_);
  nlohmann::ordered_json json = {{"program", program_}, {"machine", machine_.name()}};
  json["seconds"] = std::chrono::duration<double>(Clock::now() - begun_).count();
  json["seconds_left"] = nullptr;
  if (seconds_left_.has_value()) json["seconds_left"] = *seconds_left_;
  json["runs"] = nlohmann::ordered_json::array();
  for (const Run& run : runs_) {
    const bool whole = run.over && run.all.has_value() && !run.all->partial;
    nlohmann::ordered_json one = {{"policy", run.policy},
                                  {"done", whole ? run.total : run.done},
                                  {"total", run.total},
                                  {"over", run.over}};
    if (run.all.has_value()) {
      one["cycles"] = run.all->cycles;
      one["ipc"] = run.of_late->ipc;
      one["launches"] = run.all->launches.size();
      one["kernel"] =
          run.all->launches.empty() ? "" : short_kernel_name(run.all->launches.back().kernel);
      one["utilisation"] = nlohmann::ordered_json::parse(run.of_late->utilisation);
      one["sm_cycles"] = uses_json(*run.of_late);
    }
    json["runs"].push_back(std::move(one));
  }
  return json_as_text(json);
}

}  // namespace nearwarp::cli
