// Text around the instructions of Accel-Sim's traces: the list of kernels, a kernel's header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/recording/accel_sim/line_reader.h"
#include "host/recording/recording.h"

namespace nearwarp::sass {

/// A copy to the device before a kernel.
struct CopyToDevice {
  uint64_t address = 0, bytes = 0;  ///< of the traced GPU
  size_t kernels_before = 0;        ///< in the list
};

/// kernelslist.g: copies to the device and kernels, in the program's order.
struct TraceList {
  std::string path;
  std::vector<std::string> kernels;  ///< files, with the list's folder in front
  std::vector<CopyToDevice> copies;
  std::vector<std::string> passed_over;  ///< first words of other lines, each once
};

/// The name that a line begins with which marks a place in a trace and is no part of it, as
/// REPLAY_START; empty for other lines.
std::string_view marker_of(std::string_view line);
/// Adds a word that is not there yet.
void add_once(std::vector<std::string>& words, std::string_view word);

/// The lines "-key = value" at the top of a kernel's file.
struct KernelHeader {
  std::string name;
  runtime::Dim3 grid, block;
  runtime::Dim3 cluster;        ///< in thread blocks
  uint32_t shared_bytes = 0;    ///< static plus dynamic
  uint32_t registers = 0;       ///< per thread
  uint32_t binary_version = 0;  ///< 70 for sm_70; 0: the header does not say
  uint32_t tracer_version = 0;
  uint64_t stream = 0;                       ///< its handle
  uint64_t shared_base = 0, local_base = 0;  ///< generic addresses of the windows; 0: not given
  bool line_info = false;                    ///< instructions begin with a source line
  std::vector<std::string> doubts;           ///< impossible values that are not used
};

/// True for what can be given in place of a workload: "*.g", "*.traceg", with ".xz" or ".zst", and
/// "*.tracez".
bool names_trace(const std::string& name);

/// Read a kernelslist.g; for the name of one kernel's file, a list of that kernel. Files that are
/// not there are looked for with and without ".xz" and ".zst". Throws nearwarp::Error for lists
/// that cannot be used; lines that are neither copies nor kernels are passed over.
TraceList read_trace_list(const std::string& path);

/// Read a kernel's header, up to and with the first line that begins with '#'. Throws
/// nearwarp::Error, with file and line, for values that are missing, malformed or impossible.
KernelHeader read_kernel_header(LineReader& lines);
/// Reads a header that ends where `lines` do.
KernelHeader read_whole_header(LineReader& lines);

}  // namespace nearwarp::sass
