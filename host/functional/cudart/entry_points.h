// Entry points of the runtime that other parts of the project call: libcuda.so.1
// (host/functional/cudriver), and the services for kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudart {

struct Pool;
struct Graph;
struct GraphNode;
struct GraphExec;
struct UserObject;

extern "C" {

const char* cudaGetErrorString(int status);
Status cudaArrayGetInfo(ChannelDesc* format, Extent* extent, unsigned* flags, Array* array);
Status cudaCreateSurfaceObject(uint64_t* object, const ResourceDesc* resource);
Status cudaCreateTextureObject(uint64_t* object, const ResourceDesc* resource,
                               const TextureDesc* texture, const ResourceViewDesc* view);
Status cudaCtxResetPersistingL2Cache();
Status cudaDestroySurfaceObject(uint64_t object);
Status cudaDestroyTextureObject(uint64_t object);
Status cudaDeviceCanAccessPeer(int* can, int device, int peer);
Status cudaDeviceGetAttribute(int* value, int number, int device);
Status cudaDeviceGetByPCIBusId(int* device, const char* text);
Status cudaDeviceGetDefaultMemPool(Pool** pool, int device);
Status cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value);
Status cudaDeviceGetLimit(size_t* value, int limit);
Status cudaDeviceGetMemPool(Pool** pool, int device);
Status cudaDeviceGetP2PAttribute(int*, int, int, int);
Status cudaDeviceGetPCIBusId(char* text, int bytes, int device);
Status cudaDeviceGetSharedMemConfig(int* config);
Status cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
Status cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements, const ChannelDesc* format,
                                            int device);
Status cudaDeviceDisablePeerAccess(int peer);
Status cudaDeviceEnablePeerAccess(int peer, unsigned flags);
Status cudaDeviceGraphMemTrim(int device);
Status cudaDeviceReset();
Status cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value);
Status cudaDeviceSetLimit(int limit, size_t value);
Status cudaDeviceSetMemPool(int device, Pool* pool);
Status cudaDeviceSetSharedMemConfig(int);
Status cudaDeviceSynchronize();
Status cudaDriverGetVersion(int* version);
Status cudaEventCreateWithFlags(void** event, unsigned flags);
Status cudaEventDestroy(void* event);
Status cudaEventElapsedTime(float* milliseconds, void* start, void* end);
Status cudaEventQuery(void* event);
Status cudaEventRecord(void* event, Stream stream);
Status cudaEventRecordWithFlags(void* event, Stream stream, unsigned flags);
Status cudaEventSynchronize(void* event);
Status cudaFree(void* pointer);
Status cudaFreeArray(Array* array);
Status cudaFreeAsync(void* pointer, Stream stream);
Status cudaFreeHost(void* pointer);
Status cudaFreeMipmappedArray(MipmappedArray* array);
Status cudaFuncGetAttributes(FuncAttributes* attributes, const void* function);
Status cudaFuncGetName(const char** name, const void* function);
Status cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* bytes);
Status cudaFuncSetAttribute(const void* function, int attribute, int value);
Status cudaFuncSetCacheConfig(const void* function, int);
Status cudaFuncSetSharedMemConfig(const void* function, int);
Status cudaGetChannelDesc(ChannelDesc* format, const Array* array);
Status cudaGetDeviceCount(int* count);
Status cudaInitDevice(int device, unsigned device_flags, unsigned flags);
Status cudaGetDeviceProperties(DeviceProp* properties_out, int device);
Status cudaGetKernel(void** kernel, const void* host_function);
Status cudaGetMipmappedArrayLevel(Array** level, const MipmappedArray* array, unsigned number);
Status cudaGetSurfaceObjectResourceDesc(ResourceDesc* resource, uint64_t object);
Status cudaGetTextureObjectResourceDesc(ResourceDesc* resource, uint64_t object);
Status cudaGetTextureObjectResourceViewDesc(ResourceViewDesc* view, uint64_t object);
Status cudaGetTextureObjectTextureDesc(TextureDesc* texture, uint64_t object);
Status cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                  size_t count, Graph* child);
Status cudaGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                const EdgeData*, size_t count);
Status cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                             size_t count);
Status cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                   size_t count, void* event);
Status cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                 size_t count, void* event);
Status cudaGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                            size_t count, const HostNodeParams* p);
Status cudaGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                              size_t count, const KernelNodeParams* p);
Status cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                size_t count, AllocateNodeParams* p);
Status cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                               size_t count, void* pointer);
Status cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                              size_t count, const Copy3D* p);
Status cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                              size_t count, const MemsetParams* p);
Status cudaGraphAddNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                        const EdgeData*, size_t count, NodeParams* p);
Status cudaGraphChildGraphNodeGetGraph(const GraphNode* node, Graph** graph);
Status cudaGraphClone(Graph** clone, Graph* original);
Status cudaGraphConditionalHandleCreate(unsigned long long* handle, Graph* graph, unsigned initial,
                                        unsigned flags);
