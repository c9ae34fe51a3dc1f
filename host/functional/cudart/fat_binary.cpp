// Fat binaries.
//
// A wrapper {magic, version, pointer to a container, pointer to more containers} leads to
// containers {magic, version, header bytes, bytes that follow}, which hold entries one after the
// other: a header with kind, sizes, flags and architecture, and a payload, often compressed.
#include "host/functional/cudart/fat_binary.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "host/core/error.h"

namespace nearwarp::cudart {

namespace {

constexpr uint32_t kWrapperMagic = 0x466243b1, kContainerMagic = 0xba55ed50;
constexpr uint16_t kKindPtx = 1;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr uint64_t kMaxText = uint64_t{1} << 31;
constexpr size_t kMaxContainers = 65536;

struct Wrapper {
  uint32_t magic, version;
  const void* container;
  const void* const* more;  // version 2: ends with a null pointer
};
static_assert(sizeof(Wrapper) == 24);

struct Container {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;  // after the header
};
static_assert(sizeof(Container) == 16);

struct Entry {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t payload_bytes;
  uint32_t compressed_bytes;  // 0: plain
  uint32_t options_offset;
  uint16_t minor, major;
  uint32_t architecture;
  uint32_t name_offset, name_bytes;
  uint64_t flags;
  uint64_t reserved;
  uint64_t plain_bytes;
};
static_assert(sizeof(Entry) == 64);

[[noreturn]] void damaged(const std::string& what) {
  throw Error("damaged fat binary: " + what + " - build the application again");
}

std::string decompressed(const Entry& e, const char* payload) {
  if (e.compressed_bytes == 0) return std::string(payload, e.payload_bytes);
  if (e.compressed_bytes > e.payload_bytes) damaged("compressed PTX is longer than its entry");
  if (e.plain_bytes > kMaxText) damaged("an impossible size of PTX");
  std::string text(e.plain_bytes, '\0');
  if ((e.flags & kFlagZstd) != 0) {
    const size_t n = ZSTD_decompress(text.data(), text.size(), payload, e.compressed_bytes);
    if (ZSTD_isError(n) || n != text.size()) damaged("PTX cannot be decompressed (zstd)");
  } else if ((e.flags & kFlagLz4) != 0) {
    const int n = LZ4_decompress_safe(payload, text.data(), static_cast<int>(e.compressed_bytes),
                                      static_cast<int>(text.size()));
    if (n < 0 || static_cast<size_t>(n) != text.size()) damaged("PTX cannot be decompressed (LZ4)");
  } else {
    damaged(fmt::format("PTX is compressed in an unknown way (flags {:#x})", e.flags));
  }
  return text;
}

/// `a` suits a device of `wanted` better than `b`.
bool better(uint32_t a, uint32_t b, uint32_t wanted) {
  if ((a <= wanted) != (b <= wanted)) return a <= wanted;
  return a <= wanted ? a > b : a < b;
}

void add(const FatBinary& from, FatBinary& to) {
  to.images.insert(to.images.end(), from.images.begin(), from.images.end());
  to.other_entries += from.other_entries;
}

}  // namespace

FatBinary read_fat_container(const void* container, size_t limit, uint32_t architecture) {
  if (container == nullptr) damaged("a container is missing");
  if (limit < sizeof(Container)) damaged("a container ends early");
  Container header;
  std::memcpy(&header, container, sizeof(header));
  if (header.magic != kContainerMagic)
    damaged(fmt::format("a container begins with {:#010x} instead of {:#010x}", header.magic,
                        kContainerMagic));
  if (header.header_bytes < sizeof(Container) || header.header_bytes > limit ||
      header.bytes > limit - header.header_bytes)
    damaged("an impossible size of a container");

  FatBinary result;
  Entry best{};
  const char* best_payload = nullptr;
  const char* p = static_cast<const char*>(container) + header.header_bytes;
  for (uint64_t left = header.bytes; left != 0;) {
    Entry e;
    if (left < sizeof(e)) damaged("an entry ends early");
    std::memcpy(&e, p, sizeof(e));
    if (e.header_bytes < sizeof(e) || e.header_bytes > left ||
        e.payload_bytes > left - e.header_bytes)
      damaged("an entry is longer than its container");
    if (e.kind != kKindPtx) {
      ++result.other_entries;
    } else if (best_payload == nullptr || better(e.architecture, best.architecture, architecture)) {
      best = e;
      best_payload = p + e.header_bytes;
    }
    const uint64_t step = e.header_bytes + e.payload_bytes;
    p += step;
    left -= step;
  }
  if (best_payload != nullptr) {
    std::string text = decompressed(best, best_payload);
    while (!text.empty() && text.back() == '\0') text.pop_back();  // padding
    result.images.push_back({std::move(text), best.architecture});
  }
  return result;
}

FatBinary read_fat_wrapper(const void* wrapper, uint32_t architecture) {
  if (wrapper == nullptr) damaged("there is none");
  Wrapper w;
  std::memcpy(&w, wrapper, sizeof(w));
  if (w.magic != kWrapperMagic)
    damaged(fmt::format("it begins with {:#010x} instead of {:#010x}", w.magic, kWrapperMagic));
  // The size of what lies behind the pointer is not known; containers tell their own.
  FatBinary result;
  if (w.version == 1) return read_fat_container(w.container, SIZE_MAX, architecture);
  if (w.version != 2) damaged(fmt::format("version {} of its wrapper is unknown", w.version));
  if (w.more == nullptr) damaged("the list of containers is missing");
  for (size_t i = 0; w.more[i] != nullptr; ++i) {
    if (i == kMaxContainers) damaged("the list of containers has no end");
    add(read_fat_container(w.more[i], SIZE_MAX, architecture), result);
  }
  return result;
}

}  // namespace nearwarp::cudart
