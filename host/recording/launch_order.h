// Finds the launches that each launch waits for, by CUDA's rules for streams and waits of the host.
#pragma once

#include <cstdint>
#include <memory>

#include "host/recording/launch_set.h"

namespace nearwarp::runtime {

/// The state of a stream that the order of launches depends on.
struct LaunchStream {
  enum class Kind : uint8_t {
    kLegacy,       ///< the default stream: in order with all streams that are blocking
    kBlocking,     ///< per-thread default streams, too
    kNonBlocking,  ///< cudaStreamNonBlocking
  };
  explicit LaunchStream(Kind k = Kind::kBlocking, uint32_t n = 0) : kind(k), number(n) {}
  Kind kind;
  uint32_t number;   ///< LaunchRecord::stream
  LaunchSet before;  ///< launches that only this stream's next work waits for
};

/// Follows the calls of a program. If launches are left out of a recording, those that would have
/// waited for them wait for the launches that they would have waited for.
///
/// All threads of the host count as one: if one has waited for a launch, later launches of all
/// threads wait for it, since threads may synchronise without a call of CUDA.
class LaunchOrder {
 public:
  /// While it lives, launches are work of a stream. Objects may be nested.
  class Work {
   public:
    Work(LaunchOrder& order, std::shared_ptr<LaunchStream> stream);
    ~Work();
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    LaunchOrder& order_;
    std::shared_ptr<LaunchStream> stream_;
    LaunchSet outer_;
    uint32_t outer_number_ = 0;
  };

  /// The launches that the next one waits for. Callers add those of events and graphs.
  LaunchSet& now() { return now_; }
  /// Adds a recorded launch, and fills in its `after_all`, `after` and `stream`.
  void launched(LaunchRecord& launch);

  /// Notes that the host has waited for launches, so that all later launches wait for them.
  void host_waited(const LaunchSet& set) { host_.join(set); }
  /// Notes that the host has waited for a stream.
  void host_waited(const LaunchStream& stream) { host_waited(before(stream)); }
  /// Notes that the host has waited for all launches so far.
  void host_waited() { host_ = history_.all(); }

 private:
  LaunchSet before(const LaunchStream& stream) const;

  LaunchHistory history_;
  LaunchSet host_;
  LaunchSet blocking_;  ///< launches in the legacy stream and in blocking streams
  LaunchSet legacy_;    ///< launches in the legacy stream, and those that they wait for
  LaunchSet now_;
  uint32_t number_ = 0;  ///< number of the stream whose work is executed
};

}  // namespace nearwarp::runtime
