// The format of a sweep's results: JSON lines, one point per line; documented in docs/sweep.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/core/hash.h"
#include "host/timing/report/result.h"
#include "host/timing/report/sms.h"
#include "host/timing/sweep/plan.h"

namespace nearwarp::sweep {

/// Changes with every change that could break a reader.
inline constexpr const char* kSweepSchema = "nearwarp.sweep/2";

/// The line of a point that ran, with the line feed. `result` gets the point's names.
std::string result_line(const Plan& plan, const Point& point, report::RunResult result);

/// The line of a point that failed.
std::string failure_line(const Plan& plan, const Point& point, const std::string& error);

/// The energy of a run, in joules.
struct EnergySummary {
  double total = 0;
  std::array<double, report::kNumEnergyParts> parts{};
};

/// The numbers of a line that tables are made of.
struct Summary {
  std::string error;     ///< why the point failed; else empty
  bool partial = false;  ///< all numbers are up to where the run stopped
  uint64_t cycles = 0;
  uint64_t gpu_to_memory_bytes = 0, memory_to_gpu_bytes = 0, memory_to_memory_bytes = 0;
  double ipc = 0, offloaded_fraction = 0;
  double gpu_to_memory_used = 0, memory_to_gpu_used = 0;  ///< of the bandwidth, 0 to 1
  std::optional<EnergySummary> energy;  ///< not in lines of versions without an energy account
  report::SmNumbers sms;
  /// The approximations made (docs/launches.md), e.g. "launches 3 to 5 of 9; ..."; empty: none.
  std::string approximated;
  std::string in_one_go;  ///< why it was not divided, where that was wanted; else empty
  std::optional<report::SampleReport> sample;  ///< of launches, if it is one
  uint64_t few_instances = 0;  ///< that a mapping was learnt from, if they were few; else 0

  bool failed() const { return !error.empty(); }
  bool complete() const { return !failed() && !partial; }
};

/// A value that is written in TOML, as lines have it.
std::string line_value(const std::string& toml);

/// A line as it is read.
struct Record {
  std::string id, sweep;  ///< of the point; of the sweep that it was written by
  uint64_t index = 0;     ///< position in that sweep
  std::string workload, size, machine, policy;
  struct Override {
    std::string key, value;  ///< see line_value()
  };
  std::vector<Override> overrides;
  std::string title;  ///< workload, machine, policy, overrides: for messages
  Summary summary;
  /// Hash of what is equal whenever the point is run: everything but `host`, and how the overrides
  /// were written.
  Hash128 content = {};
};

/// Reads a line without its line feed; throws nearwarp::Error that begins with `where`.
Record read_line(std::string_view line, const std::string& where);

/// The name of the first member in which the runs of two lines of one point differ, apart from
/// `host` and how the overrides were written; empty if there is none.
std::string difference(std::string_view line, std::string_view other);

/// Can `text`, which has no line feed, be the beginning of a line?
bool is_torn_line(std::string_view text);

}  // namespace nearwarp::sweep
