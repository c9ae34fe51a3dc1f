// A GPU on tiles: a discrete one whose SMs and memory partitions have a tile each, the same in the
// networks of requests and of replies. Partitions are where the machine's file says; the SMs, or
// clusters of them, take the other tiles in order.
//
// With another topology than a mesh the tiles are the terminals of a butterfly, and of no effect in
// a crossbar.
//
// No deadlock: as in a discrete GPU; in both networks packets take one dimension first.
#include <algorithm>

#include "host/timing/machine/shapes/shapes.h"

namespace nearwarp::sim {

namespace {

Tiles tiles_of(const config::MachineConfig& m) {
  Tiles t{m.mesh.width, m.mesh.height, m.mesh.routing == "yx", {}, config::memory_tiles(m)};
  for (uint32_t n = 0; t.sms.size() < m.gpu.sms / m.gpu.sms_per_cluster; ++n)
    if (std::find(t.memory.begin(), t.memory.end(), n) == t.memory.end()) t.sms.push_back(n);
  return t;
}

}  // namespace

Graph make_mesh(const Parts& parts) {
  Graph g = make_discrete(parts);
  for (const char* network : {"request_crossbar", "reply_crossbar"})
    g.spec<RouterNetworkSpec>(g.class_named(network)).tiles = tiles_of(parts.machine);
  return g;
}

}  // namespace nearwarp::sim
