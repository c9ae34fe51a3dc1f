// Entry points about kernels: attributes, parameters, occupancy.
#include <algorithm>

#include "host/functional/cudart/runtime/launch.h"
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr int kMaxThreads = 1024;
/// The shared memory that a kernel may opt in to where the machine's SMs have less: that of
/// compute capability 9.0. What the machine lacks is told at the launch.
constexpr uint32_t kMostShared = 232448;

/// Dynamic shared memory that a launch may ask for.
int most_dynamic_shared(const DeviceSpec& s, const KernelHandle& handle,
                        const nearwarp::compiler::Kernel& k) {
  if (handle.max_dynamic_shared != 0) return handle.max_dynamic_shared;
  const uint32_t most = std::min<uint32_t>(s.sm_shared_bytes, 49152);
  return static_cast<int>(most - std::min(most, k.static_shared_bytes));
}

Status set_attribute(const void* function, int attribute, int value, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    KernelHandle& handle = r.modules.kernel(function);
    require(attribute >= kFuncMaxDynamicShared && attribute < kFuncAttributeEnd);
    if (attribute == kFuncMaxDynamicShared) {
      const auto& k = r.modules.load(r, handle);
      require(value >= 0 && uint64_t(value) + k.static_shared_bytes <=
                                std::max(r.spec().sm_shared_bytes, kMostShared));
      handle.max_dynamic_shared = value;
    } else if (attribute == kFuncCarveout) {
      require(value >= -1 && value <= 100);
      handle.carveout = value;
    } else if (attribute >= kFuncClusterWidth && attribute <= kFuncClusterDepth) {
      const auto& k = r.modules.load(r, handle);
      require(value >= 0 && k.bounds.cluster[0] == 0);
      handle.required_cluster[attribute - kFuncClusterWidth] = value;
    } else if (attribute == kFuncNonPortableCluster) {
      require(value == 0 || value == 1);
      handle.non_portable_cluster = value != 0;
    } else if (attribute == kFuncClusterPolicy) {
      require(value >= 0 && value <= 2);
      handle.cluster_policy = value;
    } else {
      require(attribute != kFuncClusterMustBeSet);  // can only be asked for
    }
    return kSuccess;
  });
}

/// A preference for a cache that is not configurable.
Status preference(const void* function, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    r.modules.kernel(function);
    return kSuccess;
  });
}

}  // namespace

NW_API cudaFuncGetAttributes(FuncAttributes* attributes, const void* function) {
  return api([&](Runtime& r) {
    require(attributes != nullptr);
    KernelHandle& handle = r.modules.kernel(function);
    const auto& k = r.modules.load(r, handle);
    const DeviceSpec& s = r.spec();
    const uint32_t registers = nearwarp::compiler::occupancy_registers(k, s.sm_registers);
    *attributes = {};
    attributes->shared_bytes = k.static_shared_bytes;
    attributes->local_bytes = k.local_bytes;
    attributes->num_regs = static_cast<int>(registers);
    const uint32_t warps = s.sm_registers / std::max(1u, registers * 32);
    const uint32_t bound = k.bounds.max_threads != 0 ? k.bounds.max_threads : kMaxThreads;
    attributes->max_threads_per_block =
        static_cast<int>(std::min({uint32_t{kMaxThreads}, bound, warps * 32}));
    // Libraries choose their kernels by the PTX that they are compiled to.
    attributes->ptx_version = static_cast<int>(handle.module->architecture);
    attributes->binary_version = static_cast<int>(s.capability);
    attributes->max_dynamic_shared_bytes = most_dynamic_shared(s, handle, k);
    attributes->preferred_carveout = handle.carveout;
    const auto required = [&](int i) {
      return k.bounds.cluster[0] != 0 ? static_cast<int>(k.bounds.cluster[i])
                                      : handle.required_cluster[i];
    };
    attributes->cluster_dim_must_be_set = k.bounds.explicit_cluster;
    attributes->required_cluster_width = required(0);
    attributes->required_cluster_height = required(1);
    attributes->required_cluster_depth = required(2);
    attributes->cluster_scheduling_policy = handle.cluster_policy;
    attributes->non_portable_cluster_size_allowed = handle.non_portable_cluster;
    return kSuccess;
  });
}
NW_API cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return set_attribute(function, attribute, value);
}
NW_API cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int device) {
  const OuterCall outer;
  const Status status = api([&](Runtime& r) {
    r.check_device(device);
    return kSuccess;
  });
  return status != kSuccess ? status : set_attribute(kernel, attribute, value);
}
NW_API cudaFuncSetCacheConfig(const void* function, int) { return preference(function); }
NW_API cudaFuncSetSharedMemConfig(const void* function, int) { return preference(function); }

NW_API cudaFuncGetName(const char** name, const void* function) {
  return api([&](Runtime& r) {
    require(name != nullptr);
    *name = r.modules.kernel(function).name.c_str();
    return kSuccess;
  });
}
NW_API cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* bytes) {
  return api([&](Runtime& r) {
    const auto& k = r.modules.load(r, r.modules.kernel(function));
    require(offset != nullptr && index < k.params.size());
    *offset = k.params[index].offset;
    if (bytes != nullptr) *bytes = k.params[index].size;
    return kSuccess;
  });
}

// --- Occupancy -----------------------------------------------------------------------------------

NW_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                              int block_threads,
                                                              size_t dynamic_shared_bytes,
                                                              unsigned flags) {
  return api([&](Runtime& r) {
    require(blocks != nullptr && block_threads > 0 && flags <= 1);
    *blocks = block_threads > kMaxThreads
                  ? 0
                  : blocks_per_sm(r, r.modules.kernel(function),
                                  static_cast<uint64_t>(block_threads), dynamic_shared_bytes);
    return kSuccess;
  });
}
NW_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                     int block_threads,
                                                     size_t dynamic_shared_bytes) {
  const OuterCall outer;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads,
                                                                dynamic_shared_bytes, 0);
}
NW_API cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks,
                                                 int block_threads) {
  return api([&](Runtime& r) {
    require(bytes != nullptr && blocks > 0 && block_threads > 0);
    const auto& k = r.modules.load(r, r.modules.kernel(function));
    const size_t each = r.spec().sm_shared_bytes / static_cast<unsigned>(blocks);
    *bytes = each - std::min<size_t>(each, k.static_shared_bytes);
    return kSuccess;
  });
}
