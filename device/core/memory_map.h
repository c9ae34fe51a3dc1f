// The memory map of a system: which lines lie where, once some pages have a mapping of their own.
//
// TOM maps the ranges that offloaded blocks touch with consecutive address bits and everything else
// with the baseline's mapping (section 3.2.3). A page table would say which page has which; here it
// is one bit per page.
#pragma once

#include "device/core/address_map.h"

namespace nearwarp {

/// Ranges take whole pages of this size; 2^kMappingPageShift bytes.
inline constexpr uint32_t kMappingPageShift = 12;
/// AddressMap::row_tag of pages under the offload mapping: beyond every row of the baseline.
inline constexpr uint32_t kOffloadRowTag = 1u << 30;

/// The mapping of the pages that offloaded blocks touch. One per system, in its arena; the host
/// writes it while the machine stands still.
struct OffloadMapping {
  AddressMap map;
  Ref<uint64_t> pages;      ///< bit p: page p (of device memory, from its beginning) is under `map`
  uint32_t page_shift = 5;  ///< log2 of lines per page
  uint32_t enabled = 0;
};

struct MemoryMap {
  AddressMap baseline;
  Ref<OffloadMapping> offload;  ///< count 0: the baseline's mapping everywhere

  MemoryMap() = default;
  /// The same mapping everywhere. Implicit: an AddressMap is a MemoryMap without exceptions.
  NW_HD MemoryMap(const AddressMap& everywhere) : baseline(everywhere) {}

  NW_HD NW_INLINE const AddressMap& of(LineAddr line, const std::byte* base) const {
    if (offload.count == 0) return baseline;
    const OffloadMapping& o = *offload.in(base);
    if (o.enabled == 0) return baseline;
    const uint32_t page = line >> o.page_shift;
    const uint32_t word = page / 64;
    if (word >= o.pages.count) return baseline;
    return (o.pages.in(base)[word] >> (page % 64) & 1) != 0 ? o.map : baseline;
  }
};

/// `baseline` with consecutive address bits, beginning at bit `shift` of the line address, as the
/// stack index. Vaults, banks and rows are chosen from the other bits as before.
NW_HD inline AddressMap consecutive_bits_map(const AddressMap& baseline, uint32_t shift) {
  AddressMap map = baseline;
  map.stack_shift = shift;
  map.hash_stack = 0;
  map.row_tag = kOffloadRowTag;
  return map;
}

}  // namespace nearwarp
