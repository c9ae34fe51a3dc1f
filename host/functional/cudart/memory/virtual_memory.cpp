// Memory that programs create, reserve addresses for and map in separate calls, and memory of other
// processes.
#include "host/functional/cudart/memory/virtual_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

#include "host/core/error.h"
#include "host/functional/cudart/status/failure.h"
#include "host/functional/instructions/decoded.h"

namespace nearwarp::cudart {

namespace {

constexpr uint64_t kPage = 4096;

/// Calls `body`, and throws a Failure for its errors, which mean a lack of memory or addresses.
template <class Body>
void on_device(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    throw Failure{kErrorMemoryAllocation, error.what()};
  }
}

uint64_t round_up(uint64_t value, uint64_t granule) {
  return (value + granule - 1) / granule * granule;
}

}  // namespace

PhysicalMemory::~PhysicalMemory() { ::close(file_); }

// --- Addresses -----------------------------------------------------------------------------------

uint64_t VirtualMemory::reserve(Process& process, uint64_t bytes, uint64_t alignment,
                                uint64_t wanted) {
  require(bytes != 0 && bytes % kPage == 0 && (alignment == 0 || std::has_single_bit(alignment)));
  const uint64_t align = std::max(alignment, kGranularity);
  const auto range = process.device().mapped_addresses();
  const uint64_t size = round_up(std::min(bytes, range.bytes + kGranularity), kGranularity);
  const auto is_free = [&](uint64_t start) {
    if (start < range.lo || size > range.bytes || start - range.lo > range.bytes - size)
      return false;
    const auto after = reservations_.lower_bound(start);
    if (after != reservations_.end() && after->first - start < size) return false;
    return after == reservations_.begin() ||
           start - std::prev(after)->first >= round_up(std::prev(after)->second, kGranularity);
  };
  // The wanted address is only a hint.
  uint64_t start = wanted;
  if (wanted == 0 || wanted % align != 0 || !is_free(wanted)) {
    start = round_up(range.lo, align);
    for (const auto& [address, taken] : reservations_) {
      if (is_free(start)) break;
      start = std::max(start, round_up(address + taken, align));
    }
  }
  if (!is_free(start))
    throw Failure{kErrorMemoryAllocation,
                  std::to_string(bytes) + " bytes of addresses are wanted, of " +
                      std::to_string(range.bytes) + " that there are for memory mapped by hand"};
  reservations_[start] = bytes;
  return start;
}

void VirtualMemory::release(uint64_t address, uint64_t bytes) {
  const auto it = reservations_.find(address);
  require(it != reservations_.end() && it->second == bytes);
  const auto mapping = mappings_.lower_bound(address);
  require(mapping == mappings_.end() || mapping->first - address >= bytes);
  reservations_.erase(it);
}

// --- Memory without addresses --------------------------------------------------------------------

VirtualMemory::Handle VirtualMemory::add(std::shared_ptr<const PhysicalMemory> memory) {
  for (auto& [handle, entry] : handles_) {
    if (entry.memory != memory) continue;
    ++entry.references;
    return handle;
  }
  handles_[next_] = {std::move(memory), 1};
  return next_++;
}

VirtualMemory::Handle VirtualMemory::create(Process& process, uint64_t bytes,
                                            const PhysicalProps& properties) {
  constexpr int kPinned = 1, kFileDescriptor = 1;
  require(bytes != 0 && bytes % kGranularity == 0 && properties.type == kPinned);
  require((properties.handle_types & ~kFileDescriptor) == 0, kErrorNotSupported);
  require(bytes <= process.free_memory_bytes(), kErrorMemoryAllocation);
  const int file = memfd_create("nearwarp device memory", MFD_CLOEXEC);
  if (file < 0)
    throw Failure{kErrorMemoryAllocation, std::string("no file can be made for memory: ") +
                                              std::strerror(errno) + " (ulimit -n)"};
  auto memory = std::make_shared<PhysicalMemory>(file, bytes, properties, false);
  require(ftruncate(file, static_cast<off_t>(bytes)) == 0, kErrorMemoryAllocation);
  return add(std::move(memory));
}

VirtualMemory::Handle VirtualMemory::import(int file) {
  struct stat about {};
  require(fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
          static_cast<uint64_t>(about.st_size) % kGranularity == 0);
  const int own = dup(file);
  require(own >= 0, kErrorOperatingSystem);
  return add(std::make_shared<PhysicalMemory>(own, static_cast<uint64_t>(about.st_size),
                                              PhysicalProps{1, 1, {1, 0}, nullptr, 0, 0, 0, {}},
                                              true));
}

VirtualMemory::Handle VirtualMemory::retain(uint64_t address) {
  auto it = mappings_.upper_bound(address);
  require(it != mappings_.begin());
  --it;
  require(address - it->first < it->second.bytes);
  return add(it->second.memory);
}

void VirtualMemory::release(Handle handle) {
  const auto it = handles_.find(handle);
  require(it != handles_.end());
  if (--it->second.references == 0) handles_.erase(it);
}

const PhysicalMemory& VirtualMemory::memory(Handle handle) const {
  const auto it = handles_.find(handle);
  require(it != handles_.end());
  return *it->second.memory;
}

uint64_t VirtualMemory::bytes() const {
  std::set<const PhysicalMemory*> all;
  for (const auto& [handle, entry] : handles_) all.insert(entry.memory.get());
  for (const auto& [address, mapping] : mappings_) all.insert(mapping.memory.get());
  uint64_t sum = 0;
  for (const PhysicalMemory* memory : all)
    if (!memory->is_foreign()) sum += memory->bytes();
  return sum;
}

// --- What lies where -----------------------------------------------------------------------------

