// The layout of one memory channel and its source of traffic in an arena.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "device/core/arena.h"
#include "host/config/dram.h"
#include "kernels/kinds.h"

namespace nearwarp::dram {

/// A stream of accesses.
struct Traffic {
  TrafficPattern pattern = TrafficPattern::kStrided;
  uint64_t stride_lines = 1;
  uint64_t first_line = 0;  ///< kStrided: where it begins
  std::vector<TrafficAccess> trace;
  uint32_t writes_num = 0, writes_den = 1;  ///< share of writes; not for traces
  TrafficPacing pacing = TrafficPacing::kSaturated;
  uint32_t outstanding = 1;  ///< kWindow
  uint64_t rate_ppm = 0;     ///< kOpen, except traces: offered share of the peak bandwidth, 10^-6
  uint64_t seed = 1;
};

inline constexpr uint32_t kMaxStreams = 16;

/// The traffic offered to the memory: streams side by side, or one trace by itself.
struct Load {
  std::vector<Traffic> streams;

  Load(Traffic stream) : streams{std::move(stream)} {}  // NOLINT: a stream is a load
  explicit Load(std::vector<Traffic> all) : streams(std::move(all)) {}
  bool is_trace() const { return streams[0].pattern == TrafficPattern::kTrace; }
};

/// The parameters of the model for a standard. A tick is such that an access takes a whole number.
VaultParams vault_params(const config::DramConfig& standard);
/// Accesses that a channel holds.
uint64_t num_lines(const config::DramConfig& standard);

struct ChannelSystem {
  ArenaBuilder arena;
  Ref<kernels::Component> table;
  Ref<frontend::FrontEndState> front_end;  ///< of no use but that backends look at one
  Ref<VaultState> vault;
  Ref<TrafficState> source;
  VaultParams vault_params;
  TrafficParams traffic_params;
  Tick window = 1;         ///< the shortest latency of any channel or credit
  Tick first_arrival = 0;  ///< when the first access reaches the memory

  uint32_t period() const { return vault_params.period; }
};

ChannelSystem build_channel(const config::DramConfig& standard, const Load& load);

}  // namespace nearwarp::dram
