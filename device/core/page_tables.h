// Page tables as the host makes and changes them, while the machine stands still.
#pragma once

#include "device/core/translation.h"

namespace nearwarp {

/// The page tables of a system and what is needed to change them.
struct PageTables {
  Translation translation;  ///< for the components
  uint32_t run_shift = 5;   ///< log2 of the lines per page of the TLBs; at least page_shift

  /// Let `count` pages from `first` on have consecutive frames, the first at physical line `frame`,
  /// under map `map`. The pages are in the table, the frames end below kMaxMappedLines.
  void map_pages(std::byte* base, uint32_t space, uint32_t first, uint32_t count, LineAddr frame,
                 uint32_t map) const {
    NW_ASSERT(space < translation.spaces.count && map < kMaxMaps);
    const PageTable& table = translation.spaces.in(base)[space];
    const uint32_t shift = translation.page_shift;
    NW_ASSERT(first + count <= table.pages.count && (frame & low_bits(shift)) == 0);
    NW_ASSERT(frame + (uint64_t{count} << shift) <= kMaxMappedLines);
    for (uint32_t i = 0; i < count; ++i)
      table.pages.in(base)[first + i] = PageEntry::of(frame + (i << shift), map);
    if (count == 0) return;
    const uint32_t log2_pages = run_shift - shift;  // of a run
    for (uint32_t run = first >> log2_pages; run <= (first + count - 1) >> log2_pages; ++run)
      table.runs.in(base)[run] = summary(base, space, run);
  }

 private:
  /// The entry of a run: that of its first page if the others follow it, else PageEntry::kMixed.
  PageEntry summary(const std::byte* base, uint32_t space, uint32_t run) const {
    const uint32_t shift = translation.page_shift, pages = 1u << (run_shift - shift);
    const PageEntry first = page_entry(translation, base, space, run * pages);
    for (uint32_t i = 1; i < pages; ++i) {
      const PageEntry next = page_entry(translation, base, space, run * pages + i);
      if (next.word != first.word + (i << shift)) return {PageEntry::kMixed};
    }
    return first;
  }
};

/// Tables of `lines` lines each, in which every page has its own address, under map 0.
/// Allocator: ArenaBuilder.
template <class Allocator>
PageTables make_page_tables(Allocator& arena, uint32_t spaces, uint64_t lines, uint32_t page_shift,
                            uint32_t run_shift) {
  NW_ASSERT(spaces <= kMaxSpaces && lines <= kMaxMappedLines);
  NW_ASSERT(page_shift >= PageEntry::kAttributeBits && page_shift <= run_shift);
  PageTables t;
  t.translation.page_shift = page_shift;
  t.run_shift = run_shift;
  const auto runs = static_cast<uint32_t>((lines + (uint64_t{1} << run_shift) - 1) >> run_shift);
  const uint32_t pages = runs << (run_shift - page_shift);
  t.translation.spaces = arena.template allocate<PageTable>(spaces);
  for (uint32_t i = 0; i < spaces; ++i) {
    PageTable table;
    table.pages = arena.template allocate<PageEntry>(pages);
    table.runs = arena.template allocate<PageEntry>(runs);
    for (uint32_t k = 0; k < pages; ++k)
      arena.get(table.pages)[k] = PageEntry::of(k << page_shift, 0);
    for (uint32_t k = 0; k < runs; ++k) arena.get(table.runs)[k] = PageEntry::of(k << run_shift, 0);
    arena.get(t.translation.spaces)[i] = table;
  }
  return t;
}

}  // namespace nearwarp
