// Entry points that allocate and fill memory, and give hints about it.
#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

/// A fill of `width` elements in each of `height` rows.
struct Fill {
  DevicePtr start;
  size_t pitch;
  unsigned value, element_bytes;
  size_t width, height;

  [[nodiscard]] Status in(Stream stream) const {
    const MemsetParams p = {pointer(start), pitch, value, element_bytes, width, height};
    return nw_driver_fill(&p, stream);
  }
};

Status fill(const Fill& f) {
  return synchronous_call([&] { return f.in(nullptr); });
}
Status fill(const Fill& f, Stream stream) {
  return call([&] { return f.in(stream); });
}

/// Calls an entry point of the runtime API that allocates. The size must not be 0.
template <class Allocate>
Status allocate(DevicePtr* out, size_t bytes, Allocate&& allocate_bytes) {
  return call([&] {
    void* start = nullptr;
    require(out != nullptr && bytes != 0);
    check(allocate_bytes(&start));
    *out = address(start);
    return kSuccess;
  });
}

}  // namespace

NW_CU cuMemAlloc_v2(DevicePtr* out, size_t bytes) {
  return allocate(out, bytes, [&](void** p) { return cudaMalloc(p, bytes); });
}
NW_CU cuMemAllocManaged(DevicePtr* out, size_t bytes, unsigned flags) {
  return allocate(out, bytes, [&](void** p) { return cudaMallocManaged(p, bytes, flags); });
}
NW_CU cuMemAllocPitch_v2(DevicePtr* out, size_t* pitch, size_t width, size_t height,
                         unsigned element_bytes) {
  return allocate(out, width * height, [&](void** p) {
    require(element_bytes == 4 || element_bytes == 8 || element_bytes == 16);
    return cudaMallocPitch(p, pitch, width, height);
  });
}
NW_CU cuMemFree_v2(DevicePtr start) { return forward(cudaFree, pointer(start)); }
NW_CU cuMemAllocHost_v2(void** out, size_t bytes) {
  return call([&] {
    require(bytes != 0);
    return cudaMallocHost(out, bytes);
  });
}
NW_CU cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  return call([&] {
    require(bytes != 0);
    return cudaHostAlloc(out, bytes, flags);
  });
}
NW_CU cuMemFreeHost(void* start) { return forward(cudaFreeHost, start); }
NW_CU cuMemHostRegister_v2(void* start, size_t bytes, unsigned flags) {
  return forward(cudaHostRegister, start, bytes, flags);
}
NW_CU cuMemHostRegister(void* start, size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(start, bytes, flags);
}
NW_CU cuMemHostUnregister(void* start) { return forward(cudaHostUnregister, start); }
NW_CU cuMemHostGetDevicePointer_v2(DevicePtr* out, void* host, unsigned flags) {
  return call([&] {
    void* device = nullptr;
    require(out != nullptr);
    check(cudaHostGetDevicePointer(&device, host, flags));
    *out = address(device);
    return kSuccess;
  });
}
NW_CU cuMemHostGetFlags(unsigned* flags, void* host) {
  return forward(cudaHostGetFlags, flags, host);
}
NW_CU cuMemGetInfo_v2(size_t* free, size_t* total) { return forward(cudaMemGetInfo, free, total); }
NW_CU cuMemGetAddressRange_v2(DevicePtr* start, size_t* bytes, DevicePtr inside) {
  return call([&] {
    void* first = nullptr;
    if (nw_driver_range(pointer(inside), &first, bytes) != kSuccess)
      throw Failure{kErrorSymbolNotFound};
    if (start != nullptr) *start = address(first);
    return kSuccess;
  });
}

// --- Filling -------------------------------------------------------------------------------------

