// Lets tests compare the endpoints of packets with numbers.
#pragma once

#include "device/core/types.h"

namespace nearwarp {

constexpr bool operator==(Endpoint e, uint32_t node) { return node_of(e) == node; }

}  // namespace nearwarp
