// A run's timeline in a file: docs/timeline.md.
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
  // Core cycles: what is shown, and from one sample to the next. 0: the timeline chooses, and
  // doubles it as the file grows.
  uint64_t from = 0, to = ~uint64_t{0};
  uint64_t interval = 0;
  // For tests; bytes.
  uint64_t doubles_every = uint64_t{8} << 20;  ///< of counters
  uint64_t most_spans = uint64_t{64} << 20;    ///< of offloads
};

/// Process number for what Timeline::also() writes.
inline constexpr uint32_t kAlsoPid = 4;

class Timeline final : public sim::RunWatcher {
 public:
  /// Throws nearwarp::Error if the file cannot be written, as the run will.
  explicit Timeline(const Options& options);

  uint32_t log_events() const override;
  void begin(sim::Replay& run) override;
  Tick next_look() const override { return next_look_; }
  void look(sim::Replay& run) override;
  void end(sim::Replay& run, const report::RunResult& result) override;

  /// Sets what else is to be in the file; `write` is called when the run is over.
  void also(std::function<void(TraceWriter&)> write) { also_ = std::move(write); }

  /// Says for the user what has been written; empty before the end.
  const std::string& summary() const { return summary_; }

 private:
  enum class Part : uint8_t { kBefore, kShown, kBeyond };

  void begin_part(sim::Replay& run, Tick at);
  void sample(sim::Replay& run, Tick at);
  void end_part(sim::Replay& run, Tick at);
  void plan(Tick at);
  uint64_t cycle(Tick at) const { return at / core_period_; }
  bool room_for_spans() const { return span_bytes_ < options_.most_spans; }
  /// Do `write`, and count its bytes.
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
  Tick from_ = 0, to_ = kNever;  ///< what is shown
  Tick sampled_ = 0;             ///< the last sample was taken then
  Tick next_sample_ = kNever, next_look_ = kNever;
  uint64_t interval_ = 1;  ///< core cycles
  uint64_t samples_ = 0, counter_bytes_ = 0, span_bytes_ = 0, doubled_at_ = 0;
  std::function<void(TraceWriter&)> also_;
  std::string summary_;
};

}  // namespace nearwarp::timeline
