// Address translation, from a virtual line of an address space to a physical line and the number of
// the address map that says in which stack, vault and bank it lies.
//
// A page table has one entry per page: the page's frame, the number of one of the system's address
// maps, and attributes. An SM translates a line once, when its load-store unit handles it. From
// then on the map's number travels in the highest bits of the physical line, through caches and
// channels, so that L2 slices and vaults can locate a line without a table.
//
// A mechanism that places pages itself writes their entries. TOM gives its remapped ranges (section
// 3.2.3) another map. CODA's granularity (section 4: a bit per page in page table, TLB entry and
// cache line, with the physical address unchanged) is the number of a map as well.
#pragma once

#include "device/core/address_map.h"
#include "device/core/shared_bits.h"

namespace nearwarp {

/// In a physical line, the number of its map begins at this bit; the bits below are the line.
inline constexpr uint32_t kMapShift = 29;
/// The most lines that a memory with page tables may have: 64 GiB in lines of 128 bytes.
inline constexpr LineAddr kMaxMappedLines = 1u << kMapShift;
/// The most maps of a system. The highest three-bit number is reserved for the page tables that
/// walkers read, which lie under map 0 at lines of their own (device/sm/tlb.h).
inline constexpr uint32_t kMaxMaps = 7;
/// The most address spaces of a system: the TLB tags its entries with four bits.
inline constexpr uint32_t kMaxSpaces = 16;

/// The address maps of a system; map 0 is stored in place.
struct AddressMaps {
  AddressMap baseline;     ///< map 0
  Ref<AddressMap> others;  ///< maps 1 and up; line_mask is below kMaxMappedLines

  AddressMaps() = default;
  /// A system with one map (implicit, so that an AddressMap can be given where a set is expected).
  NW_HD AddressMaps(const AddressMap& everywhere) : baseline(everywhere) {}

  /// The map of a physical line; the baseline if its highest bits are no map's number, as in
  /// systems without page tables, where they are part of the line.
  NW_HD NW_INLINE const AddressMap& of(LineAddr line, const std::byte* base) const {
    const uint32_t number = line >> kMapShift;
    return number - 1 < others.count ? others.in(base)[number - 1] : baseline;
  }
};

/// The entry of a page: its first physical line (frame and map's number), with attributes in the
/// lowest bits. These are zero in a first line, as a page of 4 KB has at least 16 lines.
struct PageEntry {
  static constexpr uint32_t kAttributeBits = 4;
  /// Attribute of an entry for a TLB's page that spans several pages of the page table which do not
  /// follow each other physically: each has to be looked up in the page table.
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

/// The page table of one address space. The host changes it while the machine stands still, and
/// then empties caches and TLBs; a mechanism that places pages writes, during a run, only entries
/// that are in no TLB yet (write_entry()).
struct PageTable {
  Ref<PageEntry> pages;  ///< by virtual page
  /// Pages that have no entry lie under map 0, at line `beyond` + (virtual line & `beyond_bits`).
  LineAddr beyond = 0, beyond_bits = ~LineAddr{0};
  /// Entries for TLBs whose pages span 2^n pages of the table (runs): the first page's entry if the
  /// others follow it physically, else one that is mixed().
  Ref<PageEntry> runs;
};

/// All page tables of a system.
struct Translation {
  Ref<PageTable> spaces;    ///< by address space; higher ones have no table: physical is virtual
  uint32_t page_shift = 5;  ///< log2 of the lines per page
};

/// Entry `number` of `entries`, which are the table's pages or runs, of 2^shift lines each.
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

/// The entry of a run, for TLBs with pages of 2^run_shift lines, which are no smaller than the
/// table's.
NW_HD NW_INLINE PageEntry run_entry(const Translation& t, const std::byte* base, uint32_t space,
                                    uint32_t run, uint32_t run_shift) {
  if (space >= t.spaces.count) return PageEntry::of(run << run_shift, 0);
  const PageTable& table = t.spaces.in(base)[space];
  return entry_in(table, table.runs, base, run, run_shift);
}

/// Write the entry of a page from an SM, where TLBs and the table have pages of one size. Other SMs
/// may write an equal entry at the same time.
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
