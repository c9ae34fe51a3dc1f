// Finds the tile at which the data of two slices meets.
#include "host/mechanisms/opportunistic/meet_node.h"

#include <algorithm>
#include <tuple>

namespace nearwarp::opportunistic {

namespace {

uint32_t apart(uint32_t a, uint32_t b) { return a < b ? b - a : a - b; }

/// The tiles on the ways from one tile to another that `ways` allows.
std::vector<uint32_t> tiles_of(Ways ways, uint32_t width, uint32_t from, uint32_t to) {
  std::vector<uint32_t> tiles = path(width, from, to, ways != Ways::kRowsFirst);
  if (ways != Ways::kEither) return tiles;
  const std::vector<uint32_t> others = path(width, from, to, false);
  tiles.insert(tiles.end(), others.begin(), others.end());
  return tiles;
}

bool has(const std::vector<uint32_t>& tiles, uint32_t tile) {
  return std::find(tiles.begin(), tiles.end(), tile) != tiles.end();
}

}  // namespace

uint32_t hops(uint32_t width, uint32_t a, uint32_t b) {
  return apart(a % width, b % width) + apart(a / width, b / width);
}

std::vector<uint32_t> path(uint32_t width, uint32_t from, uint32_t to, bool y_first) {
  std::vector<uint32_t> tiles = {from};
  uint32_t x = from % width, y = from / width;
  const uint32_t to_x = to % width, to_y = to / width;
  const auto along = [&](uint32_t& at, uint32_t end) {
    while (at != end) {
      at += at < end ? 1 : -1u;
      tiles.push_back(y * width + x);
    }
  };
  if (y_first) along(y, to_y);
  along(x, to_x);
  along(y, to_y);
  return tiles;
}

std::optional<uint32_t> meet_node(const sim::Tiles& tiles, uint32_t sm, uint32_t a, uint32_t b,
                                  Ways ways) {
  const std::vector<uint32_t> to_a = tiles_of(ways, tiles.width, sm, a),
                              to_b = tiles_of(ways, tiles.width, sm, b);
  const auto cost = [&](uint32_t tile) {
    return std::tuple(hops(tiles.width, tile, a) + hops(tiles.width, tile, b),
                      hops(tiles.width, tile, sm), tile);
  };
  std::optional<uint32_t> best;
  for (const uint32_t tile : to_a) {
    if (tile == sm || !has(to_b, tile) || !has(tiles.sms, tile)) continue;
    if (!best || cost(tile) < cost(*best)) best = tile;
  }
  return best;
}

}  // namespace nearwarp::opportunistic
