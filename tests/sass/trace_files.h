// Makes Accel-Sim traces for tests: from text written by hand, compressed, or from a recording.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::testing {

/// A temporary folder, which the destructor removes.
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

/// The trace file of a kernel, put together from its header's fields and a body.
struct TraceText {
  std::string name = "kernel";
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {32, 1, 1};
  uint32_t shared = 0, registers = 16, binary = 80, version = 4;
  uint64_t stream = 0;
  bool line_info = false;
  std::string body;  ///< the text that follows the header

  std::string header() const;
  std::string text() const { return header() + body; }
  /// Append a thread block; each element of `warps` has the lines of one warp.
  void thread_block(const std::string& position, const std::vector<std::string>& warps);
};

/// The form in which a trace gives the addresses of an access.
enum class AddressMode : uint8_t { kList, kStride, kDelta };

/// One launch of a recording as the text of a kernel's trace file, with the nearest machine
/// instruction in place of each PTX instruction. With kStride, addresses without a common stride
/// are written as kDelta.
std::string trace_of(const runtime::Recording& recording, uint32_t launch, AddressMode mode,
                     uint32_t version);
/// Write the traces of a whole recording into `folder`: kernelslist.g and the files that it lists.
/// Returns the list's path.
std::string write_traces(const runtime::Recording& recording, const TraceFolder& folder,
                         AddressMode mode, uint32_t version);

}  // namespace nearwarp::testing
