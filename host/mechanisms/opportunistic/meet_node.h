// Meet nodes: the tile of a mesh on which the data of a chain meets, and is computed with.
//
// Source: A. Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA 2019, sections
// 3.2 and 4.3 (Algorithm 1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/timing/machine/specs.h"

namespace nearwarp::opportunistic {

/// The number of links between two tiles of a mesh that is `width` tiles wide.
uint32_t hops(uint32_t width, uint32_t a, uint32_t b);

/// The tiles that a packet passes, both ends included: first along its column if `y_first`, else
/// along its row.
std::vector<uint32_t> path(uint32_t width, uint32_t from, uint32_t to, bool y_first);

/// Ways on which data can meet.
enum class Ways : uint8_t { kEither, kRowsFirst, kColumnsFirst };

/// The earliest meet node of what an SM on tile `sm` wants of the partitions on tiles `a` and `b`:
/// of the tiles of other SMs that one of these ways to `a` and one to `b` have in common, the one
/// with the fewest links to `a` and `b` together; of several that nearest to the SM, then the
/// lowest. None if there is no such tile.
std::optional<uint32_t> meet_node(const sim::Tiles& tiles, uint32_t sm, uint32_t a, uint32_t b,
                                  Ways ways = Ways::kEither);

}  // namespace nearwarp::opportunistic
