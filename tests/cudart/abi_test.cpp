// Is the binary interface, as host/functional/cudart/abi.h has it, the one of the toolkit's
// headers?
#include "host/functional/cudart/abi.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "host/functional/cudart/status/error_names.h"

namespace nearwarp::cudart {
namespace {

#define SAME_SIZE(ours, theirs) EXPECT_EQ(sizeof(ours), sizeof(theirs))
#define SAME_PLACE(ours, member, theirs, their_member) \
  EXPECT_EQ(offsetof(ours, member), offsetof(theirs, their_member)) << #their_member

TEST(Abi, Structures) {
  SAME_SIZE(Copy3D, cudaMemcpy3DParms);
  SAME_PLACE(Copy3D, dst_array, cudaMemcpy3DParms, dstArray);
  SAME_PLACE(Copy3D, kind, cudaMemcpy3DParms, kind);
  SAME_SIZE(Copy3DPeer, cudaMemcpy3DPeerParms);
  SAME_PLACE(Copy3DPeer, dst_device, cudaMemcpy3DPeerParms, dstDevice);
  SAME_SIZE(ChannelDesc, cudaChannelFormatDesc);
  SAME_SIZE(ResourceDesc, cudaResourceDesc);
  SAME_PLACE(ResourceDesc, resource.array, cudaResourceDesc, res.array.array);
  SAME_PLACE(ResourceDesc, resource.linear.format, cudaResourceDesc, res.linear.desc);
  SAME_PLACE(ResourceDesc, resource.linear.bytes, cudaResourceDesc, res.linear.sizeInBytes);
  SAME_PLACE(ResourceDesc, resource.pitch_2d.width, cudaResourceDesc, res.pitch2D.width);
  SAME_PLACE(ResourceDesc, resource.pitch_2d.pitch, cudaResourceDesc, res.pitch2D.pitchInBytes);
  SAME_PLACE(ResourceDesc, flags, cudaResourceDesc, flags);
  SAME_SIZE(TextureDesc, cudaTextureDesc);
  SAME_PLACE(TextureDesc, filter_mode, cudaTextureDesc, filterMode);
  SAME_PLACE(TextureDesc, read_mode, cudaTextureDesc, readMode);
  SAME_PLACE(TextureDesc, border, cudaTextureDesc, borderColor);
  SAME_PLACE(TextureDesc, normalized_coordinates, cudaTextureDesc, normalizedCoords);
  SAME_PLACE(TextureDesc, mipmap_filter_mode, cudaTextureDesc, mipmapFilterMode);
  SAME_PLACE(TextureDesc, max_level, cudaTextureDesc, maxMipmapLevelClamp);
  SAME_PLACE(TextureDesc, seamless_cubemap, cudaTextureDesc, seamlessCubemap);
  SAME_SIZE(ResourceViewDesc, cudaResourceViewDesc);
  SAME_PLACE(ResourceViewDesc, width, cudaResourceViewDesc, width);
  SAME_PLACE(ResourceViewDesc, first_level, cudaResourceViewDesc, firstMipmapLevel);
  SAME_PLACE(ResourceViewDesc, last_layer, cudaResourceViewDesc, lastLayer);
  SAME_SIZE(LaunchAttribute, cudaLaunchAttribute);
  SAME_PLACE(LaunchAttribute, value, cudaLaunchAttribute, val);
  SAME_SIZE(LaunchConfig, cudaLaunchConfig_t);
  SAME_PLACE(LaunchConfig, stream, cudaLaunchConfig_t, stream);
  SAME_PLACE(LaunchConfig, num_attributes, cudaLaunchConfig_t, numAttrs);
  SAME_SIZE(FuncAttributes, cudaFuncAttributes);
  SAME_PLACE(FuncAttributes, ptx_version, cudaFuncAttributes, ptxVersion);
  SAME_PLACE(FuncAttributes, max_dynamic_shared_bytes, cudaFuncAttributes,
             maxDynamicSharedSizeBytes);
  SAME_PLACE(FuncAttributes, reserved, cudaFuncAttributes, reserved);
  SAME_SIZE(PointerAttributes, cudaPointerAttributes);
  SAME_PLACE(PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);
  SAME_SIZE(MemPoolProps, cudaMemPoolProps);
  SAME_PLACE(MemPoolProps, max_size, cudaMemPoolProps, maxSize);
  SAME_SIZE(KernelNodeParams, cudaKernelNodeParams);
  SAME_PLACE(KernelNodeParams, args, cudaKernelNodeParams, kernelParams);
  SAME_SIZE(MemsetParams, cudaMemsetParams);
  SAME_PLACE(MemsetParams, element_bytes, cudaMemsetParams, elementSize);
  SAME_SIZE(HostNodeParams, cudaHostNodeParams);
  SAME_SIZE(ExecUpdateResult, cudaGraphExecUpdateResultInfo);
}

TEST(Abi, DeviceProperties) {
  using P = cudaDeviceProp;
  SAME_SIZE(DeviceProp, P);
  SAME_PLACE(DeviceProp, total_global_mem, P, totalGlobalMem);
  SAME_PLACE(DeviceProp, regs_per_block, P, regsPerBlock);
  SAME_PLACE(DeviceProp, max_threads_dim, P, maxThreadsDim);
  SAME_PLACE(DeviceProp, major, P, major);
  SAME_PLACE(DeviceProp, multi_processor_count, P, multiProcessorCount);
  SAME_PLACE(DeviceProp, max_texture_1d, P, maxTexture1D);
  SAME_PLACE(DeviceProp, max_texture_2d_linear, P, maxTexture2DLinear);
  SAME_PLACE(DeviceProp, max_texture_3d, P, maxTexture3D);
  SAME_PLACE(DeviceProp, max_texture_cubemap_layered, P, maxTextureCubemapLayered);
  SAME_PLACE(DeviceProp, max_surface_3d, P, maxSurface3D);
  SAME_PLACE(DeviceProp, max_surface_cubemap_layered, P, maxSurfaceCubemapLayered);
  SAME_PLACE(DeviceProp, surface_alignment, P, surfaceAlignment);
  SAME_PLACE(DeviceProp, unified_addressing, P, unifiedAddressing);
  SAME_PLACE(DeviceProp, memory_bus_width, P, memoryBusWidth);
  SAME_PLACE(DeviceProp, l2_cache_size, P, l2CacheSize);
  SAME_PLACE(DeviceProp, max_threads_per_multi_processor, P, maxThreadsPerMultiProcessor);
  SAME_PLACE(DeviceProp, shared_mem_per_multiprocessor, P, sharedMemPerMultiprocessor);
  SAME_PLACE(DeviceProp, managed_memory, P, managedMemory);
  SAME_PLACE(DeviceProp, concurrent_managed_access, P, concurrentManagedAccess);
  SAME_PLACE(DeviceProp, cooperative_launch, P, cooperativeLaunch);
  SAME_PLACE(DeviceProp, shared_mem_per_block_optin, P, sharedMemPerBlockOptin);
  SAME_PLACE(DeviceProp, max_blocks_per_multi_processor, P, maxBlocksPerMultiProcessor);
  SAME_PLACE(DeviceProp, memory_pools_supported, P, memoryPoolsSupported);
  SAME_PLACE(DeviceProp, cluster_launch, P, clusterLaunch);
  SAME_PLACE(DeviceProp, host_numa_id, P, hostNumaId);
  SAME_PLACE(DeviceProp, reserved, P, reserved);
}

TEST(Abi, Numbers) {
  EXPECT_EQ(int{kErrorInvalidValue}, int{cudaErrorInvalidValue});
  EXPECT_EQ(int{kErrorMemoryAllocation}, int{cudaErrorMemoryAllocation});
  EXPECT_EQ(int{kErrorInvalidConfiguration}, int{cudaErrorInvalidConfiguration});
  EXPECT_EQ(int{kErrorInvalidChannelDescriptor}, int{cudaErrorInvalidChannelDescriptor});
  EXPECT_EQ(int{kErrorInvalidFilterSetting}, int{cudaErrorInvalidFilterSetting});
  EXPECT_EQ(int{kErrorInvalidNormSetting}, int{cudaErrorInvalidNormSetting});
  EXPECT_EQ(int{kErrorInvalidSymbol}, int{cudaErrorInvalidSymbol});
  EXPECT_EQ(int{kErrorInvalidDeviceFunction}, int{cudaErrorInvalidDeviceFunction});
  EXPECT_EQ(int{kErrorNoKernelImageForDevice}, int{cudaErrorNoKernelImageForDevice});
  EXPECT_EQ(int{kErrorIllegalAddress}, int{cudaErrorIllegalAddress});
  EXPECT_EQ(int{kErrorHardwareStackError}, int{cudaErrorHardwareStackError});
  EXPECT_EQ(int{kErrorAssert}, int{cudaErrorAssert});
  EXPECT_EQ(int{kErrorLaunchFailure}, int{cudaErrorLaunchFailure});
  EXPECT_EQ(int{kErrorNotSupported}, int{cudaErrorNotSupported});
  EXPECT_EQ(int{kErrorStreamCaptureUnsupported}, int{cudaErrorStreamCaptureUnsupported});
  EXPECT_EQ(int{kErrorStreamCaptureInvalidated}, int{cudaErrorStreamCaptureInvalidated});
  EXPECT_EQ(int{kErrorStreamCaptureMerge}, int{cudaErrorStreamCaptureMerge});
  EXPECT_EQ(int{kErrorStreamCaptureUnmatched}, int{cudaErrorStreamCaptureUnmatched});
  EXPECT_EQ(int{kErrorStreamCaptureUnjoined}, int{cudaErrorStreamCaptureUnjoined});
  EXPECT_EQ(int{kErrorStreamCaptureIsolation}, int{cudaErrorStreamCaptureIsolation});
  EXPECT_EQ(int{kErrorStreamCaptureImplicit}, int{cudaErrorStreamCaptureImplicit});
  EXPECT_EQ(int{kErrorCapturedEvent}, int{cudaErrorCapturedEvent});
  EXPECT_EQ(int{kErrorStreamCaptureWrongThread}, int{cudaErrorStreamCaptureWrongThread});
  EXPECT_EQ(int{kErrorGraphExecUpdateFailure}, int{cudaErrorGraphExecUpdateFailure});
  EXPECT_EQ(int{kDefault}, int{cudaMemcpyDefault});
  EXPECT_EQ(int{kDeviceToHost}, int{cudaMemcpyDeviceToHost});
  EXPECT_EQ(int{kMemoryManaged}, int{cudaMemoryTypeManaged});
  EXPECT_EQ(int{kResourcePitch2D}, int{cudaResourceTypePitch2D});
  EXPECT_EQ(kArrayLayered, unsigned{cudaArrayLayered});
  EXPECT_EQ(kArraySurface, unsigned{cudaArraySurfaceLoadStore});
  EXPECT_EQ(kArrayCubemap, unsigned{cudaArrayCubemap});
  EXPECT_EQ(kArrayGather, unsigned{cudaArrayTextureGather});
  EXPECT_EQ(kAttributeCooperative, int{cudaLaunchAttributeCooperative});
  EXPECT_EQ(kAttributeClusterDimension, int{cudaLaunchAttributeClusterDimension});
  EXPECT_EQ(kFuncMaxDynamicShared, int{cudaFuncAttributeMaxDynamicSharedMemorySize});
  EXPECT_EQ(kFuncAttributeEnd, int{cudaFuncAttributeMax});
}

/// Lines "    cudaErrorX = n," of the header.
TEST(Abi, NamesOfErrors) {
  std::ifstream header(NW_CUDA_INCLUDE "/driver_types.h");
  ASSERT_TRUE(header);
  int count = 0;
  for (std::string line; std::getline(header, line);) {
    const size_t name = line.find_first_not_of(' ');
    if (name == line.npos || line.compare(name, 9, "cudaError") != 0) continue;
    const size_t equals = line.find('=');
    if (equals == line.npos) continue;
    const int number = std::atoi(line.c_str() + equals + 1);
    const std::string expected = line.substr(name, line.find_first_of(" =", name) - name);
    if (number < 10000) {
      EXPECT_EQ(error_name(number), expected);
    }
    ++count;
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace nearwarp::cudart
