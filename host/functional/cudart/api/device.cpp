// Entry points about the device: properties, attributes, limits, synchronisation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "host/functional/cudart/api/pool.h"
#include "host/functional/cudart/runtime/arrays.h"
#include "host/functional/cudart/runtime/runtime.h"
#include "host/functional/cudart/runtime/textures.h"

using namespace nearwarp::cudart;

namespace {

constexpr int kMaxThreads = 1024;
constexpr size_t kConstantBytes = 64 << 10;
constexpr int kNumLimits = 7;
constexpr uint32_t kClusterCapability = 90;  // the first with clusters of thread blocks

int as_int(uint64_t value) { return static_cast<int>(value > 0x7fffffff ? 0x7fffffff : value); }

size_t shared_per_block(const DeviceSpec& s) {
  return s.sm_shared_bytes < 49152 ? s.sm_shared_bytes : 49152;
}

/// Bits of the memory's bus, so that clock, width and two transfers a cycle give its bandwidth.
int bus_width(const DeviceSpec& s) {
  return s.memory_clock_mhz == 0 ? 0 : as_int(uint64_t{s.memory_mbps} * 8 / s.memory_clock_mhz / 2);
}

/// Limits of compute capability 9.0, from the CUDA programming guide's table of specifications.
void set_texture_limits(DeviceProp& p) {
  constexpr int k32K = 1 << 15, k64K = 1 << 16, k128K = 1 << 17, k16K = 1 << 14, k2K = 1 << 11;
  const auto set = [](int* to, std::initializer_list<int> values) {
    std::copy(values.begin(), values.end(), to);
  };
  p.max_texture_1d = k128K;
  p.max_texture_1d_mipmap = p.max_texture_cubemap = k32K;
  set(p.max_texture_2d, {k128K, k64K});
  set(p.max_texture_2d_mipmap, {k32K, k32K});
  set(p.max_texture_2d_linear, {k128K, 65000, 2097120});
  set(p.max_texture_2d_gather, {k32K, k32K});
  set(p.max_texture_3d, {k16K, k16K, k16K});
  set(p.max_texture_3d_alternative, {k16K / 2, k16K / 2, k32K});
  set(p.max_texture_1d_layered, {k32K, k2K});
  set(p.max_texture_2d_layered, {k32K, k32K, k2K});
  set(p.max_texture_cubemap_layered, {k32K, k2K - 2});
  p.max_surface_1d = p.max_surface_cubemap = k32K;
  set(p.max_surface_2d, {k128K, k64K});
  set(p.max_surface_3d, {k16K, k16K, k16K});
  set(p.max_surface_1d_layered, {k32K, k2K});
  set(p.max_surface_2d_layered, {k32K, k32K, k2K});
  set(p.max_surface_cubemap_layered, {k32K, k2K - 2});
}

/// cudaDeviceAttr of textures and surfaces, by number; 0 for any other.
int texture_attribute(const DeviceProp& p, int number) {
  const auto at = [&](int first, const int* values, int count) {
    return number >= first && number < first + count ? values[number - first] : 0;
  };
  return at(21, &p.max_texture_1d, 1) | at(22, p.max_texture_2d, 2) | at(24, p.max_texture_3d, 3) |
         at(27, p.max_texture_2d_layered, 3) | at(42, p.max_texture_1d_layered, 2) |
         at(45, p.max_texture_2d_gather, 2) | at(47, p.max_texture_3d_alternative, 3) |
         at(52, &p.max_texture_cubemap, 1) | at(53, p.max_texture_cubemap_layered, 2) |
         at(55, &p.max_surface_1d, 1) | at(56, p.max_surface_2d, 2) | at(58, p.max_surface_3d, 3) |
         at(61, p.max_surface_1d_layered, 2) | at(63, p.max_surface_2d_layered, 3) |
         at(66, &p.max_surface_cubemap, 1) | at(67, p.max_surface_cubemap_layered, 2) |
         at(70, p.max_texture_2d_linear, 3) | at(73, p.max_texture_2d_mipmap, 2) |
         at(77, &p.max_texture_1d_mipmap, 1);
}

/// The properties of that one of the machine's devices.
DeviceProp properties(const DeviceSpec& s, uint32_t device) {
  DeviceProp p{};
  std::snprintf(p.name, sizeof(p.name), "nearwarp %s (simulated)", s.name.c_str());
  std::memcpy(p.uuid, uuid_of(device).data(), sizeof(p.uuid));
  p.pci_device_id = static_cast<int>(device);
  p.total_global_mem = s.memory_bytes;
  p.shared_mem_per_block = shared_per_block(s);
  p.regs_per_block = p.regs_per_multiprocessor = as_int(s.sm_registers);
  p.warp_size = 32;
  p.mem_pitch = 0x7fffffff;
  p.max_threads_per_block = kMaxThreads;
  p.max_threads_dim[0] = p.max_threads_dim[1] = kMaxThreads;
  p.max_threads_dim[2] = 64;
  p.max_grid_size[0] = 0x7fffffff;
  p.max_grid_size[1] = p.max_grid_size[2] = 65535;
  p.total_const_mem = kConstantBytes;
  p.major = as_int(s.capability / 10);
  p.minor = as_int(s.capability % 10);
  p.texture_alignment = p.surface_alignment = kTextureAlignment;
  p.texture_pitch_alignment = kTexturePitchAlignment;
  set_texture_limits(p);
  p.multi_processor_count = as_int(s.sms);
  p.can_map_host_memory = 1;
  p.concurrent_kernels = 1;
  p.async_engine_count = 1;
  p.unified_addressing = 1;
  p.memory_bus_width = bus_width(s);
  p.l2_cache_size = as_int(s.l2_bytes);
  p.max_threads_per_multi_processor = as_int(s.sm_threads);
  p.stream_priorities_supported = 1;
  p.global_l1_cache_supported = p.local_l1_cache_supported = 1;
  p.shared_mem_per_multiprocessor = p.shared_mem_per_block_optin = s.sm_shared_bytes;
  p.managed_memory = p.concurrent_managed_access = 1;
  p.cooperative_launch = 1;
  p.max_blocks_per_multi_processor = as_int(s.sm_blocks);
  p.host_register_supported = p.host_register_read_only_supported = 1;
  p.memory_pools_supported = 1;
  p.memory_pool_supported_handle_types = 1;  // descriptors of files
  p.ipc_event_supported = 1;
  p.cluster_launch = s.capability >= kClusterCapability;
  p.unified_function_pointers = 0;
  p.device_numa_id = p.host_numa_id = -1;
  return p;
}

/// cudaDeviceAttr by its number; false for one that does not exist.
bool attribute(const DeviceSpec& s, int number, int* value) {
  if (number < 1 || number > 147) return false;
  const DeviceProp p = properties(s, 0);
  const auto known = [&]() -> uint64_t {
    switch (number) {
      case 1:  // MaxThreadsPerBlock
      case 2:  // MaxBlockDimX
      case 3:  // MaxBlockDimY
        return kMaxThreads;
      case 4:  // MaxBlockDimZ
        return 64;
      case 5:   // MaxGridDimX
      case 11:  // MaxPitch
        return 0x7fffffff;
      case 6:  // MaxGridDimY
      case 7:  // MaxGridDimZ
        return 65535;
      case 8:  // MaxSharedMemoryPerBlock
        return p.shared_mem_per_block;
      case 9:  // TotalConstantMemory
        return kConstantBytes;
      case 10:  // WarpSize
        return 32;
      case 12:  // MaxRegistersPerBlock
      case 82:  // MaxRegistersPerMultiprocessor
        return s.sm_registers;
      case 13:  // ClockRate [kHz]
        return uint64_t{s.clock_mhz} * 1000;
      case 14:  // TextureAlignment
      case 30:  // SurfaceAlignment
        return kTextureAlignment;
      case 51:  // TexturePitchAlignment
        return kTexturePitchAlignment;
      case 16:  // MultiProcessorCount
        return s.sms;
      case 36:  // MemoryClockRate [kHz]
        return uint64_t{s.memory_clock_mhz} * 1000;
      case 37:  // GlobalMemoryBusWidth [bits]
        return static_cast<uint64_t>(bus_width(s));
      case 38:  // L2CacheSize
        return s.l2_bytes;
      case 39:  // MaxThreadsPerMultiProcessor
        return s.sm_threads;
      case 75:  // ComputeCapabilityMajor
        return s.capability / 10;
      case 76:  // ComputeCapabilityMinor
        return s.capability % 10;
      case 81:  // MaxSharedMemoryPerMultiprocessor
      case 97:  // MaxSharedMemoryPerBlockOptin
        return s.sm_shared_bytes;
      case 106:  // MaxBlocksPerMultiprocessor
        return s.sm_blocks;
      case 87:  // SingleToDoublePrecisionPerfRatio
        return 2;
      case 15:   // GpuOverlap
      case 19:   // CanMapHostMemory
      case 31:   // ConcurrentKernels
      case 40:   // AsyncEngineCount
      case 41:   // UnifiedAddressing
      case 78:   // StreamPrioritiesSupported
      case 79:   // GlobalL1CacheSupported
      case 80:   // LocalL1CacheSupported
      case 83:   // ManagedMemory
      case 89:   // ConcurrentManagedAccess
      case 95:   // CooperativeLaunch
      case 99:   // HostRegisterSupported
      case 113:  // HostRegisterReadOnlySupported
      case 115:  // MemoryPoolsSupported
      case 119:  // MemoryPoolSupportedHandleTypes: descriptors of files
      case 125:  // IpcEventSupport
        return 1;
      case 120:  // ClusterLaunch
        return s.capability >= kClusterCapability;
      case 69:  // MaxTexture1DLinearWidth
        return kMaxLinearTexture;
      default:  // 0 for a feature that there is not
        return static_cast<uint64_t>(texture_attribute(p, number));
    }
  };
  *value = as_int(known());
  if (number == 131 || number == 134) *value = -1;  // NumaId, HostNumaId: none
  return true;
}

/// cudaLimit: those that have an effect. All others keep what is asked for, and change nothing.
constexpr int kLimitStack = 0, kLimitHeap = 2;
constexpr size_t kMostStack = 512 << 10;  // local memory of a thread (CUDA programming guide)

/// cudaDeviceSetLimit's, by cudaLimit.
std::array<size_t, kNumLimits>& limits() {
  static std::array<size_t, kNumLimits> values = {
      nearwarp::compiler::kStackBytes, 1 << 20, 8 << 20, 2, 2048, 64, 0};
  return values;
}

}  // namespace

