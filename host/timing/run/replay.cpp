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
#include "host/timing/run/charged_instructions.h"
#include "host/timing/run/checkpoint.h"
#include "host/timing/run/checks.h"
#include "host/timing/run/collect.h"
#include "host/timing/run/learning.h"
#include "host/timing/run/preload.h"
#include "host/timing/run/warm.h"

namespace nearwarp::sim {

using kernels::Stop;

namespace {

/// Wall time between two checkpoints of a run.
constexpr std::chrono::seconds kCheckpointInterval{30};
/// Core cycles between looks at whether enough has been committed.
constexpr uint64_t kFinestLookCycles = 256;
/// Warp-instructions whose traces are walked to fill caches, for one that is simulated: a walk
/// takes a small part of a simulation's time.
constexpr uint64_t kWarmingInstructions = 16;

}  // namespace

uint64_t work_of(const ReplayJob& job) {
  if (!job.part.has_value()) return job.recording->warp_instructions;
  return runtime::instructions_of(*job.recording, *job.part);
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
  // Clusters begin as a whole, one on each GPC beside those that have been sent.
  const uint32_t begun = image_.has_clusters ? what_.machine->gpu.gpcs * kMaxClusterBlocks : 0;
  return begun + system_.num_sms() * (is_lengthened() ? std::max(blocks, window_cycles()) : blocks);
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
  const uint32_t left_out = what_.part->blocks.has_value() ? what_.part->blocks->begin : 0;
  system_.front_end().dispatch.next_sm =
      next_sm_of(*what_.recording, *what_.policy, *what_.part, system_.num_sms());
  if (what_.part->begin != 0 || left_out != 0) set_refreshes(system_, *what_.part);
  // The work is bounded by the part's own, so that many parts do not walk a program many times.
  // All that caches had before something was learnt is gone: data was moved.
  const uint32_t kept_from =
      what_.learnt != nullptr && what_.learnt->launches != 0 ? what_.learnt->launches - 1 : 0;
  if (what_.part->warm && (what_.part->begin > kept_from || left_out != 0))
    warmed_by_ = warm_caches(*what_.recording, image_, {kept_from, what_.part->begin, left_out},
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

bool Replay::have_launches_ended() {
  return system_.front_end().dispatch.ended >= image_.view().num_launches;
}

uint64_t Replay::cycles_of_launches() {
  const frontend::LaunchState* launches =
      system_.front_end().dispatch.launches.in(system_.arena.base());
  Tick last = 0;
  for (size_t i = 0; i < image_.launches.size(); ++i)
    if (launches[i].end != kNever) last = std::max(last, launches[i].end);
  return (last + system_.core_period - 1) / system_.core_period;
}

report::RunResult Replay::finish() {
  if (is_part_over()) {
    check_faults(system_);
    return result("");
  }
  if (control_.stop == Stop::kLimit) {
    control_.last = control_.limit;  // nothing happens between the last window's end and there
    if (measured_) {
      check_faults(system_);
      return result("");
    }
    return result(fmt::format("run.max_cycles = {} reached", what_.machine->run.max_cycles));
  }
  check_faults(system_);
  if (!have_launches_ended()) {
    throw Error("the simulated machine is deadlocked: every component sleeps while work is left" +
                describe_stall(system_, mechanisms_) + "\nthis is a defect of the simulator");
  }
  // How many instructions some of a launch's thread blocks have is not known.
  const bool is_known = what_.machine->sm.charge_moves && !image_.has_copies &&
                        !(what_.part.has_value() && what_.part->blocks.has_value());
  check_conservation(system_, is_known ? total_instructions() : 0);
  for (const auto& m : mechanisms_) m->check(system_);
  return result("");
}

report::RunResult Replay::interrupted() { return result("interrupted"); }

report::RunResult Replay::so_far(uint64_t cycle) {
  report::RunResult r = counted(cycle);
  r.energy = report::account_energy(*what_.machine, r);
  r.partial = true;
  r.partial_reason = fmt::format("stopped at cycle {}", cycle);
  return r;
}

uint64_t Replay::total_instructions() const { return work_of(what_); }

void Replay::take_results() {
  // Between launches no cycle has passed since the moment, as cycles of launches are counted.
  const bool inside = part_->moments()[taken_.size()].blocks != 0;
  const Tick at = inside ? part_->next_look(system_) : part_->moment(system_);
  taken_.push_back(counted((at + system_.core_period - 1) / system_.core_period));
  part_->looked();
}

report::LaunchesReport Replay::part_report(const PartPiece& piece) const {
  const runtime::LaunchPart& part = *what_.part;
  report::LaunchesReport l;
  l.of = what_.recording->launches.size();
  l.first = piece.launches.first + 1;
  l.last = piece.launches.end;
  l.parts = {l.first};
  l.before = part.first - part.begin;
  if (part.blocks.has_value())
    l.blocks = report::BlocksReport{part.blocks->begin, part.blocks->first, part.blocks->end, 0};
  l.exact = part.begin == 0 && (!part.blocks.has_value() || part.blocks->begin == 0);
  l.warmed_by = warmed_by_;
  l.learnt_by = what_.learnt != nullptr ? what_.learnt->launches : 0;
  l.next_sm = next_sm_of(*what_.recording, *what_.policy, part,
                         std::max(1u, static_cast<uint32_t>(system_.sms.size())));
  return l;
}

/// Warp-instructions recorded for so many committed ones of the part's blocks: with moves that the
/// machine leaves out.
uint64_t Replay::recorded(uint64_t committed) const {
  if (what_.machine->sm.charge_moves) return committed;
  const runtime::BlockRange& b = *what_.part->blocks;
  const BlockInstructions all =
      instructions_of_blocks(*what_.recording, image_, what_.part->first, b.begin, b.end);
  return all.charged == 0 ? 0
                          : static_cast<uint64_t>(static_cast<double>(committed) *
                                                  static_cast<double>(all.recorded) /
                                                  static_cast<double>(all.charged));
}

report::RunResult Replay::part_of(const report::RunResult& all) const {
  // A run that was stopped has not come to all moments.
  const auto at = [&](const std::optional<size_t>& moment) -> const report::RunResult& {
    return moment.has_value() && *moment < taken_.size() ? taken_[*moment] : all;
  };
  const auto part = [&](const std::optional<size_t>& from, const std::optional<size_t>& to,
                        const PartPiece& piece) {
    report::RunResult r = from.has_value() ? report::between(at(from), at(to)) : at(to);
    r.partial = all.partial;
    r.partial_reason = all.partial_reason;
    r.wall_seconds = all.wall_seconds;
    r.launches = part_report(piece);
    // The launch after a piece stands in line when it ends.
    if (part_->pieces().size() > 1)
      std::erase_if(r.kernels, [&](const report::KernelRow& k) {
        return k.launch < piece.launches.first || k.launch >= piece.launches.end;
      });
    if (r.launches->blocks.has_value()) {
      r.launches->blocks->instructions = recorded(r.warp_instructions);
      // The launch has begun earlier, and goes on.
      std::erase_if(r.kernels,
                    [&](const report::KernelRow& k) { return k.launch != what_.part->first; });
      for (report::KernelRow& k : r.kernels) {
        k.begin = 0;
        k.cycles = r.cycles;
        k.warp_instructions = r.warp_instructions;
        k.thread_instructions = r.thread_instructions;
      }
    }
    return r;
  };
  const std::vector<PartPiece>& pieces = part_->pieces();
  const uint64_t simulated = what_.part->end - what_.part->begin;
  if (pieces.size() == 1) {
    report::RunResult r = part(pieces[0].from, pieces[0].to, pieces[0]);
    r.energy = report::account_energy(*what_.machine, r);
    r.launches->simulated = simulated;
    return r;
  }
  report::RunResult r =
      part(pieces.front().from, pieces.back().to, {{}, {}, {what_.part->first, what_.part->end}});
  r.energy = report::account_energy(*what_.machine, r);
  r.launches->simulated = simulated;
  r.pieces.reserve(pieces.size());
  for (const PartPiece& piece : pieces) r.pieces.push_back(part(piece.from, piece.to, piece));
  r.pieces.front().launches->simulated = simulated;
  return r;
}

report::RunResult Replay::result(std::string partial_reason) {
  report::RunResult r;
  if (part_.has_value() && part_->is_known()) {
    r.wall_seconds = wall_seconds();
  } else {
    r = counted(control_.last / system_.core_period);
  }
  r.partial = !partial_reason.empty();
  r.partial_reason = std::move(partial_reason);
  if (part_.has_value()) return part_of(r);
  r.energy = report::account_energy(*what_.machine, r);
  return r;
}

double Replay::wall_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
}

/// All that has been counted so far, as of a run that ends now, but for energy, which follows from
/// that.
report::RunResult Replay::counted(uint64_t now_cycle) {
  report::RunResult r;
  r.workload = what_.recording->name;
  r.machine = what_.machine->name;
  r.policy = what_.policy->name;
  r.core_mhz = what_.machine->clocks.core_mhz;
  r.wall_seconds = wall_seconds();
  r.parts.network_wires = what_.machine->interconnect.topology != "mesh";
  r.parts.core_tsvs = config::shape_of(*what_.machine).in_banks();
  r.parts.kept_lines = what_.machine->l2.write_policy == "back" && !what_.machine->l2.sectors;
  r.parts.no_l1 = what_.machine->l1.keep != "lines";
  collect(*what_.recording, image_, mechanisms_, system_, now_cycle, r);
  for (const auto& m : mechanisms_) m->report(system_, r);
  return r;
}

}  // namespace nearwarp::sim
