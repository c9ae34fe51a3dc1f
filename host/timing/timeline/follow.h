// One warp's way through the machine: what it waits for, and where its lines come from, with times.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/timing/run/replay.h"
#include "host/timing/timeline/trace_writer.h"

namespace nearwarp::timeline {

/// A warp of a kernel: of all its warps the how many-th, from 0 on, thread block after thread
/// block.
struct Followed {
  std::string kernel;   ///< its name, mangled or not, or the beginning of that
  uint64_t launch = 0;  ///< of those of the kernel the how many-th
  uint64_t warp = 0;
};

/// Reads "KERNEL:WARP" or "KERNEL#LAUNCH:WARP"; throws UsageError.
Followed parse_followed(const std::string& text);

/// It looks at the run as often as anything can move, and changes nothing. Loads that miss the L1
/// are followed from channel to channel: a packet is at a place from when it is sent there.
class Follow final : public sim::RunWatcher {
 public:
  explicit Follow(Followed what) : what_(std::move(what)) {}

  /// Throws nearwarp::Error if the program has no such kernel, launch or warp.
  void begin(sim::Replay& run) override;
  Tick next_look() const override { return next_; }
  void look(sim::Replay& run) override;
  void end(sim::Replay& run, const report::RunResult& result) override;

  /// In lines, in the order of time; after the run.
  const std::string& text() const { return text_; }
  /// Spans of the warp and of its requests, under process `pid`.
  void write(TraceWriter& out, uint32_t pid) const;

 private:
  struct Hop {
    uint16_t from = 0, to = 0;
    Tick sent = 0, arrives = 0;
    bool reply = false;
  };
  /// A line that missed the L1 of `sm`.
  struct Request {
    uint16_t sm = 0;
    uint32_t mshr = 0, line = 0, pc = 0;
    Tick begin = 0, end = 0;
    bool joined = false;  ///< another warp had asked for it
    std::vector<Hop> hops;
  };
  struct State {
    Tick begin = 0, end = 0;
    std::string what;
  };

  bool find(sim::Replay& run, Tick at);
  void look_at_warp(sim::Replay& run, Tick at);
  void look_at_requests(sim::Replay& run, Tick at);
  void look_at_channels(sim::Replay& run, Tick at);
  void enter(Tick at, std::string what);
  std::string place_of(sim::Replay& run, uint32_t pc) const;
  std::string text_of(sim::Replay& run) const;

  Followed what_;
  uint32_t launch_ = 0, kernel_ = 0;  ///< of the image
  uint64_t block_ = 0;                ///< counted over all launches
  uint32_t warp_in_block_ = 0;
  uint32_t core_period_ = 1;
  Tick step_ = 1;  ///< no packet is in a channel for less
  Tick next_ = 0;
  bool found_ = false, over_ = false;
  uint16_t sm_ = 0;
  uint32_t slot_ = 0;  ///< warp slot
  uint32_t block_slot_ = 0;
  Tick begin_ = 0, end_ = 0;
  uint64_t issued_ = 0;  ///< instructions seen to be issued
  uint32_t last_pc_ = 0;
  std::vector<Request> requests_;
  std::map<uint32_t, size_t> open_;  ///< by MSHR
  std::vector<State> states_;
  std::vector<std::string> names_;         ///< of endpoints
  std::map<uint32_t, std::string> lines_;  ///< by pc
  std::string text_;
};

}  // namespace nearwarp::timeline