namespace {
/// Makes it, where it is the first one that is used.
void use_device(Runtime& r, int device) {
  r.device();
  if (device != 0)
    say_once(
        "the application uses several devices: they are executed and simulated as one, "
        "which has the work of all");
}
}  // namespace

NW_API cudaGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;  // where the environment hides the device
  return api([&](Runtime& r) {
    require(count != nullptr);
    *count = r.num_devices();
    return kSuccess;
  });
}
NW_API cudaGetDevice(int* device) {
  return api([&](Runtime&) {
    require(device != nullptr);
    *device = thread_state().device;
    return kSuccess;
  });
}
NW_API cudaSetDevice(int device) {
  return api([&](Runtime& r) {
    r.check_device(device);
    use_device(r, device);
    thread_state().device = device;
    if (!thread_state().in_driver) thread_state().context = primary_context(device);
    return kSuccess;
  });
}
NW_API cudaInitDevice(int device, unsigned, unsigned) {
  return api([&](Runtime& r) {
    r.check_device(device);
    use_device(r, device);
    return kSuccess;
  });
}
NW_API cudaSetValidDevices(int* devices, int count) {
  return api([&](Runtime& r) {
    require(count == 0 || devices != nullptr);
    for (int i = 0; i < count; ++i) r.check_device(devices[i]);
    return kSuccess;
  });
}
NW_API cudaChooseDevice(int* device, const DeviceProp* wanted) {
  return api([&](Runtime&) {
    require(device != nullptr && wanted != nullptr);
    *device = 0;
    return kSuccess;
  });
}
NW_API cudaSetDeviceFlags(unsigned flags) {
  return api([&](Runtime& r) {
    require((flags & ~0xffu) == 0);
    r.device_flags.at(static_cast<size_t>(thread_state().device)) = flags;
    return kSuccess;
  });
}
NW_API cudaGetDeviceFlags(unsigned* flags) {
  return api([&](Runtime& r) {
    require(flags != nullptr);
    *flags = r.device_flags.at(static_cast<size_t>(thread_state().device)) |
             8;  // memory can always be mapped
    return kSuccess;
  });
}

