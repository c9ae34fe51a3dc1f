// Looks for races between threads, barriers and masks that are misused, reads of memory that nobody
// wrote, and memory errors (docs/check.md).
#pragma once

#include <nearwarp/device.h>
#include <nearwarp/failure.h>
#include <nearwarp/program.h>
#include <nearwarp/texts.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nearwarp {

struct CheckOptions {
  std::string kernels = {};  ///< regular expression: only those with a match; empty: all
  bool misuse = true;        ///< look for barriers and masks that are misused
  bool unwritten = true;     ///< look for reads of memory that nobody wrote
  /// Asked some times a second; returns false to stop. Of workloads: applications have
  /// ApplicationOptions::go_on.
  std::function<bool(const Activity&)> progress = {};
};

/// An instruction that a thread executes.
struct CheckedAccess {
  std::string kind;    ///< "read", "write", "atomic", "asynchronous copy"; "barrier", "exchange"
  std::string text;    ///< the instruction in PTX
  std::string source;  ///< "reduce.cu:12"; empty without line information
  std::string caller;  ///< the same of the outermost function, where that is another one; or empty
  std::string ptx;     ///< "reduce.ptx:34"
  Extent block, thread;
};

/// A defect of a line, or of a pair of lines; accesses are those of the first time.
struct Finding {
  enum class Kind : uint8_t {
    kHazard,     ///< two accesses that nothing orders
    kMisuse,     ///< misuse of a barrier or a mask
    kUnwritten,  ///< a read of memory that nobody wrote
  };
  Kind kind = Kind::kHazard;
  std::string what;      ///< the kind of hazard or misuse, e.g. "read after write"
  std::string distance;  ///< the nearest threads of a hazard, e.g. "between warps of a block"
  std::string kernel;
  CheckedAccess at;
  std::optional<CheckedAccess> earlier = {};  ///< the earlier access of a hazard
  bool shared = false;     ///< the place is in shared memory, else in device memory
  uint64_t address = 0;    ///< address in device memory, or offset in shared memory
  std::string place;       ///< the same in words, or which lanes misuse
  uint64_t count = 0;      ///< threads
  uint64_t unchanged = 0;  ///< those of them that wrote the value that was there
};

/// Findings in a program, or in a process of an application.
struct NEARWARP_API CheckedProgram {
  std::string name;
  uint64_t launches = 0;    ///< launches that were checked
  uint64_t accesses = 0;    ///< accesses of warps to shared and device memory
  uint64_t same_value = 0;  ///< writes of what an unordered write had put there: no hazards
  uint64_t forgotten = 0;   ///< parts of memory whose accesses were forgotten, for lack of room
  uint64_t left_out = 0;    ///< findings beyond the most that are kept
  std::vector<Finding> findings;    ///< hazards, misuses, unwritten reads, as found
  std::vector<std::string> errors;  ///< memory errors, faults of kernels
  bool clean() const { return findings.empty() && errors.empty(); }

  /// As `nearwarp check` prints it: a paragraph for each finding, `most` at most.
  Expected<std::string> text(size_t most = 20) const;

  struct Whole;
  std::shared_ptr<const Whole> whole = {};
};

struct CheckReport {
  static constexpr size_t kMostFindings = 1000;  ///< kept of each kind and program
  std::vector<CheckedProgram> programs;
  std::string document;      ///< as `nearwarp check --json` writes it
  int exit_status = 0;       ///< the application's; 128 + signal if a signal ended it
  bool interrupted = false;  ///< ApplicationOptions::go_on said so: findings are partial
  bool clean() const {
    for (const CheckedProgram& p : programs)
      if (!p.clean()) return false;
    return true;
  }
};

/// Executes one of workload_names() and looks. A failure, too, if no kernel was looked at.
NEARWARP_API Expected<CheckReport> check_workload(const std::string& name,
                                                  const std::string& size = "small",
                                                  const CheckOptions& options = {});
/// Runs a CUDA application as Program::run_application() does, and looks at its kernels;
/// ApplicationOptions::kernels is CheckOptions'.
NEARWARP_API Expected<CheckReport> check_application(Texts command,
                                                     const ApplicationOptions& run = {},
                                                     const CheckOptions& options = {});

}  // namespace nearwarp