NW_CU cuMemsetD8_v2(DevicePtr dst, unsigned char value, size_t count) {
  return fill({dst, 0, value, 1, count, 1});
}
NW_CU cuMemsetD16_v2(DevicePtr dst, unsigned short value, size_t count) {
  return fill({dst, 0, value, 2, count, 1});
}
NW_CU cuMemsetD32_v2(DevicePtr dst, unsigned value, size_t count) {
  return fill({dst, 0, value, 4, count, 1});
}
NW_CU cuMemsetD8Async(DevicePtr dst, unsigned char value, size_t count, Stream stream) {
  return fill({dst, 0, value, 1, count, 1}, stream);
}
NW_CU cuMemsetD16Async(DevicePtr dst, unsigned short value, size_t count, Stream stream) {
  return fill({dst, 0, value, 2, count, 1}, stream);
}
NW_CU cuMemsetD32Async(DevicePtr dst, unsigned value, size_t count, Stream stream) {
  return fill({dst, 0, value, 4, count, 1}, stream);
}
NW_CU cuMemsetD2D8Async(DevicePtr dst, size_t pitch, unsigned char value, size_t width,
                        size_t height, Stream stream) {
  return fill({dst, pitch, value, 1, width, height}, stream);
}
NW_CU cuMemsetD2D16Async(DevicePtr dst, size_t pitch, unsigned short value, size_t width,
                         size_t height, Stream stream) {
  return fill({dst, pitch, value, 2, width, height}, stream);
}
NW_CU cuMemsetD2D32Async(DevicePtr dst, size_t pitch, unsigned value, size_t width, size_t height,
                         Stream stream) {
  return fill({dst, pitch, value, 4, width, height}, stream);
}
NW_CU cuMemsetD2D8_v2(DevicePtr dst, size_t pitch, unsigned char value, size_t width,
                      size_t height) {
  return fill({dst, pitch, value, 1, width, height});
}
NW_CU cuMemsetD2D16_v2(DevicePtr dst, size_t pitch, unsigned short value, size_t width,
                       size_t height) {
  return fill({dst, pitch, value, 2, width, height});
}
NW_CU cuMemsetD2D32_v2(DevicePtr dst, size_t pitch, unsigned value, size_t width, size_t height) {
  return fill({dst, pitch, value, 4, width, height});
}

// --- Hints ---------------------------------------------------------------------------------------

NW_CU cuMemPrefetchAsync_v2(DevicePtr start, size_t bytes, MemLocation location, unsigned flags,
                            Stream stream) {
  return forward(cudaMemPrefetchAsync, pointer(start), bytes, location, flags, stream);
}
NW_CU cuMemPrefetchAsync(DevicePtr start, size_t bytes, Device device, Stream stream) {
  return cuMemPrefetchAsync_v2(start, bytes, {1, device}, 0, stream);
}
NW_CU cuMemAdvise_v2(DevicePtr start, size_t bytes, int advice, MemLocation location) {
  return forward(cudaMemAdvise, pointer(start), bytes, advice, location);
}
NW_CU cuMemAdvise(DevicePtr start, size_t bytes, int advice, Device device) {
  return cuMemAdvise_v2(start, bytes, advice, {1, device});
}
NW_CU cuMemPrefetchBatchAsync(void** starts, size_t* sizes, size_t count, MemLocation* locations,
                              size_t* indices, size_t num_locations, unsigned long long flags,
                              Stream stream) {
  return forward(cudaMemPrefetchBatchAsync, starts, sizes, count, locations, indices, num_locations,
                 flags, stream);
}
NW_CU cuMemDiscardBatchAsync(void** starts, size_t* sizes, size_t count, unsigned long long flags,
                             Stream stream) {
  return forward(cudaMemDiscardBatchAsync, starts, sizes, count, flags, stream);
}
NW_CU cuMemDiscardAndPrefetchBatchAsync(void** starts, size_t* sizes, size_t count,
                                        MemLocation* locations, size_t* indices,
                                        size_t num_locations, unsigned long long flags,
                                        Stream stream) {
  return forward(cudaMemDiscardAndPrefetchBatchAsync, starts, sizes, count, locations, indices,
                 num_locations, flags, stream);
}
NW_CU cuMemRangeGetAttribute(void* data, size_t data_bytes, int attribute, DevicePtr start,
                             size_t bytes) {
  return forward(cudaMemRangeGetAttribute, data, data_bytes, attribute, pointer(start), bytes);
}
NW_CU cuMemRangeGetAttributes(void** data, size_t* data_bytes, int* attributes, size_t count,
                              DevicePtr start, size_t bytes) {
  return forward(cudaMemRangeGetAttributes, data, data_bytes, attributes, count, pointer(start),
                 bytes);
}