Status cudaGraphCreate(Graph** graph, unsigned flags);
Status cudaGraphDebugDotPrint(Graph* graph, const char* path, unsigned);
Status cudaGraphDestroy(Graph* graph);
Status cudaGraphDestroyNode(GraphNode* node);
Status cudaGraphEventRecordNodeGetEvent(const GraphNode* node, void** event);
Status cudaGraphEventRecordNodeSetEvent(const GraphNode* node, void* event);
Status cudaGraphEventWaitNodeGetEvent(const GraphNode* node, void** event);
Status cudaGraphEventWaitNodeSetEvent(const GraphNode* node, void* event);
Status cudaGraphExecChildGraphNodeSetParams(GraphExec* exec, const GraphNode* node, Graph* child);
Status cudaGraphExecDestroy(GraphExec* exec);
Status cudaGraphExecEventRecordNodeSetEvent(GraphExec* exec, const GraphNode* node, void* event);
Status cudaGraphExecEventWaitNodeSetEvent(GraphExec* exec, const GraphNode* node, void* event);
Status cudaGraphExecGetFlags(GraphExec* exec, unsigned long long* flags);
Status cudaGraphExecHostNodeSetParams(GraphExec* exec, const GraphNode* node,
                                      const HostNodeParams* p);
Status cudaGraphExecKernelNodeSetParams(GraphExec* exec, const GraphNode* node,
                                        const KernelNodeParams* p);
Status cudaGraphExecMemcpyNodeSetParams(GraphExec* exec, const GraphNode* node, const Copy3D* p);
Status cudaGraphExecMemsetNodeSetParams(GraphExec* exec, const GraphNode* node,
                                        const MemsetParams* p);
Status cudaGraphExecNodeSetParams(GraphExec* exec, const GraphNode* node, NodeParams* p);
Status cudaGraphExecUpdate(GraphExec* exec, Graph* graph, ExecUpdateResult* result);
Status cudaGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to, EdgeData* edges,
                         size_t* count);
Status cudaGraphGetNodes(Graph* graph, GraphNode** nodes, size_t* count);
Status cudaGraphGetRootNodes(Graph* graph, GraphNode** nodes, size_t* count);
Status cudaGraphHostNodeGetParams(const GraphNode* node, HostNodeParams* p);
Status cudaGraphHostNodeSetParams(const GraphNode* node, const HostNodeParams* p);
Status cudaGraphInstantiate(GraphExec** exec, Graph* graph, unsigned long long flags);
Status cudaGraphInstantiateWithParams(GraphExec** exec, Graph* graph, InstantiateParams* p);
Status cudaGraphKernelNodeCopyAttributes(const GraphNode* to, const GraphNode* from);
Status cudaGraphKernelNodeGetAttribute(const GraphNode* node, int attribute, void* value);
Status cudaGraphKernelNodeGetParams(const GraphNode* node, KernelNodeParams* p);
Status cudaGraphKernelNodeSetAttribute(const GraphNode* node, int attribute, const void* value);
Status cudaGraphKernelNodeSetParams(const GraphNode* node, const KernelNodeParams* p);
Status cudaGraphLaunch(GraphExec* exec, Stream stream);
Status cudaGraphMemAllocNodeGetParams(const GraphNode* node, AllocateNodeParams* p);
Status cudaGraphMemFreeNodeGetParams(const GraphNode* node, void* pointer);
Status cudaGraphMemcpyNodeGetParams(const GraphNode* node, Copy3D* p);
Status cudaGraphMemcpyNodeSetParams(const GraphNode* node, const Copy3D* p);
Status cudaGraphMemsetNodeGetParams(const GraphNode* node, MemsetParams* p);
Status cudaGraphMemsetNodeSetParams(const GraphNode* node, const MemsetParams* p);
Status cudaGraphNodeFindInClone(GraphNode** node, const GraphNode* original, Graph* clone);
Status cudaGraphNodeGetDependencies(const GraphNode* node, GraphNode** nodes, EdgeData* edges,
                                    size_t* count);
