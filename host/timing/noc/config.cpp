// Checks the configuration of a stand-alone network and of its traffic.
#include "host/timing/noc/config.h"

#include <fmt/format.h>

#include <bit>

#include "device/noc/network_state.h"
#include "host/config/nearest.h"
#include "host/core/error.h"

namespace nearwarp::noc {

namespace {

constexpr uint32_t kMaxDelay = 256;
constexpr uint32_t kMaxDepth = 1024;
constexpr uint32_t kMaxPacketFlits = 256;

void check(const char* option, uint64_t value, uint64_t least, uint64_t most) {
  if (value < least || value > most)
    throw UsageError(fmt::format("`{}` {} - a value from {} to {}", option, value, least, most));
}

}  // namespace

const std::vector<std::string>& traffic_names() {
  static const std::vector<std::string> names{"uniform", "hotspot", "transpose", "many-to-few"};
  return names;
}

void check_config(const NocConfig& c) {
  check("vcs", c.vcs, 1, kMaxVcs);
  check("vnets", c.vnets, 1, c.vcs);
  if (c.vcs % c.vnets != 0) {
    throw UsageError(fmt::format(
        "`vcs` {} cannot be divided among `vnets` {} - a multiple is right", c.vcs, c.vnets));
  }
  check("buffers", c.buffers, 1, kMaxDepth);
  check("packet_flits", c.packet_flits, 1, kMaxPacketFlits);
  check("routing_delay", c.routing_delay, 0, kMaxDelay);
  check("vc_alloc_delay", c.vc_alloc_delay, 1, kMaxDelay);
  check("sw_alloc_delay", c.sw_alloc_delay, 1, kMaxDelay);
  check("traversal_delay", c.traversal_delay, 1, kMaxDelay);
  check("credit_delay", c.credit_delay, 0, kMaxDelay);
  check("speedup", c.speedup, 1, kMaxSpeedup);
  check("input_speedup", c.input_speedup, 1, kMaxInputSpeedup);
  if (!std::has_single_bit(c.input_speedup) || c.input_speedup > c.vcs) {
    throw UsageError(
        fmt::format("`input_speedup` {} with `vcs` {} - 1, 2, 4 or 8, and no more than there are "
                    "virtual channels, which share the inputs out among themselves",
                    c.input_speedup, c.vcs));
  }
  check("link_latency", c.link_latency, 1, kMaxDelay);
  check("reply_flits", c.reply_flits, 0, kMaxPacketFlits);
  if (c.reply_flits != 0 && c.vnets != 2) {
    throw UsageError(fmt::format(
        "`vnets` {} - requests and their replies need 2 virtual networks, one each: on common "
        "virtual channels replies would wait behind requests that wait for room for replies",
        c.vnets));
  }
  bool known = false;
  for (const std::string& name : traffic_names()) known |= name == c.traffic;
  if (!known) {
    throw UsageError(fmt::format("unknown traffic '{}'{}", c.traffic,
                                 config::suggestion(c.traffic, traffic_names())));
  }
}

}  // namespace nearwarp::noc
