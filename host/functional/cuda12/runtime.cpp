// Calls of CUDA 12's runtime library that have other parameters than CUDA 13's, or names that 13 no
// longer has.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/functional/cudart/abi.h"

using nearwarp::cudart::DeviceProp;
using nearwarp::cudart::EdgeData;
using nearwarp::cudart::MemLocation;
using nearwarp::cudart::NodeParams;
using nearwarp::cudart::PointerAttributes;
using nearwarp::cudart::Status;
using nearwarp::cudart::Stream;

/// Begins the definition of an entry point of CUDA 12's.
#define NW_12(name) extern "C" __attribute__((visibility("default"))) Status name
/// Declares what CUDA 13's library has under that name.
#define NW_13(name)                                         \
  asm(".symver nw13_" #name ", " #name "@libcudart.so.13"); \
  extern "C" Status nw13_##name

namespace {

constexpr int kRuntimeVersion = 12090;  // of the last one of CUDA 12
constexpr int kCpu = -1;

/// cudaDeviceProp of CUDA 12: it has clocks, modes and launches on several devices besides.
struct DeviceProp12 {
  char head[offsetof(DeviceProp, max_grid_size) + 3 * sizeof(int)];  // as in CUDA 13
  int clock_rate_khz;
  size_t total_const_mem;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int device_overlap;
  int multi_processor_count;
  int kernel_exec_timeout_enabled;
  int integrated, can_map_host_memory;
  int compute_mode;
  int max_texture_1d, max_texture_1d_mipmap, max_texture_1d_linear;
  int textures[37];  // from max_texture_2d on, as in CUDA 13
  size_t surface_alignment;
  int concurrent_kernels, ecc_enabled, pci_bus_id, pci_device_id, pci_domain_id, tcc_driver;
  int async_engine_count, unified_addressing;
  int memory_clock_rate_khz;
  int memory_bus_width, l2_cache_size, persisting_l2_cache_max_size;
  int max_threads_per_multi_processor, stream_priorities_supported;
  int global_l1_cache_supported, local_l1_cache_supported;
  size_t shared_mem_per_multiprocessor;
  int regs_per_multiprocessor, managed_memory, is_multi_gpu_board, multi_gpu_board_group_id;
  int host_native_atomic_supported;
  int single_to_double_ratio;
  int pageable_memory_access, concurrent_managed_access, compute_preemption_supported;
  int can_use_host_pointer_for_registered_mem, cooperative_launch;
  int cooperative_multi_device_launch;
  size_t shared_mem_per_block_optin;
  int pageable_memory_access_uses_host_page_tables, direct_managed_mem_access_from_host;
  int max_blocks_per_multi_processor, access_policy_max_window_size;
  size_t reserved_shared_mem_per_block;
  int tail[12];  // from host_register_supported on, as in CUDA 13
  int unified_function_pointers;
  int reserved_2[2], reserved_1, reserved[60];
};
static_assert(sizeof(DeviceProp12) == 1032);
constexpr size_t kTexturesBegin = offsetof(DeviceProp, max_texture_2d);
static_assert(offsetof(DeviceProp, max_surface_cubemap_layered) + 2 * sizeof(int) -
                  kTexturesBegin ==
              sizeof(DeviceProp12::textures));
static_assert(offsetof(DeviceProp, unified_function_pointers) -
                  offsetof(DeviceProp, host_register_supported) ==
              sizeof(DeviceProp12::tail));

/// cudaPointerAttributes of CUDA 12.
struct PointerAttributes12 {
  int type, device;
  void *device_pointer, *host_pointer;
};

MemLocation place(int device) {
  constexpr int kDevice = 1, kHost = 2;
  return device == kCpu ? MemLocation{kHost, 0} : MemLocation{kDevice, device};
}

}  // namespace

// --- Devices, memory -----------------------------------------------------------------------------

NW_13(cudaGetDeviceProperties)(DeviceProp*, int);
NW_13(cudaDeviceGetAttribute)(int*, int, int);
NW_12(cudaGetDeviceProperties_v2)(DeviceProp12* to, int device) {
  constexpr int kClockRate = 13, kMemoryClockRate = 36, kRatio = 87, kLinear = 69;
  DeviceProp from;
  Status status = nw13_cudaGetDeviceProperties(&from, device);
  if (to == nullptr || status != nearwarp::cudart::kSuccess)
    return to == nullptr ? nearwarp::cudart::kErrorInvalidValue : status;
  *to = {};
  std::memcpy(to->head, &from, sizeof(to->head));
  nw13_cudaDeviceGetAttribute(&to->clock_rate_khz, kClockRate, device);
  nw13_cudaDeviceGetAttribute(&to->memory_clock_rate_khz, kMemoryClockRate, device);
  nw13_cudaDeviceGetAttribute(&to->single_to_double_ratio, kRatio, device);
  nw13_cudaDeviceGetAttribute(&to->max_texture_1d_linear, kLinear, device);
  to->device_overlap = from.async_engine_count != 0;
  std::memcpy(to->textures, from.max_texture_2d, sizeof(to->textures));
  std::memcpy(to->tail, &from.host_register_supported, sizeof(to->tail));
#define NW_SAME(member) to->member = from.member
  NW_SAME(total_const_mem);
  NW_SAME(major);
  NW_SAME(minor);
  NW_SAME(texture_alignment);
  NW_SAME(texture_pitch_alignment);
  NW_SAME(multi_processor_count);
  NW_SAME(integrated);
  NW_SAME(can_map_host_memory);
  NW_SAME(max_texture_1d);
  NW_SAME(max_texture_1d_mipmap);
  NW_SAME(surface_alignment);
  NW_SAME(concurrent_kernels);
  NW_SAME(ecc_enabled);
  NW_SAME(pci_bus_id);
  NW_SAME(pci_device_id);
  NW_SAME(pci_domain_id);
  NW_SAME(tcc_driver);
  NW_SAME(async_engine_count);
  NW_SAME(unified_addressing);
  NW_SAME(memory_bus_width);
  NW_SAME(l2_cache_size);
  NW_SAME(persisting_l2_cache_max_size);
  NW_SAME(max_threads_per_multi_processor);
  NW_SAME(stream_priorities_supported);
  NW_SAME(global_l1_cache_supported);
  NW_SAME(local_l1_cache_supported);
  NW_SAME(shared_mem_per_multiprocessor);
  NW_SAME(regs_per_multiprocessor);
  NW_SAME(managed_memory);
  NW_SAME(is_multi_gpu_board);
  NW_SAME(multi_gpu_board_group_id);
  NW_SAME(host_native_atomic_supported);
  NW_SAME(pageable_memory_access);
  NW_SAME(concurrent_managed_access);
  NW_SAME(compute_preemption_supported);
  NW_SAME(can_use_host_pointer_for_registered_mem);
  NW_SAME(cooperative_launch);
  NW_SAME(shared_mem_per_block_optin);
  NW_SAME(pageable_memory_access_uses_host_page_tables);
  NW_SAME(direct_managed_mem_access_from_host);
  NW_SAME(max_blocks_per_multi_processor);
  NW_SAME(access_policy_max_window_size);
  NW_SAME(reserved_shared_mem_per_block);
  NW_SAME(unified_function_pointers);
#undef NW_SAME
  return status;
}
NW_12(cudaRuntimeGetVersion)(int* version) {
  if (version == nullptr) return nearwarp::cudart::kErrorInvalidValue;
  *version = kRuntimeVersion;
  return nearwarp::cudart::kSuccess;
}
NW_13(cudaPointerGetAttributes)(PointerAttributes*, const void*);
NW_12(cudaPointerGetAttributes)(PointerAttributes12* to, const void* pointer) {
  PointerAttributes all{};
  const Status status = nw13_cudaPointerGetAttributes(to == nullptr ? nullptr : &all, pointer);
  if (status == nearwarp::cudart::kSuccess)
    *to = {all.type, all.device, all.device_pointer, all.host_pointer};
  return status;
}
NW_13(cudaMemAdvise)(const void*, size_t, int, MemLocation);
NW_12(cudaMemAdvise)(const void* start, size_t bytes, int advice, int device) {
  return nw13_cudaMemAdvise(start, bytes, advice, place(device));
}
NW_12(cudaMemAdvise_v2)(const void* start, size_t bytes, int advice, MemLocation location) {
  return nw13_cudaMemAdvise(start, bytes, advice, location);
}
NW_13(cudaMemPrefetchAsync)(const void*, size_t, MemLocation, unsigned, Stream);
NW_13(cudaMemPrefetchAsync_ptsz)(const void*, size_t, MemLocation, unsigned, Stream);
NW_12(cudaMemPrefetchAsync)(const void* start, size_t bytes, int device, Stream stream) {
  return nw13_cudaMemPrefetchAsync(start, bytes, place(device), 0, stream);
}
NW_12(cudaMemPrefetchAsync_ptsz)(const void* start, size_t bytes, int device, Stream stream) {
  return nw13_cudaMemPrefetchAsync_ptsz(start, bytes, place(device), 0, stream);
}
NW_12(cudaMemPrefetchAsync_v2)
(const void* start, size_t bytes, MemLocation location, unsigned flags, Stream stream) {
  return nw13_cudaMemPrefetchAsync(start, bytes, location, flags, stream);
}
NW_13(cudaEventElapsedTime)(float*, void*, void*);
NW_12(cudaEventElapsedTime_v2)(float* milliseconds, void* start, void* end) {
  return nw13_cudaEventElapsedTime(milliseconds, start, end);
}

// --- Graphs: CUDA 12 has each with and without edges' data ---------------------------------------

NW_13(cudaGraphAddDependencies)(void*, void* const*, void* const*, const EdgeData*, size_t);
NW_12(cudaGraphAddDependencies)(void* graph, void* const* from, void* const* to, size_t count) {
  return nw13_cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
NW_12(cudaGraphAddDependencies_v2)
(void* graph, void* const* from, void* const* to, const EdgeData* edges, size_t count) {
  return nw13_cudaGraphAddDependencies(graph, from, to, edges, count);
}
NW_13(cudaGraphRemoveDependencies)(void*, void* const*, void* const*, const EdgeData*, size_t);
NW_12(cudaGraphRemoveDependencies)(void* graph, void* const* from, void* const* to, size_t count) {
  return nw13_cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
NW_12(cudaGraphRemoveDependencies_v2)
(void* graph, void* const* from, void* const* to, const EdgeData* edges, size_t count) {
  return nw13_cudaGraphRemoveDependencies(graph, from, to, edges, count);
}
NW_13(cudaGraphGetEdges)(void*, void**, void**, EdgeData*, size_t*);
NW_12(cudaGraphGetEdges)(void* graph, void** from, void** to, size_t* count) {
  return nw13_cudaGraphGetEdges(graph, from, to, nullptr, count);
}
NW_12(cudaGraphGetEdges_v2)(void* graph, void** from, void** to, EdgeData* edges, size_t* count) {
  return nw13_cudaGraphGetEdges(graph, from, to, edges, count);
}
NW_13(cudaGraphNodeGetDependencies)(const void*, void**, EdgeData*, size_t*);
NW_12(cudaGraphNodeGetDependencies)(const void* node, void** nodes, size_t* count) {
  return nw13_cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
NW_12(cudaGraphNodeGetDependencies_v2)
(const void* node, void** nodes, EdgeData* edges, size_t* count) {
  return nw13_cudaGraphNodeGetDependencies(node, nodes, edges, count);
}
NW_13(cudaGraphNodeGetDependentNodes)(const void*, void**, EdgeData*, size_t*);
NW_12(cudaGraphNodeGetDependentNodes)(const void* node, void** nodes, size_t* count) {
  return nw13_cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
NW_12(cudaGraphNodeGetDependentNodes_v2)
(const void* node, void** nodes, EdgeData* edges, size_t* count) {
  return nw13_cudaGraphNodeGetDependentNodes(node, nodes, edges, count);
}
NW_13(cudaGraphAddNode)(void**, void*, void* const*, const EdgeData*, size_t, NodeParams*);
NW_12(cudaGraphAddNode)
(void** node, void* graph, void* const* before, size_t count, NodeParams* p) {
  return nw13_cudaGraphAddNode(node, graph, before, nullptr, count, p);
}
NW_12(cudaGraphAddNode_v2)
(void** node, void* graph, void* const* before, const EdgeData* edges, size_t count,
 NodeParams* p) {
  return nw13_cudaGraphAddNode(node, graph, before, edges, count, p);
}

// --- Captures ------------------------------------------------------------------------------------

NW_13(cudaStreamGetCaptureInfo)
(Stream, int*, unsigned long long*, void**, void* const**, const EdgeData**, size_t*);
NW_12(cudaStreamGetCaptureInfo)(Stream stream, int* status, unsigned long long* id) {
  return nw13_cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
NW_12(cudaStreamGetCaptureInfo_v2)
(Stream stream, int* status, unsigned long long* id, void** graph, void* const** before,
 size_t* count) {
  return nw13_cudaStreamGetCaptureInfo(stream, status, id, graph, before, nullptr, count);
}
NW_12(cudaStreamGetCaptureInfo_v3)
(Stream stream, int* status, unsigned long long* id, void** graph, void* const** before,
 const EdgeData** edges, size_t* count) {
  return nw13_cudaStreamGetCaptureInfo(stream, status, id, graph, before, edges, count);
}
NW_13(cudaStreamUpdateCaptureDependencies)(Stream, void**, const EdgeData*, size_t, unsigned);
NW_12(cudaStreamUpdateCaptureDependencies)
(Stream stream, void** before, size_t count, unsigned flags) {
  return nw13_cudaStreamUpdateCaptureDependencies(stream, before, nullptr, count, flags);
}
NW_12(cudaStreamUpdateCaptureDependencies_v2)
(Stream stream, void** before, const EdgeData* edges, size_t count, unsigned flags) {
  return nw13_cudaStreamUpdateCaptureDependencies(stream, before, edges, count, flags);
}

// Calls on streams that are the threads' own.
NW_13(cudaStreamGetCaptureInfo_ptsz)
(Stream, int*, unsigned long long*, void**, void* const**, const EdgeData**, size_t*);
NW_12(cudaStreamGetCaptureInfo_ptsz)(Stream stream, int* status, unsigned long long* id) {
  return nw13_cudaStreamGetCaptureInfo_ptsz(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
NW_12(cudaStreamGetCaptureInfo_v2_ptsz)
(Stream stream, int* status, unsigned long long* id, void** graph, void* const** before,
 size_t* count) {
  return nw13_cudaStreamGetCaptureInfo_ptsz(stream, status, id, graph, before, nullptr, count);
}
NW_12(cudaStreamGetCaptureInfo_v3_ptsz)
(Stream stream, int* status, unsigned long long* id, void** graph, void* const** before,
 const EdgeData** edges, size_t* count) {
  return nw13_cudaStreamGetCaptureInfo_ptsz(stream, status, id, graph, before, edges, count);
}
NW_13(cudaStreamUpdateCaptureDependencies_ptsz)(Stream, void**, const EdgeData*, size_t, unsigned);
NW_12(cudaStreamUpdateCaptureDependencies_ptsz)
(Stream stream, void** before, size_t count, unsigned flags) {
  return nw13_cudaStreamUpdateCaptureDependencies_ptsz(stream, before, nullptr, count, flags);
}
NW_12(cudaStreamUpdateCaptureDependencies_v2_ptsz)
(Stream stream, void** before, const EdgeData* edges, size_t count, unsigned flags) {
  return nw13_cudaStreamUpdateCaptureDependencies_ptsz(stream, before, edges, count, flags);
}
NW_12(cudaMemPrefetchAsync_v2_ptsz)
(const void* start, size_t bytes, MemLocation location, unsigned flags, Stream stream) {
  return nw13_cudaMemPrefetchAsync_ptsz(start, bytes, location, flags, stream);
}

// --- Copies of several at once: CUDA 12 tells which one failed -----------------------------------

namespace {
/// The index of the copy that failed is none, since it is not known which one did.
Status no_single_one(Status status, size_t* failed) {
  if (status != nearwarp::cudart::kSuccess && failed != nullptr) *failed = SIZE_MAX;
  return status;
}
}  // namespace

NW_13(cudaMemcpyBatchAsync)(void**, const void**, size_t*, size_t, void*, size_t*, size_t, Stream);
NW_13(cudaMemcpyBatchAsync_ptsz)
(void**, const void**, size_t*, size_t, void*, size_t*, size_t, Stream);
NW_12(cudaMemcpyBatchAsync)
(void** to, const void** from, size_t* bytes, size_t count, void* attributes, size_t* indices,
 size_t num_attributes, size_t* failed, Stream stream) {
  return no_single_one(nw13_cudaMemcpyBatchAsync(to, from, bytes, count, attributes, indices,
                                                 num_attributes, stream),
                       failed);
}
NW_12(cudaMemcpyBatchAsync_ptsz)
(void** to, const void** from, size_t* bytes, size_t count, void* attributes, size_t* indices,
 size_t num_attributes, size_t* failed, Stream stream) {
  return no_single_one(nw13_cudaMemcpyBatchAsync_ptsz(to, from, bytes, count, attributes, indices,
                                                      num_attributes, stream),
                       failed);
}

// --- Names of CUDA 11 that CUDA 12 kept ----------------------------------------------------------

NW_12(cudaGetDeviceProperties)(void*, int) { return nearwarp::cudart::kErrorNotSupported; }
