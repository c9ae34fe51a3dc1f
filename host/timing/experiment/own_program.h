// A user's own program in an experiment, beside the workloads that come with nearwarp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace nearwarp::experiment {

/// Device memory that launches of PTX work on.
struct PtxBuffer {
  std::string name;
  uint64_t bytes = 0;
  /// Contents at first: "zero"; "index": 32-bit integers 0, 1, 2, ...; "random": 32-bit floats from
  /// 0 to 1, the same in every run.
  std::string fill;
  std::string file;  ///< if set, a file whose bytes the buffer begins with, up to its size
};

/// A buffer's name, or a number for the parameter's type.
using PtxArgument = std::variant<std::string, int64_t, double>;

/// A launch of a kernel, or several equal ones.
struct PtxLaunch {
  std::string kernel;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t shared_bytes = 0;  ///< dynamic shared memory of a thread block
  uint64_t times = 1;
  std::vector<PtxArgument> arguments;
};

/// A program: either an application with its arguments, or a recording or traces of Accel-Sim's, or
/// PTX with the launches of its kernels.
struct OwnProgram {
  std::string name;  ///< its name in studies
  std::string app;
  std::vector<std::string> arguments;
  std::string kernels;  ///< regular expression of the application's kernels to record; empty: all
  std::string machine;  ///< machine that the application takes the GPU for; empty: tom
  std::string recording;
  std::string ptx;
  std::vector<PtxBuffer> buffers;
  std::vector<PtxLaunch> launches;
  std::string place;  ///< place of its definition, "file:line"
};

}  // namespace nearwarp::experiment