NW_API cudaGetDeviceProperties(DeviceProp* properties_out, int device) {
  return api([&](Runtime& r) {
    require(properties_out != nullptr);
    r.check_device(device);
    *properties_out =
        properties(r.spec(), r.settings().visible_devices[static_cast<size_t>(device)]);
    return kSuccess;
  });
}
NW_API cudaDeviceGetAttribute(int* value, int number, int device) {
  return api([&](Runtime& r) {
    require(value != nullptr);
    r.check_device(device);
    require(attribute(r.spec(), number, value));
    constexpr int kPciDeviceId = 34;
    if (number == kPciDeviceId)
      *value = static_cast<int>(r.settings().visible_devices[static_cast<size_t>(device)]);
    return kSuccess;
  });
}

NW_API cudaDeviceSynchronize() {
  return api([](Runtime& r) {
    r.device();
    r.order.host_waited();
    return kSuccess;
  });
}
/// Frees what the application has allocated, and forgets a fault. Variables of modules, which keep
/// their addresses, have their initial values again.
NW_API cudaDeviceReset() {
  Runtime& r = the_runtime();
  const std::lock_guard lock(r.mutex);
  r.sticky = last_error() = kSuccess;
  return api([](Runtime& runtime) {
    runtime.order.host_waited();
    const bool is_only_one = runtime.num_devices() == 1;  // else others may still use the rest
    if (is_only_one) {
      destroy_all_textures(runtime);
      forget_arrays();
      runtime.graphs.forget_memory();
      runtime.virtual_memory.forget(runtime);
    }
    runtime.memory.free_all(runtime, thread_state().device);
    if (is_only_one && runtime.has_device()) runtime.device().reset_modules();
    return kSuccess;
  });
}