void VirtualMemory::publish(Process& process, uint64_t address) {
  const auto reservation = std::prev(reservations_.upper_bound(address));
  const uint64_t begin = reservation->first, end = begin + reservation->second;
  for (auto it = published_.lower_bound(begin); it != published_.end() && *it < end;) {
    process.device().remove_mapped(*it);
    it = published_.erase(it);
  }
  // Adjacent mappings are one range, since copies and kernels may cross their boundary.
  auto it = mappings_.lower_bound(begin);
  while (it != mappings_.end() && it->first < end) {
    const uint64_t start = it->first;
    uint64_t stop = start;
    while (it != mappings_.end() && it->first == stop && it->first < end &&
           it->second.access != 0) {
      stop += it->second.bytes;
      ++it;
    }
    if (stop == start) {
      ++it;
      continue;
    }
    process.device().add_mapped(start, stop - start, "mapped by hand");
    published_.insert(start);
  }
}

void VirtualMemory::map(Process& process, uint64_t address, uint64_t bytes, Handle handle) {
  const auto entry = handles_.find(handle);
  require(entry != handles_.end() && bytes != 0 && bytes % kGranularity == 0 &&
          address % kGranularity == 0 && bytes <= entry->second.memory->bytes());
  const auto after = reservations_.upper_bound(address);
  require(after != reservations_.begin());
  const auto& [start, reserved] = *std::prev(after);
  require(address - start < reserved && bytes <= reserved - (address - start));
  const auto next = mappings_.lower_bound(address);
  require(next == mappings_.end() || next->first - address >= bytes);
  require(next == mappings_.begin() ||
          address - std::prev(next)->first >= std::prev(next)->second.bytes);
  on_device([&] { process.device().map_file(address, bytes, entry->second.memory->file(), 0); });
  mappings_[address] = {bytes, entry->second.memory, 0};
}

std::map<uint64_t, VirtualMemory::Mapping>::iterator VirtualMemory::whole_mappings(uint64_t address,
                                                                                   uint64_t bytes) {
  const auto first = mappings_.find(address);
  require(first != mappings_.end() && bytes != 0);
  uint64_t end = address;
  for (auto it = first; end - address < bytes; ++it) {
    require(it != mappings_.end() && it->first == end);
    end += it->second.bytes;
  }
  require(end - address == bytes);
  return first;
}

void VirtualMemory::unmap(Process& process, uint64_t address, uint64_t bytes) {
  auto it = whole_mappings(address, bytes);
  while (it != mappings_.end() && it->first - address < bytes) it = mappings_.erase(it);
  publish(process, address);
  process.device().unmap_file(address, bytes);
}

void VirtualMemory::set_access(Process& process, uint64_t address, uint64_t bytes, int flags) {
  require(flags == 0 || flags == 1 || flags == 3);
  std::set<uint64_t> fresh;
  for (auto it = whole_mappings(address, bytes);
       it != mappings_.end() && it->first - address < bytes; ++it) {
    if (it->second.access == 0) fresh.insert(it->first);
    it->second.access = flags;
  }
  publish(process, address);
  // The memory may have been written at another address, or by another process.
  if (flags != 0)
    for (const uint64_t start : fresh) process.device().note_written(start, mappings_[start].bytes);
}

int VirtualMemory::access(uint64_t address) const {
  auto it = mappings_.upper_bound(address);
  require(it != mappings_.begin());
  --it;
  require(address - it->first < it->second.bytes);
  return it->second.access;
}

// --- Memory of other processes -------------------------------------------------------------------

uint64_t VirtualMemory::open(Process& process, int file, uint64_t offset, uint64_t bytes,
                             Opened how) {
  struct stat about {};
  require(fstat(file, &about) == 0, kErrorMapBufferObjectFailed);
  const auto size_of_file = static_cast<uint64_t>(about.st_size);
  require(bytes <= size_of_file && offset <= size_of_file - bytes, kErrorMapBufferObjectFailed);
  const std::array<uint64_t, 4> place = {about.st_dev, about.st_ino, offset, bytes};
  for (auto& [address, foreign] : opened_)
    if (how == Opened::kByHandle && foreign.how == how && foreign.place == place) {
      ++foreign.count;
      return address;
    }
  const uint64_t first = offset / kPage * kPage, size = round_up(offset + bytes - first, kPage);
  const uint64_t start = reserve(process, size, 0, 0), address = start + (offset - first);
  try {
    on_device([&] {
      process.device().map_file(start, size, file, first);
      process.device().add_mapped(address, bytes, "of another process");
    });
  } catch (...) {
    reservations_.erase(start);
    throw;
  }
  process.device().note_written(address, bytes);
  opened_[address] = {start, how, place, 1};
  return address;
}

bool VirtualMemory::is_open(uint64_t address, Opened how) const {
  const auto it = opened_.find(address);
  return it != opened_.end() && it->second.how == how;
}

void VirtualMemory::close(Process& process, uint64_t address, Opened how) {
  require(is_open(address, how));
  const auto it = opened_.find(address);
  if (--it->second.count != 0) return;
  const auto reservation = reservations_.find(it->second.reservation);
  process.device().remove_mapped(address);
  process.device().unmap_file(reservation->first, reservation->second);
  reservations_.erase(reservation);
  opened_.erase(it);
}

void VirtualMemory::forget(Process& process) {
  while (!opened_.empty()) close(process, opened_.begin()->first, opened_.begin()->second.how);
  for (const uint64_t start : published_) process.device().remove_mapped(start);
  for (const auto& [address, mapping] : mappings_)
    process.device().unmap_file(address, mapping.bytes);
  published_.clear();
  mappings_.clear();
  handles_.clear();
  reservations_.clear();
}

}  // namespace nearwarp::cudart
