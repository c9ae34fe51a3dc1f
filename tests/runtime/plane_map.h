// Maps of planes, for the tests of kernels that copy boxes.
#pragma once

#include <stdexcept>

#include "host/functional/instructions/tensor_map.h"

namespace nearwarp::runtime {

/// A map of rows without gaps, as a kernel's parameter. Swizzles are the driver's numbers.
struct alignas(128) PlaneMap {
  exec::TensorMap map;
  PlaneMap(uint64_t address, uint32_t type, uint64_t width, uint64_t height, uint32_t box_width,
           uint32_t box_height, uint32_t swizzle) {
    const uint64_t sizes[] = {width, height};
    const uint64_t stride = width * exec::bytes_of(static_cast<exec::TensorType>(type));
    const uint32_t box[] = {box_width, box_height}, steps[] = {1, 1};
    exec::TensorRequest r;
    r.type = type;
    r.dimensions = 2;
    r.swizzle = swizzle;
    r.address = address;
    r.sizes = sizes;
    r.strides = &stride;
    r.box = box;
    r.element_strides = steps;
    if (!exec::encode(r, &map)) throw std::logic_error("this plane has no map");
  }
};

}  // namespace nearwarp::runtime