// --- Stream-ordered allocation -------------------------------------------------------------------

NW_CU cuMemAllocAsync(DevicePtr* out, size_t bytes, Stream stream) {
  return allocate(out, bytes, [&](void** p) { return cudaMallocAsync(p, bytes, stream); });
}
NW_CU cuMemAllocFromPoolAsync(DevicePtr* out, size_t bytes, Pool* pool, Stream stream) {
  return allocate(out, bytes,
                  [&](void** p) { return cudaMallocFromPoolAsync(p, bytes, pool, stream); });
}
NW_CU cuMemFreeAsync(DevicePtr start, Stream stream) {
  return forward(cudaFreeAsync, pointer(start), stream);
}
NW_CU cuMemPoolCreate(Pool** pool, const MemPoolProps* properties) {
  return forward(cudaMemPoolCreate, pool, properties);
}
NW_CU cuMemPoolDestroy(Pool* pool) { return forward(cudaMemPoolDestroy, pool); }
NW_CU cuMemPoolTrimTo(Pool* pool, size_t bytes) { return forward(cudaMemPoolTrimTo, pool, bytes); }
NW_CU cuMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  return forward(cudaMemPoolSetAttribute, pool, attribute, value);
}
NW_CU cuMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  return forward(cudaMemPoolGetAttribute, pool, attribute, value);
}
NW_CU cuMemPoolSetAccess(Pool* pool, const void* access, size_t count) {
  return forward(cudaMemPoolSetAccess, pool, access, count);
}
NW_CU cuMemPoolGetAccess(int* flags, Pool* pool, MemLocation* location) {
  return forward(cudaMemPoolGetAccess, flags, pool, location);
}
NW_CU cuMemPoolExportToShareableHandle(void* handle, Pool* pool, int type,
                                       unsigned long long flags) {
  return forward(cudaMemPoolExportToShareableHandle, handle, pool, type, flags != 0 ? 1 : 0);
}
NW_CU cuMemPoolImportFromShareableHandle(Pool** pool, void* handle, int type,
                                         unsigned long long flags) {
  return forward(cudaMemPoolImportFromShareableHandle, pool, handle, type, flags != 0 ? 1 : 0);
}
NW_CU cuMemPoolExportPointer(PoolPointer* to, DevicePtr start) {
  return forward(cudaMemPoolExportPointer, to, pointer(start));
}
NW_CU cuMemPoolImportPointer(DevicePtr* out, Pool* pool, const PoolPointer* from) {
  return call([&] {
    void* start = nullptr;
    require(out != nullptr);
    check(cudaMemPoolImportPointer(&start, pool, from));
    *out = address(start);
    return kSuccess;
  });
}
NW_CU cuMemGetDefaultMemPool(Pool** pool, MemLocation* location, int type) {
  return forward(cudaMemGetDefaultMemPool, pool, location, type);
}
NW_CU cuMemGetMemPool(Pool** pool, MemLocation* location, int type) {
  return forward(cudaMemGetMemPool, pool, location, type);
}
NW_CU cuMemSetMemPool(MemLocation* location, int type, Pool* pool) {
  return forward(cudaMemSetMemPool, location, type, pool);
}

}  // namespace nearwarp::cudriver
