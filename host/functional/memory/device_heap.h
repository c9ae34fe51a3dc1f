// The heap for malloc and free in device code.
#pragma once

#include <cstdint>
#include <map>

namespace nearwarp::runtime {

/// Allocates parts of one allocation of device memory, first fit, aligned to 16 bytes.
class DeviceHeap {
 public:
  DeviceHeap() = default;
  DeviceHeap(uint64_t base, uint64_t bytes) { free_[base] = bytes; }

  /// Allocates a part and returns its device address, or 0 if there is no room.
  uint64_t allocate(uint64_t bytes);
  /// Frees a part. Returns false if `address` is not the start of a live part.
  bool free(uint64_t address);
  /// Size of the live part that starts at `address`; 0 if there is none.
  uint64_t live_bytes(uint64_t address) const {
    const auto it = live_.find(address);
    return it != live_.end() ? it->second : 0;
  }

 private:
  std::map<uint64_t, uint64_t> free_;  // address -> bytes, coalesced
  std::map<uint64_t, uint64_t> live_;
};

}  // namespace nearwarp::runtime
