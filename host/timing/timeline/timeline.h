// Writes the timeline of a run into a file (docs/timeline.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "host/timing/run/replay.h"
#include "host/timing/timeline/busy_tracks.h"
#include "host/timing/timeline/offload_spans.h"
#include "host/timing/timeline/sm_tracks.h"
#include "host/timing/timeline/trace_writer.h"

namespace nearwarp::timeline {

struct Options {
  std::string path;
  uint64_t from = 0, to = ~uint64_t{0};  ///< core cycles that are shown
  /// Core cycles from one sample to the next. 0: the timeline chooses, and doubles the interval as
  /// the file grows.
  uint64_t interval = 0;
  // Limits of the file, which tests lower.
  uint64_t doubles_every = uint64_t{8} << 20;  ///< bytes of samples between doublings of `interval`
  uint64_t most_spans = uint64_t{64} << 20;    ///< bytes of offloads' spans, at most
};

/// The process number, in the trace, of events that Timeline::also() adds.
inline constexpr uint32_t kAlsoPid = 4;

class Timeline final : public sim::RunWatcher {
 public:
  /// Throws nearwarp::Error if the file cannot be written; so do the functions that the run calls.
  explicit Timeline(const Options& options);

  uint32_t log_events() const override;
  void begin(sim::Replay& run) override;
  Tick next_look() const override { return next_look_; }
  void look(sim::Replay& run) override;
  void end(sim::Replay& run, const report::RunResult& result) override;

  /// Set a function that adds further events to the file; it is called when the run is over.
  void also(std::function<void(TraceWriter&)> write) { also_ = std::move(write); }

  /// A text for the user about what has been written; empty before the end.
  const std::string& summary() const { return summary_; }

 private:
  /// Where the run is: before the cycles that are shown, in them, or after them.
  enum class Part : uint8_t { kBefore, kShown, kBeyond };

  void begin_part(sim::Replay& run, Tick at);
  void sample(sim::Replay& run, Tick at);
  void end_part(sim::Replay& run, Tick at);
  void plan(Tick at);
  /// The tick of the sample that follows one at tick `at`; kNever where it does not fit.
  Tick sample_after(Tick at) const;
  uint64_t cycle(Tick at) const { return at / core_period_; }
  bool room_for_spans() const { return span_bytes_ < options_.most_spans; }
  /// Call `write`, and add the bytes that it has written to `bytes`.
  template <class F>
  void counted(uint64_t& bytes, F&& write) {
    const uint64_t before = out_.bytes();
    write();
    bytes += out_.bytes() - before;
  }
  void write_kernels(const report::RunResult& result);
  void write_phases(const report::RunResult& result);
  void summarize(const report::RunResult& result);

  Options options_;
  TraceWriter out_;
  std::optional<SmTracks> sms_;
  std::optional<BusyTracks> busy_;
  std::optional<OffloadSpans> spans_;
  uint32_t core_period_ = 1;
  Part part_ = Part::kBefore;
  Tick from_ = 0, to_ = kNever;  ///< ticks that are shown
  Tick sampled_ = 0;             ///< when the last sample was taken
  Tick next_sample_ = kNever, next_look_ = kNever;
  uint64_t interval_ = 1;  ///< core cycles
  uint64_t samples_ = 0, counter_bytes_ = 0, span_bytes_ = 0, doubled_at_ = 0;
  std::function<void(TraceWriter&)> also_;
  std::string summary_;
};

}  // namespace nearwarp::timeline
