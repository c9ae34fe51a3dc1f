// The arena of the virtual device's memory, and the allocator: first fit, freed ranges coalesced.
#include "host/functional/memory/device_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/core/error.h"
#include "host/functional/memory/shared_memory.h"

namespace nearwarp::runtime {

namespace {

constexpr uint64_t kGranule = kAllocationAlignment;
constexpr uint64_t kLargeGranule = 2 << 20;  // alignment of allocations of at least this size
constexpr uint64_t kMinArena = uint64_t{16} << 20;
constexpr uint64_t kMaxArena = uint64_t{1} << 40;

uint64_t round_up(uint64_t value, uint64_t granule) {
  return (value + granule - 1) / granule * granule;
}

}  // namespace

DeviceMemory::DeviceMemory(uint64_t bytes, bool same_addresses, uint64_t mapped_bytes)
    : bytes_(round_up(std::clamp(bytes, kMinArena, kMaxArena), kLargeGranule)),
      mapped_bytes_(same_addresses ? round_up(mapped_bytes, kLargeGranule) : 0) {
  void* const wanted = same_addresses ? reinterpret_cast<void*>(exec::kDeviceBase) : nullptr;
  void* p =
      mmap(wanted, bytes_, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (same_addresses ? MAP_FIXED_NOREPLACE : 0),
           -1, 0);
  if (p != MAP_FAILED && same_addresses && p != wanted) {  // kernels before 4.17
    munmap(p, bytes_);
    p = MAP_FAILED;
  }
  if (p == MAP_FAILED && same_addresses)
    throw Error(
        fmt::format("cannot reserve {} bytes of address space at {:#x} for the device's memory - "
                    "something else lies there, or `ulimit -v` is too low",
                    bytes_, exec::kDeviceBase));
  if (p == MAP_FAILED)
    throw Error(
        fmt::format("cannot reserve {} bytes of address space for the device's memory "
                    "(mmap) - raise `ulimit -v` by as much",
                    bytes_));
  arena_ = static_cast<uint8_t*>(p);
  madvise(p, bytes_, MADV_HUGEPAGE);  // fewer page faults and TLB misses; only a hint
  ranges_.push_back({kParamBank, kParamBankBytes});
  if (mapped_bytes_ == 0) return;
  p = mmap(arena_ + bytes_, mapped_bytes_, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  has_mapped_ = p == arena_ + bytes_;
  if (p != MAP_FAILED && !has_mapped_) munmap(p, mapped_bytes_);
}

DeviceMemory::~DeviceMemory() {
  munmap(arena_, bytes_ + (has_mapped_ ? mapped_bytes_ : 0));
  if (file_ >= 0) close(file_);
}

void DeviceMemory::track_writes() {
  written_ = std::make_unique<racecheck::WrittenBytes>(arena_bytes());
  note_written(kParamBank, kParamBankBytes);
}

void DeviceMemory::note_written(uint64_t address, uint64_t bytes) {
  if (written_ != nullptr) written_->mark(address - exec::kDeviceBase, bytes);
}

void DeviceMemory::note_copied(uint64_t to, uint64_t from, uint64_t bytes) {
  if (written_ != nullptr) written_->copy(to - exec::kDeviceBase, from - exec::kDeviceBase, bytes);
}

void DeviceMemory::note_unwritten(uint64_t address, uint64_t bytes) {
  if (written_ == nullptr) return;
  written_->unmark(address - exec::kDeviceBase, bytes);
  all_written_ = false;
}

void DeviceMemory::note_all_written() {
  if (written_ == nullptr || std::exchange(all_written_, true)) return;
  for (const exec::Range& r : ranges_) note_written(r.lo, r.bytes);
}

uint64_t DeviceMemory::allocate(uint64_t bytes, std::string label) {
  // Clamped to more than the device has, so that rounding cannot overflow.
  const uint64_t wanted = round_up(std::clamp<uint64_t>(bytes, 1, bytes_ + 1), kGranule);
  const uint64_t align = bytes >= kLargeGranule ? kLargeGranule : kGranule;
  const uint64_t end = exec::kDeviceBase + bytes_;
  uint64_t address = 0;
  for (auto it = free_.begin(); it != free_.end(); ++it) {  // first fit
    const uint64_t start = round_up(it->first, align), stop = it->first + it->second;
    if (start > stop || stop - start < wanted) continue;
    const uint64_t low = it->first;
    free_.erase(it);
    if (start > low) free_[low] = start - low;
    if (stop > start + wanted) free_[start + wanted] = stop - start - wanted;
    address = start;
    break;
  }
  if (address == 0) {
    const uint64_t start = round_up(next_, align);
    if (bytes > bytes_ || start > end || end - start < wanted)
      throw Error(fmt::format(
          "out of device memory: {} bytes wanted{}, {} of {} bytes are in use{} - use a smaller "
          "input or a device with more memory",
          bytes, label.empty() ? "" : " for '" + label + "'", used_bytes_, bytes_,
          bytes <= bytes_ - used_bytes_ ? ", and the others lie apart" : ""));
    if (start > next_) free_[next_] = start - next_;
    address = start;
    next_ = start + wanted;
  }
  add_range(address, bytes, std::move(label));
  note_unwritten(address, bytes);
  used_bytes_ += bytes;
  return address;
}

void DeviceMemory::add_range(uint64_t address, uint64_t bytes, std::string label) {
  Allocation a{address, bytes, std::move(label)};
  const exec::Range range{address, bytes};
  ranges_.insert(
      std::upper_bound(ranges_.begin(), ranges_.end(), range,
                       [](const exec::Range& x, const exec::Range& y) { return x.lo < y.lo; }),
      range);
  pages_current_ = false;
  table_.push_back(a);
  live_.emplace(address, std::move(a));
}

void DeviceMemory::free(uint64_t address) {
  const auto it = live_.find(address);
  if (it == live_.end())
    throw Error(
        fmt::format("cannot free device address {:#x} - it is not the start of a live "
                    "allocation (freed before, or never allocated)",
                    address));
  uint64_t low = address, bytes = round_up(std::max<uint64_t>(it->second.bytes, 1), kGranule);
  // Later allocations of the same pages begin zeroed, as the first did: runs stay reproducible.
  const uint64_t page_low = round_up(low, 4096), page_high = (low + bytes) / 4096 * 4096;
  std::fill_n(arena_ + (low - exec::kDeviceBase),
              std::min(bytes, page_low > low ? page_low - low : 0), uint8_t{0});
  if (page_high > page_low) {
    madvise(arena_ + (page_low - exec::kDeviceBase), page_high - page_low,
            file_ < 0 ? MADV_DONTNEED : MADV_REMOVE);
    std::fill_n(arena_ + (page_high - exec::kDeviceBase), low + bytes - page_high, uint8_t{0});
  } else {
    std::fill_n(arena_ + (low - exec::kDeviceBase), bytes, uint8_t{0});
  }
  pages_current_ = false;
  used_bytes_ -= it->second.bytes;
  live_.erase(it);
  ranges_.erase(std::find_if(ranges_.begin(), ranges_.end(),
                             [&](const exec::Range& r) { return r.lo == address; }));
  auto next = free_.lower_bound(low);
  if (next != free_.end() && next->first == low + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == low) {
      before->second += bytes;
      return;
    }
  }
  free_[low] = bytes;
}

const std::vector<exec::Range>& DeviceMemory::pages() {
  if (std::exchange(pages_current_, true)) return pages_;
  pages_.clear();
  for (const exec::Range& r : ranges_) {
    if (r.lo < kHeapBase) continue;  // the parameter bank
    uint64_t low = r.lo / kLargeGranule * kLargeGranule;
    // A GPU has data of the context in front of the first allocations, which are mapped as well.
    if (low == kHeapBase) low = kParamBank + kParamBankBytes;
    const uint64_t high = round_up(r.lo + std::max<uint64_t>(r.bytes, 1), kLargeGranule);
    if (!pages_.empty() && pages_.back().lo + pages_.back().bytes >= low)
      pages_.back().bytes = high - pages_.back().lo;
    else
      pages_.push_back({low, high - low});
  }
  return pages_;
}

const Allocation* DeviceMemory::find(uint64_t address) const {
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return nullptr;
  --it;
  return address - it->first <= it->second.bytes ? &it->second : nullptr;
}

uint8_t* DeviceMemory::host(uint64_t address, uint64_t bytes, const char* what) const {
  const Allocation* a = find(address);
  if (a != nullptr && bytes <= a->bytes - (address - a->address))
    return arena_ + (address - exec::kDeviceBase);
  throw Error(fmt::format("{} of {} bytes at device address {:#x} leaves its allocation: {}", what,
                          bytes, address, describe_nearest(address, bytes)));
}

std::string DeviceMemory::describe(uint64_t address) const {
  const Allocation* a = find(address);
  if (a == nullptr) return fmt::format("{:#x}", address);
  return fmt::format("byte {} of the allocation{} of {} bytes at {:#x}", address - a->address,
                     a->label.empty() ? "" : " '" + a->label + "'", a->bytes, a->address);
}

std::string DeviceMemory::describe_nearest(uint64_t address, uint64_t bytes) const {
  if (live_.empty()) return "nothing is allocated";
  const Allocation* best = nullptr;
  uint64_t distance = ~uint64_t{0};
  bool after = true;
  for (const auto& [start, a] : live_) {
    uint64_t d = 0;
    bool is_after = true;
    if (address < start) {
      d = start - address;
      is_after = false;
    } else if (address >= start + a.bytes) {
      d = address - (start + a.bytes) + 1;
    }
    if (d < distance) {
      distance = d;
      best = &a;
      after = is_after;
    }
  }
  const std::string name = best->label.empty() ? "" : " '" + best->label + "'";
  const std::string which =
      fmt::format("allocation{} of {} bytes at {:#x}", name, best->bytes, best->address);
  if (distance == 0)
    return fmt::format("it ends {} bytes beyond the {}",
                       address + bytes - (best->address + best->bytes), which);
  return fmt::format("{} bytes {} the nearest {}", distance, after ? "after" : "before", which);
}

}  // namespace nearwarp::runtime
