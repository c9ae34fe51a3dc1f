// A program of the user's own in an experiment, beside the workloads that come with nearwarp.
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
  std::string file;  ///< in its place: as many bytes as the file has, to the end of the buffer
};

/// A buffer's name, or a number for the parameter's type.
using PtxArgument = std::variant<std::string, int64_t, double>;

struct PtxLaunch {
  std::string kernel;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t shared_bytes = 0;  ///< dynamic
  uint64_t times = 1;
  std::vector<PtxArgument> arguments;
};

/// One of: an application with its arguments; a recording, or traces of Accel-Sim's; PTX with the
/// launches of its kernels.
struct OwnProgram {
  std::string name;  ///< as studies have it
  std::string app;
  std::vector<std::string> arguments;
  std::string kernels;  ///< of the application: regular expression; empty: all
  std::string machine;  ///< that it takes the GPU for; empty: tom
  std::string recording;
  std::string ptx;
  std::vector<PtxBuffer> buffers;
  std::vector<PtxLaunch> launches;
  std::string place;  ///< file:line
};

}  // namespace nearwarp::experiment
