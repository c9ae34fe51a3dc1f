// Is the driver's binary interface, as the library has it, the one of the toolkit's headers?
#include "host/functional/cudriver/abi.h"

#include <cuda.h>
#include <driver_types.h>
#include <gtest/gtest.h>
#include <texture_types.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "host/functional/cudriver/error_names.h"

namespace nearwarp::cudriver {
namespace {

#define SAME_SIZE(ours, theirs) EXPECT_EQ(sizeof(ours), sizeof(theirs))
#define SAME_PLACE(ours, member, theirs, their_member) \
  EXPECT_EQ(offsetof(ours, member), offsetof(theirs, their_member)) << #their_member

TEST(DriverAbi, Structures) {
  SAME_SIZE(LaunchConfig, CUlaunchConfig);
  SAME_PLACE(LaunchConfig, block, CUlaunchConfig, blockDimX);
  SAME_PLACE(LaunchConfig, dynamic_shared_bytes, CUlaunchConfig, sharedMemBytes);
  SAME_PLACE(LaunchConfig, stream, CUlaunchConfig, hStream);
  SAME_PLACE(LaunchConfig, attributes, CUlaunchConfig, attrs);
  SAME_PLACE(LaunchConfig, num_attributes, CUlaunchConfig, numAttrs);
  SAME_SIZE(cudart::LaunchAttribute, CUlaunchAttribute);
  SAME_PLACE(cudart::LaunchAttribute, value, CUlaunchAttribute, value);
  SAME_SIZE(Copy2D, CUDA_MEMCPY2D);
  SAME_PLACE(Copy2D, src.memory_type, CUDA_MEMCPY2D, srcMemoryType);
  SAME_PLACE(Copy2D, src.array, CUDA_MEMCPY2D, srcArray);
  SAME_PLACE(Copy2D, dst.x_bytes, CUDA_MEMCPY2D, dstXInBytes);
  SAME_PLACE(Copy2D, dst.pitch, CUDA_MEMCPY2D, dstPitch);
  SAME_PLACE(Copy2D, width_bytes, CUDA_MEMCPY2D, WidthInBytes);
  SAME_PLACE(Copy2D, height, CUDA_MEMCPY2D, Height);
  SAME_SIZE(Copy3D, CUDA_MEMCPY3D);
  SAME_SIZE(Copy3D, CUDA_MEMCPY3D_PEER);
  SAME_PLACE(Copy3D, src.level, CUDA_MEMCPY3D, srcLOD);
  SAME_PLACE(Copy3D, src.context, CUDA_MEMCPY3D_PEER, srcContext);
  SAME_PLACE(Copy3D, src.height, CUDA_MEMCPY3D, srcHeight);
  SAME_PLACE(Copy3D, dst.x_bytes, CUDA_MEMCPY3D, dstXInBytes);
  SAME_PLACE(Copy3D, dst.device, CUDA_MEMCPY3D, dstDevice);
  SAME_PLACE(Copy3D, depth, CUDA_MEMCPY3D, Depth);
  SAME_SIZE(ArrayDescriptor, CUDA_ARRAY_DESCRIPTOR);
  SAME_PLACE(ArrayDescriptor, channels, CUDA_ARRAY_DESCRIPTOR, NumChannels);
  SAME_SIZE(Array3DDescriptor, CUDA_ARRAY3D_DESCRIPTOR);
  SAME_PLACE(Array3DDescriptor, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
  SAME_PLACE(Array3DDescriptor, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
  SAME_SIZE(ResourceDesc, CUDA_RESOURCE_DESC);
  SAME_PLACE(ResourceDesc, resource.array, CUDA_RESOURCE_DESC, res.array.hArray);
  SAME_PLACE(ResourceDesc, resource.linear.format, CUDA_RESOURCE_DESC, res.linear.format);
  SAME_PLACE(ResourceDesc, resource.linear.bytes, CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
  SAME_PLACE(ResourceDesc, resource.pitch_2d.height, CUDA_RESOURCE_DESC, res.pitch2D.height);
  SAME_PLACE(ResourceDesc, resource.pitch_2d.pitch, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
  SAME_PLACE(ResourceDesc, flags, CUDA_RESOURCE_DESC, flags);
  SAME_SIZE(TextureDesc, CUDA_TEXTURE_DESC);
  SAME_PLACE(TextureDesc, flags, CUDA_TEXTURE_DESC, flags);
  SAME_PLACE(TextureDesc, mipmap_filter_mode, CUDA_TEXTURE_DESC, mipmapFilterMode);
  SAME_PLACE(TextureDesc, max_level, CUDA_TEXTURE_DESC, maxMipmapLevelClamp);
  SAME_PLACE(TextureDesc, border, CUDA_TEXTURE_DESC, borderColor);
  SAME_SIZE(cudart::ResourceViewDesc, CUDA_RESOURCE_VIEW_DESC);
  SAME_PLACE(cudart::ResourceViewDesc, last_layer, CUDA_RESOURCE_VIEW_DESC, lastLayer);
  SAME_SIZE(MemoryOp, CUstreamBatchMemOpParams);
  SAME_PLACE(MemoryOp, address, CUstreamBatchMemOpParams, waitValue.address);
  SAME_PLACE(MemoryOp, value, CUstreamBatchMemOpParams, writeValue.value64);
  SAME_PLACE(MemoryOp, flags, CUstreamBatchMemOpParams, writeValue.flags);
  SAME_SIZE(DeviceProperties, CUdevprop);
  SAME_PLACE(DeviceProperties, simd_width, CUdevprop, SIMDWidth);
  SAME_PLACE(DeviceProperties, clock_rate_khz, CUdevprop, clockRate);
  SAME_SIZE(cudart::MemPoolProps, CUmemPoolProps);
  SAME_PLACE(cudart::MemPoolProps, max_size, CUmemPoolProps, maxSize);
  SAME_SIZE(cudart::MemLocation, CUmemLocation);
}

TEST(DriverAbi, GraphStructures) {
  SAME_SIZE(KernelNodeParams, CUDA_KERNEL_NODE_PARAMS);
  SAME_PLACE(KernelNodeParams, of_runtime.block, CUDA_KERNEL_NODE_PARAMS, blockDimX);
  SAME_PLACE(KernelNodeParams, of_runtime.dynamic_shared_bytes, CUDA_KERNEL_NODE_PARAMS,
             sharedMemBytes);
  SAME_PLACE(KernelNodeParams, of_runtime.args, CUDA_KERNEL_NODE_PARAMS, kernelParams);
  SAME_PLACE(KernelNodeParams, kernel, CUDA_KERNEL_NODE_PARAMS, kern);
  SAME_SIZE(cudart::MemsetParams, CUDA_MEMSET_NODE_PARAMS);
  SAME_PLACE(cudart::MemsetParams, element_bytes, CUDA_MEMSET_NODE_PARAMS, elementSize);
  SAME_SIZE(cudart::HostNodeParams, CUDA_HOST_NODE_PARAMS);
  SAME_SIZE(CopyNodeParams, CUDA_MEMCPY_NODE_PARAMS);
  SAME_PLACE(CopyNodeParams, copy, CUDA_MEMCPY_NODE_PARAMS, copyParams);
  SAME_SIZE(cudart::AllocateNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS);
  SAME_PLACE(cudart::AllocateNodeParams, bytes, CUDA_MEM_ALLOC_NODE_PARAMS, bytesize);
  SAME_SIZE(NodeParams, CUgraphNodeParams);
  SAME_PLACE(NodeParams, kernel, CUgraphNodeParams, kernel);
  SAME_PLACE(cudart::NodeParams, child, CUgraphNodeParams, graph);
  SAME_SIZE(cudart::EdgeData, CUgraphEdgeData);
  SAME_SIZE(cudart::InstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS);
  SAME_PLACE(cudart::InstantiateParams, result, CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
  SAME_SIZE(cudart::ExecUpdateResult, CUgraphExecUpdateResultInfo);
}

/// Numbers that the driver's calls hand to the runtime's as they are.
TEST(DriverAbi, NumbersOfBothInterfacesAreEqual) {
#define SAME(driver, runtime) EXPECT_EQ(int{driver}, int{runtime}) << #driver
  SAME(CU_GRAPH_NODE_TYPE_KERNEL, cudaGraphNodeTypeKernel);
  SAME(CU_GRAPH_NODE_TYPE_MEM_FREE, cudaGraphNodeTypeMemFree);
  SAME(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, cudaLaunchAttributeCooperative);
  SAME(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cudaLaunchAttributeClusterDimension);
  SAME(CU_JIT_INFO_LOG_BUFFER, cudaJitInfoLogBuffer);
  SAME(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, cudaJitErrorLogBufferSizeBytes);
  SAME(CU_LIMIT_STACK_SIZE, cudaLimitStackSize);
  SAME(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, cudaLimitPersistingL2CacheSize);
  SAME(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, cudaMemPoolAttrReleaseThreshold);
  SAME(CU_MEMPOOL_ATTR_USED_MEM_HIGH, cudaMemPoolAttrUsedMemHigh);
  SAME(CU_STREAM_CAPTURE_STATUS_ACTIVE, cudaStreamCaptureStatusActive);
  SAME(CU_STREAM_NON_BLOCKING, cudaStreamNonBlocking);
  SAME(CU_EVENT_DISABLE_TIMING, cudaEventDisableTiming);
  SAME(CU_EVENT_WAIT_EXTERNAL, cudaEventWaitExternal);
  SAME(CU_MEM_ATTACH_HOST, cudaMemAttachHost);
  SAME(CU_MEMHOSTALLOC_WRITECOMBINED, cudaHostAllocWriteCombined);
  SAME(CU_MEMHOSTREGISTER_READ_ONLY, cudaHostRegisterReadOnly);
  SAME(CU_MEM_ADVISE_SET_READ_MOSTLY, cudaMemAdviseSetReadMostly);
  SAME(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, cudaMemRangeAttributeLastPrefetchLocation);
  SAME(CU_MEM_LOCATION_TYPE_DEVICE, cudaMemLocationTypeDevice);
  SAME(CU_RESOURCE_TYPE_PITCH2D, cudaResourceTypePitch2D);
  SAME(CU_TR_ADDRESS_MODE_BORDER, cudaAddressModeBorder);
  SAME(CU_TR_FILTER_MODE_LINEAR, cudaFilterModeLinear);
  SAME(CUDA_ARRAY3D_LAYERED, cudaArrayLayered);
  SAME(CUDA_ARRAY3D_SURFACE_LDST, cudaArraySurfaceLoadStore);
  SAME(CUDA_ARRAY3D_CUBEMAP, cudaArrayCubemap);
  SAME(CUDA_ARRAY3D_TEXTURE_GATHER, cudaArrayTextureGather);
  SAME(CU_RES_VIEW_FORMAT_FLOAT_4X32, cudaResViewFormatFloat4);
  SAME(CU_FUNC_CACHE_PREFER_EQUAL, cudaFuncCachePreferEqual);
#undef SAME
}

TEST(DriverAbi, Numbers) {
  EXPECT_EQ(int{kErrorInvalidContext}, int{CUDA_ERROR_INVALID_CONTEXT});
  EXPECT_EQ(int{kErrorUnsupportedLimit}, int{CUDA_ERROR_UNSUPPORTED_LIMIT});
  EXPECT_EQ(int{kErrorContextIsDestroyed}, int{CUDA_ERROR_CONTEXT_IS_DESTROYED});
  EXPECT_EQ(int{kOpWait32}, int{CU_STREAM_MEM_OP_WAIT_VALUE_32});
  EXPECT_EQ(int{kOpWrite32}, int{CU_STREAM_MEM_OP_WRITE_VALUE_32});
  EXPECT_EQ(int{kOpWait64}, int{CU_STREAM_MEM_OP_WAIT_VALUE_64});
  EXPECT_EQ(int{kOpWrite64}, int{CU_STREAM_MEM_OP_WRITE_VALUE_64});
  EXPECT_EQ(int{kOpFlush}, int{CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES});
  EXPECT_EQ(int{kOpBarrier}, int{CU_STREAM_MEM_OP_BARRIER});
  EXPECT_EQ(unsigned{kMemoryArray}, unsigned{CU_MEMORYTYPE_ARRAY});
  EXPECT_EQ(unsigned{kMemoryUnified}, unsigned{CU_MEMORYTYPE_UNIFIED});
  EXPECT_EQ(int{kUnsigned32}, int{CU_AD_FORMAT_UNSIGNED_INT32});
  EXPECT_EQ(int{kSigned8}, int{CU_AD_FORMAT_SIGNED_INT8});
  EXPECT_EQ(int{kSigned32}, int{CU_AD_FORMAT_SIGNED_INT32});
  EXPECT_EQ(int{kHalf}, int{CU_AD_FORMAT_HALF});
  EXPECT_EQ(int{kFloat}, int{CU_AD_FORMAT_FLOAT});
  EXPECT_EQ(kReadAsInteger, unsigned{CU_TRSF_READ_AS_INTEGER});
  EXPECT_EQ(kNormalizedCoordinates, unsigned{CU_TRSF_NORMALIZED_COORDINATES});
  EXPECT_EQ(kSrgb, unsigned{CU_TRSF_SRGB});
  EXPECT_EQ(kNoTrilinearOptimization, unsigned{CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION});
  EXPECT_EQ(kSeamlessCubemap, unsigned{CU_TRSF_SEAMLESS_CUBEMAP});
  EXPECT_EQ(int{kPointerMemoryType}, int{CU_POINTER_ATTRIBUTE_MEMORY_TYPE});
  EXPECT_EQ(int{kPointerIsManaged}, int{CU_POINTER_ATTRIBUTE_IS_MANAGED});
  EXPECT_EQ(int{kPointerRangeStart}, int{CU_POINTER_ATTRIBUTE_RANGE_START_ADDR});
  EXPECT_EQ(int{kPointerAccess}, int{CU_POINTER_ATTRIBUTE_ACCESS_FLAGS});
}

/// Lines "    PREFIX_X = n," of a header.
std::map<int, std::string> numbers(const std::string& header, const std::string& prefix,
                                   const std::string& end) {
  std::map<int, std::string> all;
  std::ifstream in(std::string(NW_CUDA_INCLUDE "/") + header);
  for (std::string line; std::getline(in, line) && line.find(end) == line.npos;) {
    const size_t name = line.find_first_not_of(' ');
    if (name == line.npos || line.compare(name, prefix.size(), prefix) != 0) continue;
    const size_t equals = line.find('=');
    if (equals == line.npos) continue;
    all[std::atoi(line.c_str() + equals + 1)] =
        line.substr(name, line.find_first_of(" =", name) - name);
  }
  return all;
}

TEST(DriverAbi, NamesOfErrors) {
  const auto names = numbers("cuda.h", "CUDA_ERROR_", "} CUresult;");
  EXPECT_GT(names.size(), 90u);
  for (const auto& [number, name] : names) {
    ASSERT_NE(error_name(number), nullptr) << name;
    EXPECT_EQ(error_name(number), name);
  }
  EXPECT_STREQ(error_name(0), "CUDA_SUCCESS");
  EXPECT_EQ(error_name(12345), nullptr);
}

/// The driver library hands attributes' numbers to the runtime as they are.
TEST(DriverAbi, AttributesOfDevices) {
  const auto of_runtime = numbers("driver_types.h", "cudaDevAttr", "cudaDevAttrMax ");
  EXPECT_GT(of_runtime.size(), 100u);
  EXPECT_EQ(of_runtime.at(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
            "cudaDevAttrMultiProcessorCount");
  EXPECT_EQ(of_runtime.at(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
            "cudaDevAttrMaxSharedMemoryPerBlockOptin");
  EXPECT_EQ(of_runtime.at(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), "cudaDevAttrClusterLaunch");
  EXPECT_EQ(of_runtime.at(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED),
            "cudaDevAttrMemoryPoolsSupported");
}

/// Names are followed by the version that the toolkit's header says they came with.
TEST(DriverAbi, VersionsOfNames) {
  std::ifstream header(NW_CUDA_INCLUDE "/cudaTypedefs.h");
  if (!header) GTEST_SKIP() << "the toolkit has no cudaTypedefs.h";
  const std::string text((std::istreambuf_iterator<char>(header)), {});
  std::ifstream list(NW_SOURCE_DIR "/host/functional/cudriver/api/names.txt");
  std::string name;
  int version = 0, count = 0;
  while (list >> name >> version) {
    if (name.starts_with("cuProfiler")) continue;  // has a header of its own
    std::string base = name, suffix;
    for (const char* s : {"_ptsz", "_ptds"})
      if (base.ends_with(s)) {
        suffix = s;
        base.resize(base.size() - 5);
      }
    const size_t v = base.rfind("_v");
    if (v != base.npos && base.find_first_not_of("0123456789", v + 2) == base.npos) base.resize(v);
    const std::string wanted = "PFN_" + base + "_v" + std::to_string(version) + suffix + ")(";
    EXPECT_NE(text.find(wanted), text.npos) << name << " " << version;
    ++count;
  }
  EXPECT_GT(count, 600);
}

/// All but the one without documents.
TEST(DriverAbi, EveryFunctionOfTheHeader) {
  std::ifstream header(NW_CUDA_INCLUDE "/cuda.h");
  const std::string text((std::istreambuf_iterator<char>(header)), {});
  std::set<std::string> names;
  std::ifstream list(NW_SOURCE_DIR "/host/functional/cudriver/api/names.txt");
  std::string known;
  for (int version = 0; list >> known >> version;) names.insert(known);
  EXPECT_FALSE(names.contains("cuGetExportTable"));
  const std::string before = "CUresult CUDAAPI cu";
  int count = 0;
  for (size_t at = text.find(before); at != text.npos; at = text.find(before, at + 1)) {
    const size_t begin = at + before.size() - 2;
    const std::string name = text.substr(begin, text.find_first_of(" (", begin) - begin);
    EXPECT_TRUE(names.contains(name) || name == "cuGetExportTable") << name;
    ++count;
  }
  EXPECT_GT(count, 400);
}

}  // namespace
}  // namespace nearwarp::cudriver
