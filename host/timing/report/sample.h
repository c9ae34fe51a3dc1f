// A sample of a program's launches: what of it is simulated, and how sure that makes what is said
// of the whole (docs/launches.md).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace nearwarp::report {

/// Units, which are launches or those that may run together, that are alike.
struct SampleStratum {
  std::string kernels;
  uint32_t group = 0;     ///< strata of the same kernels have one number
  bool has_line = false;  ///< its group's estimates follow a line over sizes
  uint64_t units = 0, sampled = 0;
  double spread = 0;  ///< expected: standard deviation of cycles over their mean
};

/// Thread blocks of a launch: simulated from `begin` on, reported from the dispatch of `first` to
/// that of `end`, or the launch's end.
struct BlocksReport {
  uint64_t begin = 0, first = 0, end = 0;
  uint64_t instructions = 0;  ///< warp-instructions committed in between, as they are recorded
};

/// Launches that were simulated and are reported as one, or thread blocks of one, and stand for
/// others.
struct SampledLaunches {
  static constexpr uint32_t kItself = 0xffffffffu;
  uint64_t first = 0, last = 0;  ///< from 1 on
  uint32_t stratum = kItself;    ///< kItself: they stand for themselves alone
  double weight = 1;             ///< units that they stand for
  double size = 0;               ///< as known beforehand of all units
  uint64_t cycles = 0;
  std::optional<BlocksReport> blocks = {};  ///< only these of the launch
};

struct SampleReport {
  double error = 0;        ///< relative, of the sum of all cycles, that was wanted
  uint64_t units = 0;      ///< of the program
  uint64_t launches = 0;   ///< that were simulated for themselves
  uint64_t divided = 0;    ///< of the program, that are sampled inside
  double simulated = 0;    ///< warp-instructions that were simulated over those of the program
  double expectation = 0;  ///< units' cycles that the expected spread weighs as much as
  bool by_load = false;    ///< runtime::LaunchSample::by_load: spread is at least as expected
  double start_error = 0;  ///< relative, of what parts begin with, at 95 % confidence
  std::vector<SampleStratum> strata;
  std::vector<SampledLaunches> parts;
};

/// How far the estimate of all cycles may be off, relative to it, at 95 % confidence.
double cycles_error(const SampleReport& sample);
/// The error of the cycles of `a` over those of `b`, for speed-ups; nothing if they are not samples
/// of the same launches. A run that is no sample has no error of its own: null.
std::optional<double> ratio_error(const SampleReport* a, const SampleReport* b);

nlohmann::ordered_json sample_json(const SampleReport& sample);
/// Reads sample_json()'s text; nothing for a run's `launches` without one. Throws Json::exception.
std::optional<SampleReport> sample_of(const nlohmann::ordered_json& launches);

}  // namespace nearwarp::report
