// Address translation of one SM: a fully associative TLB, and page-table walkers that read from
// memory (TOM, section 4.4.1: stack SMs have TLBs and MMUs like the main SMs; page tables may lie
// in another stack, and are complete before anything is offloaded).
//
// An entry holds a page's frame and map, tagged with its address space. The load-store unit
// translates the line at its head; a hit is overlapped with the cache look-up and free. On a miss
// the operation's further lines start walks of their own, one look-up per cycle, so that the walks
// of a divergent gather overlap; then the operation waits beside the queue, and the operations
// behind it go on. Walks never wait for the load-store unit, only for the network and memory, like
// any read.
//
// The page translated last stays in a register beside the TLB: most accesses repeat it, and the
// line at the head keeps its translation while it waits for something else.
#pragma once

#include "device/cache/tag_store.h"
#include "device/core/translation.h"
#include "device/sm/coalescer.h"

namespace nearwarp::sm {

inline constexpr uint32_t kMaxWalkers = 32;
inline constexpr uint32_t kMaxWalkAccesses = 4;
inline constexpr uint32_t kNoPage = kNoLine;
/// Tag of page-table reads, plus the walker's number. It is larger than the number of any MSHR of
/// the L1, which other reads have as their tags.
inline constexpr uint32_t kWalkTag = 0x80000000u;
/// Tag of packets that a mechanism sends for a walk that it holds, plus the walker's number; the
/// bits from kHeldWalkShift on are the mechanism's to use.
inline constexpr uint32_t kHeldWalkTag = 0xc0000000u;
inline constexpr uint32_t kHeldWalkShift = 8;
/// Page tables lie above everything that can be allocated, under map 0, one table per level and
/// address space (deviation 39 in tests/validation/DEVIATIONS.md). An entry of a higher level
/// stands for the 512 entries of a 4 KB node in the level below.
inline constexpr uint32_t kPageTableEntryBytes = 8;
inline constexpr LineAddr kPageTableBase = 0xf0000000u;
inline constexpr uint32_t kPageTableLines = 1u << 24;  ///< from one level's table to the next
inline constexpr uint32_t kSpaceTableLines = kPageTableLines / kMaxSpaces;  ///< between spaces
inline constexpr uint32_t kPageTableBits = 9;
static_assert(kPageTableBase >> kMapShift == kMaxMaps);
/// A virtual page is named by its number and, from this bit on, by its address space.
inline constexpr uint32_t kSpaceShift = 28;
static_assert(kMaxSpaces == 1u << (32 - kSpaceShift));

struct TlbParams {
  uint32_t entries = 0;        ///< 0: translation takes no time
  uint32_t page_shift = 14;    ///< log2 of the lines per page
  uint32_t walkers = 4;        ///< walks in flight
  uint32_t walk_accesses = 2;  ///< reads per walk, one after the other; at most kMaxWalkAccesses
  uint32_t entry_shift = 4;    ///< log2 of the page-table entries per line
  cache::Replacement replacement = cache::Replacement::kLru;
};

/// The TLB as a tag store: one set, whose tags are pages.
NW_HD NW_INLINE cache::TagStoreParams tlb_store(const TlbParams& p) {
  return {{1, 0}, p.entries, p.replacement};
}

struct TlbCounters {
  uint64_t hits = 0, misses = 0;                   ///< lines translated at once, and after a wait
  uint64_t walks = 0;                              ///< walks begun
  uint64_t walk_reads = 0, walk_reads_remote = 0;  ///< reads sent; remote: to another stack
  uint64_t walk_cycles = 0;  ///< from a walk's first read to its last reply, summed
  uint64_t wait_cycles = 0;  ///< that operations waited for pages, summed
  uint64_t flushes = 0;
  uint64_t repeats = 0;  ///< reads of an entry again, because the page had no place yet
};

struct Walk {
  uint32_t page = kNoPage;
  uint32_t since = 0;  ///< cycle of the first read
  uint32_t left = 0;   ///< reads not sent yet
  bool stale = false;  ///< the TLB has been flushed meanwhile: the result is not kept
  bool held = false;   ///< a mechanism holds it, sends packets of its own for it and ends it
};

struct TlbState {
  cache::TagStore pages;   ///< by entry: page and space
  Ref<PageEntry> entries;  ///< by entry
  Ref<Walk> walks;         ///< by walker
  uint32_t free_walkers = 0;
  uint32_t unsent = 0;           ///< walkers whose next read has not left yet
  uint32_t last_page = kNoPage;  ///< the register, and its entry
  PageEntry last_entry;
  // The line at the load-store unit's head.
  uint32_t wait_page = kNoPage;  ///< the page it waits for
  uint32_t wait_since = 0;
  uint32_t ahead = 0;   ///< the operation's first line that has not been looked up for a walk
  bool missed = false;  ///< the line did not find its page at once
  TlbCounters counters;
};

/// The outcome of an attempt to translate the line at the head.
enum class TlbResult : uint8_t {
  kReady,   ///< translated
  kWalk,    ///< waits; a walk has begun, and the caller sends its first read
  kLooked,  ///< waits; a further line was looked up and needs no walk
  // With these, nothing has changed:
  kNoCredit,  ///< waits; a walk could begin if the network took its read
  kNoWalker,  ///< waits for a reply: all walkers are busy with other pages
  kOnItsWay,  ///< waits: its page is being walked for, and nothing is left to begin
};

/// The page of a line, its address space included (kSpaceShift).
NW_HD NW_INLINE uint32_t tlb_page(const TlbParams& p, uint32_t space, LineAddr line) {
  return space << kSpaceShift | line >> p.page_shift;
}

/// The number of a page within its address space.
NW_HD NW_INLINE uint32_t tlb_page_number(uint32_t page) {
  return page & static_cast<uint32_t>(low_bits(kSpaceShift));
}

/// The page-table entry that a walk for the page finds.
NW_HD NW_INLINE PageEntry tlb_walked(const TlbParams& p, const Translation& t,
                                     const std::byte* base, uint32_t page) {
  return run_entry(t, base, page >> kSpaceShift, tlb_page_number(page), p.page_shift);
}

/// The index of the TLB's entry that holds a page; kNoLane if there is none.
NW_HD inline uint32_t tlb_find(const TlbParams& p, const TlbState& s, const std::byte* base,
                               uint32_t page) {
  return cache::find(p.entries, s.pages.tags.in(base), page);
}

/// Is a walk for the page under way whose result will be kept?
NW_HD inline bool tlb_walking(const TlbParams& p, const TlbState& s, const std::byte* base,
                              uint32_t page) {
  const Walk* walks = s.walks.in(base);
  for (uint32_t b = static_cast<uint32_t>(low_bits(p.walkers)) & ~s.free_walkers; b != 0;
       b &= b - 1) {
    const Walk& w = walks[count_trailing_zeros(b)];
    if (w.page == page && !w.stale) return true;
  }
  return false;
}

/// The circumstances of a look-up.
struct TlbLook {
  uint32_t space;  ///< address space of the lines
  uint32_t now;
  bool can_send;  ///< the network takes a walk's read
};

/// Begin a walk, unless walks under way have reads to send: these go first.
NW_HD inline TlbResult tlb_begin_walk(const TlbParams& p, TlbState& s, std::byte* base,
                                      uint32_t page, const TlbLook& look, uint32_t& walker) {
  if (s.free_walkers == 0) return TlbResult::kNoWalker;
  if (!look.can_send || s.unsent != 0) return TlbResult::kNoCredit;
  walker = count_trailing_zeros(s.free_walkers);
  s.free_walkers &= s.free_walkers - 1;
  Walk& w = s.walks.in(base)[walker];
  w = {};
  w.page = page;
  w.since = look.now;
  w.left = p.walk_accesses;
  s.counters.walks += 1;
  return TlbResult::kWalk;
}

/// The slow path of tlb_translate(), for a line whose page is not the one translated last.
NW_HD inline TlbResult tlb_translate_other(const TlbParams& p, TlbState& s, std::byte* base,
                                           const LineList& lines, TlbLook look, uint32_t& walker) {
  const uint32_t page = tlb_page(p, look.space, lines.line[lines.next]);
  if (s.wait_page == kNoPage) {  // the first look at this line
    const uint32_t entry = tlb_find(p, s, base, page);
    if (entry != kNoLane) {
      cache::touch(tlb_store(p), s.pages, base, entry);
      s.last_page = page;
      s.last_entry = s.entries.in(base)[entry];
      return TlbResult::kReady;
    }
    s.wait_page = page;
    s.wait_since = look.now;
    s.ahead = lines.next + 1;
    s.missed = true;
  }
  if (!tlb_walking(p, s, base, page)) return tlb_begin_walk(p, s, base, page, look, walker);
  if (s.ahead >= lines.count || s.free_walkers == 0) return TlbResult::kOnItsWay;
  const uint32_t other = tlb_page(p, look.space, lines.line[s.ahead]);
  TlbResult r = TlbResult::kLooked;
  if (!tlb_walking(p, s, base, other) && tlb_find(p, s, base, other) == kNoLane)
    r = tlb_begin_walk(p, s, base, other, look, walker);
  if (r == TlbResult::kLooked || r == TlbResult::kWalk) s.ahead += 1;
  return r;
}

/// Translate the line at the head of the load-store unit, `lines.line[lines.next]`. Once the result
/// is kReady, it stays so until tlb_line_done(). With kWalk, `walker` is the walker that begins.
NW_HD NW_INLINE TlbResult tlb_translate(const TlbParams& p, TlbState& s, std::byte* base,
                                        const LineList& lines, TlbLook look, uint32_t& walker) {
  if (tlb_page(p, look.space, lines.line[lines.next]) == s.last_page) return TlbResult::kReady;
  return tlb_translate_other(p, s, base, lines, look, walker);
}

/// The physical line of a virtual one whose page is in the register.
NW_HD NW_INLINE LineAddr tlb_physical(const TlbParams& p, const TlbState& s, const Translation& t,
                                      const std::byte* base, uint32_t space, LineAddr line) {
  if (s.last_entry.mixed()) return translate(t, base, space, line);
  return s.last_entry.first_line() + (line & static_cast<uint32_t>(low_bits(p.page_shift)));
}

/// Let the operation at the head wait elsewhere. Returns the page that it waits for.
NW_HD inline uint32_t tlb_stop_waiting(TlbState& s) {
  const uint32_t page = s.wait_page;
  s.wait_page = kNoPage;
  s.missed = false;
  return page;
}

/// An operation that waited elsewhere is back at the head after `waited` cycles. Its page becomes
/// the one translated last, even if the TLB's entry has been replaced meanwhile.
NW_HD inline void tlb_resume(const TlbParams& p, TlbState& s, const Translation& t,
                             const std::byte* base, uint32_t page, uint32_t waited) {
  s.last_page = page;
  s.last_entry = tlb_walked(p, t, base, page);
  s.missed = true;
  s.counters.wait_cycles += waited;
}

/// Count the line at the head, which has gone on, as a hit or a miss.
NW_HD NW_INLINE void tlb_line_done(TlbState& s) {
  (s.missed ? s.counters.misses : s.counters.hits) += 1;
  s.missed = false;
}

/// The line of the walker's next read, which the caller sends now.
NW_HD inline LineAddr tlb_next_read(const TlbParams& p, TlbState& s, std::byte* base,
                                    uint32_t walker) {
  Walk& w = s.walks.in(base)[walker];
  NW_ASSERT(w.left > 0);
  w.left -= 1;
  s.unsent &= ~(1u << walker);
  s.counters.walk_reads += 1;
  const uint32_t page = tlb_page_number(w.page);
  const uint32_t entry = page >> (kPageTableBits * w.left);
  return kPageTableBase + w.left * kPageTableLines + (w.page >> kSpaceShift) * kSpaceTableLines +
         (entry >> p.entry_shift);
}

/// Have the walker read the page's entry again, since the page has no place yet.
NW_HD inline void tlb_read_again(TlbState& s, std::byte* base, uint32_t walker) {
  s.walks.in(base)[walker].left = 1;
  s.unsent |= 1u << walker;
  s.counters.repeats += 1;
}

/// Insert the page that a walk has found, in place of another if the TLB is full. A page counts as
/// used when its line goes on, so one that was fetched ahead ranks behind the page in the register.
NW_HD inline void tlb_insert(const TlbParams& p, TlbState& s, const Translation& t, std::byte* base,
                             uint32_t page, uint32_t now) {
  const cache::TagStoreParams store = tlb_store(p);
  const uint32_t entry = cache::victim(store, s.pages, base, 0, cache::NoneWaits());
  const PageEntry walked = tlb_walked(p, t, base, page);
  cache::put(store, s.pages, base, entry, page);
  s.entries.in(base)[entry] = walked;
  if (page == s.wait_page) {
    s.wait_page = kNoPage;
    s.counters.wait_cycles += now - s.wait_since;
    s.last_page = page;
    s.last_entry = walked;
    return;
  }
  const uint32_t current = tlb_find(p, s, base, s.last_page);
  if (s.last_page != kNoPage && current != kNoLane) cache::touch(store, s.pages, base, current);
}

/// Take the reply to a walker's read: the next read may leave, or the walk ends. Returns the page
/// of a walk that has ended, else kNoPage.
NW_HD inline uint32_t tlb_reply(const TlbParams& p, TlbState& s, const Translation& t,
                                std::byte* base, uint32_t walker, uint32_t now) {
  Walk& w = s.walks.in(base)[walker];
  NW_ASSERT(w.page != kNoPage);
  if (w.left != 0) {
    s.unsent |= 1u << walker;
    return kNoPage;
  }
  s.free_walkers |= 1u << walker;
  s.counters.walk_cycles += now - w.since;
  if (!w.stale) tlb_insert(p, s, t, base, w.page, now);
  const uint32_t page = w.page;
  w.page = kNoPage;
  return page;
}

/// Forget all translations, since page tables change; the results of walks under way are not kept.
/// Call it in a cycle that is stepped, before the load-store unit's turn, or while nothing is in
/// flight.
NW_HD inline void tlb_flush(const TlbParams& p, TlbState& s, std::byte* base) {
  for (uint32_t i = 0; i < p.entries; ++i) s.pages.tags.in(base)[i] = kNoPage;
  for (uint32_t i = 0; i < s.walks.count; ++i) s.walks.in(base)[i].stale = true;
  s.last_page = kNoPage;
  s.counters.flushes += 1;
}

/// An empty TLB in an arena. Host only. Allocator: ArenaBuilder.
template <class Allocator>
TlbState make_tlb(Allocator& arena, const TlbParams& p) {
  TlbState s;
  s.pages = cache::make_tag_store(arena, tlb_store(p));
  s.entries = arena.template allocate<PageEntry>(p.entries);
  s.walks = arena.template allocate<Walk>(p.walkers);
  s.free_walkers = static_cast<uint32_t>(low_bits(p.walkers));
  return s;
}

}  // namespace nearwarp::sm
