// Entry points about tensor maps. They need no context: a map is 128 bytes of the caller's.
#include "host/functional/instructions/tensor_map.h"

#include <cstring>

#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

/// Maps are aligned by 64 bytes.
bool is_place_of_map(const void* map) {
  return map != nullptr && reinterpret_cast<uintptr_t>(map) % 64 == 0;
}

Status encode(void* map, const exec::TensorRequest& request) {
  return call(Needs::kNothing, [&]() -> Status {
    require(is_place_of_map(map) && request.sizes != nullptr &&
            request.element_strides != nullptr &&
            (request.strides != nullptr || request.dimensions == 1));
    require(request.im2col ? request.lower != nullptr && request.upper != nullptr
                           : request.box != nullptr);
    exec::TensorMap out;
    require(exec::encode(request, &out));
    std::memcpy(map, &out, sizeof(out));
    return kSuccess;
  });
}

/// The members of a request that maps of boxes and of images have in common.
exec::TensorRequest request(int type, unsigned rank, void* address, const uint64_t* sizes,
                            const uint64_t* strides, const uint32_t* element_strides,
                            int interleave, int swizzle, int l2_promotion, int fill) {
  exec::TensorRequest r;
  r.type = static_cast<uint32_t>(type);
  r.dimensions = rank;
  r.interleave = static_cast<uint32_t>(interleave);
  r.swizzle = static_cast<uint32_t>(swizzle);
  r.l2_promotion = static_cast<uint32_t>(l2_promotion);
  r.fill = static_cast<uint32_t>(fill);
  r.address = nearwarp::cudriver::address(address);
  r.sizes = sizes;
  r.strides = strides;
  r.element_strides = element_strides;
  return r;
}

}  // namespace

NW_CU cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address,
                             const uint64_t* sizes, const uint64_t* strides, const uint32_t* box,
                             const uint32_t* element_strides, int interleave, int swizzle,
                             int l2_promotion, int fill) {
  exec::TensorRequest r = request(type, rank, address, sizes, strides, element_strides, interleave,
                                  swizzle, l2_promotion, fill);
  r.box = box;
  return encode(map, r);
}

NW_CU cuTensorMapEncodeIm2col(void* map, int type, unsigned rank, void* address,
                              const uint64_t* sizes, const uint64_t* strides, const int* lower,
                              const int* upper, uint32_t channels, uint32_t pixels,
                              const uint32_t* element_strides, int interleave, int swizzle,
                              int l2_promotion, int fill) {
  exec::TensorRequest r = request(type, rank, address, sizes, strides, element_strides, interleave,
                                  swizzle, l2_promotion, fill);
  r.im2col = true;
  r.lower = lower;
  r.upper = upper;
  r.channels = channels;
  r.pixels = pixels;
  return encode(map, r);
}

NW_CU cuTensorMapEncodeIm2colWide(void* map, int type, unsigned rank, void* address,
                                  const uint64_t* sizes, const uint64_t* strides, int lower,
                                  int upper, uint32_t channels, uint32_t pixels,
                                  const uint32_t* element_strides, int interleave, int mode,
                                  int swizzle, int l2_promotion, int fill) {
  exec::TensorRequest r = request(type, rank, address, sizes, strides, element_strides, interleave,
                                  swizzle, l2_promotion, fill);
  const Status right = call(Needs::kNothing, [&]() -> Status {
    require(mode == 0 || mode == 1);
    return kSuccess;
  });
  if (right != kSuccess) return right;
  r.im2col = true;
  r.wide = mode == 0 ? exec::ImageMode::kWidth : exec::ImageMode::kWidth128;
  r.lower = &lower;
  r.upper = &upper;
  r.channels = channels;
  r.pixels = pixels;
  return encode(map, r);
}

NW_CU cuTensorMapReplaceAddress(void* map, void* address) {
  return call(Needs::kNothing, [&]() -> Status {
    require(is_place_of_map(map));
    exec::TensorMap out;
    std::memcpy(&out, map, sizeof(out));
    const uint64_t align = out.interleave == exec::Interleave::k32B ? 32 : 16;
    out.address = nearwarp::cudriver::address(address);
    require(out.magic == exec::TensorMap::kMagic && out.address != 0 && out.address % align == 0);
    std::memcpy(map, &out, sizeof(out));
    return kSuccess;
  });
}

}  // namespace nearwarp::cudriver
