// Follows all requests for one line of memory: their senders, and their ways through the machine.
#pragma once

#include <string>
#include <vector>

#include "host/timing/timeline/follow.h"

namespace nearwarp::timeline {

/// Follows the requests for the line of an address. Loads and atomics are followed from the miss in
/// an SM's L1 until the L1 has the line. Requests without an MSHR, such as stores and write-backs
/// of slices, are followed from their first channel to their last.
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
    uint32_t number = 0;    ///< number of its PacketKind, which is the same for its reply
    bool has_mshr = false;  ///< it is over when its MSHR is free again
    bool over = false;
  };

  void look_at_sms(sim::Replay& run, Tick at, uint32_t line);
  template <class S>
  void open(sim::Replay& run, const S& sm, uint16_t endpoint, uint32_t mshr, Tick at);
  void place(sim::System& system, const Channel& c, const Packet& packet, Tick at, Tick arrives);
  std::string name_of(const Request& r) const;

  uint64_t address_ = 0;
  std::string where_;  ///< the allocation of the address, and its offset there
  std::vector<uint16_t> sms_;
  RequestTracks tracks_;
  Tick next_ = 0;
  std::vector<Request> requests_;
  std::vector<size_t> open_;  ///< indices into requests_ of those that are not over
  std::string text_;
};

}  // namespace nearwarp::timeline
