// Address translation: from a virtual line of an address space to a physical line and the address
// map that says where it lies.
//
// A page table has one entry per page: the page's frame, the number of one of the system's address
// maps, attributes. An SM translates a line once, when its load-store unit handles it; from there
// on the number of the map travels in the highest bits of the line, through caches and channels, so
// that L2 slices and vaults locate lines without a table.
//
// Whoever needs pages of its own makes entries: TOM's remapped ranges (section 3.2.3) lie under
// another map; CODA's granularity (section 4: a bit per page in page table, TLB entry and cache
// line, while the physical address stays) is the number of a map too.
#pragma once

#include "device/core/address_map.h"
#include "device/core/shared_bits.h"

namespace nearwarp {

/// A physical line: the number of its map from this bit on, below it the line.
inline constexpr uint32_t kMapShift = 29;
/// Lines that a memory may have where pages have entries: 64 GiB of lines of 128 bytes.
inline constexpr LineAddr kMaxMappedLines = 1u << kMapShift;
/// Maps of a system. The highest number is left to the walkers' page tables, which lie under map 0
/// at lines of their own (device/sm/tlb.h).
inline constexpr uint32_t kMaxMaps = 7;
/// Address spaces of a system; the TLB tags its entries with them in four bits.
inline constexpr uint32_t kMaxSpaces = 16;

/// The address maps of a system, map 0 at hand.
struct AddressMaps {
  AddressMap baseline;     ///< map 0
  Ref<AddressMap> others;  ///< maps 1 and up; line_mask is below kMaxMappedLines

  AddressMaps() = default;
  /// One map everywhere. Implicit: an AddressMap is a set of one.
  NW_HD AddressMaps(const AddressMap& everywhere) : baseline(everywhere) {}

  /// The map of a physical line. A number beyond the maps is none: it belongs to the line.
  NW_HD NW_INLINE const AddressMap& of(LineAddr line, const std::byte* base) const {
    const uint32_t number = line >> kMapShift;
    return number - 1 < others.count ? others.in(base)[number - 1] : baseline;
  }
};

/// One page: the physical line with which it begins (frame and number of the map), and attributes
/// in the lowest bits, which no page of 4 KB needs for lines of at most 256 bytes.
struct PageEntry {
  static constexpr uint32_t kAttributeBits = 4;
  /// Attribute of a TLB's entry: its pages differ, the page table has their entries.
  static constexpr uint32_t kMixed = 1u << (kAttributeBits - 1);

  uint32_t word = 0;

  NW_HD static PageEntry of(LineAddr first_line, uint32_t map, uint32_t attributes = 0) {
    return {first_line | map << kMapShift | attributes};
  }
  /// The frame's first line, with the number of its map.
  NW_HD LineAddr first_line() const { return word & ~((1u << kAttributeBits) - 1); }
  NW_HD uint32_t map() const { return word >> kMapShift; }
  NW_HD uint32_t attributes() const { return word & ((1u << kAttributeBits) - 1); }
  NW_HD bool mixed() const { return (word & kMixed) != 0; }
};

/// The table of one address space. The host changes it while the machine stands still, and has
/// caches and TLBs emptied; a mechanism that places pages writes the entries of those that no TLB
/// has yet (write_entry()).
struct PageTable {
  Ref<PageEntry> pages;  ///< by virtual page
  /// Pages beyond it: under map 0, at their address, or what these bits leave of it, from there on.
  LineAddr beyond = 0, beyond_bits = ~LineAddr{0};
  /// Entries for TLBs, whose pages may be several of the table's: the first one's entry if the
  /// others go on from there, else one that is mixed().
  Ref<PageEntry> runs;
};

/// All page tables of a system.
struct Translation {
  Ref<PageTable> spaces;    ///< by address space; beyond: no table, so physical is virtual
  uint32_t page_shift = 5;  ///< log2 of the lines per page
};

/// Entry `number` of `entries`, the table's pages or runs, each of which stands for 2^shift lines.
NW_HD NW_INLINE PageEntry entry_in(const PageTable& table, const Ref<PageEntry>& entries,
                                   const std::byte* base, uint32_t number, uint32_t shift) {
  return number < entries.count
             ? PageEntry{load_shared_word(&entries.in(base)[number].word)}
             : PageEntry::of(table.beyond + (number << shift & table.beyond_bits), 0);
}

/// The entry of a virtual page.
NW_HD NW_INLINE PageEntry page_entry(const Translation& t, const std::byte* base, uint32_t space,
                                     uint32_t page) {
  if (space >= t.spaces.count) return PageEntry::of(page << t.page_shift, 0);
  const PageTable& table = t.spaces.in(base)[space];
  return entry_in(table, table.pages, base, page, t.page_shift);
}

/// The entry for TLBs with pages of 2^run_shift lines, at least those of the table.
NW_HD NW_INLINE PageEntry run_entry(const Translation& t, const std::byte* base, uint32_t space,
                                    uint32_t run, uint32_t run_shift) {
  if (space >= t.spaces.count) return PageEntry::of(run << run_shift, 0);
  const PageTable& table = t.spaces.in(base)[space];
  return entry_in(table, table.runs, base, run, run_shift);
}

/// Write the entry of a page, from an SM, where TLBs' pages are those of the table. Others may
/// write the same at the same time.
NW_HD NW_INLINE void write_entry(const Translation& t, std::byte* base, uint32_t space,
                                 uint32_t page, PageEntry entry) {
  const PageTable& table = t.spaces.in(base)[space];
  NW_ASSERT(page < table.pages.count && page < table.runs.count);
  store_shared_word(&table.pages.in(base)[page].word, entry.word);
  store_shared_word(&table.runs.in(base)[page].word, entry.word);
}

/// The physical line of a virtual one.
NW_HD NW_INLINE LineAddr translate(const Translation& t, const std::byte* base, uint32_t space,
                                   LineAddr line) {
  if (space >= t.spaces.count) return line;
  return page_entry(t, base, space, line >> t.page_shift).first_line() +
         (line & static_cast<uint32_t>(low_bits(t.page_shift)));
}

}  // namespace nearwarp
