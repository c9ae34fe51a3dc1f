// Copies as work of streams and graphs.
#include "host/functional/cudart/runtime/copies.h"

#include <cstdint>

#include "host/functional/cudart/runtime/arrays.h"
#include "host/functional/cudart/runtime/runtime.h"

namespace nearwarp::cudart {

namespace {

constexpr double kCopyMicroseconds = 2;             // estimated: the least time of a copy
constexpr double kHostBytesPerMicrosecond = 12000;  // estimated: PCI-E 3.0 x16

struct Side {
  const Array* array;
  const Position& position;
  const PitchedPtr& pointer;
};

Box box_of(const Side& s, size_t width_bytes, Extent extent) {
  if (s.array != nullptr)
    return box_in(checked_array(s.array), s.position, width_bytes, extent.height, extent.depth);
  require(s.pointer.ptr != nullptr);
  Box box{static_cast<char*>(s.pointer.ptr), s.pointer.pitch,
          s.pointer.pitch * (s.pointer.ysize == 0 ? extent.height : s.pointer.ysize)};
  box.start += s.position.z * box.slice + s.position.y * box.pitch + s.position.x;
  return box;
}

void copy_3d(Runtime& r, const Side& dst, const Side& src, Extent extent, int kind) {
  size_t element = 1;  // extents are in elements of the array, if there is one
  if (src.array != nullptr) element = checked_array(src.array).element_bytes;
  if (dst.array != nullptr) element = checked_array(dst.array).element_bytes;
  if (src.array != nullptr && dst.array != nullptr)
    require(checked_array(src.array).element_bytes == element);
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return;
  require(extent.width <= SIZE_MAX / element);
  const size_t width = extent.width * element;
  copy_box(r, box_of(dst, width, extent), box_of(src, width, extent), width, extent.height,
           extent.depth, kind);
}

}  // namespace

Work copy_work(void* dst, const void* src, size_t bytes, int kind) {
  return [=](Runtime& r) {
    r.memory.copy(r, dst, src, bytes, kind);
    r.streams.pass(kCopyMicroseconds + static_cast<double>(bytes) / kHostBytesPerMicrosecond);
  };
}

void BoxCopy::operator()(Runtime& r) const {
  copy_3d(r, {copy.dst_array, copy.dst_pos, copy.dst_ptr},
          {copy.src_array, copy.src_pos, copy.src_ptr}, copy.extent, copy.kind);
  r.streams.pass(kCopyMicroseconds);
}

Work copy_3d_work(const Copy3D& copy) {
  if (copy.src_array != nullptr) checked_array(copy.src_array);
  if (copy.dst_array != nullptr) checked_array(copy.dst_array);
  return BoxCopy{copy};
}

}  // namespace nearwarp::cudart
