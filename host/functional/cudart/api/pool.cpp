// Entry points of stream-ordered allocation. All pools share the device's memory; what is freed is
// free at once.
#include "host/functional/cudart/api/pool.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "host/functional/cudart/runtime/graph_work.h"
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr int kReleaseThreshold = 4, kUsedHigh = 8;

/// A device's default one, and what cudaMallocAsync() takes there.
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
Status get_pool(Pool** pool, int device, bool initial, NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    require(pool != nullptr);
    r.check_device(device);
    *pool = initial ? of_device(device).initial : of_device(device).current;
    return kSuccess;
  });
}
/// The device's own memory is the only place.
int device_of(const MemLocation* location) {
  return location != nullptr && location->type == 1 ? location->id : -1;
}

}  // namespace

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
    require(p.file < 0);  // another process's
    if (s != nullptr && s->capture != nullptr) {
      require(bytes != 0);
      r.enqueue(
          stream, NodeType::kAllocate,
          allocate_work(r, *s->capture->graph, s->tail.data(), s->tail.size(), bytes, {}, pointer));
      return kSuccess;
    }
    *pointer = bytes == 0 ? nullptr : r.memory.allocate_from(r, pool, p.device, bytes);
    p.used_high = std::max(p.used_high, r.memory.bytes_of_pool(r, pool));
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
    constexpr int kFileDescriptor = 1;  // the one form in which other processes may have it
    require((properties->handle_types & ~kFileDescriptor) == 0, kErrorNotSupported);
    auto made = std::make_unique<Pool>();
    made->device = device;
    made->is_shareable = properties->handle_types != 0;
    *pool = keep_pool(std::move(made));
    return kSuccess;
  });
}
NW_API cudaMemPoolDestroy(Pool* pool) {
  return api([&](Runtime&) {
    checked_pool(pool);
    require(!is_default(pool));
    for (int device = 0; device < static_cast<int>(kMostDevices); ++device)
      if (of_device(device).current == pool) of_device(device).current = of_device(device).initial;
    pools().erase(pool);
    return kSuccess;
  });
}
NW_API cudaDeviceGetDefaultMemPool(Pool** pool, int device) { return get_pool(pool, device, true); }
NW_API cudaDeviceGetMemPool(Pool** pool, int device) { return get_pool(pool, device, false); }
NW_API cudaDeviceSetMemPool(int device, Pool* pool) {
  return api([&](Runtime& r) {
    r.check_device(device);
    require(checked_pool(pool).file < 0);
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
NW_API cudaMemPoolTrimTo(Pool* pool, size_t) {
  return api([&](Runtime&) {
    checked_pool(pool);
    return kSuccess;
  });
}
NW_API cudaMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  return api([&](Runtime&) {
    Pool& p = checked_pool(pool);
    require(value != nullptr && attribute >= 1 && attribute <= kUsedHigh);
    if (attribute < kReleaseThreshold)
      p.reuse[attribute - 1] = *static_cast<int*>(value);
    else if (attribute == kReleaseThreshold)
      p.release_threshold = *static_cast<uint64_t*>(value);
    else  // high-water marks may be set to 0
      p.used_high = 0;
    return kSuccess;
  });
}
NW_API cudaMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  return api([&](Runtime& r) {
    const Pool& p = checked_pool(pool);
    require(value != nullptr && attribute >= 1 && attribute <= kUsedHigh);
    if (attribute < kReleaseThreshold) {
      *static_cast<int*>(value) = p.reuse[attribute - 1];
      return kSuccess;
    }
    const uint64_t used = r.memory.bytes_of_pool(r, pool);
    const bool high = attribute == 6 || attribute == kUsedHigh;  // reserved and used
    *static_cast<uint64_t*>(value) = attribute == kReleaseThreshold ? p.release_threshold
                                     : high                         ? std::max(p.used_high, used)
                                                                    : used;
    return kSuccess;
  });
}
NW_API cudaMemPoolSetAccess(Pool* pool, const void*, size_t) {
  return api([&](Runtime&) {
    checked_pool(pool);
    return kSuccess;
  });
}
NW_API cudaMemPoolGetAccess(int* flags, Pool* pool, MemLocation* location) {
  return api([&](Runtime&) {
    checked_pool(pool);
    require(flags != nullptr && location != nullptr);
    *flags = device_of(location) >= 0 ? 3 : 0;  // read and write, or nothing
    return kSuccess;
  });
}
