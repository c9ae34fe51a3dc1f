// A built-in workload: a CUDA program whose host side drives the virtual device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/workloads/parameters.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp::workloads {

enum class Size { kSmall, kMedium, kLarge, kPaper };

/// Thread-instructions after which size `paper` stops (TOM, section 5.3).
inline constexpr uint64_t kPaperThreadInstructions = 2'000'000'000;

/// The outcome of a run's self-check.
struct CheckResult {
  bool passed = false;
  bool skipped = false;  ///< the instruction limit ended the program before its result
  std::string detail;    ///< what was compared; for a failure the first difference
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::string name() const = 0;         ///< as on the command line, e.g. "bfs-rmat"
  virtual std::string description() const = 0;  ///< one line
  virtual std::string source() const = 0;       ///< the suite or paper it follows, for `list`
  virtual std::string ptx_name() const = 0;     ///< e.g. "libor.ptx", of its folder
  /// Name of the workload of which this is a variant, e.g. "libor" of "libor-original"; or empty.
  virtual std::string variant_of() const { return {}; }
  /// A variant whose PTX was compiled without unrolling loops; named as its original, "-rolled".
  virtual bool rolled() const { return false; }
  /// A variant that is the same code on other data; it has no variant without unrolling.
  virtual bool other_input() const { return false; }
  /// Parameters that its name may set besides: "decode-step:batch=8".
  virtual std::vector<Parameter> parameters() const { return {}; }
  /// The workload with these values of its parameters, called `name`; of one that has parameters.
  virtual std::unique_ptr<Workload> with(std::string name, Values values) const;
  /// The program's host side: launches kernels of `module`, which is loaded on `device`, with
  /// deterministic inputs and compares with a plain CPU reference.
  virtual CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const = 0;

  /// Text of that PTX; all are embedded at build time.
  std::string ptx() const;
  /// Load the PTX on `device` and drive it.
  CheckResult run(runtime::VirtualDevice& device, Size size) const;
};

using Workloads = std::vector<std::unique_ptr<Workload>>;

/// All built-in workloads, in the order of `nearwarp list workloads`.
const Workloads& all();
/// The workload of that name, with the parameters that the name has, or nullptr. Throws
/// nearwarp::UsageError where a workload does not have such a parameter.
const Workload* find(const std::string& name);

/// Differs when anything that makes inputs or launches differs: part of the trace cache's keys.
std::string drivers_hash();

Size parse_size(const std::string& text);  ///< throws nearwarp::UsageError

}  // namespace nearwarp::workloads
