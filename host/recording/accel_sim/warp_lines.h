// The lines of a warp's instructions in a trace, from a recording.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/recording/accel_sim/mbarrier_story.h"
#include "host/recording/recording.h"

namespace nearwarp::sass {

/// Generic addresses of shared memory begin here in traces that are written.
inline constexpr uint64_t kWrittenSharedBase = 0x7f3a'0000'0000;

/// Visits a warp's traces (chunk_walk.h) and hands on a line for each machine instruction.
class WarpLines {
 public:
  WarpLines(const compiler::Kernel& kernel, const runtime::LaunchRecord& launch,
            MbarrierStory& story, std::function<void(const std::string&)> to);

  void warp(uint64_t thread_block, uint32_t warp);
  void run(uint32_t block, uint32_t instructions, uint32_t mask);
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words);
  /// Behind the last record of a warp.
  void finish_warp();
  /// A box for several blocks told mbarriers that do not lie alike, which no line can name.
  bool left_out() const { return left_out_; }

 private:
  struct Box {
    bool open = false, ends = false;
    uint32_t instruction = 0, mask = 0;
    std::vector<uint64_t> addresses;
    uint64_t mbarrier = 0;
    uint32_t blocks = 0;  ///< whose mbarriers it tells, as bits
  };
  void instruction(uint32_t lanes, const uint64_t* words);
  void finish_run();
  void finish_box();
  void finish_product(bool commits);
  void begin_line(uint32_t index, uint32_t mask);
  void end_line(const std::string& immediates, uint32_t operands, const std::string& last_values);
  void memory(uint32_t index, uint32_t lanes, const uint64_t* words);
  void events(uint32_t index, uint32_t lanes, const uint64_t* words);
  void addresses(uint32_t bytes, uint32_t mask, const uint64_t* address);
  void plain(uint32_t index);
  /// The address of the mbarrier at which something arrives.
  uint64_t place_of(const trace::PhaseEvent& event) const;
  uint32_t rank_of(const trace::PhaseEvent& event) const {
    return event.block == 0 ? rank_ : event.block - 1;
  }
  uint64_t traced(const compiler::Instruction& in, uint64_t address) const;

  const compiler::Kernel& kernel_;
  const runtime::LaunchRecord& launch_;
  MbarrierStory& story_;
  std::function<void(const std::string&)> to_;
  std::vector<uint32_t> number_of_;  ///< of each instruction among those that are written
  uint32_t rank_ = 0;                ///< of the thread block in its cluster
  uint32_t mask_ = 0, next_ = 0, end_ = 0;
  Box box_;
  bool has_product_ = false, left_out_ = false;
  std::string product_[2];  ///< before and behind whether it commits
  std::string line_;
  uint32_t operands_ = 0;
};

}  // namespace nearwarp::sass
