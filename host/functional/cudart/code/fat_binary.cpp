// Reads fat binaries.
//
// A wrapper {magic, version, pointer to a container, pointer to more containers} leads to
// containers {magic, version, header bytes, bytes that follow}, which hold entries one after the
// other: a header with kind, sizes, flags and architecture, and a payload, often compressed.
#include "host/functional/cudart/code/fat_binary.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/core/error.h"

namespace nearwarp::cudart {

namespace {

constexpr uint32_t kWrapperMagic = 0x466243b1, kContainerMagic = 0xba55ed50;
constexpr uint16_t kKindPtx = 1, kKindMachineCode = 2;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
// Flags that nvcc 13.0 sets for -arch=sm_90a and -arch=sm_100f.
constexpr uint64_t kFlagOfOneArchitecture = 0x100000, kFlagOfFamily = 0x200000;
// Most bytes of an entry, compressed or not: LZ4 takes sizes as int.
constexpr uint64_t kMaxBytes = (uint64_t{1} << 31) - 1;
constexpr uint32_t kMostLz4 = 255;  // LZ4's largest ratio: plain bytes per compressed byte
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

/// An entry's header and its payload.
struct Found {
  Entry entry;
  const char* payload;
};

/// The payload of an entry, decompressed. `what` names its contents in messages.
std::string decompressed(const Found& found, const char* what) {
  const Entry& e = found.entry;
  if (e.compressed_bytes == 0) return std::string(found.payload, e.payload_bytes);
  const auto fail = [&](const char* how) {
    damaged(fmt::format("{} cannot be decompressed ({})", what, how));
  };
  if (e.compressed_bytes > e.payload_bytes)
    damaged(fmt::format("compressed {} is longer than its entry", what));
  // The size is checked before memory is allocated: it must agree with the frame's, or be possible.
  if (e.plain_bytes > kMaxBytes || e.compressed_bytes > kMaxBytes)
    damaged(fmt::format("an impossible size of {}", what));
  if ((e.flags & kFlagZstd) != 0) {
    const unsigned long long says = ZSTD_getFrameContentSize(found.payload, e.compressed_bytes);
    if (says != ZSTD_CONTENTSIZE_UNKNOWN && says != e.plain_bytes) fail("zstd");
    std::string plain(e.plain_bytes, '\0');
    const size_t n = ZSTD_decompress(plain.data(), plain.size(), found.payload, e.compressed_bytes);
    if (ZSTD_isError(n) || n != plain.size()) fail("zstd");
    return plain;
  }
  if ((e.flags & kFlagLz4) != 0) {
    if (e.plain_bytes > uint64_t{kMostLz4} * e.compressed_bytes) fail("LZ4");
    std::string plain(e.plain_bytes, '\0');
    const int n =
        LZ4_decompress_safe(found.payload, plain.data(), static_cast<int>(e.compressed_bytes),
                            static_cast<int>(plain.size()));
    if (n < 0 || static_cast<size_t>(n) != plain.size()) fail("LZ4");
    return plain;
  }
  damaged(fmt::format("{} is compressed in an unknown way (flags {:#x})", what, e.flags));
}

/// The entries of a container of at most `limit` bytes.
std::vector<Found> entries_of(const void* container, size_t limit) {
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
  std::vector<Found> entries;
  const char* p = static_cast<const char*>(container) + header.header_bytes;
  for (uint64_t left = header.bytes; left != 0;) {
    Entry e;
    if (left < sizeof(e)) damaged("an entry ends early");
    std::memcpy(&e, p, sizeof(e));
    if (e.header_bytes < sizeof(e) || e.header_bytes > left ||
        e.payload_bytes > left - e.header_bytes)
      damaged("an entry is longer than its container");
    entries.push_back({e, p + e.header_bytes});
    const uint64_t step = e.header_bytes + e.payload_bytes;
    p += step;
    left -= step;
  }
  return entries;
}

CodeTarget target_of_entry(const Entry& entry) {
  return {entry.architecture, (entry.flags & kFlagOfOneArchitecture) != 0 ? 'a'
                              : (entry.flags & kFlagOfFamily) != 0        ? 'f'
                                                                          : '\0'};
}

void add_ptx(const std::vector<Found>& entries, uint32_t capability, FatBinary& to) {
  const Found *best = nullptr, *lowest = nullptr;
  std::vector<CodeTarget> offered;
  for (const Found& f : entries) {
    if (f.entry.kind != kKindPtx) continue;
    const CodeTarget target = target_of_entry(f.entry);
    if (std::find(offered.begin(), offered.end(), target) == offered.end())
      offered.push_back(target);
    if (lowest == nullptr || nearer(target_of_entry(lowest->entry), target)) lowest = &f;
    if (ptx_runs_on(target, capability) &&
        (best == nullptr || nearer(target, target_of_entry(best->entry))))
      best = &f;
  }
  if (lowest == nullptr) return;
  const Found& taken = best != nullptr ? *best : *lowest;
  std::string text = decompressed(taken, "PTX");
  while (!text.empty() && text.back() == '\0') text.pop_back();  // padding
  (best != nullptr ? to.images : to.unsuitable)
      .push_back({std::move(text), target_of_entry(taken.entry), std::move(offered)});
}

/// The machine code most like the PTX that is executed, whose target is `executed`: that for the
/// same target, else for the same architecture, else for the highest up to the device's, else for
/// the lowest above. nullptr if there is none.
const Found* most_like(const std::vector<Found>& entries, CodeTarget executed,
                       uint32_t capability) {
  const Found* best = nullptr;
  const auto better = [&](CodeTarget a, CodeTarget b) {
    if ((a == executed) != (b == executed)) return a == executed;
    const auto same = [&](CodeTarget t) { return t.architecture == executed.architecture; };
    if (same(a) != same(b)) return same(a);
    const auto below = [&](CodeTarget t) { return t.architecture <= capability; };
    if (below(a) != below(b)) return below(a);
    if (below(a)) return nearer(a, b);
    return a.architecture < b.architecture;
  };
  for (const Found& f : entries)
    if (f.entry.kind == kKindMachineCode &&
        (best == nullptr || better(target_of_entry(f.entry), target_of_entry(best->entry))))
      best = &f;
  return best;
}

/// The target of machine code that a GPU would execute, if there is any for it.
std::optional<CodeTarget> native_of(const std::vector<Found>& entries, uint32_t capability) {
  std::optional<CodeTarget> best;
  for (const Found& f : entries) {
    const CodeTarget target = target_of_entry(f.entry);
    if (f.entry.kind == kKindMachineCode && machine_code_runs_on(target, capability) &&
        (!best.has_value() || nearer(target, *best)))
      best = target;
  }
  return best;
}

/// Adds the machine code. The application runs without it, so an error is stored, not thrown.
void add_machine_code(const std::vector<Found>& entries, uint32_t capability, FatBinary& to) {
  to.native = native_of(entries, capability);
  const Found* found =
      most_like(entries, to.images.empty() ? CodeTarget() : to.images.front().target, capability);
  if (found == nullptr) return;
  MachineCode& code = to.machine_code.emplace();
  code.architecture = found->entry.architecture;
  try {
    code.elf = decompressed(*found, "machine code");
  } catch (const Error& error) {
    code.problem = error.what();
  }
}

}  // namespace

FatBinary read_fat_container(const void* container, size_t limit, uint32_t capability) {
  FatBinary result;
  const std::vector<Found> entries = entries_of(container, limit);
  add_ptx(entries, capability, result);
  add_machine_code(entries, capability, result);
  return result;
}

FatBinary read_fat_wrapper(const void* wrapper, uint32_t capability) {
  if (wrapper == nullptr) damaged("there is none");
  Wrapper w;
  std::memcpy(&w, wrapper, sizeof(w));
  if (w.magic != kWrapperMagic)
    damaged(fmt::format("it begins with {:#010x} instead of {:#010x}", w.magic, kWrapperMagic));
  // The sizes of the containers are only known from their own headers.
  FatBinary result;
  if (w.version == 1) return read_fat_container(w.container, SIZE_MAX, capability);
  if (w.version != 2) damaged(fmt::format("version {} of its wrapper is unknown", w.version));
  if (w.more == nullptr) damaged("the list of containers is missing");
  for (size_t i = 0; w.more[i] != nullptr; ++i) {
    if (i == kMaxContainers) damaged("the list of containers has no end");
    add_ptx(entries_of(w.more[i], SIZE_MAX), capability, result);
  }
  // `container` holds the linked machine code of all.
  try {
    if (w.container != nullptr)
      add_machine_code(entries_of(w.container, SIZE_MAX), capability, result);
  } catch (const Error& error) {
    result.machine_code = MachineCode{{}, 0, error.what()};
  }
  return result;
}

}  // namespace nearwarp::cudart
