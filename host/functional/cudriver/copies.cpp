// Converts copies of boxes between the driver's and the runtime's descriptions. Widths are in bytes
// in the driver's; in the runtime's they are in elements of the array, if one takes part.
#include "host/functional/cudriver/copies.h"

#include <algorithm>
#include <cstdint>

namespace nearwarp::cudriver {

namespace {

size_t element_bytes(const Array* array) {
  constexpr int kBitsPerByte = 8;
  ChannelDesc d;
  check(cudaGetChannelDesc(&d, array));
  return static_cast<size_t>((d.x + d.y + d.z + d.w) / kBitsPerByte);
}

/// Bytes of an element of the array that takes part; 1 if none does.
size_t unit_of(const Array* src, const Array* dst) {
  if (src == nullptr && dst == nullptr) return 1;
  const size_t bytes = element_bytes(dst != nullptr ? dst : src);
  require(src == nullptr || element_bytes(src) == bytes);
  return std::max<size_t>(bytes, 1);
}

/// Find the runtime's array, or pitched pointer, and position of one side.
void convert(const CopySide3D& side, size_t width_bytes, size_t height, Array*& array,
             Position& position, PitchedPtr& pitched) {
  require(side.level == 0);
  position = {side.x_bytes, side.y, side.z};
  if (side.memory_type == kMemoryArray) {
    require(side.array != nullptr);
    const size_t unit = std::max<size_t>(element_bytes(side.array), 1);
    require(side.x_bytes % unit == 0);
    position.x /= unit;
    array = side.array;
    return;
  }
  require(side.memory_type >= kMemoryHost && side.memory_type <= kMemoryUnified);
  void* const start = side.memory_type == kMemoryHost ? side.host : pointer(side.device);
  require(width_bytes <= SIZE_MAX - side.x_bytes && height <= SIZE_MAX - side.y);
  const size_t pitch = side.pitch != 0 ? side.pitch : side.x_bytes + width_bytes;
  require(pitch >= side.x_bytes + width_bytes);
  pitched = {start, pitch, pitch, side.height != 0 ? side.height : side.y + height};
}

Array* array_of(const CopySide3D& side) {
  return side.memory_type == kMemoryArray ? side.array : nullptr;
}

CopyKind kind_of(const Copy3D& c) {
  if (c.src.memory_type == kMemoryUnified || c.dst.memory_type == kMemoryUnified) return kDefault;
  const bool from_host = c.src.memory_type == kMemoryHost;
  const bool to_host = c.dst.memory_type == kMemoryHost;
  return from_host ? (to_host ? kHostToHost : kHostToDevice)
                   : (to_host ? kDeviceToHost : kDeviceToDevice);
}

CopySide3D widened(const CopySide2D& s) {
  return {s.x_bytes, s.y, 0, 0, s.memory_type, s.host, s.device, s.array, nullptr, s.pitch, 0};
}

CopySide3D driver_side(Array* array, const Position& at, const PitchedPtr& pitched, bool host) {
  CopySide3D side{};
  side.y = at.y;
  side.z = at.z;
  side.x_bytes = at.x * (array != nullptr ? element_bytes(array) : 1);
  side.array = array;
  side.memory_type = array != nullptr ? kMemoryArray : host ? kMemoryHost : kMemoryUnified;
  if (host) side.host = pitched.ptr;
  if (!host) side.device = address(pitched.ptr);
  side.pitch = pitched.pitch;
  side.height = pitched.ysize;
  return side;
}

}  // namespace

cudart::Copy3D runtime_copy(const Copy3D& c) {
  cudart::Copy3D copy{};
  const size_t unit = unit_of(array_of(c.src), array_of(c.dst));
  require(c.width_bytes % unit == 0);
  convert(c.src, c.width_bytes, c.height, copy.src_array, copy.src_pos, copy.src_ptr);
  convert(c.dst, c.width_bytes, c.height, copy.dst_array, copy.dst_pos, copy.dst_ptr);
  copy.extent = {c.width_bytes / unit, c.height, c.depth};
  copy.kind = kind_of(c);
  return copy;
}

Copy3D in_three_dimensions(const Copy2D& c) {
  return {widened(c.src), widened(c.dst), c.width_bytes, c.height, 1};
}

Copy3D driver_copy(const cudart::Copy3D& c) {
  const bool from_host = c.kind == kHostToHost || c.kind == kHostToDevice;
  const bool to_host = c.kind == kHostToHost || c.kind == kDeviceToHost;
  const size_t unit = unit_of(c.src_array, c.dst_array);
  return {driver_side(c.src_array, c.src_pos, c.src_ptr, from_host),
          driver_side(c.dst_array, c.dst_pos, c.dst_ptr, to_host), c.extent.width * unit,
          c.extent.height, c.extent.depth};
}

}  // namespace nearwarp::cudriver
