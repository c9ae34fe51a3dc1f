// One warp's way through the machine: what it waits for, and where its lines come from, with times;
// what can be followed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/timing/timeline/request_way.h"

namespace nearwarp::timeline {

/// A warp of a kernel: of all its warps the how many-th, from 0 on, thread block after thread
/// block. Or one of its requests, or all requests for a line of memory.
struct Followed {
  std::string kernel;   ///< its name, mangled or not, or the beginning of that
  uint64_t launch = 0;  ///< of those of the kernel the how many-th
  uint64_t warp = 0;
  uint64_t request = 0;  ///< of those that miss the L1 the how many-th, from 1 on; 0: all
  std::optional<uint64_t> address;  ///< instead of a kernel: in device memory
};

/// Reads "KERNEL:WARP", "KERNEL#LAUNCH:WARP", the same with "/REQUEST", or "0xADDRESS"; throws
/// UsageError.
Followed parse_followed(const std::string& text);

/// Looks at a run as often as anything that it follows can move, and changes nothing.
class Follower : public sim::RunWatcher {
 public:
  /// In lines, in the order of time; after the run.
  virtual const std::string& text() const = 0;
  /// Writes what was followed as spans, under process `pid`.
  virtual void write(TraceWriter& out, uint32_t pid) const = 0;
};
std::unique_ptr<Follower> make_follower(Followed what);

/// Follows a warp. Loads that miss the L1 are followed from channel to channel: a packet is at a
/// place from when it is sent there.
class Follow final : public Follower {
 public:
  explicit Follow(Followed what) : what_(std::move(what)) {}

  /// Throws nearwarp::Error if the program has no such kernel, launch or warp.
  void begin(sim::Replay& run) override;
  Tick next_look() const override { return next_; }
  void look(sim::Replay& run) override;
  void end(sim::Replay& run, const report::RunResult& result) override;
  const std::string& text() const override { return text_; }
  void write(TraceWriter& out, uint32_t pid) const override;

 private:
  struct State {
    Tick begin = 0, end = 0;
    std::string what;
  };

  bool find(sim::Replay& run, Tick at);
  void look_at_warp(sim::Replay& run, Tick at);
  void look_at_requests(sim::Replay& run, Tick at);
  void look_at_channels(sim::Replay& run, Tick at);
  void enter(Tick at, std::string what);
  std::string title() const;
  std::string text_of(sim::Replay& run);
  std::string text_of_request(sim::Replay& run);

  Followed what_;
  uint32_t launch_ = 0, kernel_ = 0;  ///< of the image
  uint64_t block_ = 0;                ///< counted over all launches
  uint32_t warp_in_block_ = 0;
  RequestTracks tracks_;
  Tick next_ = 0;
  bool found_ = false, over_ = false;
  uint16_t sm_ = 0;
  uint32_t slot_ = 0;  ///< warp slot
  uint32_t block_slot_ = 0;
  Tick begin_ = 0, end_ = 0;
  uint64_t issued_ = 0;  ///< instructions seen to be issued
  uint32_t last_pc_ = 0;
  std::vector<RequestWay> requests_;
  std::map<uint32_t, size_t> open_;  ///< by MSHR
  std::vector<State> states_;
  std::string text_;
};

}  // namespace nearwarp::timeline
