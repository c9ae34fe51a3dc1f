// ArenaBuilder: lays out one system's state as a single relocatable block. Host only.
//
// Objects are handed out as Ref<T>, offsets from the block's beginning, so the finished block can
// be copied, hashed, written to disk or sent to a GPU as it is.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "device/core/types.h"

namespace nearwarp {

/// A builder whose memory comes from the kernel: it is zero, it grows without being copied, and
/// pages that are not touched take none.
class ArenaBuilder {
 public:
  static constexpr std::size_t kAlignment = 64;

  ArenaBuilder() = default;
  ArenaBuilder(ArenaBuilder&& other) noexcept { *this = std::move(other); }
  ArenaBuilder& operator=(ArenaBuilder&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(used_, other.used_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~ArenaBuilder() {
    if (memory_ != nullptr) munmap(memory_, mapped_);
  }

  /// `count` value-initialised objects on a 64-byte boundary; padding bytes are zero.
  /// Pointers into the arena are invalid after this. Throws std::length_error beyond 4 GiB,
  /// std::bad_alloc if there is no memory.
  template <class T>
  Ref<T> allocate(uint32_t count) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    static_assert(alignof(T) <= kAlignment);
    const std::size_t offset = used_;
    grow(sizeof(T) * std::size_t{count});
    if constexpr (!std::is_trivially_default_constructible_v<T>) {  // others are zero
      std::byte* at = base() + offset;
      // Value-initialisation zeroes padding too when the constructor is implicit.
      for (uint32_t i = 0; i < count; ++i) ::new (static_cast<void*>(at + i * sizeof(T))) T();
    }
    return Ref<T>{static_cast<uint32_t>(offset), count};
  }

  std::byte* base() { return memory_; }
  const std::byte* base() const { return memory_; }
  std::size_t size_bytes() const { return used_; }
  /// The objects behind a reference; valid until the next allocate().
  template <class T>
  T* get(Ref<T> ref) {
    return ref.in(base());
  }

 private:
  void grow(std::size_t bytes) {
    if (used_ + bytes > std::numeric_limits<uint32_t>::max())
      throw std::length_error("arena larger than 4 GiB");
    const std::size_t used = used_ + (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (used > mapped_) map(std::max((used + kPiece - 1) / kPiece * kPiece, 2 * mapped_));
    used_ = used;
  }
  /// Grow the address space that is mapped; what is not touched is not there.
  void map(std::size_t bytes) {
    void* memory = MAP_FAILED;
    if (memory_ != nullptr && !kMoves) {
      memory = mremap(memory_, mapped_, bytes, MREMAP_MAYMOVE);
    } else {
      memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (memory == MAP_FAILED) throw std::bad_alloc();
    if (memory_ != nullptr && kMoves) {
      std::memcpy(memory, memory_, used_);
      munmap(memory_, mapped_);
    }
    memory_ = static_cast<std::byte*>(memory);
    mapped_ = bytes;
    madvise(memory_, mapped_, MADV_HUGEPAGE);  // a hint: laying out is mostly page faults
  }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // It moves whenever it grows, so that who uses a pointer from before is found out.
  static constexpr bool kMoves = true;
  static constexpr std::size_t kPiece = 4096;
#else
  static constexpr bool kMoves = false;
  static constexpr std::size_t kPiece = std::size_t{16} << 20;  // most machines take one
#endif
  std::byte* memory_ = nullptr;
  std::size_t used_ = 0, mapped_ = 0;
};

}  // namespace nearwarp
