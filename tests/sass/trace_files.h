// Accel-Sim traces for tests: written by hand, compressed, or made from a recording.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::testing {

/// A folder that is gone afterwards.
class TraceFolder {
 public:
  TraceFolder();
  ~TraceFolder();
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Write a file; returns its path.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

std::string xz(const std::string& text);
std::string zstd(const std::string& text);

/// A kernel's file in parts.
struct TraceText {
  std::string name = "kernel";
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {32, 1, 1};
  uint32_t shared = 0, registers = 16, binary = 80, version = 4;
  uint64_t stream = 0;
  bool line_info = false;
  std::string body;  ///< what is behind the header

  std::string header() const;
  std::string text() const { return header() + body; }
  /// Append a thread block whose warps have these lines.
  void thread_block(const std::string& position, const std::vector<std::string>& warps);
};

/// How addresses are written.
enum class AddressMode : uint8_t { kList, kStride, kDelta };

/// The traces of one launch of a recording as a kernel's file, its PTX instructions as the nearest
/// machine instructions. Strides are written as distances where they do not suffice.
std::string trace_of(const runtime::Recording& recording, uint32_t launch, AddressMode mode,
                     uint32_t version);
/// Writes traces of all of it: kernelslist.g and its files in `folder`; returns the list's path.
std::string write_traces(const runtime::Recording& recording, const TraceFolder& folder,
                         AddressMode mode, uint32_t version);

}  // namespace nearwarp::testing