Status cudaGraphNodeGetDependentNodes(const GraphNode* node, GraphNode** nodes, EdgeData* edges,
                                      size_t* count);
Status cudaGraphNodeGetEnabled(GraphExec* exec, const GraphNode* node, unsigned* enabled);
Status cudaGraphNodeGetType(const GraphNode* node, int* type);
Status cudaGraphNodeSetEnabled(GraphExec* exec, const GraphNode* node, unsigned enabled);
Status cudaGraphNodeSetParams(const GraphNode* node, NodeParams* p);
Status cudaGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count);
Status cudaGraphRemoveDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                   const EdgeData*, size_t count);
Status cudaGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count, unsigned flags);
Status cudaGraphUpload(GraphExec* exec, Stream stream);
Status cudaHostAlloc(void** pointer, size_t bytes, unsigned flags);
Status cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
Status cudaHostGetFlags(unsigned* flags, void* host);
Status cudaHostRegister(void* pointer, size_t bytes, unsigned flags);
Status cudaHostUnregister(void* pointer);
Status cudaIpcCloseMemHandle(void* pointer);
Status cudaIpcGetEventHandle(IpcHandle* handle, void* event);
Status cudaIpcGetMemHandle(IpcHandle* handle, void* pointer);
Status cudaIpcOpenEventHandle(void** event, IpcHandle handle);
Status cudaIpcOpenMemHandle(void** pointer, IpcHandle handle, unsigned flags);
Status cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int device);
Status cudaLaunchHostFunc(Stream stream, void (*function)(void*), void* data);
Status cudaLibraryEnumerateKernels(void** kernels, unsigned room, void* library);
Status cudaLibraryGetGlobal(void** pointer, size_t* bytes, void* library, const char* name);
Status cudaLibraryGetKernel(void** kernel, void* library, const char* name);
Status cudaLibraryGetKernelCount(unsigned* count, void* library);
Status cudaLibraryGetUnifiedFunction(void**, void* library, const char*);
Status cudaLibraryLoadData(void** library, const void* code, const int* options, void** values,
                           unsigned num_options, const int*, void**, unsigned);
Status cudaLibraryLoadFromFile(void** library, const char* path, const int* options, void** values,
                               unsigned num_options, const int*, void**, unsigned);
Status cudaLibraryUnload(void* library);
Status cudaMalloc(void** pointer, size_t bytes);
Status cudaMalloc3DArray(Array** array, const ChannelDesc* format, Extent extent, unsigned flags);
Status cudaMallocAsync(void** pointer, size_t bytes, Stream stream);
Status cudaMallocFromPoolAsync(void** pointer, size_t bytes, Pool* pool, Stream stream);
Status cudaMallocHost(void** pointer, size_t bytes);
Status cudaMallocManaged(void** pointer, size_t bytes, unsigned flags);
Status cudaMallocMipmappedArray(MipmappedArray** array, const ChannelDesc* format, Extent extent,
                                unsigned levels, unsigned flags);
Status cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
Status cudaMemAdvise(const void* pointer, size_t bytes, int advice, MemLocation);
Status cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                           MemLocation*, size_t*, size_t, unsigned long long,
                                           Stream stream);
Status cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count, unsigned long long,
                                Stream stream);
Status cudaMemGetDefaultMemPool(Pool** pool, MemLocation* location, int);
Status cudaMemGetInfo(size_t* free, size_t* total);
Status cudaMemGetMemPool(Pool** pool, MemLocation* location, int);
Status cudaMemPoolCreate(Pool** pool, const MemPoolProps* properties);
Status cudaMemPoolDestroy(Pool* pool);
Status cudaMemPoolExportPointer(PoolPointer* to, void* pointer);
Status cudaMemPoolExportToShareableHandle(void* handle, Pool* pool, int type, unsigned flags);
Status cudaMemPoolGetAccess(int* flags, Pool* pool, MemLocation* location);
Status cudaMemPoolGetAttribute(Pool* pool, int attribute, void* value);
Status cudaMemPoolImportFromShareableHandle(Pool** pool, void* handle, int type, unsigned flags);
Status cudaMemPoolImportPointer(void** pointer, Pool* pool, const PoolPointer* from);
Status cudaMemPoolSetAccess(Pool* pool, const void*, size_t);
Status cudaMemPoolSetAttribute(Pool* pool, int attribute, void* value);
Status cudaMemPoolTrimTo(Pool* pool, size_t);
Status cudaMemPrefetchAsync(const void* pointer, size_t bytes, MemLocation, unsigned,
                            Stream stream);
