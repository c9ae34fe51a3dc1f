// The state of a source of memory traffic. Its behaviour: device/dram/traffic.h.
#pragma once

#include "device/core/fault.h"
#include "device/dram/channel_map.h"

namespace nearwarp {

enum class TrafficPattern : uint8_t {
  kStrided,   ///< lines i * stride; 1: a stream
  kRandom,    ///< uniform
  kConflict,  ///< another row of bank 0 with every access
  kTrace
};
enum class TrafficPacing : uint8_t {
  kSaturated,  ///< as fast as the channel takes it
  kWindow,     ///< a read is sent when one of the last `window` has come back
  kOpen        ///< at given times, whatever comes back
};

/// An access of a trace.
struct TrafficAccess {
  uint64_t cycle = 0;
  LineAddr line = 0;
  uint32_t write = 0;
};

/// One stream of accesses: what they are and when they come.
struct StreamParams {
  TrafficPattern pattern = TrafficPattern::kStrided;
  TrafficPacing pacing = TrafficPacing::kSaturated;
  uint32_t window = 1;
  /// Writes among the accesses. Random traffic draws them, the others spread them evenly.
  uint32_t writes_num = 0, writes_den = 1;
  uint32_t arrival_threshold = 0;  ///< open: an access in a cycle has a chance of this / 2^32
  uint64_t stride_lines = 1;
  uint64_t first_line = 0;  ///< kStrided: where it begins
};

/// Parameters that all streams of a source have in common.
struct TrafficParams {
  uint32_t period = 1;  ///< ticks per command-clock cycle
  uint64_t lines = 1;   ///< addresses are below this; at most 2^32
  ChannelMap map;       ///< kConflict: where rows are
  uint32_t row_step = 1;
  uint32_t request_latency =
      1;                       ///< of the channel to memory: accesses are sent ahead of their time
  uint32_t reply_lead = 0;     ///< a reply's data is there so many ticks after it was sent,
  uint32_t reply_latency = 1;  ///< the reply itself after these
  uint16_t header_bytes = 8, line_bytes = 64;
  uint32_t sectors = 1;  ///< of a whole line
  // Behind a network: this source, which has one stream then, and memories that share the lines in
  // turns.
  uint16_t endpoint = 0, first_memory = 0, memories = 1;
};

/// Latencies in cycles: up to 255 one by one, above in 128 steps per power of two.
inline constexpr uint32_t kLatencySteps = 128;
inline constexpr uint32_t kLatencyBuckets = 256 + kLatencySteps * 32;

NW_HD constexpr uint32_t latency_bucket(uint64_t cycles) {
  if (cycles < 256) return static_cast<uint32_t>(cycles);
  const uint32_t power = 63 - count_leading_zeros(cycles);
  const uint32_t bucket = 256 + (power - 8) * kLatencySteps +
                          static_cast<uint32_t>(cycles >> (power - 7) & (kLatencySteps - 1));
  return bucket < kLatencyBuckets ? bucket : kLatencyBuckets - 1;
}
/// Least latency of a bucket.
NW_HD constexpr uint64_t bucket_latency(uint32_t bucket) {
  if (bucket < 256) return bucket;
  const uint32_t power = 8 + (bucket - 256) / kLatencySteps;
  return uint64_t{kLatencySteps + (bucket - 256) % kLatencySteps} << (power - 7);
}

/// Counts of accesses; latencies are of reads only: writes are done when they are taken in.
struct TrafficCounters {
  uint64_t reads_sent = 0, writes_sent = 0, reads_done = 0;
  uint64_t latency_cycles = 0;  ///< sum over reads
  uint64_t latency_min = ~uint64_t{0}, latency_max = 0;
};

struct TrafficStream {
  StreamParams params;
  Ref<uint64_t> histogram;  ///< reads by latency_bucket()
  Ref<TrafficAccess> trace;
  uint64_t random = 0;    ///< state of the generator
  uint64_t position = 0;  ///< accesses begun
  uint64_t birth = 0;     ///< open: cycle in which the next access reaches the memory
  LineAddr line = 0;      ///< the next access
  uint32_t is_write = 0;
  uint32_t write_share = 0;  ///< carried from access to access, of writes_den
  uint32_t outstanding = 0;  ///< reads under way
  uint32_t begun = 0;        ///< there is a next access
  TrafficCounters counters;
};

/// Streams take turns where several have an access to send.
struct TrafficState {
  Ref<Channel> out, in;
  Ref<TrafficStream> streams;
  uint32_t last = 0;     ///< stream that sent last
  uint32_t stopped = 0;  ///< sends nothing more
  Fault fault;
};

}  // namespace nearwarp
