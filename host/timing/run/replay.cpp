// One system's run, the stepping of windows apart.
#include "host/timing/run/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/frontend/make_front_end.h"
#include "host/config/shape.h"
#include "host/core/error.h"
#include "host/recording/archive.h"
#include "host/timing/machine/address_spaces.h"
#include "host/timing/machine/dispatch_policy.h"
#include "host/timing/machine/lay_out.h"
#include "host/timing/machine/shapes/shapes.h"
#include "host/timing/report/parts.h"
#include "host/timing/run/checkpoint.h"
#include "host/timing/run/checks.h"
#include "host/timing/run/collect.h"
#include "host/timing/run/learning.h"
#include "host/timing/run/preload.h"
#include "host/timing/run/warm.h"

namespace nearwarp::sim {

using kernels::Stop;

namespace {

/// Of wall time between two checkpoints of a run.
constexpr std::chrono::seconds kCheckpointInterval{30};
/// Core cycles between looks at whether enough has been committed.
constexpr uint64_t kFinestLookCycles = 256;
/// Warp-instructions whose traces are walked to fill caches, for one that is simulated: a walk
/// takes a small part of a simulation's time.
constexpr uint64_t kWarmingInstructions = 16;

}  // namespace

uint64_t work_of(const ReplayJob& job) {
  if (!job.part.has_value()) return job.recording->warp_instructions;
  uint64_t sum = 0;
  for (uint32_t i = job.part->begin; i < job.part->end; ++i)
    sum += job.recording->launches[i].warp_instructions;
  return sum;
}

Replay::Replay(const ReplayJob& what, Tick window_ticks)
    : what_(what),
      image_(build_image(*what.recording, *what.machine)),
      mechanisms_(prepare_mechanisms(what.mechanisms,
                                     {*what.recording, *what.machine, *what.policy}, image_)),
      system_(lay_out()),
      window_ticks_(window_ticks) {
  const uint64_t max_cycles = what.machine->run.max_cycles;
  control_.longest = window_ticks == 0 ? system_.window : std::min(window_ticks, system_.window);
  end_ = max_cycles < kNever / system_.core_period ? max_cycles * system_.core_period : kNever;
  control_.limit = end_;
  limit_until_measured(0, 0);
  if (what.part.has_value()) part_.emplace(*what.part, *what.recording, image_);
  if (image_.launches.empty()) control_.next = kNever;
}

System Replay::lay_out() {
  ShapeInputs inputs{*what_.machine, image_};
  for (const auto& m : mechanisms_) inputs.needs.add(m->needs());
  Graph graph = (what_.shape != nullptr ? what_.shape : make_graph)(inputs);
  if (what_.watcher != nullptr) graph.log_events = what_.watcher->log_events();
  const Parts parts(inputs);
  for (const auto& m : mechanisms_) m->extend(graph, parts);
  add_address_spaces(image_, *what_.machine, graph);
  apply_dispatch_policy(what_.policy->dispatch, graph, image_);
  System system = sim::lay_out(graph);
  map_address_spaces(image_, system);
  if (what_.machine->l2.begins_with_data)
    preload_l2(what_.recording->allocations, *what_.machine, system);
  for (const auto& m : mechanisms_) m->attach(system);
  return system;
}

kernels::RunState Replay::state() {
  kernels::RunState run;
  run.view.arena = system_.arena.base();
  run.view.image = image_.view();
  run.table = system_.table;
  run.front_end = system_.front_end_component().state;
  run.control = control_;
  return run;
}

uint32_t Replay::window_cycles() const {
  return static_cast<uint32_t>((control_.longest + system_.core_period - 1) / system_.core_period);
}

uint32_t Replay::dispatch_margin() const {
  const uint32_t blocks = what_.machine->sm.blocks;
  // In a longer window an SM can get one thread block in each cycle.
  return system_.num_sms() * (is_lengthened() ? std::max(blocks, window_cycles()) : blocks);
}

kernels::SafeTimePlan Replay::lengthen_windows() {
  const auto stands_apart = [&](uint16_t sm) { return system_.component(sm).cluster == 0; };
  if (!mechanisms_.empty() || !std::ranges::all_of(system_.sms, stands_apart)) return {};
  Tick longest =
      std::min(system_.window_beside_control, Tick{frontend::kReportsPerSm} * system_.core_period);
  if (window_ticks_ != 0) longest = std::min(longest, window_ticks_);
  if (longest <= system_.window) return {};
  control_.longest = longest;
  return {system_.window, system_.front_end_at, system_.sms};
}

void Replay::begin() {
  begun_ = saved_ = std::chrono::steady_clock::now();
  const std::optional<std::string> bytes = read_checkpoint(what_);
  if (bytes.has_value()) {
    restore(*bytes);
  } else {
    for (size_t i = 0; i < mechanisms_.size(); ++i) {
      if (what_.learnt != nullptr && mechanisms_[i]->learns())
        mechanisms_[i]->begin_learnt(system_, what_.learnt->by_mechanism.at(i));
      else
        mechanisms_[i]->begin(system_);
    }
  }
  if (!part_.has_value()) return;
  part_->select(system_, image_);
  system_.front_end().dispatch.next_sm =
      next_sm_of(*what_.recording, *what_.policy, what_.part->begin, system_.num_sms());
  if (what_.part->begin != 0) set_refreshes(system_, what_.part->begin);
  // The work is bounded by the part's own, so that many parts do not walk a program many times.
  // All that caches had before something was learnt is gone: data was moved.
  const uint32_t kept_from =
      what_.learnt != nullptr && what_.learnt->launches != 0 ? what_.learnt->launches - 1 : 0;
  if (what_.part->warm && what_.part->begin > kept_from)
    warmed_by_ = warm_caches(*what_.recording, image_, kept_from, what_.part->begin,
                             kWarmingInstructions * total_instructions(), system_);
}

bool Replay::learns() const {
  return std::ranges::any_of(mechanisms_, [](const auto& m) { return m->learns(); });
}

std::optional<std::vector<std::string>> Replay::learnt() {
  std::vector<std::string> all;
  for (const auto& m : mechanisms_) {
    all.push_back(m->learnt(system_));
    if (m->learns() && all.back().empty()) return std::nullopt;
  }
  return all;
}

bool Replay::is_time_to_save() const {
  return !what_.checkpoint.empty() &&
         std::chrono::steady_clock::now() - saved_ > kCheckpointInterval;
}

void Replay::save() {
  if (what_.checkpoint.empty()) return;
  write_checkpoint(what_, checkpoint_bytes());
  saved_ = std::chrono::steady_clock::now();
}

template <class A>
void io(A& a, kernels::RunControl& c) {
  runtime::io_all(a, c.next, c.last, c.longest, c.limit, c.windows, c.stop);
}

std::string Replay::checkpoint_bytes() {
  runtime::Writer out;
  io(out, control_);
  for (const auto& m : mechanisms_) m->save(out);
  out.bytes(system_.arena.base(), system_.arena.size_bytes());
  return {out.out.begin(), out.out.end()};
}

void Replay::restore(std::string_view bytes) {
  runtime::Reader in(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  kernels::RunControl before = control_;
  io(in, control_);
  control_.longest = before.longest;
  for (const auto& m : mechanisms_) m->restore(in);
  if (in.left() != system_.arena.size_bytes())
    throw Error(
        fmt::format("'{}' does not hold the state of this machine - delete it", what_.checkpoint));
  in.bytes(system_.arena.base(), system_.arena.size_bytes());
  system_.front_end().dispatch.host_wanted = false;  // the host looks before it goes on
}

/// Look at what has been committed when it can have become enough, at the earliest; `from`: the
/// last look. Looks are at the same ticks whatever the windows: those are left out in front of
/// which nothing happens, so that nothing can have become more.
void Replay::limit_until_measured(Tick from, uint64_t committed) {
  const uint64_t wanted = what_.recording->measured_warp_instructions;
  if (wanted == 0 || what_.part.has_value()) return;
  const uint64_t sms = uint64_t{system_.num_sms()} + system_.members("stack_sm").size();
  const uint64_t most_a_cycle =
      sms * std::max(what_.machine->sm.schedulers, what_.machine->stack_sm.schedulers);
  const uint64_t left = wanted > committed ? wanted - committed : 0;
  const Tick step =
      std::max<uint64_t>(left / most_a_cycle, kFinestLookCycles) * system_.core_period;
  Tick at = from + step;
  if (control_.next < kNever && control_.next > at) at += (control_.next - at) / step * step;
  control_.limit = std::min(end_, at);
}

bool Replay::is_over(uint64_t committed) {
  const uint64_t wanted = what_.part.has_value() ? 0 : what_.recording->measured_warp_instructions;
  measured_ = wanted != 0 && committed >= wanted;
  if (measured_ || control_.limit >= end_) return true;
  limit_until_measured(control_.limit, committed);
  return false;
}

bool Replay::is_stuck(uint64_t committed) {
  if (committed != last_committed_) {
    last_committed_ = committed;
    last_commit_cycle_ = cycles();
  }
  return cycles() - last_commit_cycle_ > what_.machine->run.no_progress_cycles;
}

void Replay::fail_stuck() {
  throw Error(fmt::format("no instruction was committed for {} core cycles",
                          cycles() - last_commit_cycle_) +
              describe_stall(system_, mechanisms_) +
              "\nraise run.no_progress_cycles if this is expected");
}

report::RunResult Replay::finish() {
  if (control_.stop == Stop::kLimit) {
    control_.last = control_.limit;  // nothing happens between the last window's end and there
    if (measured_) {
      check_faults(system_);
      return result("");
    }
    return result(fmt::format("run.max_cycles = {} reached", what_.machine->run.max_cycles));
  }
  check_faults(system_);
  if (system_.front_end().dispatch.ended < image_.view().num_launches) {
    throw Error("the simulated machine is deadlocked: every component sleeps while work is left" +
                describe_stall(system_, mechanisms_) + "\nthis is a defect of the simulator");
  }
  const bool all_issue = what_.machine->sm.charge_moves && !image_.has_copies;
  check_conservation(system_, all_issue ? total_instructions() : 0);
  for (const auto& m : mechanisms_) m->check(system_);
  return result("");
}

report::RunResult Replay::interrupted() { return result("interrupted"); }

report::RunResult Replay::so_far(uint64_t cycle) {
  report::RunResult r = counted(cycle);
  r.partial = true;
  r.partial_reason = fmt::format("stopped at cycle {}", cycle);
  return r;
}

uint64_t Replay::total_instructions() const {
  return part_.has_value() ? part_->warp_instructions(*what_.recording, image_)
                           : what_.recording->warp_instructions;
}

void Replay::take_results() {
  // No cycle has passed since the end of the last launch, as cycles of launches are counted.
  const frontend::DispatchState& d = system_.front_end().dispatch;
  Tick last = 0;
  for (const frontend::LaunchState& l :
       std::span(d.launches.in(system_.arena.base()), image_.launches.size()))
    if (l.end != kNever) last = std::max(last, l.end);
  (part_->before_first() ? before_ : after_) =
      counted((last + system_.core_period - 1) / system_.core_period);
  part_->looked();
}

report::RunResult Replay::part_of(report::RunResult all) const {
  const report::RunResult& after = after_.has_value() ? *after_ : all;
  report::RunResult r =
      before_.has_value() ? report::between(*what_.machine, *before_, after) : after;
  // Stopped before the part began.
  if (part_->before_first()) r = report::between(*what_.machine, after, after);
  r.partial = all.partial;
  r.partial_reason = std::move(all.partial_reason);
  r.wall_seconds = all.wall_seconds;
  report::LaunchesReport l;
  l.of = what_.recording->launches.size();
  l.first = what_.part->first + 1;
  l.last = what_.part->end;
  l.parts = {l.first};
  l.before = what_.part->first - what_.part->begin;
  l.simulated = what_.part->end - what_.part->begin;
  l.exact = what_.part->begin == 0;
  l.warmed_by = warmed_by_;
  l.learnt_by = what_.learnt != nullptr ? what_.learnt->launches : 0;
  l.next_sm = next_sm_of(*what_.recording, *what_.policy, what_.part->begin,
                         std::max(1u, static_cast<uint32_t>(system_.sms.size())));
  r.launches = std::move(l);
  return r;
}

report::RunResult Replay::result(std::string partial_reason) {
  report::RunResult r = counted(control_.last / system_.core_period);
  r.partial = !partial_reason.empty();
  r.partial_reason = std::move(partial_reason);
  return part_.has_value() ? part_of(std::move(r)) : r;
}

/// All that has been counted so far, as of a run that ends now.
report::RunResult Replay::counted(uint64_t now_cycle) {
  report::RunResult r;
  r.workload = what_.recording->name;
  r.machine = what_.machine->name;
  r.policy = what_.policy->name;
  r.core_mhz = what_.machine->clocks.core_mhz;
  r.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  r.parts.network_wires = what_.machine->interconnect.topology != "mesh";
  r.parts.core_tsvs = config::shape_of(*what_.machine).in_banks();
  r.parts.kept_lines = what_.machine->l2.write_policy == "back" && !what_.machine->l2.sectors;
  r.parts.no_l1 = what_.machine->l1.keep != "lines";
  collect(*what_.recording, image_, mechanisms_, system_, now_cycle, r);
  r.energy = report::account_energy(*what_.machine, r);
  for (const auto& m : mechanisms_) m->report(system_, r);
  return r;
}

}  // namespace nearwarp::sim
