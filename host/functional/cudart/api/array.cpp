// Entry points that create CUDA arrays, and that copy boxes and arrays.
#include <algorithm>
#include <vector>

#include "host/functional/cudart/runtime/arrays.h"
#include "host/functional/cudart/runtime/copies.h"

using namespace nearwarp::cudart;

namespace {

Box linear(const void* start, size_t pitch, size_t rows = 0) {
  return {static_cast<char*>(const_cast<void*>(start)), pitch, pitch * rows};
}

/// Enqueues a copy. In a capture, `body(Runtime&)` is called later, when the graph is launched.
template <class Copy>
Status copy(Stream stream, Copy body, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    r.enqueue(stream, NodeType::kCopy, [body](Runtime& q) {
      body(q);
      q.streams.pass(2);
    });
    return kSuccess;
  });
}

/// Splits a copy of `bytes` between a linear range and an array, from (x_bytes, y) on, into its
/// rows, and calls copy_row(pointer into the array, offset in the range, bytes) for each.
template <class CopyRow>
void along_rows(const Array& a, size_t x_bytes, size_t y, size_t bytes, CopyRow&& copy_row) {
  const size_t row_bytes = a.extent.width * a.element_bytes;
  for (size_t done = 0; done < bytes; ++y, x_bytes = 0) {
    require(y < a.rows() && x_bytes <= row_bytes);
    const size_t step = std::min(bytes - done, row_bytes - x_bytes);
    copy_row(a.memory + y * a.pitch + x_bytes, done, step);
    done += step;
  }
}

/// The box of a 2D copy in an array. Its offset and width are in bytes.
Box array_box(const Array* handle, size_t x_bytes, size_t y, size_t width, size_t height) {
  const Array& a = checked_array(handle);
  Box box = box_in(a, {0, y, 0}, 0, height, 1);
  require(x_bytes + width <= a.extent.width * a.element_bytes && x_bytes + width >= width);
  box.start += x_bytes;
  return box;
}

}  // namespace

// --- Arrays --------------------------------------------------------------------------------------

extern "C" __attribute__((visibility("default"))) ChannelDesc cudaCreateChannelDesc(int x, int y,
                                                                                    int z, int w,
                                                                                    int f) {
  return {x, y, z, w, f};
}

NW_API cudaMalloc3DArray(Array** array, const ChannelDesc* format, Extent extent, unsigned flags) {
  return api([&](Runtime& r) {
    require(array != nullptr && format != nullptr);
    *array = create_array(r, *format, extent, flags);
    return kSuccess;
  });
}
NW_API cudaMallocArray(Array** array, const ChannelDesc* format, size_t width, size_t height,
                       unsigned flags) {
  const OuterCall outer;
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}
NW_API cudaFreeArray(Array* array) {
  return api([&](Runtime& r) {
    if (array == nullptr) return kSuccess;
    require(!checked_array(array).is_level);
    destroy_array(r, array);
    return kSuccess;
  });
}
NW_API cudaArrayGetInfo(ChannelDesc* format, Extent* extent, unsigned* flags, Array* array) {
  return api([&](Runtime&) {
    const Array& a = checked_array(array);
    if (format != nullptr) *format = a.format;
    if (extent != nullptr) *extent = a.extent;
    if (flags != nullptr) *flags = a.flags;
    return kSuccess;
  });
}
NW_API cudaGetChannelDesc(ChannelDesc* format, const Array* array) {
  const OuterCall outer;
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<Array*>(array));
}

NW_API cudaMallocMipmappedArray(MipmappedArray** array, const ChannelDesc* format, Extent extent,
                                unsigned levels, unsigned flags) {
  return api([&](Runtime& r) {
    require(array != nullptr && format != nullptr);
    *array = create_mipmapped(r, *format, extent, levels, flags);
    return kSuccess;
  });
}
NW_API cudaGetMipmappedArrayLevel(Array** level, const MipmappedArray* array, unsigned number) {
  return api([&](Runtime&) {
    require(level != nullptr);
    const MipmappedArray& a = checked_mipmapped(array);
    require(number < a.levels.size());
    *level = a.levels[number];
    return kSuccess;
  });
}
NW_API cudaFreeMipmappedArray(MipmappedArray* array) {
  return api([&](Runtime& r) {
    if (array != nullptr) destroy_mipmapped(r, array);
    return kSuccess;
  });
}

// --- Two dimensions ------------------------------------------------------------------------------

