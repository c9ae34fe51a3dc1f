// All requests for one line of memory: who asked, and their ways, with times.
#pragma once

#include <string>
#include <vector>

#include "host/timing/timeline/follow.h"

namespace nearwarp::timeline {

/// Loads and atomics are followed from when an SM's L1 misses until it has the line; what has no
/// MSHR, as stores and lines that a slice writes back, from its first channel to its last.
class FollowLine final : public Follower {
 public:
  explicit FollowLine(uint64_t address) : address_(address) {}

  /// Throws nearwarp::Error if the program has no memory there.
  void begin(sim::Replay& run) override;
  Tick next_look() const override { return next_; }
  void look(sim::Replay& run) override;
  void end(sim::Replay& run, const report::RunResult& result) override;
  const std::string& text() const override { return text_; }
  void write(TraceWriter& out, uint32_t pid) const override;

 private:
  struct Request {
    RequestWay way;
    uint32_t number = 0;    ///< PacketKind's, the same for a request and its reply
    bool has_mshr = false;  ///< it ends with that
    bool over = false;
  };

  void look_at_sms(sim::Replay& run, Tick at, uint32_t line);
  template <class S>
  void open(sim::Replay& run, const S& sm, uint16_t endpoint, uint32_t mshr, Tick at);
  void place(sim::System& system, const Channel& c, const Packet& packet, Tick at, Tick arrives);
  std::string name_of(const Request& r) const;

  uint64_t address_ = 0;
  std::string where_;  ///< the allocation, and what lies before it there
  std::vector<uint16_t> sms_;
  RequestTracks tracks_;
  Tick next_ = 0;
  std::vector<Request> requests_;
  std::vector<size_t> open_;  ///< of requests_
  std::string text_;
};

}  // namespace nearwarp::timeline
