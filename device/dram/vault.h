// One vault: a memory controller and its DRAM banks behind a TSV data bus.
//
// FR-FCFS over a finite queue [Rixner et al., ISCA 2000]: among the commands that may issue in a
// cycle, column commands of open rows go first, oldest first, then activations and precharges,
// oldest first; a request that has waited longer than a bound goes before everything else. Pages
// stay open. Writes are collected and drained between two watermarks. Refresh is all-bank.
//
// One command per command-clock cycle. The data bus (TSVs) is decoupled from the command clock: a
// transfer of n bytes takes n * ticks_per_byte, beginning when the column latency has passed and
// the bus is free; a column command issues only if that wait is at most one cycle, so the bus can
// be kept busy without a gap.
//
// Every bank keeps its next command and the cycle from which the bank allows it (`*_key`); they are
// recomputed only when something happens to the bank. Choosing a command is a minimum over banks.
#pragma once

#include "device/core/address_map.h"
#include "device/core/fault.h"
#include "device/core/lane_group.h"
#include "device/core/packet.h"
#include "device/core/step.h"

namespace nearwarp {

inline constexpr uint32_t kMaxVaultBanks = 32;
inline constexpr uint32_t kMaxVaultEntries = 64;

/// Timings in command-clock cycles.
/// Source: names after JESD79-3F; tRTW is the least distance from a read to a write command.
struct VaultParams {
  uint32_t period = 1;  ///< ticks per command-clock cycle
  uint32_t tCL = 0, tCWL = 0, tRCD = 0, tRP = 0, tRAS = 0, tRC = 0, tRRD = 0, tFAW = 0, tCCD = 0,
           tWR = 0, tWTR = 0, tRTP = 0, tRTW = 0, tREFI = 0, tRFC = 0;  ///< tREFI 0: no refresh
  uint32_t ticks_per_byte_num = 1, ticks_per_byte_den = 1;              ///< TSV data bus
  uint32_t starvation_cycles = 0;
  uint32_t fixed_latency_cycles = 0;       ///< added to every reply
  uint32_t write_high = 1, write_low = 0;  ///< watermarks of the write drain, in requests
  uint32_t rebase_cycles = 1u << 30;  ///< cycle counters are brought back to zero after so many
  uint16_t header_bytes = 0, line_bytes = 0, sector_bytes = 0;
  uint16_t endpoint = 0;  ///< this vault
  AddressMap map;
};

struct VaultEntry {
  Tick arrived = 0;
  uint32_t order = 0;  ///< age: less is older
  uint32_t row = 0;
  uint32_t line = 0, tag = 0, sectors = 0;
  uint16_t src = 0;
  uint16_t data_bytes = 0;
  uint8_t bank = 0;
  uint8_t kind = 0;      ///< PacketKind
  uint8_t opened = 0;    ///< bit 0: an activation was made for it, bit 1: a precharge
  uint8_t silent = 0;    ///< the write half of an atomic: no acknowledgement
  uint8_t older = 0xff;  ///< neighbours in the order of age; 0xff: none
  uint8_t younger = 0xff;
  uint16_t reserved = 0;
};

/// A reply on its way to the switch.
struct VaultReply {
  Tick due = 0;
  uint32_t line = 0, tag = 0, sectors = 0;
  uint16_t dst = 0;
  uint16_t bytes = 0;
  uint32_t kind = 0;
  uint32_t reserved = 0;
};

struct VaultCounters {
  uint64_t requests_in = 0, replies_out = 0;
  uint64_t reads = 0, writes = 0, atomics = 0;
  uint64_t atomic_writes = 0;                                ///< write halves of atomics
  uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;  ///< per column command
  uint64_t activates = 0, precharges = 0, refreshes = 0;
  uint64_t data_bytes_read = 0, data_bytes_written = 0;
  uint64_t bus_busy_ticks = 0;
  uint64_t queue_ticks = 0;    ///< sum over requests of the time in the queue
  uint64_t latency_ticks = 0;  ///< sum over replies of the time from entry to departure
  uint64_t turnarounds = 0;    ///< changes between reading and writing
  uint64_t starved = 0;        ///< requests that passed the starvation bound
};

struct VaultState {
  Ref<Channel> in, out;
  Ref<VaultEntry> entries;
  Ref<VaultReply> replies;
  // Per bank; cycles count from `epoch`.
  Ref<uint32_t> open_row;
  Ref<uint32_t> act_ok, col_ok, pre_ok;     ///< earliest cycle the bank allows the command
  Ref<uint32_t> col_key, act_key, pre_key;  ///< that cycle if the bank waits for it, else ~0
  Ref<uint32_t> order_key;                  ///< age of the request that it is for
  Ref<uint8_t> chosen;                      ///< that request's entry
  Ref<uint64_t> bank_entries;               ///< entries for the bank
  Ref<uint64_t> row_entries;                ///< of those: for the open row
  uint64_t epoch = 0;
  uint64_t valid = 0;   ///< entries in use
  uint64_t writes = 0;  ///< of those: the next column command is a write
  uint64_t open_banks = 0;
  uint64_t refresh_at = 0;  ///< cycle (from zero) at which the next refresh is due
  Tick bus_free = 0;
  uint64_t bus_free_cycle = 0;  ///< `bus_free` in cycles (from zero), rounded up
  uint32_t col_first = 0xffffffffu, act_first = 0xffffffffu,
           pre_first = 0xffffffffu;                     ///< minima over banks of `*_key`
  uint32_t read_ok = 0, write_ok = 0, activate_ok = 0;  ///< rank-level constraints
  uint32_t activations[4] = {};                         ///< cycles of the last four, + tFAW: ring
  uint32_t oldest_activation = 0;
  uint32_t next_order = 0;
  uint32_t oldest = 0xff, youngest = 0xff;  ///< ends of the list in order of age
  uint32_t starving = 0xff;                 ///< entry that goes before everything else
  uint32_t write_mode = 0;
  uint32_t reply_head = 0, reply_count = 0;
  Tick last_due = 0;
  VaultCounters counters;
  Fault fault;
};

namespace vault_detail {

inline constexpr uint32_t kNoCycle = 0xffffffffu;
inline constexpr uint32_t kNoEntry = 0xff;
inline constexpr uint64_t kNoEvent = uint64_t{1}
                                     << 40;  ///< in cycles; times a period it still fits

NW_HD NW_INLINE uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

NW_HD NW_INLINE Tick bus_ticks(const VaultParams& p, uint32_t bytes) {
  return (Tick{bytes} * p.ticks_per_byte_num + p.ticks_per_byte_den - 1) / p.ticks_per_byte_den;
}

/// Cycle, from `epoch`, of an absolute cycle (0 if it lies before).
NW_HD NW_INLINE uint32_t relative(const VaultState& s, uint64_t cycle) {
  return cycle > s.epoch ? static_cast<uint32_t>(cycle - s.epoch) : 0;
}

/// Earliest cycle (from `epoch`) for a column command of the current direction in any bank: its
/// data may wait at most one cycle for the bus.
NW_HD NW_INLINE uint32_t column_ok(const VaultParams& p, const VaultState& s) {
  const uint32_t wait = 1 + (s.write_mode != 0 ? p.tCWL : p.tCL);
  const uint32_t bus = s.bus_free_cycle > wait ? relative(s, s.bus_free_cycle - wait) : 0;
  return later(bus, s.write_mode != 0 ? s.write_ok : s.read_ok);
}

/// Oldest of the entries `bits`; bits != 0.
NW_HD NW_INLINE uint32_t oldest_of(const VaultEntry* entries, uint64_t bits) {
  uint32_t best = count_trailing_zeros(bits);
  for (bits &= bits - 1; bits != 0; bits &= bits - 1) {
    const uint32_t e = count_trailing_zeros(bits);
    if (entries[e].order < entries[best].order) best = e;
  }
  return best;
}

/// Decide what bank `b` needs next. One lane (which owns the bank) or the leader.
NW_HD NW_INLINE void plan_bank(const VaultState& s, std::byte* base, uint32_t b) {
  const VaultEntry* entries = s.entries.in(base);
  uint64_t wanted = s.bank_entries.in(base)[b] & (s.write_mode != 0 ? s.writes : ~s.writes);
  // A starving request has its bank for itself.
  if (s.starving != kNoEntry && entries[s.starving].bank == b) wanted = uint64_t{1} << s.starving;
  uint32_t col = kNoCycle, act = kNoCycle, pre = kNoCycle, age = kNoCycle;
  if (wanted != 0) {
    const bool open = (s.open_banks >> b & 1) != 0;
    const uint64_t hits = wanted & s.row_entries.in(base)[b];
    const uint32_t e = oldest_of(entries, hits != 0 ? hits : wanted);
    if (hits != 0) {
      col = s.col_ok.in(base)[b];
    } else if (open) {
      pre = s.pre_ok.in(base)[b];
    } else {
      act = s.act_ok.in(base)[b];
    }
    age = entries[e].order;
    s.chosen.in(base)[b] = static_cast<uint8_t>(e);
  }
  s.col_key.in(base)[b] = col;
  s.act_key.in(base)[b] = act;
  s.pre_key.in(base)[b] = pre;
  s.order_key.in(base)[b] = age;
}

/// Take a request into the queue. Leader only; there is room, refreshes are caught up.
NW_HD NW_INLINE void accept(const VaultParams& p, VaultState& s, std::byte* base, Tick now,
                            Horizon& horizon) {
  Channel& in = *s.in.in(base);
  const Packet& q = front(in, base);
  s.counters.requests_in += 1;
  if (q.kind != PacketKind::kRead && q.kind != PacketKind::kWrite &&
      q.kind != PacketKind::kAtomic) {
    record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
    pop(in, base, now, horizon);
    return;
  }
  const uint32_t e = count_trailing_zeros(~s.valid);
  const uint64_t bit = uint64_t{1} << e;
  const Location at = p.map.locate(q.line);
  VaultEntry* entries = s.entries.in(base);
  VaultEntry& x = entries[e];
  x.arrived = now;
  x.order = s.next_order++;
  x.row = at.row;
  x.line = q.line;
  x.tag = q.tag;
  x.sectors = q.sectors;
  x.src = q.src;
  const uint32_t sectors = population_count(q.sectors);
  x.data_bytes = static_cast<uint16_t>(
      q.kind == PacketKind::kRead ? p.line_bytes : (sectors == 0 ? 1 : sectors) * p.sector_bytes);
  x.bank = static_cast<uint8_t>(at.bank);
  x.kind = static_cast<uint8_t>(q.kind);
  x.opened = 0;
  x.silent = 0;
  x.older = static_cast<uint8_t>(s.youngest);
  x.younger = kNoEntry;
  if (s.youngest != kNoEntry) entries[s.youngest].younger = static_cast<uint8_t>(e);
  if (s.oldest == kNoEntry) s.oldest = e;
  s.youngest = e;
  s.valid |= bit;
  if (q.kind == PacketKind::kWrite) s.writes |= bit;
  s.bank_entries.in(base)[at.bank] |= bit;
  if ((s.open_banks >> at.bank & 1) != 0 && s.open_row.in(base)[at.bank] == at.row) {
    s.row_entries.in(base)[at.bank] |= bit;
  }
  s.counters.reads += q.kind == PacketKind::kRead ? 1 : 0;
  s.counters.writes += q.kind == PacketKind::kWrite ? 1 : 0;
  s.counters.atomics += q.kind == PacketKind::kAtomic ? 1 : 0;
  pop(in, base, now, horizon);
  plan_bank(s, base, at.bank);
}

/// Forget entry `e`. Leader only.
NW_HD NW_INLINE void remove(VaultState& s, std::byte* base, uint32_t e, Tick now) {
  VaultEntry* entries = s.entries.in(base);
  const VaultEntry& x = entries[e];
  const uint64_t keep = ~(uint64_t{1} << e);
  if (x.older != kNoEntry) {
    entries[x.older].younger = x.younger;
  } else {
    s.oldest = x.younger;
  }
  if (x.younger != kNoEntry) {
    entries[x.younger].older = x.older;
  } else {
    s.youngest = x.older;
  }
  s.valid &= keep;
  s.writes &= keep;
  s.bank_entries.in(base)[x.bank] &= keep;
  s.row_entries.in(base)[x.bank] &= keep;
  if (s.starving == e) s.starving = kNoEntry;
  s.counters.queue_ticks += now - x.arrived;
}

/// Put the reply of `x` on its way. Leader only; there is room.
NW_HD NW_INLINE void push_reply(const VaultParams& p, VaultState& s, std::byte* base,
                                const VaultEntry& x, PacketKind kind, uint32_t bytes, Tick ready) {
  uint32_t at = s.reply_head + s.reply_count;
  if (at >= s.replies.count) at -= s.replies.count;
  VaultReply& r = s.replies.in(base)[at];
  s.last_due = max_tick(s.last_due, ready + Tick{p.fixed_latency_cycles} * p.period);
  r.due = s.last_due;
  r.line = x.line;
  r.tag = x.tag;
  r.sectors = x.sectors;
  r.dst = x.src;
  r.bytes = static_cast<uint16_t>(bytes);
  r.kind = static_cast<uint32_t>(kind);
  s.reply_count += 1;
}

/// Read or write for entry `e` in cycle `c`. Leader only.
NW_HD NW_INLINE void issue_column(const VaultParams& p, VaultState& s, std::byte* base, uint32_t e,
                                  uint32_t c, Tick now) {
  VaultEntry& x = s.entries.in(base)[e];
  const uint32_t b = x.bank;
  const bool write = (s.writes >> e & 1) != 0;
  const Tick took = bus_ticks(p, x.data_bytes);
  const Tick start = max_tick(now + Tick{write ? p.tCWL : p.tCL} * p.period, s.bus_free);
  s.bus_free = start + took;
  s.bus_free_cycle = cycle_at_or_after(s.bus_free, p.period);
  s.counters.bus_busy_ticks += took;
  s.counters.row_hits += x.opened == 0 ? 1 : 0;
  s.counters.row_misses += x.opened == 1 ? 1 : 0;
  s.counters.row_conflicts += x.opened > 1 ? 1 : 0;
  uint32_t* pre_ok = s.pre_ok.in(base) + b;
  if (write) {
    const uint32_t end = relative(s, s.bus_free_cycle);
    *pre_ok = later(*pre_ok, end + p.tWR);
    s.read_ok = later(s.read_ok, later(c + p.tCCD, end + p.tWTR));
    s.write_ok = later(s.write_ok, c + p.tCCD);
    s.counters.data_bytes_written += x.data_bytes;
    if (x.silent == 0) {
      push_reply(p, s, base, x, PacketKind::kWriteAck, p.header_bytes, now);
      s.counters.latency_ticks += s.last_due - x.arrived;
    }
    remove(s, base, e, now);
  } else {
    *pre_ok = later(*pre_ok, c + p.tRTP);
    s.read_ok = later(s.read_ok, c + p.tCCD);
    s.write_ok = later(s.write_ok, later(c + p.tCCD, c + p.tRTW));
    s.counters.data_bytes_read += x.data_bytes;
    const bool atomic = x.kind == static_cast<uint8_t>(PacketKind::kAtomic);
    push_reply(p, s, base, x, atomic ? PacketKind::kAtomicReply : PacketKind::kReadReply,
               uint32_t{p.header_bytes} + x.data_bytes, s.bus_free);
    s.counters.latency_ticks += s.last_due - x.arrived;
    if (atomic) {  // the entry stays, as the write of what was read
      x.silent = 1;
      x.opened = 0;
      s.writes |= uint64_t{1} << e;
      s.counters.atomic_writes += 1;
    } else {
      remove(s, base, e, now);
    }
  }
  plan_bank(s, base, b);
}

/// Open the row of entry `e` in cycle `c`. Leader only.
NW_HD NW_INLINE void issue_activate(const VaultParams& p, VaultState& s, std::byte* base,
                                    uint32_t e, uint32_t c) {
  VaultEntry* entries = s.entries.in(base);
  const uint32_t b = entries[e].bank, row = entries[e].row;
  entries[e].opened |= 1;
  s.open_banks |= uint64_t{1} << b;
  s.open_row.in(base)[b] = row;
  s.col_ok.in(base)[b] = c + p.tRCD;
  s.pre_ok.in(base)[b] = c + p.tRAS;
  s.act_ok.in(base)[b] = c + p.tRC;
  uint64_t hits = 0;
  for (uint64_t bits = s.bank_entries.in(base)[b]; bits != 0; bits &= bits - 1) {
    const uint32_t i = count_trailing_zeros(bits);
    hits |= static_cast<uint64_t>(entries[i].row == row ? 1 : 0) << i;
  }
  s.row_entries.in(base)[b] = hits;
  // A fifth activation waits until tFAW after the first of the last four.
  s.activations[s.oldest_activation] = c + p.tFAW;
  s.oldest_activation = (s.oldest_activation + 1) % 4;
  s.activate_ok = later(c + p.tRRD, s.activations[s.oldest_activation]);
  s.counters.activates += 1;
  plan_bank(s, base, b);
}

/// Close bank `b` for entry `e` in cycle `c`. Leader only.
NW_HD NW_INLINE void issue_precharge(const VaultParams& p, VaultState& s, std::byte* base,
                                     uint32_t e, uint32_t b, uint32_t c) {
  s.entries.in(base)[e].opened |= 2;
  s.open_banks &= ~(uint64_t{1} << b);
  s.row_entries.in(base)[b] = 0;
  s.act_ok.in(base)[b] = later(s.act_ok.in(base)[b], c + p.tRP);
  s.counters.precharges += 1;
  plan_bank(s, base, b);
}

/// The cycle (from zero) in which the next refresh can begin: when it is due and every open bank
/// may be closed.
template <class G>
NW_HD NW_INLINE uint64_t refresh_cycle(const G& g, const VaultState& s, std::byte* base) {
  const uint32_t* pre_ok = s.pre_ok.in(base);
  const uint64_t open = s.open_banks;
  const uint32_t banks = s.pre_ok.count;
  // Maximum as the minimum of the complement.
  const uint32_t closable =
      ~g.minimum(banks, [&](uint32_t b) { return (open >> b & 1) != 0 ? ~pre_ok[b] : kNoCycle; });
  // 0 stands for any time before `epoch`.
  const uint64_t when = open == 0 || closable == 0 ? 0 : s.epoch + closable;
  return when > s.refresh_at ? when : s.refresh_at;
}

/// Close all banks and refresh, beginning in cycle `when` (from zero).
template <class G>
NW_HD NW_INLINE void refresh(const G& g, const VaultParams& p, VaultState& s, std::byte* base,
                             uint64_t when) {
  uint32_t* act_ok = s.act_ok.in(base);
  const uint32_t banks = s.act_ok.count;
  const uint32_t open = population_count(s.open_banks);
  const uint32_t idle = ~g.minimum(banks, [&](uint32_t b) { return ~act_ok[b]; });
  uint64_t begin = when + (open != 0 ? p.tRP : 0);
  if (idle != 0 && s.epoch + idle > begin) begin = s.epoch + idle;
  const uint32_t ready = relative(s, begin + p.tRFC);
  g.leader([&] {
    s.counters.precharges += open;
    s.counters.refreshes += 1;
    s.open_banks = 0;
    s.refresh_at += p.tREFI;
  });
  g.each_scalar(banks, [&](uint32_t b) {
    act_ok[b] = ready;
    s.row_entries.in(base)[b] = 0;
    plan_bank(s, base, b);
  });
}

/// Do the refreshes that fell due while the queue was empty, up to cycle `now` (from zero).
template <class G>
NW_HD NW_INLINE void catch_up_refreshes(const G& g, const VaultParams& p, VaultState& s,
                                        std::byte* base, uint64_t now) {
  if (p.tREFI == 0) return;
  while (s.refresh_at <= now) {
    const uint64_t when = refresh_cycle(g, s, base);
    if (when > now) return;
    refresh(g, p, s, base, when);
    if (s.refresh_at + p.tREFI <= now) {  // nothing is open any more: all but the last are alike
      const uint64_t skipped = (now - s.refresh_at) / p.tREFI;
      g.leader([&] {
        s.counters.refreshes += skipped;
        s.refresh_at += skipped * p.tREFI;
      });
    }
  }
}

/// Bring the cycle counters back to zero so that they fit 32 bits for ever.
template <class G>
NW_HD NW_INLINE void rebase(const G& g, VaultState& s, std::byte* base, uint64_t cycle) {
  const uint64_t by = cycle - s.epoch;
  const auto moved = [by](uint32_t c) { return c > by ? static_cast<uint32_t>(c - by) : 0u; };
  g.leader([&] {
    s.epoch = cycle;
    s.read_ok = moved(s.read_ok);
    s.write_ok = moved(s.write_ok);
    s.activate_ok = moved(s.activate_ok);
    for (uint32_t i = 0; i < 4; ++i) s.activations[i] = moved(s.activations[i]);
    s.next_order = 0;
    VaultEntry* entries = s.entries.in(base);
    for (uint32_t e = s.oldest; e != kNoEntry; e = entries[e].younger) {
      entries[e].order = s.next_order++;
    }
  });
  g.each_scalar(s.act_ok.count, [&](uint32_t b) {
    s.act_ok.in(base)[b] = moved(s.act_ok.in(base)[b]);
    s.col_ok.in(base)[b] = moved(s.col_ok.in(base)[b]);
    s.pre_ok.in(base)[b] = moved(s.pre_ok.in(base)[b]);
    plan_bank(s, base, b);
  });
}

/// Choose between reading and writing, and see whether a request starves, as of `now`. Depends only
/// on the queue and the time, so it may be asked as often as one likes. Was anything changed?
template <class G>
NW_HD NW_INLINE bool settle(const G& g, const VaultParams& p, VaultState& s, std::byte* base,
                            Tick now) {
  uint32_t starving = s.starving;
  if (starving == kNoEntry && s.oldest != kNoEntry &&
      s.entries.in(base)[s.oldest].arrived + Tick{p.starvation_cycles} * p.period <= now) {
    starving = s.oldest;
  }
  const uint32_t writes = population_count(s.writes);
  const uint32_t reads = population_count(s.valid) - writes;
  uint32_t mode = s.write_mode;
  if (starving != kNoEntry) {
    mode = static_cast<uint32_t>(s.writes >> starving & 1);
  } else if (mode == 0) {
    if (writes >= p.write_high || (reads == 0 && writes != 0)) mode = 1;
  } else {
    if (reads != 0 && writes <= p.write_low) mode = 0;
  }
  if (starving == s.starving && mode == s.write_mode) return false;
  g.leader([&] {
    s.counters.starved += starving != s.starving ? 1 : 0;
    s.counters.turnarounds += mode != s.write_mode ? 1 : 0;
    s.starving = starving;
    s.write_mode = mode;
  });
  g.each_scalar(s.act_ok.count, [&](uint32_t b) { plan_bank(s, base, b); });
  return true;
}

/// Minimum and arg-min over banks. The customary sixteen banks get code of constant length.
template <class G, class F>
NW_HD NW_INLINE uint32_t bank_minimum(const G& g, uint32_t banks, F&& key) {
  return banks == 16 ? g.minimum(16, key) : g.minimum(banks, key);
}
template <class G, class F>
NW_HD NW_INLINE uint32_t bank_arg_min(const G& g, uint32_t banks, F&& key) {
  return banks == 16 ? g.arg_min(16, key) : g.arg_min(banks, key);
}

/// Bring the minima over banks up to date after banks were planned anew.
template <class G>
NW_HD NW_INLINE void find_first(const G& g, VaultState& s, std::byte* base) {
  const uint32_t banks = s.act_ok.count;
  const uint32_t* col = s.col_key.in(base);
  const uint32_t* act = s.act_key.in(base);
  const uint32_t* pre = s.pre_key.in(base);
  const uint32_t col_first = bank_minimum(g, banks, [&](uint32_t b) { return col[b]; });
  const uint32_t act_first = bank_minimum(g, banks, [&](uint32_t b) { return act[b]; });
  const uint32_t pre_first = bank_minimum(g, banks, [&](uint32_t b) { return pre[b]; });
  g.leader([&] {
    s.col_first = col_first;
    s.act_first = act_first;
    s.pre_first = pre_first;
  });
}

/// The earliest cycles (from `epoch`) in which some bank's command of each kind can issue.
struct Earliest {
  uint32_t column, activate, precharge;
};
NW_HD NW_INLINE Earliest earliest(const VaultParams& p, const VaultState& s) {
  Earliest at;
  // A column command needs room for the reply that it causes.
  at.column = s.col_first == kNoCycle || s.reply_count == s.replies.count
                  ? kNoCycle
                  : later(s.col_first, column_ok(p, s));
  at.activate = s.act_first == kNoCycle ? kNoCycle : later(s.act_first, s.activate_ok);
  at.precharge = s.pre_first;
  return at;
}

/// Issue at most one command in cycle `c`; was there one?
template <class G>
NW_HD NW_INLINE bool issue(const G& g, const VaultParams& p, VaultState& s, std::byte* base,
                           uint32_t c, Tick now) {
  const Earliest at = earliest(p, s);
  if (at.column > c && at.activate > c && at.precharge > c) return false;
  const uint32_t banks = s.act_ok.count;
  const uint32_t* col = s.col_key.in(base);
  const uint32_t* act = s.act_key.in(base);
  const uint32_t* pre = s.pre_key.in(base);
  const uint32_t* order = s.order_key.in(base);
  const bool column = at.column <= c, activate = at.activate <= c, precharge = at.precharge <= c;
  // A starving request's command goes before everything else.
  uint32_t b = kNoLane;
  if (s.starving != kNoEntry) {
    const uint32_t own = s.entries.in(base)[s.starving].bank;
    if ((column && col[own] <= c) || (activate && act[own] <= c) || pre[own] <= c) b = own;
  }
  if (b == kNoLane && column) {
    b = bank_arg_min(g, banks, [&](uint32_t i) { return col[i] <= c ? order[i] : kNoCycle; });
  }
  if (b == kNoLane && (activate || precharge)) {
    b = bank_arg_min(g, banks, [&](uint32_t i) {
      return (activate && act[i] <= c) || pre[i] <= c ? order[i] : kNoCycle;
    });
  }
  if (b == kNoLane) return false;
  const uint32_t e = s.chosen.in(base)[b];
  const bool is_column = col[b] <= c, is_activate = act[b] <= c;
  g.leader([&] {
    if (is_column) {
      issue_column(p, s, base, e, c, now);
    } else if (is_activate) {
      issue_activate(p, s, base, e, c);
    } else {
      issue_precharge(p, s, base, e, b, c);
    }
  });
  return true;
}

/// Send the oldest reply. Leader only.
NW_HD NW_INLINE void send_reply(const VaultParams& p, VaultState& s, std::byte* base, Tick now,
                                Horizon& horizon) {
  const VaultReply& r = s.replies.in(base)[s.reply_head];
  Packet q;
  q.kind = static_cast<PacketKind>(r.kind);
  q.line = r.line;
  q.tag = r.tag;
  q.sectors = r.sectors;
  q.src = p.endpoint;
  q.dst = r.dst;
  q.bytes = r.bytes;
  send(*s.out.in(base), base, now, q, horizon);
  s.reply_head = s.reply_head + 1 == s.replies.count ? 0 : s.reply_head + 1;
  s.reply_count -= 1;
  s.counters.replies_out += 1;
}

}  // namespace vault_detail

/// Step a vault through a window.
///
/// Reads:  requests from the stack's switch; sends replies to it.
/// State:  the queue, per bank the open row and the earliest cycle of each command.
/// Units:  times in ticks of the machine's base clock; `*_ok`, `*_key` in command-clock cycles.
/// Source: JESD79-3F (constraints between commands); FR-FCFS after Rixner et al., ISCA 2000.
template <class G>
NW_HD StepResult step_vault(const G& g, const VaultParams& p, VaultState& s, std::byte* base,
                            Window window, Horizon& horizon) {
  using namespace vault_detail;
  const Channel& in = *s.in.in(base);
  const Channel& out = *s.out.in(base);
  const Tick period = p.period;
  const uint32_t capacity = s.entries.count;
  uint64_t cycle = cycle_at_or_after(window.begin, p.period);  // from zero
  if (cycle - s.epoch > p.rebase_cycles) {
    rebase(g, s, base, cycle);
    find_first(g, s, base);
  }
  bool poll = false;

  // Earliest cycle (from zero), `from` or later, in which something happens, as far as is known.
  // Those before the window's end are the same in all lanes.
  const auto next_event = [&](uint64_t from) -> uint64_t {
    uint64_t next = kNoEvent;
    if (s.valid != 0) {
      const Earliest at = earliest(p, s);
      const uint32_t row = at.activate < at.precharge ? at.activate : at.precharge;
      const uint32_t command = at.column < row ? at.column : row;
      if (command != kNoCycle) next = s.epoch + command;
      if (next < from) next = from;
      if (p.tREFI != 0 && s.refresh_at <= next) {
        next = refresh_cycle(g, s, base);
        if (next < from) next = from;
      }
    }
    Tick tick = kNever;
    poll = false;
    if (s.reply_count != 0) {
      const Tick credit = credit_tick(out, base);
      poll = credit >= kNever;
      tick = max_tick(s.replies.in(base)[s.reply_head].due, credit);
    }
    if (population_count(s.valid) < capacity) tick = min_tick(tick, head_arrival(in, base));
    if (s.valid != 0 && s.starving == kNoEntry) {
      tick =
          min_tick(tick, s.entries.in(base)[s.oldest].arrived + Tick{p.starvation_cycles} * period);
    }
    if (tick < kNever && tick <= (next - 1) * period) {
      next = tick <= from * period ? from : cycle_at_or_after(tick, p.period);
    }
    return next;
  };

  cycle = next_event(cycle);
  while (cycle < kNoEvent && cycle * period < window.end) {
    const Tick now = cycle * period;
    bool changed = settle(g, p, s, base, now);
    if (changed) find_first(g, s, base);
    changed = false;
    if (s.reply_count != 0 && s.replies.in(base)[s.reply_head].due <= now &&
        can_send(out, base, now)) {
      g.leader([&] { send_reply(p, s, base, now, horizon); });
    }
    if (s.valid != 0) {
      if (p.tREFI != 0 && s.refresh_at <= cycle) {
        const uint64_t when = refresh_cycle(g, s, base);
        if (when <= cycle) {
          refresh(g, p, s, base, when);
          changed = true;
        }
      } else {
        changed = issue(g, p, s, base, static_cast<uint32_t>(cycle - s.epoch), now);
      }
    }
    if (population_count(s.valid) < capacity && has_packet(in, base, now)) {
      if (s.valid == 0) catch_up_refreshes(g, p, s, base, cycle);
      g.leader([&] { accept(p, s, base, now, horizon); });
      changed = true;
    }
    if (changed) {
      settle(g, p, s, base, now + period);
      find_first(g, s, base);
    }
    cycle = next_event(cycle + 1);
  }

  StepResult result;
  result.poll = poll;
  result.wake = cycle < kNoEvent ? max_tick(cycle * period, window.end) : kNever;
  return result;
}

/// Bring the refresh count of an idle vault up to `now`, for a report. Leader only.
template <class G>
NW_HD void finish_vault(const G& g, const VaultParams& p, VaultState& s, std::byte* base,
                        Tick now) {
  if (s.valid == 0) vault_detail::catch_up_refreshes(g, p, s, base, now / p.period);
}

/// Lay out a vault. `banks` at most 32 and equal to 2^map.bank_bits, `queue_entries` at most 64.
template <class Allocator>
VaultState make_vault(Allocator& arena, const VaultParams& p, uint32_t banks,
                      uint32_t queue_entries, Ref<Channel> in, Ref<Channel> out) {
  NW_ASSERT(banks <= kMaxVaultBanks && banks == 1u << p.map.bank_bits);
  NW_ASSERT(queue_entries >= 1 && queue_entries <= kMaxVaultEntries);
  VaultState s;
  s.in = in;
  s.out = out;
  s.entries = arena.template allocate<VaultEntry>(queue_entries);
  s.replies = arena.template allocate<VaultReply>(queue_entries);
  s.open_row = arena.template allocate<uint32_t>(banks);
  s.act_ok = arena.template allocate<uint32_t>(banks);
  s.col_ok = arena.template allocate<uint32_t>(banks);
  s.pre_ok = arena.template allocate<uint32_t>(banks);
  s.col_key = arena.template allocate<uint32_t>(banks);
  s.act_key = arena.template allocate<uint32_t>(banks);
  s.pre_key = arena.template allocate<uint32_t>(banks);
  s.order_key = arena.template allocate<uint32_t>(banks);
  s.chosen = arena.template allocate<uint8_t>(banks);
  s.bank_entries = arena.template allocate<uint64_t>(banks);
  s.row_entries = arena.template allocate<uint64_t>(banks);
  s.refresh_at = p.tREFI;
  for (uint32_t b = 0; b < banks; ++b) vault_detail::plan_bank(s, arena.base(), b);
  return s;
}

}  // namespace nearwarp
