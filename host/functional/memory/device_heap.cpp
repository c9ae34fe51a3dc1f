// The heap for malloc and free in device code.
#include "host/functional/memory/device_heap.h"

#include <algorithm>
#include <iterator>

namespace nearwarp::runtime {

uint64_t DeviceHeap::allocate(uint64_t bytes) {
  if (bytes > ~uint64_t{0} - 16) return 0;
  const uint64_t wanted = std::max<uint64_t>((bytes + 15) / 16 * 16, 16);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [address, size] = *it;
    if (size < wanted) continue;
    free_.erase(it);
    if (size > wanted) free_[address + wanted] = size - wanted;
    live_[address] = wanted;
    return address;
  }
  return 0;
}

bool DeviceHeap::free(uint64_t address) {
  const auto it = live_.find(address);
  if (it == live_.end()) return false;
  uint64_t bytes = it->second;
  live_.erase(it);
  auto next = free_.lower_bound(address);
  if (next != free_.end() && next->first == address + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == address) {
      before->second += bytes;
      return true;
    }
  }
  free_[address] = bytes;
  return true;
}

}  // namespace nearwarp::runtime