NW_API cudaMemcpy2DAsync(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                         size_t width, size_t height, int kind, Stream stream) {
  return copy(stream, [=](Runtime& r) {
    require(dst_pitch >= width && src_pitch >= width, kErrorInvalidPitchValue);
    copy_box(r, linear(dst, dst_pitch), linear(src, src_pitch), width, height, 1, kind);
  });
}
NW_API cudaMemcpy2D(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width,
                    size_t height, int kind) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemcpy2DAsync(dst, dst_pitch, src, src_pitch, width, height, kind, nullptr);
}
NW_API cudaMemcpy2DToArrayAsync(Array* dst, size_t x, size_t y, const void* src, size_t src_pitch,
                                size_t width, size_t height, int kind, Stream stream) {
  return copy(stream, [=](Runtime& r) {
    copy_box(r, array_box(dst, x, y, width, height), linear(src, src_pitch), width, height, 1,
             kind);
  });
}
NW_API cudaMemcpy2DToArray(Array* dst, size_t x, size_t y, const void* src, size_t src_pitch,
                           size_t width, size_t height, int kind) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemcpy2DToArrayAsync(dst, x, y, src, src_pitch, width, height, kind, nullptr);
}
NW_API cudaMemcpy2DFromArrayAsync(void* dst, size_t dst_pitch, const Array* src, size_t x, size_t y,
                                  size_t width, size_t height, int kind, Stream stream) {
  return copy(stream, [=](Runtime& r) {
    copy_box(r, linear(dst, dst_pitch), array_box(src, x, y, width, height), width, height, 1,
             kind);
  });
}
NW_API cudaMemcpy2DFromArray(void* dst, size_t dst_pitch, const Array* src, size_t x, size_t y,
                             size_t width, size_t height, int kind) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemcpy2DFromArrayAsync(dst, dst_pitch, src, x, y, width, height, kind, nullptr);
}
NW_API cudaMemcpy2DArrayToArray(Array* dst, size_t dst_x, size_t dst_y, const Array* src,
                                size_t src_x, size_t src_y, size_t width, size_t height, int kind) {
  const Synchronous call;
  return copy(nullptr, [=](Runtime& r) {
    copy_box(r, array_box(dst, dst_x, dst_y, width, height),
             array_box(src, src_x, src_y, width, height), width, height, 1, kind);
  });
}
/// Copies `bytes` along the rows of both arrays, by a buffer on the host.
NW_API cudaMemcpyArrayToArray(Array* dst, size_t dst_x, size_t dst_y, const Array* src,
                              size_t src_x, size_t src_y, size_t bytes, int) {
  const Synchronous call;
  return copy(nullptr, [=](Runtime& r) {
    const Array& from = checked_array(src);
    require(bytes <= from.pitch * from.rows());
    std::vector<char> all(bytes);
    along_rows(from, src_x, src_y, bytes, [&](char* row, size_t at, size_t step) {
      r.memory.copy(r, all.data() + at, row, step, kDeviceToHost);
    });
    along_rows(checked_array(dst), dst_x, dst_y, bytes, [&](char* row, size_t at, size_t step) {
      r.memory.copy(r, row, all.data() + at, step, kHostToDevice);
    });
  });
}
NW_API cudaMemcpyToArrayAsync(Array* dst, size_t x, size_t y, const void* src, size_t bytes,
                              int kind, Stream stream) {
  return copy(stream, [=](Runtime& r) {
    along_rows(checked_array(dst), x, y, bytes, [&](char* row, size_t at, size_t step) {
      r.memory.copy(r, row, static_cast<const char*>(src) + at, step, kind);
    });
  });
}
NW_API cudaMemcpyToArray(Array* dst, size_t x, size_t y, const void* src, size_t bytes, int kind) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemcpyToArrayAsync(dst, x, y, src, bytes, kind, nullptr);
}
NW_API cudaMemcpyFromArrayAsync(void* dst, const Array* src, size_t x, size_t y, size_t bytes,
                                int kind, Stream stream) {
  return copy(stream, [=](Runtime& r) {
    along_rows(checked_array(src), x, y, bytes, [&](char* row, size_t at, size_t step) {
      r.memory.copy(r, static_cast<char*>(dst) + at, row, step, kind);
    });
  });
}
NW_API cudaMemcpyFromArray(void* dst, const Array* src, size_t x, size_t y, size_t bytes,
                           int kind) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemcpyFromArrayAsync(dst, src, x, y, bytes, kind, nullptr);
}

// --- Three dimensions ----------------------------------------------------------------------------

NW_API cudaMemcpy3DAsync(const Copy3D* p, Stream stream) {
  return api([&](Runtime& r) {
    require(p != nullptr);
    r.enqueue(stream, NodeType::kCopy, copy_3d_work(*p));
    return kSuccess;
  });
}
NW_API cudaMemcpy3D(const Copy3D* p) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemcpy3DAsync(p, nullptr);
}
NW_API cudaMemcpy3DPeerAsync(const Copy3DPeer* p, Stream stream) {
  const OuterCall outer;
  if (p == nullptr) return failed(kErrorInvalidValue);
  const Status status = api([&](Runtime& r) {
    r.check_device(p->src_device);
    r.check_device(p->dst_device);
    return kSuccess;
  });
  if (status != kSuccess) return status;
  const Copy3D copy{p->src_array, p->src_pos, p->src_ptr, p->dst_array,
                    p->dst_pos,   p->dst_ptr, p->extent,  kDefault};
  return cudaMemcpy3DAsync(&copy, stream);
}
NW_API cudaMemcpy3DPeer(const Copy3DPeer* p) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemcpy3DPeerAsync(p, nullptr);
}
