// B of the objects of a launch by its kernel's code, with the launch's dimensions and parameters.
#pragma once

#include <cstdint>
#include <map>

#include "host/recording/recording.h"

namespace nearwarp::coda {

/// [first byte's address of an object as a parameter gives it]: B in bytes of those that the code
/// uses regularly, if it is positive. Empty if the recording lacks parameters' values.
std::map<uint64_t, uint64_t> strides_by_code(const runtime::Recording& recording, uint32_t launch);

}  // namespace nearwarp::coda
