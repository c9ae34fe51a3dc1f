// Which launches wait for which, by CUDA's rules of streams and of what the host waits for.
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
  LaunchSet before;  ///< what its next work waits for, besides what applies to other streams, too
};

/// Follows a program call by call. Where launches are left out of a recording, what would have
/// waited for them waits for what they would have waited for.
///
/// The host's threads count as one: what one of them has waited for, later launches of all others
/// wait for. They may tell each other so without any call of CUDA.
class LaunchOrder {
 public:
  /// While it lives, launches are work of a stream. May be nested: each has a place of its own.
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

  /// The launches that the next one waits for. Other orders (events, graphs) are added here.
  LaunchSet& now() { return now_; }
  /// A launch is recorded: fills in its `after_all`, `after` and `stream`.
  void launched(LaunchRecord& launch);

  /// The host has waited for these: so do all launches to come.
  void host_waited(const LaunchSet& set) { host_.join(set); }
  /// For what has been asked of a stream.
  void host_waited(const LaunchStream& stream) { host_waited(before(stream)); }
  /// For all launches so far.
  void host_waited() { host_ = history_.all(); }

 private:
  LaunchSet before(const LaunchStream& stream) const;

  LaunchHistory history_;
  LaunchSet host_;
  LaunchSet blocking_;  ///< all that was asked of the legacy stream and of blocking ones
  LaunchSet legacy_;    ///< what was asked of the legacy stream, and what that waited for
  LaunchSet now_;
  uint32_t number_ = 0;  ///< of the stream whose work is under way
};

}  // namespace nearwarp::runtime
