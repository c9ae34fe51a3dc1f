// Finds the windows of the machine and of its clusters.
#include "kernels/clusters.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace nearwarp::kernels {

namespace {

/// The ticks within which nothing that one end does affects the other.
Tick reach(const Channel& c) {
  if (c.latency == 0 || c.credit_latency == 0)
    throw std::invalid_argument("a channel from component " + std::to_string(c.producer) + " to " +
                                std::to_string(c.consumer) + " takes no time");
  return std::min(c.latency, c.credit_latency);
}

}  // namespace

Tick set_windows(std::span<Component> components, std::span<const Channel* const> channels) {
  Tick machine = kNever;
  std::unordered_map<uint16_t, Tick> within;
  for (const Channel* c : channels) {
    const uint16_t cluster = components[c->producer].cluster;
    const bool inside = cluster != 0 && cluster == components[c->consumer].cluster;
    Tick& window = inside ? within.try_emplace(cluster, kNever).first->second : machine;
    window = std::min(window, reach(*c));
  }
  // If all channels are inside of clusters, the machine's window is the shortest of the clusters'.
  if (machine == kNever)
    for (const auto& [cluster, window] : within) machine = std::min(machine, window);
  for (Component& c : components) {
    if (c.cluster != 0 && c.kind == ComponentKind::kFrontEnd)
      throw std::invalid_argument("the front end is in cluster " + std::to_string(c.cluster));
    const auto own = within.find(c.cluster);
    const Tick window = own == within.end() ? machine : std::min(own->second, machine);
    c.cluster_window = c.cluster == 0 ? 0 : static_cast<uint32_t>(window);
  }
  return machine;
}

}  // namespace nearwarp::kernels
