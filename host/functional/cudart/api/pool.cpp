// Entry points of stream-ordered allocation. All pools share the device's memory. Freed memory is
// free at once; the memory that a pool keeps reserved is only a number that applications can query.
#include "host/functional/cudart/api/pool.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/functional/cudart/runtime/graph_work.h"
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr int kReleaseThreshold = 4, kReservedCurrent = 5, kReservedHigh = 6, kUsedCurrent = 7,
              kUsedHigh = 8;

constexpr int kNoAccess = 0, kReads = 1, kReadsAndWrites = 3;

/// A device's default pool, and the pool that cudaMallocAsync() uses there.
struct PoolsOfDevice {
  Pool* const initial = new Pool;
  Pool* current = initial;
};
PoolsOfDevice& of_device(int device) {
  static auto* const all = [] {
    auto* const made = new std::array<PoolsOfDevice, kMostDevices>;
    for (size_t i = 0; i < made->size(); ++i) (*made)[i].initial->device = static_cast<int>(i);
    return made;
  }();
  return all->at(static_cast<size_t>(device));
}
bool is_default(const Pool* pool) {
  for (int device = 0; device < static_cast<int>(kMostDevices); ++device)
    if (of_device(device).initial == pool) return true;
  return false;
}
std::unordered_map<const Pool*, std::unique_ptr<Pool>>& pools() {
  static auto* const all = new std::unordered_map<const Pool*, std::unique_ptr<Pool>>;
  return *all;
}
/// Pools that the application has destroyed before all of their memory was freed. They are kept
/// until it is, since memory tells its pool by the address, which no other pool may have meanwhile.
std::vector<std::unique_ptr<Pool>>& destroyed_pools() {
  static auto* const all = new std::vector<std::unique_ptr<Pool>>;
  return *all;
}
Status get_pool(Pool** pool, int device, bool initial, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    require(pool != nullptr);
    r.check_device(device);
    *pool = initial ? of_device(device).initial : of_device(device).current;
    return kSuccess;
  });
}
/// The device of a location; -1 for locations other than a device, which are not supported.
int device_of(const MemLocation* location) {
  return location != nullptr && location->type == 1 ? location->id : -1;
}

}  // namespace

uint64_t nearwarp::cudart::idle_pool_bytes(const Memory& memory) {
  uint64_t bytes = 0;
  const auto add = [&](Pool& pool) {
    const uint64_t used = memory.bytes_of_pool(&pool);
    pool.settle(used);
    bytes += pool.reserved - used;
  };
  for (int device = 0; device < static_cast<int>(kMostDevices); ++device)
    add(*of_device(device).initial);
  for (const auto& [handle, pool] : pools()) add(*pool);
  return bytes;
}
Pool& nearwarp::cudart::checked_pool(Pool* pool) {
  require(pools().contains(pool) || is_default(pool));
  return *pool;
}
Pool* nearwarp::cudart::keep_pool(std::unique_ptr<Pool> pool) {
  Pool* const kept = pool.get();
  pools().emplace(kept, std::move(pool));
  return kept;
}

NW_API cudaMallocFromPoolAsync(void** pointer, size_t bytes, Pool* pool, Stream stream) {
  return api([&](Runtime& r) {
    require(pointer != nullptr);
    const StreamState* s = r.streams.find(stream);
    r.touch(stream);
    Pool& p = checked_pool(pool);
    require(p.file < 0);  // a pool of another process does not allocate here
    if (s != nullptr && s->capture != nullptr) {
      require(bytes != 0);
      r.enqueue(
          stream, NodeType::kAllocate,
          allocate_work(r, *s->capture->graph, s->tail.data(), s->tail.size(), bytes, {}, pointer));
      return kSuccess;
    }
    const uint64_t before = r.memory.bytes_of_pool(pool);
    p.settle(before);
    require(p.max_bytes == 0 || (bytes <= p.max_bytes && before <= p.max_bytes - bytes),
            kErrorMemoryAllocation);
    *pointer = bytes == 0 ? nullptr : r.memory.allocate_from(r, pool, p.device, bytes);
    const uint64_t used = r.memory.bytes_of_pool(pool);
    p.reserved = std::max(p.reserved, used);
    p.used_high = std::max(p.used_high, used);
    p.reserved_high = std::max(p.reserved_high, p.reserved);
    return kSuccess;
  });
}
NW_API cudaMallocAsync(void** pointer, size_t bytes, Stream stream) {
  const OuterCall outer;
  return cudaMallocFromPoolAsync(pointer, bytes, of_device(thread_state().device).current, stream);
}
NW_API cudaFreeAsync(void* pointer, Stream stream) {
  return api([&](Runtime& r) {
    const StreamState* s = r.streams.find(stream);
    r.touch(stream);
    if (s != nullptr && s->capture != nullptr)
      r.enqueue(stream, NodeType::kFree, free_work(r, *s->capture->graph, pointer));
    else if (pointer != nullptr)
      r.free(pointer);
    return kSuccess;
  });
}

