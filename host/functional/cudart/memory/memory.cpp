// Memory that the application has allocated or registered, and copies between such memory.
#include "host/functional/cudart/memory/memory.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "host/core/error.h"
#include "host/functional/cudart/memory/host_memory.h"
#include "host/functional/cudart/status/failure.h"
#include "host/functional/cudart/status/thread_state.h"
#include "host/functional/instructions/decoded.h"

namespace nearwarp::cudart {

namespace {

uint64_t address_of(const void* p) { return reinterpret_cast<uint64_t>(p); }
void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

bool in_arena(Process& process, const void* p) {
  return process.has_device() && address_of(p) >= exec::kDeviceBase &&
         address_of(p) - exec::kDeviceBase < process.device().memory_bytes() + kMappedBytes;
}

}  // namespace

void* Memory::allocate(Process& process, size_t bytes, Kind kind, unsigned flags) {
  return allocate(process, bytes, {kind, false, flags, nullptr, thread_state().device});
}

void* Memory::allocate_from(Process& process, const void* pool, int device, size_t bytes) {
  return allocate(process, bytes, {Kind::kDevice, false, 0, pool, device});
}

void* Memory::allocate(Process& process, size_t bytes, const Region& region) {
  uint64_t address = 0;
  require(bytes <= process.free_memory_bytes(), kErrorMemoryAllocation);
  try {
    address = process.device().allocate(bytes);
  } catch (const Error&) {
    throw Failure{kErrorMemoryAllocation};
  }
  regions_[address] = region;
  if (region.pool != nullptr)
    pool_bytes_[region.pool] += process.device().find_allocation(address)->bytes;
  // The host can write to managed and pinned memory directly, at any time.
  if (region.kind != Kind::kDevice) process.device().note_written(address, bytes);
  return pointer_to(address);
}

void Memory::forget(Process& process, uint64_t address, const Region& region) {
  if (region.pool != nullptr)
    pool_bytes_[region.pool] -= process.device().find_allocation(address)->bytes;
  process.device().free(address);
}

void Memory::free(Process& process, void* pointer, bool pinned) {
  const auto it = regions_.find(address_of(pointer));
  require(it != regions_.end() && !it->second.variable &&
          (it->second.kind == Kind::kPinned) == pinned);
  forget(process, it->first, it->second);
  regions_.erase(it);
}

void Memory::add_managed_variable(runtime::DevicePtr address) {
  regions_[address] = {Kind::kManaged, true, 1, nullptr, 0};
}

void Memory::free_all(Process& process, int device) {
  std::erase_if(regions_, [&](const auto& entry) {
    const bool goes = !entry.second.variable && entry.second.device == device;
    if (goes) forget(process, entry.first, entry.second);
    return goes;
  });
  for (auto& [address, registered] : registered_)
    if (find(process, pointer_to(registered.shadow)) == nullptr) registered.shadow = 0;
}

const Memory::Region* Memory::find(Process& process, const void* pointer, uint64_t* start) const {
  static constexpr Region kVariable{Kind::kDevice, true, 0, nullptr, 0};
  if (!in_arena(process, pointer)) return nullptr;
  const runtime::Allocation* a = process.device().find_allocation(address_of(pointer));
  if (a == nullptr) return nullptr;
  if (start != nullptr) *start = a->address;
  const auto it = regions_.find(a->address);
  return it == regions_.end() ? &kVariable : &it->second;
}

void Memory::check_device_range(Process& process, const void* pointer, size_t bytes) const {
  require(in_arena(process, pointer));
  const runtime::Allocation* a = process.device().find_allocation(address_of(pointer));
  require(a != nullptr && bytes <= a->bytes - (address_of(pointer) - a->address));
}

// --- Registered memory ---------------------------------------------------------------------------

void Memory::register_host(void* pointer, size_t bytes, unsigned flags) {
  require(pointer != nullptr && bytes != 0);
  auto after = registered_.upper_bound(address_of(pointer));
  if (after != registered_.end())
    require(after->first - address_of(pointer) >= bytes, kErrorHostMemoryAlreadyRegistered);
  if (after != registered_.begin()) {
    --after;
    require(address_of(pointer) - after->first >= after->second.bytes,
            kErrorHostMemoryAlreadyRegistered);
  }
  registered_[address_of(pointer)] = {bytes, flags, 0};
}

void Memory::unregister_host(Process& process, void* pointer) {
  const auto it = registered_.find(address_of(pointer));
  require(it != registered_.end(), kErrorHostMemoryNotRegistered);
  if (it->second.shadow != 0) free(process, pointer_to(it->second.shadow), false);
  registered_.erase(it);
}

const std::map<uint64_t, Memory::Registered>::value_type* Memory::registered(
    const void* pointer) const {
  auto it = registered_.upper_bound(address_of(pointer));
  if (it == registered_.begin()) return nullptr;
  --it;
  return address_of(pointer) - it->first < it->second.bytes ? &*it : nullptr;
}

void* Memory::shadow(Process& process, const void* pointer) {
  const auto* entry = registered(pointer);
  require(entry != nullptr);
  Registered& r = registered_.at(entry->first);
  if (r.shadow == 0) r.shadow = address_of(allocate(process, r.bytes, Kind::kDevice));
  return pointer_to(r.shadow + (address_of(pointer) - entry->first));
}

void Memory::copy_in(Process& process) {
  for (const auto& [address, r] : registered_)
    if (r.shadow != 0) {
      require(read_host(pointer_to(r.shadow), pointer_to(address), r.bytes));
      process.device().note_written(r.shadow, r.bytes);
    }
}

void Memory::copy_out(Process&) {
  for (const auto& [address, r] : registered_)
    if (r.shadow != 0 && (r.flags & 8) == 0)  // not read-only
      require(write_host(pointer_to(address), pointer_to(r.shadow), r.bytes));
}

// --- Copies --------------------------------------------------------------------------------------

void Memory::copy(Process& process, void* dst, const void* src, size_t bytes, int kind) {
  require(kind >= kHostToHost && kind <= kDefault, kErrorInvalidMemcpyDirection);
  if (bytes == 0) return;
  const Region* to = find(process, dst);
  const Region* from = find(process, src);
  if (in_arena(process, dst)) check_device_range(process, dst, bytes);
  if (in_arena(process, src)) check_device_range(process, src, bytes);
  // The direction must fit both sides: memory that only the device can use, and memory that it does
  // not know. Registered memory goes by its own address or by that of its shadow.
  const bool to_device = kind == kHostToDevice || kind == kDeviceToDevice;
  const bool from_device = kind == kDeviceToHost || kind == kDeviceToDevice;
  if (kind != kDefault) {
    require(to_device ? to != nullptr || registered(dst) != nullptr
                      : to == nullptr || to->kind != Kind::kDevice);
    require(from_device ? from != nullptr || registered(src) != nullptr
                        : from == nullptr || from->kind != Kind::kDevice);
  }
  pageable_ = pageable_ || (to == nullptr && registered(dst) == nullptr) ||
              (from == nullptr && registered(src) == nullptr);
  if (to != nullptr && from != nullptr) {
    std::memmove(dst, src, bytes);
    process.device().note_copied(address_of(dst), address_of(src), bytes);
  } else if (to != nullptr) {
    require(read_host(dst, src, bytes));
    process.device().note_written(address_of(dst), bytes);
  } else if (from != nullptr) {
    require(write_host(dst, src, bytes));
  } else {
    std::vector<char> between(std::min<size_t>(bytes, 1 << 20));
    for (size_t done = 0; done < bytes;) {
      const size_t step = std::min(bytes - done, between.size());
      require(read_host(between.data(), static_cast<const char*>(src) + done, step));
      require(write_host(static_cast<char*>(dst) + done, between.data(), step));
      done += step;
    }
  }
}

void Memory::fill(Process& process, void* dst, int value, size_t bytes) {
  if (bytes == 0) return;
  check_device_range(process, dst, bytes);
  std::memset(dst, value, bytes);
  process.device().note_written(address_of(dst), bytes);
}

}  // namespace nearwarp::cudart