NW_API cudaDeviceSetLimit(int limit, size_t value) {
  return api([&](Runtime& r) {
    require(limit >= 0 && limit < kNumLimits);
    if (limit == kLimitStack) {
      require(value <= kMostStack);
      value = std::max<size_t>(value, nearwarp::compiler::kStackBytes);
      r.device().set_stack_bytes(static_cast<uint32_t>(value));
    }
    if (limit == kLimitHeap) require(r.device().set_heap_bytes(value));
    limits()[static_cast<size_t>(limit)] = value;
    return kSuccess;
  });
}
NW_API cudaDeviceGetLimit(size_t* value, int limit) {
  return api([&](Runtime&) {
    require(value != nullptr && limit >= 0 && limit < kNumLimits);
    *value = limits()[static_cast<size_t>(limit)];
    return kSuccess;
  });
}

// Preferences that the simulated caches do not have.
NW_API cudaDeviceSetCacheConfig(int) {
  return api([](Runtime&) { return kSuccess; });
}
NW_API cudaDeviceGetCacheConfig(int* config) {
  return api([&](Runtime&) {
    require(config != nullptr);
    *config = 0;  // none
    return kSuccess;
  });
}
NW_API cudaDeviceSetSharedMemConfig(int) {
  return api([](Runtime&) { return kSuccess; });
}
NW_API cudaDeviceGetSharedMemConfig(int* config) {
  return api([&](Runtime&) {
    require(config != nullptr);
    *config = 1;  // banks of four bytes
    return kSuccess;
  });
}
NW_API cudaCtxResetPersistingL2Cache() {
  return api([](Runtime&) { return kSuccess; });
}

