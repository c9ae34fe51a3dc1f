// Entry points that allocate, copy and fill linear memory.
#include <algorithm>

#include "host/cudart/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr double kCopyMicroseconds = 2;             // estimated: the least time of a copy
constexpr double kHostBytesPerMicrosecond = 12000;  // estimated: PCI-E 3.0 x16

Status copy(void* dst, const void* src, size_t bytes, int kind, Stream stream = nullptr) {
  return api([&](Runtime& r) {
    r.streams.find(stream);
    r.memory.copy(r, dst, src, bytes, kind);
    r.streams.pass(kCopyMicroseconds + static_cast<double>(bytes) / kHostBytesPerMicrosecond);
    return kSuccess;
  });
}

Status allocate(void** pointer, size_t bytes, Memory::Kind kind, unsigned flags) {
  return api([&](Runtime& r) {
    require(pointer != nullptr);
    *pointer = nullptr;
    if (bytes != 0) *pointer = r.memory.allocate(r, bytes, kind, flags);
    return kSuccess;
  });
}

}  // namespace

NW_API cudaMalloc(void** pointer, size_t bytes) {
  return allocate(pointer, bytes, Memory::Kind::kDevice, 0);
}
NW_API cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  if (bytes == 0 || (flags != 1 && flags != 2)) return last_error() = kErrorInvalidValue;
  return allocate(pointer, bytes, Memory::Kind::kManaged, flags);
}
NW_API cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  if ((flags & ~7u) != 0) return last_error() = kErrorInvalidValue;
  return allocate(pointer, bytes, Memory::Kind::kPinned, flags);
}
NW_API cudaMallocHost(void** pointer, size_t bytes) { return cudaHostAlloc(pointer, bytes, 0); }

NW_API cudaFree(void* pointer) {
  return api([&](Runtime& r) {
    r.device();  // cudaFree(0) is how programs initialise the runtime
    if (pointer != nullptr) r.memory.free(r, pointer, false);
    return kSuccess;
  });
}
NW_API cudaFreeHost(void* pointer) {
  return api([&](Runtime& r) {
    if (pointer != nullptr) r.memory.free(r, pointer, true);
    return kSuccess;
  });
}

NW_API cudaMemcpy(void* dst, const void* src, size_t bytes, int kind) {
  return copy(dst, src, bytes, kind);
}
NW_API cudaMemcpyAsync(void* dst, const void* src, size_t bytes, int kind, Stream stream) {
  return copy(dst, src, bytes, kind, stream);
}

NW_API cudaMemsetAsync(void* dst, int value, size_t bytes, Stream stream) {
  return api([&](Runtime& r) {
    r.streams.find(stream);
    r.memory.fill(r, dst, value, bytes);
    r.streams.pass(kCopyMicroseconds);
    return kSuccess;
  });
}
NW_API cudaMemset(void* dst, int value, size_t bytes) {
  return cudaMemsetAsync(dst, value, bytes, nullptr);
}
