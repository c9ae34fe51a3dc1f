// Traces of what programs executed: their profiles, Accel-Sim's traces, and the way there.
#pragma once

#include <nearwarp/configuration.h>
#include <nearwarp/failure.h>
#include <nearwarp/program.h>
#include <nearwarp/texts.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace nearwarp {

/// Memory instructions as warps execute them.
struct AccessProfile {
  uint64_t accesses = 0;  ///< warp-instructions
  uint64_t lanes = 0;     ///< active lanes of these, in all
  // These are counted for device memory, not for shared memory and constants:
  uint64_t sectors = 0;  ///< different ones of 32 bytes that an access touches, in all
  uint64_t lines = 0;    ///< likewise, of ProgramProfile::line_bytes
  uint64_t bytes = 0;    ///< different ones that an access reads or writes, in all
};
struct ProfileCounts {
  uint64_t warp_instructions = 0, thread_instructions = 0;
  AccessProfile loads, stores, atomics;  ///< accesses to global memory
  AccessProfile local, shared, constant;
};
struct KernelProfile {
  std::string kernel;  ///< mangled
  uint64_t launches = 0;
  ProfileCounts counts;
};
/// The instructions of a kernel from one line of the source; without line information, of the PTX.
struct LineProfile {
  std::string kernel;
  std::string file;
  uint32_t line = 0;      ///< 0: not known
  uint32_t ptx_line = 0;  ///< only if `line` is 0
  ProfileCounts counts;
};
struct NEARWARP_API ProgramProfile {
  uint32_t line_bytes = 0;
  uint64_t launches = 0;
  ProfileCounts all;
  std::vector<KernelProfile> kernels;
  std::vector<LineProfile> lines;  ///< most warp-instructions first

  /// As `nearwarp run --profile` prints it, with so many lines at most.
  Expected<std::string> text(size_t most_lines = 20) const;
  struct Whole;
  std::shared_ptr<const Whole> whole = {};
};
struct ProfileOptions {
  unsigned threads = 1;
  /// Asked some times a second; returns false to stop.
  std::function<bool(const Activity&)> progress = {};
};
/// Counts what a program executed, by kernels and source lines; the machine says how long lines
/// are.
NEARWARP_API Expected<ProgramProfile> profile_program(const Program& program,
                                                      const Machine& machine,
                                                      const ProfileOptions& options = {});
/// The document of `nearwarp run --profile --json` (docs/profile.md). `changes` are what it says to
/// have been changed.
NEARWARP_API Expected<std::string> profile_document(std::span<const ProgramProfile> profiles,
                                                    const Machine& machine, Texts changes = {});

/// An opcode in Accel-Sim's traces.
struct TracedOpcode {
  std::string name;   ///< without modifiers
  std::string group;  ///< what it is taken for
  uint64_t warp_instructions = 0, thread_instructions = 0;
};
struct TracedKernel {
  std::string name;
  uint32_t binary_version = 0, registers = 0;
  uint64_t launches = 0, thread_blocks = 0;
  uint32_t static_instructions = 0;   ///< instructions that were executed at least once
  std::vector<TracedOpcode> opcodes;  ///< most frequent first
  std::vector<std::string> groups;    ///< groups of opcodes, in the order of reports
};
struct TraceSummary {
  std::vector<TracedKernel> kernels;
  std::vector<std::string> warnings;  ///< what is approximated
};
/// Reads Accel-Sim's traces (kernelslist.g) from their beginning to their end.
NEARWARP_API Expected<TraceSummary> summarize_traces(const std::string& path,
                                                     const ProgramOptions& options = {});
/// Why traces have no code that could be offloaded.
NEARWARP_API std::string why_traces_do_without_code();
/// Writes a program as Accel-Sim's tracer does; returns the path of the list. `tell` is called once
/// if something that the program did could not be written.
NEARWARP_API Expected<std::string> write_traces(
    const Program& program, const std::string& folder,
    const std::function<void(const std::string&)>& tell = {});

}  // namespace nearwarp
