// The CUDA 13 runtime's binary interface, as far as the library implements it: types and constants
// that applications pass and expect back. They are repeated here so that building needs no CUDA
// toolkit; where there is one, a test compares them with the toolkit's headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearwarp::cudart {

/// cudaError_t. Names of all codes are in error_names.cpp.
enum Status : int {
  kSuccess = 0,
  kErrorInvalidValue = 1,
  kErrorMemoryAllocation = 2,
  kErrorInitialization = 3,
  kErrorInvalidConfiguration = 9,
  kErrorInvalidPitchValue = 12,
  kErrorInvalidSymbol = 13,
  kErrorInvalidChannelDescriptor = 20,
  kErrorInvalidMemcpyDirection = 21,
  kErrorInvalidFilterSetting = 26,
  kErrorInvalidNormSetting = 27,
  kErrorDevicesUnavailable = 46,
  kErrorInvalidDeviceFunction = 98,
  kErrorNoDevice = 100,
  kErrorInvalidDevice = 101,
  kErrorInvalidKernelImage = 200,
  kErrorDeviceUninitialized = 201,
  kErrorMapBufferObjectFailed = 205,
  kErrorNoKernelImageForDevice = 209,
  kErrorPeerAccessUnsupported = 217,
  kErrorInvalidPtx = 218,
  kErrorFileNotFound = 301,
  kErrorOperatingSystem = 304,
  kErrorInvalidResourceHandle = 400,
  kErrorIllegalState = 401,
  kErrorSymbolNotFound = 500,
  kErrorNotReady = 600,
  kErrorIllegalAddress = 700,
  kErrorLaunchOutOfResources = 701,
  kErrorPeerAccessAlreadyEnabled = 704,
  kErrorPeerAccessNotEnabled = 705,
  kErrorAssert = 710,
  kErrorHostMemoryAlreadyRegistered = 712,
  kErrorHostMemoryNotRegistered = 713,
  kErrorHardwareStackError = 714,
  kErrorMisalignedAddress = 716,
  kErrorLaunchFailure = 719,
  kErrorCooperativeLaunchTooLarge = 720,
  kErrorNotSupported = 801,
  kErrorStreamCaptureUnsupported = 900,
  kErrorStreamCaptureInvalidated = 901,
  kErrorStreamCaptureMerge = 902,
  kErrorStreamCaptureUnmatched = 903,
  kErrorStreamCaptureUnjoined = 904,
  kErrorStreamCaptureIsolation = 905,
  kErrorStreamCaptureImplicit = 906,
  kErrorCapturedEvent = 907,
  kErrorStreamCaptureWrongThread = 908,
  kErrorGraphExecUpdateFailure = 910,
  kErrorInvalidClusterSize = 912,
  kErrorUnknown = 999,
};

/// cudaMemcpyKind
enum CopyKind : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefault = 4,
};

/// cudaStreamCaptureMode
enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

/// cudaMemoryType
enum MemoryType : int {
  kMemoryUnregistered = 0,
  kMemoryHost = 1,
  kMemoryDevice = 2,
  kMemoryManaged = 3,
};

struct Dim {  // dim3
  uint32_t x = 1, y = 1, z = 1;
};
static_assert(sizeof(Dim) == 12);

using Stream = void*;  // cudaStream_t
/// Handles of the legacy default stream and of the thread's own; null is one of these two.
inline constexpr uintptr_t kStreamLegacy = 1, kStreamPerThread = 2;

