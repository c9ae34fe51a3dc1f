// The result of a run.
#pragma once

#include <nearwarp/configuration.h>
#include <nearwarp/failure.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nearwarp {

/// A counter, summed over the components of its kind.
struct Counter {
  std::string name;  ///< dotted, e.g. "sm.l1.read_hits"
  uint64_t value = 0;
  std::string unit, description;
};

/// A launch in a run.
struct LaunchResult {
  std::string kernel;
  uint64_t begin_cycle = 0, cycles = 0;
  uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// The findings of a run; docs/json.md explains the rest.
struct NEARWARP_API Result {
  std::string program, size, machine, policy;
  bool partial = false;  ///< it stopped before the program's end
  std::string partial_reason;
  uint64_t cycles = 0;  ///< of the core clock
  double seconds = 0;   ///< simulated
  uint64_t warp_instructions = 0, thread_instructions = 0, offloaded_thread_instructions = 0;
  double ipc = 0;  ///< thread-instructions a cycle
  uint64_t gpu_to_memory_bytes = 0, memory_to_gpu_bytes = 0, memory_to_memory_bytes = 0;
  double energy_joules = 0;  ///< an estimate (docs/energy.md)
  bool exact = true;         ///< false: of a sample, or of parts some of which began on a machine
                             ///< that was not simulated up to there
  /// How far a sample's `cycles` may be off, relative to them, at 95 % confidence.
  std::optional<double> cycles_error = {};
  double host_seconds =
      0;  ///< that the simulation took; the only member that differs from run to run
  std::vector<Counter> counters;
  std::vector<LaunchResult> launches;
  std::string json;           ///< all of it, a member of `runs` in docs/json.md
  std::string followed = {};  ///< BatchOptions::follow's way through the machine, in lines

  struct Whole;
  std::shared_ptr<const Whole> whole = {};  ///< what table() is made of

  /// A counter's value, or a failure that names the nearest ones.
  Expected<uint64_t> counter(std::string_view name) const;
};

struct TableOptions {
  size_t width = 80;     ///< columns
  bool legend = false;   ///< what the rows are
  bool explain = false;  ///< more: what takes energy, why candidates were offloaded or not
};
/// The tables of `nearwarp run`: runs of one program side by side, the first being what others are
/// compared with. Runs of several programs or machines are refused.
NEARWARP_API Expected<std::string> table(std::span<const Result> results,
                                         const TableOptions& options = {});
/// The document of `nearwarp run --json` (docs/json.md); `machine` is the one of all runs.
NEARWARP_API Expected<std::string> document(std::span<const Result> results,
                                            const Machine& machine);

}  // namespace nearwarp