NW_API cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&](Runtime&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return kSuccess;
  });
}

NW_API cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return api([&](Runtime& r) {
    require(text != nullptr);
    r.check_device(device);
    const std::string id =
        fmt::format("0000:00:{:02x}.0", r.settings().visible_devices[static_cast<size_t>(device)]);
    require(bytes > static_cast<int>(id.size()));
    std::memcpy(text, id.c_str(), id.size() + 1);
    return kSuccess;
  });
}
NW_API cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return api([&](Runtime& r) {
    require(device != nullptr && text != nullptr);
    for (int i = 0; i < r.num_devices(); ++i) {
      const uint32_t own = r.settings().visible_devices[static_cast<size_t>(i)];
      if (std::strstr(text, fmt::format("00:{:02x}.0", own).c_str()) == nullptr) continue;
      *device = i;
      return kSuccess;
    }
    return kErrorInvalidDevice;
  });
}

// Peers: every device can have the memory of every other. Whether it may is kept, and not looked at
// when kernels access it.
namespace {
std::set<std::pair<int, int>>& peers() {
  static auto* const all = new std::set<std::pair<int, int>>;
  return *all;
}
}  // namespace
NW_API cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api([&](Runtime& r) {
    require(can != nullptr);
    r.check_device(device);
    r.check_device(peer);
    *can = device != peer ? 1 : 0;
    return kSuccess;
  });
}
NW_API cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api([&](Runtime& r) {
    r.check_device(peer);
    require(peer != thread_state().device, kErrorInvalidDevice);
    require(flags == 0);
    require(peers().emplace(thread_state().device, peer).second, kErrorPeerAccessAlreadyEnabled);
    return kSuccess;
  });
}
NW_API cudaDeviceDisablePeerAccess(int peer) {
  return api([&](Runtime& r) {
    r.check_device(peer);
    require(peer != thread_state().device, kErrorInvalidDevice);
    require(peers().erase({thread_state().device, peer}) == 1, kErrorPeerAccessNotEnabled);
    return kSuccess;
  });
}
NW_API cudaDeviceGetP2PAttribute(int* value, int attribute, int source, int destination) {
  return api([&](Runtime& r) {
    constexpr int kRank = 1, kLast = 4;  // rank, access, native atomics, arrays
    r.check_device(source);
    r.check_device(destination);
    require(source != destination, kErrorInvalidDevice);
    require(value != nullptr && attribute >= kRank && attribute <= kLast);
    *value = attribute == kRank ? 0 : 1;
    return kSuccess;
  });
}

NW_API cudaMemGetInfo(size_t* free, size_t* total) {
  return api([&](Runtime& r) {
    require(free != nullptr && total != nullptr);
    *total = r.device().memory_bytes();
    const uint64_t bytes = r.free_memory_bytes() + r.graphs.unbacked_bytes();
    *free = bytes - std::min(bytes, idle_pool_bytes(r.memory));
    return kSuccess;
  });
}

NW_API cudaProfilerStart() {
  return api([](Runtime&) { return kSuccess; });
}
NW_API cudaProfilerStop() {
  return api([](Runtime&) { return kSuccess; });
}