struct Extent {  // cudaExtent
  size_t width, height, depth;
};
struct Position {  // cudaPos
  size_t x, y, z;
};
struct PitchedPtr {  // cudaPitchedPtr
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct Array;
struct Copy3D {  // cudaMemcpy3DParms
  Array* src_array;
  Position src_pos;
  PitchedPtr src_ptr;
  Array* dst_array;
  Position dst_pos;
  PitchedPtr dst_ptr;
  Extent extent;
  int kind;
};
static_assert(sizeof(Copy3D) == 160);
struct Copy3DPeer {  // cudaMemcpy3DPeerParms
  Array* src_array;
  Position src_pos;
  PitchedPtr src_ptr;
  int src_device;
  Array* dst_array;
  Position dst_pos;
  PitchedPtr dst_ptr;
  int dst_device;
  Extent extent;
};
static_assert(sizeof(Copy3DPeer) == 168);

struct ChannelDesc {  // cudaChannelFormatDesc; f: cudaChannelFormatKind
  int x, y, z, w, f;
};
static_assert(sizeof(ChannelDesc) == 20);

/// Flags of arrays
inline constexpr unsigned kArrayLayered = 1, kArraySurface = 2, kArrayCubemap = 4, kArrayGather = 8;

struct MipmappedArray;
/// cudaResourceType
enum ResourceType : int {
  kResourceArray = 0,
  kResourceMipmappedArray = 1,
  kResourceLinear = 2,
  kResourcePitch2D = 3,
};
struct LinearResource {
  void* pointer;
  ChannelDesc format;
  size_t bytes;
};
struct PitchResource {
  void* pointer;
  ChannelDesc format;
  size_t width, height, pitch;  ///< in elements, in rows, in bytes
};
struct ResourceDesc {  // cudaResourceDesc
  int type;            ///< ResourceType
  union {
    Array* array;
    MipmappedArray* mipmapped;
    LinearResource linear;
    PitchResource pitch_2d;
    int reserved[32];
  } resource;
  unsigned flags;
};
static_assert(sizeof(ResourceDesc) == 144);

struct TextureDesc {    // cudaTextureDesc
  int address_mode[3];  ///< wrap, clamp, mirror, border
  int filter_mode;      ///< point, linear
  int read_mode;        ///< as elements, as normalised floating point
  int srgb;
  float border[4];
  int normalized_coordinates;
  unsigned max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_bias, min_level, max_level;
  int disable_trilinear_optimization;
  int seamless_cubemap;
};
static_assert(sizeof(TextureDesc) == 72);

struct ResourceViewDesc {  // cudaResourceViewDesc
  int format;
  size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
  unsigned reserved[16];
};
static_assert(sizeof(ResourceViewDesc) == 112);

struct LaunchAttribute {  // cudaLaunchAttribute
  int id;
  int pad;
  union {
    char bytes[64];
    int cooperative;
    uint32_t cluster[3];
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);
inline constexpr int kAttributeCooperative = 2, kAttributeClusterDimension = 4;

struct LaunchConfig {  // cudaLaunchConfig_t
  Dim grid, block;
  size_t dynamic_shared_bytes;
  Stream stream;
  const LaunchAttribute* attributes;
  unsigned num_attributes;
};
static_assert(sizeof(LaunchConfig) == 56);

struct FuncAttributes {  // cudaFuncAttributes
  size_t shared_bytes, const_bytes, local_bytes;
  int max_threads_per_block;
  int num_regs;
  int ptx_version, binary_version;
  int cache_mode_ca;
  int max_dynamic_shared_bytes;
  int preferred_carveout;
  int cluster_dim_must_be_set;
  int required_cluster_width, required_cluster_height, required_cluster_depth;
  int cluster_scheduling_policy;
  int non_portable_cluster_size_allowed;
  int reserved[16];
};
static_assert(sizeof(FuncAttributes) == 144);
/// cudaFuncAttribute
inline constexpr int kFuncMaxDynamicShared = 8, kFuncCarveout = 9, kFuncClusterMustBeSet = 10,
                     kFuncClusterWidth = 11, kFuncClusterDepth = 13, kFuncNonPortableCluster = 14,
                     kFuncClusterPolicy = 15, kFuncAttributeEnd = 16;

struct PointerAttributes {  // cudaPointerAttributes
  int type;                 ///< MemoryType
  int device;
  void* device_pointer;
  void* host_pointer;
  long reserved[8];
};
static_assert(sizeof(PointerAttributes) == 88);

struct MemLocation {  // cudaMemLocation; type 1: device, 2: host
  int type, id;
};
struct MemPoolProps {  // cudaMemPoolProps
  int alloc_type, handle_types;
  MemLocation location;
  void* security_attributes;
  size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};
static_assert(sizeof(MemPoolProps) == 88);

/// CUmemAllocationProp: properties of memory that is created and mapped in separate calls, which
/// only the driver's interface has.
struct PhysicalProps {
  int type;          ///< 1: pinned
  int handle_types;  ///< 1: may be handed to other processes as a file's descriptor
  MemLocation location;
  void* security_attributes;
  unsigned char compression, rdma;
  unsigned short usage;
  unsigned char reserved[4];
};
static_assert(sizeof(PhysicalProps) == 32);
/// cudaIpcMemHandle_t, cudaIpcEventHandle_t
struct IpcHandle {
  char bytes[64];
};
struct PoolPointer {  // cudaMemPoolPtrExportData
  unsigned char bytes[64];
};
struct AccessDesc {  // cudaMemAccessDesc
  MemLocation location;
  int flags;  ///< 0: none, 1: read, 3: read and write
};
static_assert(sizeof(AccessDesc) == 12);

struct KernelNodeParams {  // cudaKernelNodeParams
  const void* function;
  Dim grid, block;
  unsigned dynamic_shared_bytes;
  void** args;
  void** extra;
};
static_assert(sizeof(KernelNodeParams) == 56);
struct MemsetParams {  // cudaMemsetParams
  void* dst;
  size_t pitch;
  unsigned value, element_bytes;
  size_t width, height;  ///< in elements, in rows
};
static_assert(sizeof(MemsetParams) == 40);
struct HostNodeParams {  // cudaHostNodeParams
  void (*function)(void*);
  void* data;
};
struct CopyNodeParams {  // cudaMemcpyNodeParams
  int flags, reserved[3];
  Copy3D copy;
};
struct AllocateNodeParams {  // cudaMemAllocNodeParams
  MemPoolProps pool;
  const void* access;
  size_t num_access;
  size_t bytes;
  void* pointer;  ///< out
};
static_assert(sizeof(AllocateNodeParams) == 120);
struct ConditionalNodeParams {  // cudaConditionalNodeParams
  unsigned long long handle;
  int kind;  ///< if, while, switch
  unsigned size;
  void** graphs;  ///< out: the node's own array
};
struct NodeParams {  // cudaGraphNodeParams
  int type;          ///< NodeType
  int reserved[3];
  union {
    long long words[29];
    KernelNodeParams kernel;
    CopyNodeParams copy;
    MemsetParams fill;
    HostNodeParams host;
    struct {
      void* graph;
      int ownership;  ///< 0: the node gets a clone, 1: the graph itself
    } child;
    void* event;
    AllocateNodeParams allocate;
    ConditionalNodeParams conditional;
    void* free;
  };
  long long reserved_end;
};
static_assert(sizeof(NodeParams) == 256);
struct EdgeData {  // cudaGraphEdgeData
  unsigned char from_port, to_port, type, reserved[5];
};
struct InstantiateParams {  // cudaGraphInstantiateParams
  unsigned long long flags;
  Stream upload;
  const void* node;
  int result;  ///< 0: success, 1: error, 2: invalid structure
};
static_assert(sizeof(InstantiateParams) == 32);
struct ExecUpdateResult {  // cudaGraphExecUpdateResultInfo
  int result;              ///< 0: success, 1: error, 2: the graphs differ
  const void* node;
  const void* node_before;
};
static_assert(sizeof(ExecUpdateResult) == 24);

struct DeviceProp {  // cudaDeviceProp
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  size_t total_global_mem;
  size_t shared_mem_per_block;
  int regs_per_block;
  int warp_size;
  size_t mem_pitch;
  int max_threads_per_block;
  int max_threads_dim[3];
  int max_grid_size[3];
  size_t total_const_mem;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int multi_processor_count;
  int integrated;
  int can_map_host_memory;
  int max_texture_1d, max_texture_1d_mipmap;
  int max_texture_2d[2], max_texture_2d_mipmap[2], max_texture_2d_linear[3];
  int max_texture_2d_gather[2];
  int max_texture_3d[3], max_texture_3d_alternative[3];
  int max_texture_cubemap;
  int max_texture_1d_layered[2], max_texture_2d_layered[3], max_texture_cubemap_layered[2];
  int max_surface_1d, max_surface_2d[2], max_surface_3d[3];
  int max_surface_1d_layered[2], max_surface_2d_layered[3];
  int max_surface_cubemap, max_surface_cubemap_layered[2];
  size_t surface_alignment;
  int concurrent_kernels;
  int ecc_enabled;
  int pci_bus_id, pci_device_id, pci_domain_id;
  int tcc_driver;
  int async_engine_count;
  int unified_addressing;
  int memory_bus_width;
  int l2_cache_size;
  int persisting_l2_cache_max_size;
  int max_threads_per_multi_processor;
  int stream_priorities_supported;
  int global_l1_cache_supported, local_l1_cache_supported;
  size_t shared_mem_per_multiprocessor;
  int regs_per_multiprocessor;
  int managed_memory;
  int is_multi_gpu_board, multi_gpu_board_group_id;
  int host_native_atomic_supported;
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption_supported;
  int can_use_host_pointer_for_registered_mem;
  int cooperative_launch;
  size_t shared_mem_per_block_optin;
  int pageable_memory_access_uses_host_page_tables;
  int direct_managed_mem_access_from_host;
  int max_blocks_per_multi_processor;
  int access_policy_max_window_size;
  size_t reserved_shared_mem_per_block;
  int host_register_supported;
  int sparse_cuda_array_supported;
  int host_register_read_only_supported;
  int timeline_semaphore_interop_supported;
  int memory_pools_supported;
  int gpu_direct_rdma_supported;
  unsigned gpu_direct_rdma_flush_writes_options;
  int gpu_direct_rdma_writes_ordering;
  unsigned memory_pool_supported_handle_types;
  int deferred_mapping_cuda_array_supported;
  int ipc_event_supported;
  int cluster_launch;
  int unified_function_pointers;
  int device_numa_config, device_numa_id;
  int mps_enabled;
  int host_numa_id;
  unsigned gpu_pci_device_id, gpu_pci_subsystem_id;
  int host_numa_multinode_ipc_supported;
  int reserved[56];
};
static_assert(sizeof(DeviceProp) == 1008);

}  // namespace nearwarp::cudart
