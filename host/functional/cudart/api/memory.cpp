// Entry points that allocate, copy and fill linear memory.
#include <cstdint>

#include "host/functional/cudart/runtime/copies.h"
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr double kCopyMicroseconds = 2;  // the least time of a copy or fill, for events (estimated)

Status copy(void* dst, const void* src, size_t bytes, int kind, Stream stream = nullptr,
            NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    r.enqueue(stream, NodeType::kCopy, copy_work(dst, src, bytes, kind));
    return kSuccess;
  });
}

Status allocate(void** pointer, size_t bytes, Memory::Kind kind, unsigned flags, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    require(pointer != nullptr);
    *pointer = nullptr;
    if (bytes == 0) return kSuccess;
    *pointer = r.memory.allocate(r, bytes, kind, flags);
    // Work before and after an allocation does not overlap. Source: "Implicit synchronization" in
    // CUDA's programming guide. (Newer GPUs may let it overlap.)
    r.order.host_waited();
    return kSuccess;
  });
}

constexpr size_t kPitchGranule = 512;

size_t pitch_of(size_t width) {
  return (width + kPitchGranule - 1) / kPitchGranule * kPitchGranule;
}

/// Runs a call on `bytes` bytes from `offset` on of a module's variable: body(r, address,
/// variable).
template <class Body>
Status with_symbol(const void* symbol, size_t bytes, size_t offset, Body&& body, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    const VariableHandle& v = r.modules.variable(symbol);
    require(offset <= v.bytes && bytes <= v.bytes - offset);
    body(r, reinterpret_cast<char*>(r.modules.address(r, v)) + offset, v);
    return kSuccess;
  });
}

void fill_rows(Runtime& r, char* start, size_t pitch, int value, size_t width, size_t height) {
  if (width == 0 || height == 0) return;
  require(pitch >= width || height == 1);
  for (size_t y = 0; y < height; ++y) r.memory.fill(r, start + y * pitch, value, width);
}

}  // namespace

NW_API cudaMalloc(void** pointer, size_t bytes) {
  return allocate(pointer, bytes, Memory::Kind::kDevice, 0);
}
NW_API cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  if (bytes == 0 || (flags != 1 && flags != 2)) return failed(kErrorInvalidValue);
  return allocate(pointer, bytes, Memory::Kind::kManaged, flags);
}
NW_API cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  if ((flags & ~7u) != 0) return failed(kErrorInvalidValue);
  return allocate(pointer, bytes, Memory::Kind::kPinned, flags);
}
NW_API cudaMallocHost(void** pointer, size_t bytes) {
  const OuterCall outer;
  return cudaHostAlloc(pointer, bytes, 0);
}

NW_API cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  const OuterCall outer;
  if (pitch == nullptr || width > SIZE_MAX / 2 || (height != 0 && width > SIZE_MAX / 4 / height))
    return failed(pitch == nullptr ? kErrorInvalidValue : kErrorMemoryAllocation);
  *pitch = pitch_of(width);
  return cudaMalloc(pointer, *pitch * height);
}
NW_API cudaMalloc3D(PitchedPtr* pointer, Extent extent) {
  const OuterCall outer;
  if (pointer == nullptr) return failed(kErrorInvalidValue);
  *pointer = {nullptr, 0, extent.width, extent.height};
  const size_t rows = extent.height * extent.depth;
  if (extent.depth != 0 && rows / extent.depth != extent.height)
    return failed(kErrorMemoryAllocation);
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, rows);
}

NW_API cudaFree(void* pointer) {
  return api([&](Runtime& r) {
    r.device();  // cudaFree(0) is how programs initialise the runtime
    if (pointer == nullptr) return kSuccess;
    r.free(pointer);
    r.order.host_waited();
    return kSuccess;
  });
}
NW_API cudaFreeHost(void* pointer) {
  return api([&](Runtime& r) {
    if (pointer == nullptr) return kSuccess;
    r.memory.free(r, pointer, true);
    r.order.host_waited();
    return kSuccess;
  });
}

NW_API cudaMemcpy(void* dst, const void* src, size_t bytes, int kind) {
  const Synchronous call;
  return copy(dst, src, bytes, kind);
}
NW_API cudaMemcpyAsync(void* dst, const void* src, size_t bytes, int kind, Stream stream) {
  return copy(dst, src, bytes, kind, stream);
}

