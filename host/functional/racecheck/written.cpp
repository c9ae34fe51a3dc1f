// The bits of written bytes, one for each byte of device memory.
#include "host/functional/racecheck/written.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "host/core/error.h"

namespace nearwarp::racecheck {

namespace {

constexpr uint64_t kPage = 4096;          // bytes of a page of the host
constexpr uint64_t kGiveBack = 64 << 10;  // cleared ranges of so many bytes free their pages

}  // namespace

WrittenBytes::WrittenBytes(uint64_t bytes)
    : bytes_(bytes), mapped_((bytes / 8 + 2 * sizeof(uint64_t) + kPage - 1) / kPage * kPage) {
  void* const p = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw Error(fmt::format(
        "cannot reserve {} bytes of address space to remember which memory was written "
        "(mmap) - raise `ulimit -v` by as much, or do not look for reads of what nobody wrote",
        mapped_));
  bits_ = static_cast<uint8_t*>(p);
}

WrittenBytes::~WrittenBytes() { munmap(bits_, mapped_); }

void WrittenBytes::set(uint64_t offset, bool value) {
  const auto bit = static_cast<uint8_t>(1u << offset % 8);
  uint8_t& byte = bits_[offset / 8];
  byte = static_cast<uint8_t>(value ? byte | bit : byte & ~bit);
}

uint32_t WrittenBytes::bits_at(uint64_t offset, uint64_t count) const {
  uint32_t bits = 0;
  for (uint64_t i = 0; i < count; ++i) bits |= uint32_t{at(offset + i)} << i;
  return bits;
}

void WrittenBytes::set_range(uint64_t offset, uint64_t bytes, bool value) {
  const uint64_t end = offset + bytes;
  for (; offset < end && offset % 8 != 0; ++offset) set(offset, value);
  const uint64_t whole = (end - offset) / 8;
  uint8_t* const first = bits_ + offset / 8;
  if (!value && whole >= kGiveBack) {
    const uint64_t low = (offset / 8 + kPage - 1) / kPage * kPage;
    const uint64_t high = (offset / 8 + whole) / kPage * kPage;
    std::fill_n(first, low - offset / 8, uint8_t{0});
    madvise(bits_ + low, high - low, MADV_DONTNEED);  // reads as zeros
    std::fill_n(bits_ + high, offset / 8 + whole - high, uint8_t{0});
  } else {
    std::fill_n(first, whole, static_cast<uint8_t>(value ? 0xff : 0));
  }
  for (offset += whole * 8; offset < end; ++offset) set(offset, value);
}

void WrittenBytes::mark(uint64_t offset, uint64_t bytes) { set_range(offset, bytes, true); }
void WrittenBytes::unmark(uint64_t offset, uint64_t bytes) { set_range(offset, bytes, false); }

void WrittenBytes::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (to % 8 == from % 8) {  // holds for nearly all copies
    const uint64_t head = std::min<uint64_t>(bytes, (8 - to % 8) % 8), whole = (bytes - head) / 8;
    const uint64_t tail = head + whole * 8;
    // The bits at both ends are read first, since the copy of the middle may overwrite them.
    const uint32_t first = bits_at(from, head), last = bits_at(from + tail, bytes - tail);
    std::memmove(bits_ + (to + head) / 8, bits_ + (from + head) / 8, whole);
    for (uint64_t i = 0; i < head; ++i) set(to + i, (first >> i & 1) != 0);
    for (uint64_t i = tail; i < bytes; ++i) set(to + i, (last >> (i - tail) & 1) != 0);
  } else if (to < from) {
    for (uint64_t i = 0; i < bytes; ++i) set(to + i, at(from + i));
  } else {
    for (uint64_t i = bytes; i-- > 0;) set(to + i, at(from + i));
  }
}

}  // namespace nearwarp::racecheck
