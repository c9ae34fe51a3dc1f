// CODA's device code: pages that are placed by their first touch. All other placement is the
// host's.
#pragma once

#include "device/mechanisms/coda/first_touch.h"

namespace nearwarp::coda {

struct Mechanism {
  static constexpr uint32_t kPacketBlock = 5;
  using OnSm = coda::OnSm;
};

}  // namespace nearwarp::coda
