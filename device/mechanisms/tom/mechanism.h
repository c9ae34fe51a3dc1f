// TOM: transparent offloading and mapping.
//
// Source: K. Hsieh et al., "Transparent Offloading and Mapping (TOM): Enabling
// Programmer-Transparent Near-Data Processing in GPU Systems", ISCA 2016.
#pragma once

#include "device/mechanisms/tom/on_front_end.h"
#include "device/mechanisms/tom/on_sm.h"

namespace nearwarp::tom {

struct Mechanism {
  static constexpr uint32_t kPacketBlock = tom::kPacketBlock;
  using OnSm = tom::OnSm;
  using OnFrontEnd = tom::OnFrontEnd;
};

}  // namespace nearwarp::tom