Status cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count, MemLocation*,
                                 size_t*, size_t, unsigned long long, Stream stream);
Status cudaMemRangeGetAttribute(void* data, size_t data_bytes, int attribute, const void* pointer,
                                size_t bytes);
Status cudaMemRangeGetAttributes(void** data, size_t* data_bytes, int* attributes, size_t count,
                                 const void* pointer, size_t bytes);
Status cudaMemSetMemPool(MemLocation* location, int, Pool* pool);
Status cudaMemcpy(void* dst, const void* src, size_t bytes, int kind);
Status cudaMemcpy3D(const Copy3D* p);
Status cudaMemcpy3DAsync(const Copy3D* p, Stream stream);
Status cudaMemcpyArrayToArray(Array* dst, size_t dst_x, size_t dst_y, const Array* src,
                              size_t src_x, size_t src_y, size_t bytes, int);
Status cudaMemcpyAsync(void* dst, const void* src, size_t bytes, int kind, Stream stream);
Status cudaMemcpyBatchAsync(void* const* dsts, const void* const* srcs, const size_t* sizes,
                            size_t count, void*, size_t*, size_t, Stream stream);
Status cudaMemcpyFromArray(void* dst, const Array* src, size_t x, size_t y, size_t bytes, int kind);
Status cudaMemcpyFromArrayAsync(void* dst, const Array* src, size_t x, size_t y, size_t bytes,
                                int kind, Stream stream);
Status cudaMemcpyToArray(Array* dst, size_t x, size_t y, const void* src, size_t bytes, int kind);
Status cudaMemcpyToArrayAsync(Array* dst, size_t x, size_t y, const void* src, size_t bytes,
                              int kind, Stream stream);
Status cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks,
                                                 int block_threads);
Status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                     int block_threads,
                                                     size_t dynamic_shared_bytes);
Status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                              int block_threads,
                                                              size_t dynamic_shared_bytes,
                                                              unsigned flags);
Status cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                      const LaunchConfig* config);
Status cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                            const LaunchConfig* config);
Status cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer);
Status cudaProfilerStart();
Status cudaProfilerStop();
Status cudaStreamAddCallback(Stream stream, void (*callback)(Stream, int, void*), void* data,
                             unsigned flags);
Status cudaStreamAttachMemAsync(Stream stream, void*, size_t, unsigned);
Status cudaStreamBeginCapture(Stream stream, int mode);
Status cudaStreamBeginCaptureToGraph(Stream stream, Graph* graph, GraphNode* const* dependencies,
                                     const EdgeData*, size_t count, int mode);
Status cudaStreamCopyAttributes(Stream to, Stream from);
Status cudaStreamCreateWithFlags(Stream* stream, unsigned flags);
Status cudaStreamCreateWithPriority(Stream* stream, unsigned flags, int priority);
Status cudaStreamDestroy(Stream stream);
Status cudaStreamEndCapture(Stream stream, Graph** graph);
Status cudaStreamGetAttribute(Stream stream, int attribute, void* value);
Status cudaStreamGetCaptureInfo(Stream stream, int* status, unsigned long long* id, Graph** graph,
                                GraphNode* const** dependencies, const EdgeData** edges,
                                size_t* count);
Status cudaStreamGetDevice(Stream stream, int* device);
Status cudaStreamGetFlags(Stream stream, unsigned* flags);
Status cudaStreamGetId(Stream stream, unsigned long long* id);
Status cudaStreamGetPriority(Stream stream, int* priority);
Status cudaStreamIsCapturing(Stream stream, int* status);
Status cudaStreamQuery(Stream stream);
Status cudaStreamSetAttribute(Stream stream, int attribute, const void* value);
Status cudaStreamSynchronize(Stream stream);
Status cudaStreamUpdateCaptureDependencies(Stream stream, GraphNode* const* dependencies,
                                           const EdgeData*, size_t count, unsigned flags);
Status cudaStreamWaitEvent(Stream stream, void* event, unsigned flags);
Status cudaThreadExchangeStreamCaptureMode(int* mode);
Status cudaUserObjectCreate(UserObject** object, void* pointer, void (*destroy)(void*),
                            unsigned references, unsigned flags);
Status cudaUserObjectRelease(UserObject* object, unsigned count);
Status cudaUserObjectRetain(UserObject* object, unsigned count);

}  // extern "C"

}  // namespace nearwarp::cudart
