// Reads the traces of a program, as Accel-Sim's tracer writes them, into a recording.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/recording/accel_sim/opcode_table.h"
#include "host/recording/recording.h"

namespace nearwarp::sass {

struct ReadOptions {
  runtime::TraceStore::Options traces;
  /// Called now and then with the bytes of the files read and of all; return false to stop
  /// (read_program() then throws Interrupted).
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

/// Executions of an opcode by a kernel's warps.
struct OpcodeCount {
  std::string name;  ///< without modifiers
  OpcodeClass opcode_class = OpcodeClass::kUnknown;
  uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// All that the traces say of a kernel, over all its launches.
struct KernelSummary {
  std::string name;
  uint32_t binary_version = 0, registers = 0;
  uint64_t launches = 0, thread_blocks = 0;
  uint32_t static_instructions = 0;  ///< that were executed at least once
  std::vector<OpcodeCount> opcodes;  ///< most frequent first
};

struct TraceProgram {
  runtime::Recording recording;
  std::vector<KernelSummary> kernels;  ///< as in the recording
  std::vector<std::string> warnings;   ///< of what is approximated
};

/// Read a kernelslist.g or one kernel's file from its beginning to its end. Memory stays bounded:
/// a thread block at a time, and what TraceStore keeps. Throws nearwarp::Error, with file and line,
/// for what cannot be used.
TraceProgram read_program(const std::string& path, const ReadOptions& options = {});

/// Name and contents of every file of the program, for keys of caches and sweeps: the same where
/// the files have been copied to. Throws nearwarp::Error if one is missing.
std::string fingerprint(const std::string& path);

/// Why mechanisms that choose code of the program are not possible for a trace.
extern const char* const kNoOffloading;

}  // namespace nearwarp::sass