NW_API cudaMemPoolCreate(Pool** pool, const MemPoolProps* properties) {
  return api([&](Runtime& r) {
    constexpr int kPinned = 1;
    require(pool != nullptr && properties != nullptr && properties->alloc_type >= kPinned);
    const int device = device_of(&properties->location);
    require(properties->location.type != 0 && device < r.num_devices());
    require(properties->alloc_type == kPinned && device >= 0, kErrorNotSupported);
    constexpr int kFileDescriptor = 1;  // the only supported handle for other processes
    require((properties->handle_types & ~kFileDescriptor) == 0, kErrorNotSupported);
    auto made = std::make_unique<Pool>();
    made->device = device;
    made->max_bytes = properties->max_size;
    made->is_shareable = properties->handle_types != 0;
    *pool = keep_pool(std::move(made));
    return kSuccess;
  });
}
NW_API cudaMemPoolDestroy(Pool* pool) {
  return api([&](Runtime& r) {
    checked_pool(pool);
    require(!is_default(pool));
    for (int device = 0; device < static_cast<int>(kMostDevices); ++device)
      if (of_device(device).current == pool) of_device(device).current = of_device(device).initial;
    destroyed_pools().push_back(std::move(pools().at(pool)));
    pools().erase(pool);
    std::erase_if(destroyed_pools(),
                  [&](const auto& own) { return r.memory.bytes_of_pool(own.get()) == 0; });
    return kSuccess;
  });
}
NW_API cudaDeviceGetDefaultMemPool(Pool** pool, int device) { return get_pool(pool, device, true); }
NW_API cudaDeviceGetMemPool(Pool** pool, int device) { return get_pool(pool, device, false); }
NW_API cudaDeviceSetMemPool(int device, Pool* pool) {
  return api([&](Runtime& r) {
    r.check_device(device);
    require(checked_pool(pool).file < 0 && pool->device == device);
    of_device(device).current = pool;
    return kSuccess;
  });
}
NW_API cudaMemGetDefaultMemPool(Pool** pool, MemLocation* location, int) {
  return get_pool(pool, device_of(location), true);
}
NW_API cudaMemGetMemPool(Pool** pool, MemLocation* location, int) {
  return get_pool(pool, device_of(location), false);
}
NW_API cudaMemSetMemPool(MemLocation* location, int, Pool* pool) {
  const OuterCall outer;
  return cudaDeviceSetMemPool(device_of(location), pool);
}
NW_API cudaMemPoolTrimTo(Pool* pool, size_t bytes) {
  return api([&](Runtime& r) {
    Pool& p = checked_pool(pool);
    const uint64_t used = r.memory.bytes_of_pool(pool);
    p.settle(used);
    p.reserved = std::max<uint64_t>(used, std::min<uint64_t>(p.reserved, bytes));
    return kSuccess;
  });
}
NW_API cudaMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  return api([&](Runtime& r) {
    Pool& p = checked_pool(pool);
    require(value != nullptr && attribute >= 1 && attribute <= kUsedHigh);
    require(attribute != kReservedCurrent && attribute != kUsedCurrent);
    if (attribute < kReleaseThreshold) {
      p.reuse[attribute - 1] = *static_cast<int*>(value);
      return kSuccess;
    }
    const uint64_t number = *static_cast<uint64_t*>(value), used = r.memory.bytes_of_pool(pool);
    p.settle(used);
    if (attribute == kReleaseThreshold) {
      p.release_threshold = number;
      return kSuccess;
    }
    require(number == 0);  // high-water marks can only be reset
    if (attribute == kUsedHigh)
      p.used_high = used;
    else
      p.reserved_high = p.reserved;
    return kSuccess;
  });
}
NW_API cudaMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  return api([&](Runtime& r) {
    Pool& p = checked_pool(pool);
    require(value != nullptr && attribute >= 1 && attribute <= kUsedHigh);
    if (attribute < kReleaseThreshold) {
      *static_cast<int*>(value) = p.reuse[attribute - 1];
      return kSuccess;
    }
    const uint64_t used = r.memory.bytes_of_pool(pool);
    p.settle(used);
    const uint64_t values[] = {p.release_threshold, p.reserved, p.reserved_high, used, p.used_high};
    *static_cast<uint64_t*>(value) = values[attribute - kReleaseThreshold];
    return kSuccess;
  });
}
/// Access is only stored for queries, since kernels of all devices can access all memory.
NW_API cudaMemPoolSetAccess(Pool* pool, const void* descriptions, size_t count) {
  return api([&](Runtime& r) {
    Pool& p = checked_pool(pool);
    const auto* const accesses = static_cast<const AccessDesc*>(descriptions);
    require(count == 0 || accesses != nullptr);
    for (size_t i = 0; i < count; ++i) {
      const int device = device_of(&accesses[i].location), flags = accesses[i].flags;
      require(device >= 0 && device < r.num_devices());
      require(flags == kNoAccess || flags == kReads || flags == kReadsAndWrites);
      require(device != p.device || flags == kReadsAndWrites);  // its own device has full access
    }
    for (size_t i = 0; i < count; ++i) p.access[accesses[i].location.id] = accesses[i].flags;
    return kSuccess;
  });
}
NW_API cudaMemPoolGetAccess(int* flags, Pool* pool, MemLocation* location) {
  return api([&](Runtime& r) {
    const Pool& p = checked_pool(pool);
    require(flags != nullptr && location != nullptr);
    const int device = device_of(location);
    require(device < r.num_devices());
    const auto told = p.access.find(device);
    *flags = device == p.device       ? kReadsAndWrites
             : told != p.access.end() ? told->second
                                      : kNoAccess;
    return kSuccess;
  });
}
