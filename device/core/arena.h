// ArenaBuilder: lays out one system's state as a single relocatable block. Host only.
//
// Objects are handed out as Ref<T>, offsets from the block's beginning, so the finished block can
// be copied, hashed, written to disk or sent to a GPU as it is.
#pragma once

#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "device/core/types.h"

namespace nearwarp {

class ArenaBuilder {
 public:
  static constexpr std::size_t kAlignment = 64;

  /// `count` value-initialised objects on a 64-byte boundary; padding bytes are zero.
  /// Pointers into the arena are invalid after this. Throws std::length_error beyond 4 GiB.
  template <class T>
  Ref<T> allocate(uint32_t count) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    static_assert(alignof(T) <= kAlignment);
    const std::size_t offset = blocks_.size() * kAlignment;
    const std::size_t bytes = sizeof(T) * std::size_t{count};
    if (offset + bytes > std::numeric_limits<uint32_t>::max()) {
      throw std::length_error("arena larger than 4 GiB");
    }
    blocks_.resize(blocks_.size() + (bytes + kAlignment - 1) / kAlignment);
    std::byte* at = base() + offset;
    // Value-initialisation zeroes padding too when the constructor is implicit.
    for (uint32_t i = 0; i < count; ++i) ::new (static_cast<void*>(at + i * sizeof(T))) T();
    return Ref<T>{static_cast<uint32_t>(offset), count};
  }

  std::byte* base() { return reinterpret_cast<std::byte*>(blocks_.data()); }
  const std::byte* base() const { return reinterpret_cast<const std::byte*>(blocks_.data()); }
  std::size_t size_bytes() const { return blocks_.size() * kAlignment; }
  /// The objects behind a reference; valid until the next allocate().
  template <class T>
  T* get(Ref<T> ref) {
    return ref.in(base());
  }

 private:
  struct alignas(kAlignment) Block {
    std::byte bytes[kAlignment] = {};
  };
  std::vector<Block> blocks_;
};

}  // namespace nearwarp
