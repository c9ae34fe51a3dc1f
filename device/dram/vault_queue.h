// A vault's queue and the effect of each DRAM command on it and on the banks.
//
// Everything here belongs to one lane (the bank's owner) or to the leader; device/dram/vault.h
// decides which command issues when.
#pragma once

#include "device/dram/vault_state.h"

namespace nearwarp {

namespace vault_detail {

inline constexpr uint32_t kNoCycle = 0xffffffffu;
inline constexpr uint32_t kNoEntry = 0xff;
/// In cycles; times a period it still fits a tick.
inline constexpr uint64_t kNoEvent = uint64_t{1} << 40;

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
  const Location at = p.map.of(q.line, base).locate(q.line);
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

}  // namespace vault_detail

}  // namespace nearwarp