NW_API cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device, size_t bytes,
                           Stream stream) {
  const OuterCall outer;
  const Status status = api([&](Runtime& r) {
    r.check_device(dst_device);
    r.check_device(src_device);
    return kSuccess;
  });
  if (status != kSuccess) return status;
  return copy(dst, src, bytes, kDefault, stream);
}
NW_API cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device, size_t bytes) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemcpyPeerAsync(dst, dst_device, src, src_device, bytes, nullptr);
}
NW_API cudaMemcpyBatchAsync(void* const* dsts, const void* const* srcs, const size_t* sizes,
                            size_t count, void*, size_t*, size_t, Stream stream) {
  if (count == 0 || dsts == nullptr || srcs == nullptr || sizes == nullptr)
    return failed(kErrorInvalidValue);
  return api([&](Runtime& r) {
    for (size_t i = 0; i < count; ++i)
      r.enqueue(stream, NodeType::kCopy, copy_work(dsts[i], srcs[i], sizes[i], kDefault));
    return kSuccess;
  });
}

// --- Filling -------------------------------------------------------------------------------------

NW_API cudaMemset2DAsync(void* dst, size_t pitch, int value, size_t width, size_t height,
                         Stream stream) {
  return api([&](Runtime& r) {
    r.enqueue(stream, NodeType::kFill, [=](Runtime& q) {
      fill_rows(q, static_cast<char*>(dst), pitch, value, width, height);
      q.streams.pass(kCopyMicroseconds);
    });
    return kSuccess;
  });
}
/// CUDA lets fills of device memory return before they are done; here all fills are synchronous.
NW_API cudaMemset2D(void* dst, size_t pitch, int value, size_t width, size_t height) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemset2DAsync(dst, pitch, value, width, height, nullptr);
}
NW_API cudaMemset3DAsync(PitchedPtr dst, int value, Extent extent, Stream stream) {
  return api([&](Runtime& r) {
    r.enqueue(stream, NodeType::kFill, [=](Runtime& q) {
      for (size_t z = 0; z < extent.depth; ++z)
        fill_rows(q, static_cast<char*>(dst.ptr) + z * dst.pitch * dst.ysize, dst.pitch, value,
                  extent.width, extent.height);
      q.streams.pass(kCopyMicroseconds);
    });
    return kSuccess;
  });
}
NW_API cudaMemset3D(PitchedPtr dst, int value, Extent extent) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemset3DAsync(dst, value, extent, nullptr);
}
NW_API cudaMemsetAsync(void* dst, int value, size_t bytes, Stream stream) {
  const OuterCall outer;
  return cudaMemset2DAsync(dst, bytes, value, bytes, 1, stream);
}
NW_API cudaMemset(void* dst, int value, size_t bytes) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemsetAsync(dst, value, bytes, nullptr);
}

// --- Variables of modules ------------------------------------------------------------------------

NW_API cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t bytes, size_t offset,
                               int kind, Stream stream) {
  return with_symbol(symbol, bytes, offset, [&](Runtime& r, char* p, const auto&) {
    r.enqueue(stream, NodeType::kCopy, copy_work(p, src, bytes, kind));
  });
}
NW_API cudaMemcpyToSymbol(const void* symbol, const void* src, size_t bytes, size_t offset,
                          int kind) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemcpyToSymbolAsync(symbol, src, bytes, offset, kind, nullptr);
}
NW_API cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t bytes, size_t offset,
                                 int kind, Stream stream) {
  return with_symbol(symbol, bytes, offset, [&](Runtime& r, char* p, const auto&) {
    r.enqueue(stream, NodeType::kCopy, copy_work(dst, p, bytes, kind));
  });
}
NW_API cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t bytes, size_t offset, int kind) {
  const OuterCall outer;
  const Synchronous call;
  return cudaMemcpyFromSymbolAsync(dst, symbol, bytes, offset, kind, nullptr);
}
NW_API cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return with_symbol(symbol, 0, 0, [&](Runtime&, char* p, const auto&) {
    require(pointer != nullptr);
    *pointer = p;
  });
}
NW_API cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return with_symbol(symbol, 0, 0, [&](Runtime&, char*, const VariableHandle& v) {
    require(bytes != nullptr);
    *bytes = v.bytes;
  });
}
