// Reads one kernel launch from a text: thread blocks, warps, instructions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/recording/accel_sim/launch_builder.h"
#include "host/recording/accel_sim/line_reader.h"

namespace nearwarp::sass {

/// The thread blocks of a grid that have been read.
class BlocksSeen {
 public:
  explicit BlocksSeen(const runtime::Dim3& grid) : grid_(grid) {}
  bool is_inside(const uint32_t (&at)[3]) const {
    return at[0] < grid_.x && at[1] < grid_.y && at[2] < grid_.z;
  }
  /// Adds the block at a position inside the grid; false if it was added before.
  bool add(const uint32_t (&at)[3]) {
    const uint64_t index = at[0] + uint64_t{grid_.x} * (at[1] + uint64_t{grid_.y} * at[2]);
    if (index >= seen_.size()) seen_.resize(index + 1);
    if (seen_[index]) return false;
    seen_[index] = true;
    return true;
  }

 private:
  runtime::Dim3 grid_;
  std::vector<bool> seen_;
};

class LaunchReader {
 public:
  /// `lines` has been read up to the end of the header. `builder` receives the traces.
  LaunchReader(LineReader& lines, const KernelHeader& header, LaunchBuilder& builder);

  /// Read to the end of the file. `progress` is called every few thousand lines, and may throw.
  /// Throws nearwarp::Error, with file and line, if something is malformed, missing or duplicate.
  runtime::LaunchRecord read(const std::function<void()>& progress);
  /// Names of markers in the file, each once.
  const std::vector<std::string>& markers() const { return markers_; }

 private:
  /// Reads the next line that is neither empty nor a marker; false at the end of the file.
  bool next(std::string_view* line);
  /// Reads a thread block, from behind "#BEGIN_TB" to "#END_TB".
  void thread_block();
  void check_thread_block(std::string_view line);
  /// Reads a line on the block's position in its cluster; false if the line is something else.
  bool check_cluster(std::string_view line, uint32_t* rank) const;
  void warp(uint32_t number);

  LineReader& lines_;
  const KernelHeader& header_;
  LaunchBuilder& builder_;
  std::vector<bool> warp_seen_;
  BlocksSeen blocks_seen_;
  std::vector<std::string> markers_;
  uint64_t lines_until_progress_ = 0;
  const std::function<void()>* progress_ = nullptr;
};

}  // namespace nearwarp::sass
