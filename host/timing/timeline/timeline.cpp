// Writes the timeline of a run into a file (docs/timeline.md).
#include "host/timing/timeline/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "host/core/demangle.h"
#include "host/timing/report/section.h"

namespace nearwarp::timeline {

namespace {

/// Core cycles between two samples, before the interval is doubled.
constexpr uint64_t kFirstInterval = 1000;
/// Core cycles after which the SMs' event logs are emptied at the latest. An SM takes one packet
/// and sends one per cycle, and a warp needs some cycles to be decided about, so a log never fills
/// up.
constexpr uint64_t kDrainCycles = 1024;
constexpr uint32_t kLogEvents = 8 * kDrainCycles;

// Numbers of processes in the trace. SMs have one each from kSms on, tracks of busy components from
// kBusy on.
constexpr uint32_t kKernels = 1, kMechanism = 2, kOverview = 3, kSms = 10, kBusy = 10 + (1u << 16);

/// Threads of the trace for spans that may overlap: each span goes to the first thread that is
/// free.
class Lanes {
 public:
  uint32_t lane(uint64_t begin, uint64_t end) {
    for (size_t i = 0; i < ends_.size(); ++i)
      if (ends_[i] <= begin) {
        ends_[i] = end;
        return static_cast<uint32_t>(i);
      }
    ends_.push_back(end);
    return static_cast<uint32_t>(ends_.size() - 1);
  }

 private:
  std::vector<uint64_t> ends_;
};

}  // namespace

Timeline::Timeline(const Options& options)
    : options_(options),
      out_(options.path),
      interval_(options.interval == 0 ? kFirstInterval : options.interval) {}

uint32_t Timeline::log_events() const { return kLogEvents; }

void Timeline::begin(sim::Replay& run) {
  sim::System& system = run.system();
  core_period_ = system.core_period;
  const auto tick = [&](uint64_t cycle) {
    return cycle >= kNever / core_period_ ? kNever : cycle * core_period_;
  };
  from_ = tick(options_.from);
  to_ = tick(options_.to);
  out_.process(kKernels, "kernels", kKernels);
  out_.process(kOverview, "overview", kOverview);
  sms_.emplace(system, out_, kOverview, kSms);
  busy_.emplace(system, out_, kOverview, kBusy);
  spans_.emplace(kSms, core_period_);
  spans_->listen(system, false);
  next_look_ = from_;
  if (from_ == 0) begin_part(run, 0);
}

void Timeline::begin_part(sim::Replay& run, Tick at) {
  part_ = Part::kShown;
  sampled_ = at;
  sms_->begin(run.system(), at);
  busy_->begin(at);
  spans_->listen(run.system(), true);
  next_sample_ = sample_after(at);
  plan(at);
}

Tick Timeline::sample_after(Tick at) const {
  return interval_ >= (kNever - at) / core_period_ ? kNever : at + interval_ * core_period_;
}

void Timeline::plan(Tick at) {
  next_look_ = std::min({next_sample_, at + kDrainCycles * core_period_, to_});
}

void Timeline::sample(sim::Replay& run, Tick at) {
  const uint64_t before = cycle(sampled_);
  counted(counter_bytes_, [&] {
    sms_->sample(run.system(), at, before, out_);
    busy_->sample(at, before, out_);
  });
  samples_ += 1;
  sampled_ = at;
  if (options_.interval == 0 && counter_bytes_ - doubled_at_ >= options_.doubles_every) {
    doubled_at_ = counter_bytes_;
    interval_ *= 2;
  }
  next_sample_ = sample_after(at);
}

void Timeline::end_part(sim::Replay& run, Tick at) {
  if (at > sampled_) sample(run, at);
  counted(span_bytes_, [&] { spans_->end(run.system(), at, out_, room_for_spans()); });
  part_ = Part::kBeyond;
  next_look_ = kNever;
}

void Timeline::look(sim::Replay& run) {
  const Tick at = next_look_;
  if (part_ == Part::kBefore) {
    begin_part(run, at);
    return;
  }
  if (at >= to_) {
    end_part(run, at);
    return;
  }
  counted(span_bytes_, [&] { spans_->take(run.system(), out_, room_for_spans()); });
  if (at >= next_sample_) sample(run, at);
  plan(at);
}

void Timeline::end(sim::Replay& run, const report::RunResult& result) {
  const Tick last = result.cycles * core_period_;
  if (part_ == Part::kShown) end_part(run, std::min(std::max(last, sampled_), to_));
  write_kernels(result);
  write_phases(result);
  if (also_) also_(out_);
  out_.close();
  summarize(result);
}

void Timeline::write_kernels(const report::RunResult& result) {
  std::map<uint64_t, Lanes> streams;
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> threads;
  const uint64_t from = options_.from, to = std::min(options_.to, result.cycles);
  for (const report::KernelRow& k : result.kernels) {
    const uint64_t begin = std::max(k.begin, from), end = std::min(k.begin + k.cycles, to);
    if (begin >= end) continue;
    const uint32_t lane = streams[k.stream].lane(begin, end);
    const auto [thread, is_new] = threads.try_emplace({k.stream, lane}, threads.size() + 1);
    if (is_new) out_.thread(kKernels, thread->second, fmt::format("stream {}", k.stream));
    out_.span(kKernels, thread->second, demangled(k.kernel), begin, end,
              fmt::format("launch {}", k.launch));
  }
}

void Timeline::write_phases(const report::RunResult& result) {
  const uint64_t to = std::min(options_.to, result.cycles);
  uint32_t thread = 0;
  for (const report::MechanismReport* m : report::mechanism_reports()) {
    if (m->phases == nullptr) continue;
    const report::Phases all = m->phases(result);
    if (all.phases.empty()) continue;
    if (thread == 0) out_.process(kMechanism, "mechanism", kMechanism);
    out_.thread(kMechanism, ++thread, all.of);
    for (const report::Phase& p : all.phases) {
      const uint64_t begin = std::max(p.begin, options_.from), end = std::min(p.end, to);
      if (begin < end) out_.span(kMechanism, thread, p.name, begin, end);
    }
  }
}

void Timeline::summarize(const report::RunResult& result) {
  summary_ =
      fmt::format("{}: {:.1f} MB, cycles {} to {}, {} sample{}", options_.path,
                  static_cast<double>(out_.bytes()) / 1e6, std::min(options_.from, result.cycles),
                  std::min(options_.to, result.cycles), samples_, samples_ == 1 ? "" : "s");
  if (options_.from >= result.cycles && options_.from != 0)
    summary_ += fmt::format(" - the run ended in cycle {}, before `from`", result.cycles);
  const uint64_t first = options_.interval == 0 ? kFirstInterval : options_.interval;
  summary_ += first == interval_
                  ? fmt::format(" of {} cycles", interval_)
                  : fmt::format(" of {} to {} cycles, longer as the file grew", first, interval_);
  summary_ += fmt::format(", {} offload{}", spans_->offloads(), spans_->offloads() == 1 ? "" : "s");
  if (spans_->left_out() != 0)
    summary_ += fmt::format(", {} of them without spans - choose a part with `from` and `to`",
                            spans_->left_out());
  if (spans_->lost() != 0) summary_ += fmt::format(", {} events lost", spans_->lost());
  summary_ += "; open it with ui.perfetto.dev (a nanosecond there is a core cycle)";
}

}  // namespace nearwarp::timeline
