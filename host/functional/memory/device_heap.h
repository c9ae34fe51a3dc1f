// The heap of malloc and free in device code.
#pragma once

#include <cstdint>
#include <map>

namespace nearwarp::runtime {

/// Gives out parts of one allocation of device memory, first fit, 16-byte aligned.
class DeviceHeap {
 public:
  DeviceHeap() = default;
  DeviceHeap(uint64_t base, uint64_t bytes) { free_[base] = bytes; }

  /// Device address, or 0 when no part is large enough (as malloc in device code returns NULL).
  uint64_t allocate(uint64_t bytes);
  /// False if `address` is not the start of a live part.
  bool free(uint64_t address);
  /// Bytes of the live part that starts at `address`; 0 if none does.
  uint64_t live_bytes(uint64_t address) const {
    const auto it = live_.find(address);
    return it != live_.end() ? it->second : 0;
  }

 private:
  std::map<uint64_t, uint64_t> free_;  // address -> bytes, coalesced
  std::map<uint64_t, uint64_t> live_;
};

}  // namespace nearwarp::runtime
