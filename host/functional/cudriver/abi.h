// The CUDA 13 driver's binary interface, as far as it differs from the runtime's: most statuses,
// flags, handles and structures are the same (host/functional/cudart/abi.h). Its types are repeated
// here so that building needs no CUDA toolkit; where there is one, a test compares them with the
// toolkit's cuda.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudriver {

using cudart::Array;
using cudart::CopyKind;
using cudart::Dim;
using cudart::MemsetParams;
using cudart::Status;
using cudart::Stream;

/// CUdeviceptr. Device memory has the same addresses on the host.
using DevicePtr = uint64_t;
/// CUdevice: an ordinal.
using Device = int;

inline constexpr int kVersion = 13000;  ///< CUDA 13.0, as cuDriverGetVersion() returns it

/// CUresult: codes that cudart::Status lacks, or has with another meaning (201).
inline constexpr auto kErrorInvalidContext = static_cast<Status>(201),
                      kErrorUnsupportedLimit = static_cast<Status>(215),
                      kErrorContextIsDestroyed = static_cast<Status>(709);

/// CUmemorytype
enum MemoryType : unsigned {
  kMemoryHost = 1,
  kMemoryDevice = 2,
  kMemoryArray = 3,
  kMemoryUnified = 4,
};

struct LaunchConfig {  // CUlaunchConfig
  Dim grid, block;
  unsigned dynamic_shared_bytes;
  Stream stream;
  const cudart::LaunchAttribute* attributes;
  unsigned num_attributes;
};
static_assert(sizeof(LaunchConfig) == 56);

/// The source or the destination of a two-dimensional copy.
struct CopySide2D {
  size_t x_bytes, y;
  unsigned memory_type;  ///< MemoryType
  void* host;
  DevicePtr device;
  Array* array;
  size_t pitch;
};
struct Copy2D {  // CUDA_MEMCPY2D
  CopySide2D src, dst;
  size_t width_bytes, height;
};
static_assert(sizeof(Copy2D) == 128);
/// The source or the destination of a three-dimensional copy.
struct CopySide3D {
  size_t x_bytes, y, z, level;
  unsigned memory_type;
  void* host;
  DevicePtr device;
  Array* array;
  void* context;  ///< only in CUDA_MEMCPY3D_PEER; reserved in CUDA_MEMCPY3D
  size_t pitch, height;
};
struct Copy3D {  // CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER
  CopySide3D src, dst;
  size_t width_bytes, height, depth;
};
static_assert(sizeof(Copy3D) == 200);

/// CUarray_format: the formats of numbers.
enum ArrayFormat : int {
  kUnsigned8 = 0x01,
  kUnsigned16 = 0x02,
  kUnsigned32 = 0x03,
  kSigned8 = 0x08,
  kSigned16 = 0x09,
  kSigned32 = 0x0a,
  kHalf = 0x10,
  kFloat = 0x20,
};
struct ArrayDescriptor {  // CUDA_ARRAY_DESCRIPTOR
  size_t width, height;
  int format;  ///< ArrayFormat
  unsigned channels;
};
static_assert(sizeof(ArrayDescriptor) == 24);
struct Array3DDescriptor {  // CUDA_ARRAY3D_DESCRIPTOR
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
static_assert(sizeof(Array3DDescriptor) == 40);

struct LinearResource {
  DevicePtr pointer;
  int format;
  unsigned channels;
  size_t bytes;
};
struct PitchResource {
  DevicePtr pointer;
  int format;
  unsigned channels;
  size_t width, height, pitch;
};
struct ResourceDesc {  // CUDA_RESOURCE_DESC
  int type;            ///< cudart::ResourceType
  union {
    Array* array;
    cudart::MipmappedArray* mipmapped;
    LinearResource linear;
    PitchResource pitch_2d;
    int reserved[32];
  } resource;
  unsigned flags;
};
static_assert(sizeof(ResourceDesc) == 144);

/// Bits of TextureDesc::flags
inline constexpr unsigned kReadAsInteger = 1, kNormalizedCoordinates = 2, kSrgb = 0x10,
                          kNoTrilinearOptimization = 0x20, kSeamlessCubemap = 0x40;
struct TextureDesc {  // CUDA_TEXTURE_DESC
  int address_mode[3];
  int filter_mode;
  unsigned flags;
  unsigned max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_bias, min_level, max_level;
  float border[4];
  int reserved[12];
};
static_assert(sizeof(TextureDesc) == 104);

struct KernelNodeParams {  // CUDA_KERNEL_NODE_PARAMS
  cudart::KernelNodeParams of_runtime;
  void* kernel;  ///< CUkernel, where `of_runtime.function` is null
  void* context;
};
static_assert(sizeof(KernelNodeParams) == 72);
/// CUgraphNodeType: its values are those of cudart::NodeType.
inline constexpr int kKernelNode = 0, kCopyNode = 1;
struct CopyNodeParams {  // CUDA_MEMCPY_NODE_PARAMS
  int flags, reserved;
  void* context;
  Copy3D copy;
};
struct NodeParams {  // CUgraphNodeParams
  int type;          ///< cudart::NodeType
  int reserved[3];
  union {
    long long words[29];
    KernelNodeParams kernel;
    CopyNodeParams copy;
  };
  long long reserved_end;
};
static_assert(sizeof(NodeParams) == 256);

/// CUstreamBatchMemOpType
enum MemoryOpType : int {
  kOpWait32 = 1,
  kOpWrite32 = 2,
  kOpFlush = 3,
  kOpWait64 = 4,
  kOpWrite64 = 5,
  kOpBarrier = 6,
};
struct MemoryOp {  // CUstreamBatchMemOpParams, as waits for a value and writes of one have it
  int operation;
  DevicePtr address;
  uint64_t value;
  unsigned flags;
  uint64_t alias, reserved;
};
static_assert(sizeof(MemoryOp) == 48);

struct DeviceProperties {  // CUdevprop
  int max_threads_per_block;
  int max_threads_dim[3];
  int max_grid_size[3];
  int shared_bytes_per_block, constant_bytes;
  int simd_width;
  int max_pitch;
  int registers_per_block;
  int clock_rate_khz;
  int texture_alignment;
};
static_assert(sizeof(DeviceProperties) == 56);

/// CUpointer_attribute
enum PointerAttribute : int {
  kPointerContext = 1,
  kPointerMemoryType = 2,
  kPointerDevice = 3,
  kPointerHost = 4,
  kPointerSyncMemops = 6,
  kPointerBufferId = 7,
  kPointerIsManaged = 8,
  kPointerOrdinal = 9,
  kPointerIsIpcCapable = 10,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kPointerMapped = 13,
  kPointerHandleTypes = 14,
  kPointerIsRdmaCapable = 15,
  kPointerAccess = 16,
};

}  // namespace nearwarp::cudriver
