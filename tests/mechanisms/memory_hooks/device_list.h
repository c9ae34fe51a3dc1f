// The mechanisms that kernels::Mechanisms has more here.
#pragma once

#include <loop_stall/device.h>

#include "tests/mechanisms/line_check/device.h"
#include "tests/mechanisms/link_cache/device.h"
#include "tests/mechanisms/write_check/device.h"

#define NW_MORE_DEVICE_CODE                                           \
  , nearwarp::loop_stall::Mechanism, nearwarp::line_check::Mechanism, \
      nearwarp::write_check::Mechanism, nearwarp::link_cache::Mechanism
