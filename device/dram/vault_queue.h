// A vault's queue and the effect of each DRAM command on it and on the banks. device/dram/vault.h
// decides which command issues when.
#pragma once

#include "device/dram/vault_rows.h"

namespace nearwarp {

namespace vault_detail {

inline constexpr uint32_t kNoEntry = 0xff;
/// In cycles; times a period it still fits a tick.
inline constexpr uint64_t kNoEvent = uint64_t{1} << 40;

/// The bytes that the bus carries for a command's data.
NW_HD NW_INLINE uint32_t bus_bytes(const VaultParams& p, uint32_t data_bytes, bool write) {
  if (!write && p.line_bus_bytes != 0) return p.line_bus_bytes * data_bytes / p.line_bytes;
  return (data_bytes + p.burst_mask) & ~uint32_t{p.burst_mask};
}

NW_HD NW_INLINE Tick bus_ticks(const VaultParams& p, uint32_t bytes) {
  return (Tick{bytes} * p.ticks_per_byte_num + p.ticks_per_byte_den - 1) / p.ticks_per_byte_den;
}

/// Earliest cycle (from `epoch`) for a column command of the current direction in any bank: its
/// data may wait less than one cycle for the bus.
NW_HD NW_INLINE uint32_t column_ok(const VaultParams& p, const VaultState& s) {
  const uint32_t wait = s.write_mode != 0 ? p.tCWL : p.tCL;
  const uint32_t bus = s.bus_busy_cycles > wait ? relative(s, s.bus_busy_cycles - wait) : 0;
  return later(bus, s.write_mode != 0 ? s.write_ok : s.read_ok);
}

/// Oldest of the entries `bits`; bits != 0.
NW_HD NW_INLINE uint32_t oldest_of(const VaultState& s, const VaultEntry* entries, uint64_t bits) {
  if (population_count(bits) > 8) {  // then one of them is soon met on the list in order of age
    uint32_t e = s.oldest;
    while ((bits >> e & 1) == 0) e = entries[e].younger;
    return e;
  }
  uint32_t best = count_trailing_zeros(bits);
  for (bits &= bits - 1; bits != 0; bits &= bits - 1) {
    const uint32_t e = count_trailing_zeros(bits);
    if (entries[e].order < entries[best].order) best = e;
  }
  return best;
}

/// When a request that came at `arrived` begins to starve.
NW_HD NW_INLINE Tick starvation_of(const VaultParams& p, Tick arrived) {
  return arrived + Tick{p.starvation_cycles} * p.period;
}

/// Decide what bank `b` needs next. kUnusual: the vault is in order, or has rows.
template <bool kUnusual>
NW_HD NW_INLINE void plan_bank_as(const VaultParams& p, const VaultState& s, std::byte* base,
                                  uint32_t b) {
  const VaultEntry* entries = s.entries.in(base);
  uint64_t wanted = s.bank_entries.in(base)[b] & (s.write_mode != 0 ? s.writes : ~s.writes);
  if (kUnusual && p.in_order != 0) wanted &= s.head == kNoEntry ? 0 : uint64_t{1} << s.head;
  // A starving request has its bank for itself.
  if (s.starving != kNoEntry && entries[s.starving].bank == b) wanted = uint64_t{1} << s.starving;
  VaultCommands at;  // of this bank's
  uint32_t age = kNoCycle;
  if (wanted != 0) {
    const bool open = (s.open_banks >> b & 1) != 0;
    const uint64_t hits = wanted & s.row_entries.in(base)[b];
    const uint32_t e = oldest_of(s, entries, hits != 0 ? hits : wanted);
    const uint32_t group = b >> p.group_shift;
    if (hits != 0) {
      at.column = later(s.col_ok.in(base)[b],
                        s.write_mode != 0 ? s.group_write_ok[group] : s.group_read_ok[group]);
    } else if (open) {
      at.precharge = s.pre_ok.in(base)[b];
    } else {
      at.activate = later(s.act_ok.in(base)[b], s.group_activate_ok[group]);
    }
    age = entries[e].order;
    s.chosen.in(base)[b] = static_cast<uint8_t>(e);
    if (kUnusual && p.general != 0 && !apply_constraints(p, s, base, b, at)) age = kNoCycle;
  }
  s.col_key.in(base)[b] = at.column;
  s.act_key.in(base)[b] = at.activate;
  s.pre_key.in(base)[b] = at.precharge;
  s.order_key.in(base)[b] = age;
}
NW_HD NW_CALLED void plan_unusual_bank(const VaultParams& p, const VaultState& s, std::byte* base,
                                       uint32_t b) {
  plan_bank_as<true>(p, s, base, b);
}
NW_HD NW_INLINE void plan_bank(const VaultParams& p, const VaultState& s, std::byte* base,
                               uint32_t b) {
  if ((p.in_order | p.general) != 0) return plan_unusual_bank(p, s, base, b);
  plan_bank_as<false>(p, s, base, b);
}

/// `keys` of a group's banks, none of which may be before cycle `ok` any more; those of banks that
/// wait for nothing stay.
NW_HD NW_INLINE void hold_group(const VaultParams& p, uint32_t* keys, uint32_t group, uint32_t ok) {
  const uint32_t banks = 1u << p.group_shift;
  for (uint32_t b = group * banks; b < (group + 1) * banks; ++b) keys[b] = later(keys[b], ok);
}
NW_HD NW_INLINE bool has_groups(const VaultParams& p, const VaultState& s) {
  return s.act_ok.count >> p.group_shift > 1;
}

/// Can the queue take `q`?
NW_HD NW_INLINE bool has_room(const VaultParams& p, const VaultState& s, const Packet& q) {
  const uint32_t all = population_count(s.valid), writes = population_count(s.writes);
  if (all == s.entries.count) return false;
  if (q.kind == PacketKind::kWrite) return writes < p.write_entries;
  // A read may be answered at once, from a write that waits.
  return all - writes < p.read_entries && (p.forward_writes == 0 || s.full_exits == 0);
}

/// The answer to a request.
struct VaultAnswer {
  PacketKind kind;
  uint32_t bytes;  ///< weight on the wire, header included
  Tick ready;      ///< when its data is there
};

/// Put the answer to `x` on its way. There is room.
NW_HD NW_INLINE void push_reply(const VaultParams& p, VaultState& s, std::byte* base,
                                const VaultEntry& x, const VaultAnswer& answer) {
  const uint32_t number = s.exit_of.count == 0 ? 0 : s.exit_of.in(base)[node_of(x.src)];
  VaultExit& exit = s.exits[number];
  uint32_t at = exit.head + exit.count;
  if (at >= exit.replies.count) at -= exit.replies.count;
  VaultReply& r = exit.replies.in(base)[at];
  exit.last_due = max_tick(exit.last_due, answer.ready + Tick{p.fixed_latency_cycles} * p.period);
  r.due = exit.last_due - p.reply_lead_ticks;
  r.arrived = x.arrived;
  r.line = x.line;
  r.tag = x.tag;
  r.sectors = x.sectors;
  r.dst = x.src;
  r.bytes = static_cast<uint16_t>(answer.bytes);
  r.kind = static_cast<uint32_t>(answer.kind);
  exit.count += 1;
  s.waiting_exits |= 1u << number;
  s.full_exits += exit.count == s.entries.count ? 1 : 0;
  s.counters.latency_ticks += exit.last_due - x.arrived;
}

/// Tell the stack's slice of a line that another stack has written; the exit has room for it beside
/// the acknowledgement.
NW_HD NW_INLINE void tell_slice(const VaultParams& p, VaultState& s, std::byte* base,
                                const VaultEntry& x, Tick now) {
  if (s.foreign.count == 0 || s.foreign.in(base)[node_of(x.src)] == 0) return;
  VaultEntry notice = x;
  notice.src = s.tells;
  push_reply(p, s, base, notice, {PacketKind::kLineWritten, p.header_bytes, now});
  s.counters.lines_told += 1;
}

/// Does a waiting write of bank `b` hold the whole line that `q` reads?
NW_HD NW_INLINE bool is_written(const VaultParams& p, const VaultState& s, const std::byte* base,
                                const Packet& q, uint32_t b) {
  const VaultEntry* entries = s.entries.in(base);
  for (uint64_t bits = s.bank_entries.in(base)[b] & s.writes; bits != 0; bits &= bits - 1) {
    const VaultEntry& x = entries[count_trailing_zeros(bits)];
    if (x.line == q.line && x.data_bytes >= p.line_bytes) return true;
  }
  return false;
}

/// Where a row takes any row buffer of its bank, of which `first` is the first: the one that has it
/// or in which requests wait for it, else the one that was wanted least recently.
NW_HD NW_APART inline uint32_t any_buffer(const VaultParams& p, VaultState& s, std::byte* base,
                                          uint32_t first, uint32_t row) {
  uint32_t* given = s.given_row.in(base);
  uint64_t* last = s.last_wanted.in(base);
  const VaultEntry* entries = s.entries.in(base);
  const uint32_t end = first + (1u << p.row_buffer_bits);
  uint32_t chosen = end;
  for (uint32_t b = first; b < end && chosen == end; ++b)
    if (last[b] != 0 && given[b] == row) chosen = b;
  for (uint32_t b = first; b < end && chosen == end; ++b)
    for (uint64_t m = s.bank_entries.in(base)[b]; m != 0; m &= m - 1)
      if (entries[count_trailing_zeros(m)].row == row) chosen = b;
  if (chosen == end) {
    chosen = first;
    for (uint32_t b = first + 1; b < end; ++b)
      if (last[b] < last[chosen]) chosen = b;
  }
  given[chosen] = row;
  last[chosen] = ++s.wanted;
  return chosen;
}

/// The bank (row buffer) and row of a line.
NW_HD NW_INLINE BankLocation locate(const VaultParams& p, VaultState& s, std::byte* base,
                                    LineAddr line) {
  BankLocation at =
      p.own_map != 0 ? p.channel_map.locate(line) : p.map.of(line, base).bank_of(line);
  at.bank <<= p.row_buffer_bits;
  if (p.any_row_buffer != 0) {
    at.bank = any_buffer(p, s, base, at.bank, at.row);
  } else {
    at.bank |= at.row & low_bits32(p.row_buffer_bits);
  }
  return at;
}

/// Answer a read from the waiting write of its line, in the next cycle.
NW_HD NW_CALLED void forward(const VaultParams& p, VaultState& s, std::byte* base, const Packet& q,
                             Tick now) {
  VaultEntry x;
  x.arrived = now;
  x.line = q.line;
  x.tag = q.tag;
  x.sectors = q.sectors;
  x.src = q.src;
  s.counters.forwarded_reads += 1;
  push_reply(p, s, base, x,
             {PacketKind::kReadReply, uint32_t{p.header_bytes} + p.line_bytes,
              max_tick(now + p.period, now + p.reply_lead_ticks)});
}

/// A request for `at` enters the queue, in which there is room; its entry.
NW_HD NW_INLINE uint32_t enter(const VaultParams& p, VaultState& s, std::byte* base,
                               const Packet& q, const BankLocation& at, Tick now) {
  const bool read = q.kind == PacketKind::kRead || q.kind == PacketKind::kReadNear;
  const uint32_t e = count_trailing_zeros(~s.valid);
  const uint64_t bit = uint64_t{1} << e;
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
  const bool whole = read && (p.sector_reads == 0 || sectors == 0);
  x.data_bytes =
      static_cast<uint16_t>(whole ? p.line_bytes : (sectors == 0 ? 1 : sectors) * p.sector_bytes);
  x.bank = static_cast<uint8_t>(at.bank);
  x.kind = static_cast<uint8_t>(q.kind);
  x.opened = 0;
  x.silent = q.kind == PacketKind::kWrite ? p.posted_writes : 0;
  x.older = static_cast<uint8_t>(s.youngest);
  x.younger = kNoEntry;
  if (s.youngest != kNoEntry) {
    entries[s.youngest].younger = static_cast<uint8_t>(e);
  } else {
    s.oldest = e;
    s.starves_at = starvation_of(p, now);
  }
  s.youngest = e;
  s.valid |= bit;
  if (q.kind == PacketKind::kWrite) s.writes |= bit;
  s.bank_entries.in(base)[at.bank] |= bit;
  s.waiting_banks |= uint64_t{1} << at.bank;
  const bool hit = (s.open_banks >> at.bank & 1) != 0 && s.open_row.in(base)[at.bank] == at.row;
  if (hit) s.row_entries.in(base)[at.bank] |= bit;
  // The youngest request changes a bank's plan only if there is none yet, or none for the open row.
  if (s.order_key.in(base)[at.bank] == kNoCycle ||
      (hit && s.col_key.in(base)[at.bank] == kNoCycle)) {
    plan_bank(p, s, base, at.bank);
  }
  return e;
}

/// Take a request into the queue. There is room, refreshes are caught up.
NW_HD NW_CALLED void accept(const VaultParams& p, VaultState& s, std::byte* base, Tick now,
                            Horizon& horizon) {
  Channel& in = *s.in.in(base);
  const Packet& q = front(in, base);
  s.counters.requests_in += 1;
  const bool read = q.kind == PacketKind::kRead || q.kind == PacketKind::kReadNear;
  if (!read && q.kind != PacketKind::kWrite && q.kind != PacketKind::kAtomic) {
    record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
    pop(in, base, now, horizon);
    return;
  }
  const BankLocation at = locate(p, s, base, q.line);
  (read                           ? s.counters.reads
   : q.kind == PacketKind::kWrite ? s.counters.writes
                                  : s.counters.atomics) += 1;
  if (p.forward_writes != 0 && q.kind == PacketKind::kRead && is_written(p, s, base, q, at.bank)) {
    forward(p, s, base, q, now);
    pop(in, base, now, horizon);
    return;
  }
  enter(p, s, base, q, at, now);
  pop(in, base, now, horizon);
}

/// Forget entry `e`.
NW_HD NW_INLINE void remove(const VaultParams& p, VaultState& s, std::byte* base, uint32_t e,
                            Tick now) {
  VaultEntry* entries = s.entries.in(base);
  const VaultEntry& x = entries[e];
  const uint64_t keep = ~(uint64_t{1} << e);
  if (x.older != kNoEntry) {
    entries[x.older].younger = x.younger;
  } else {
    s.oldest = x.younger;
    s.starving = kNoEntry;  // it has been the oldest, if any
    s.starves_at = x.younger != kNoEntry ? starvation_of(p, entries[x.younger].arrived) : kNever;
  }
  if (x.younger != kNoEntry) {
    entries[x.younger].older = x.older;
  } else {
    s.youngest = x.older;
  }
  s.valid &= keep;
  s.writes &= keep;
  uint64_t& of_bank = s.bank_entries.in(base)[x.bank];
  of_bank &= keep;
  if (of_bank == 0) s.waiting_banks &= ~(uint64_t{1} << x.bank);
  s.row_entries.in(base)[x.bank] &= keep;
  if (s.head == e) s.head = kNoEntry;
  s.counters.queue_ticks += now - x.arrived;
}

/// Bus, counters and row of a column command for `x`, alike for reads and writes.
NW_HD NW_INLINE void transfer(const VaultParams& p, VaultState& s, const VaultEntry& x, bool write,
                              Tick now) {
  const Tick took = bus_ticks(p, bus_bytes(p, x.data_bytes, write));
  Tick& bus_free = s.bus_free[x.bank >> p.bus_shift];
  const Tick start = max_tick(now + Tick{write ? p.tCWL : p.tCL} * p.period, bus_free);
  bus_free = start + took;
  s.bus_busy_cycles = bus_free / p.period;
  s.counters.bus_busy_ticks += took;
  s.counters.row_hits += x.opened == 0 ? 1 : 0;
  s.counters.row_misses += x.opened == 1 ? 1 : 0;
  s.counters.row_conflicts += x.opened > 1 ? 1 : 0;
}

/// The write of entry `e` in cycle `c`.
NW_HD NW_INLINE void issue_write(const VaultParams& p, VaultState& s, std::byte* base, uint32_t e,
                                 uint32_t c, Tick now) {
  VaultEntry& x = s.entries.in(base)[e];
  const uint32_t b = x.bank, group = b >> p.group_shift;
  const uint32_t end = relative(s, cycle_at_or_after(s.bus_free[b >> p.bus_shift], p.period));
  uint32_t* pre_ok = s.pre_ok.in(base) + b;
  *pre_ok = later(*pre_ok, end + p.tWR);
  s.read_ok = later(s.read_ok, later(c + p.tCCD, p.tWTR != 0 ? end + p.tWTR : 0));
  s.write_ok = later(s.write_ok, c + p.tCCD);
  if (has_groups(p, s)) {
    s.group_read_ok[group] =
        later(s.group_read_ok[group], later(c + p.tCCD_L, p.tWTR_L != 0 ? end + p.tWTR_L : 0));
    s.group_write_ok[group] = later(s.group_write_ok[group], c + p.tCCD_L);
  }
  s.counters.write_commands += 1;
  s.counters.data_bytes_written += x.data_bytes;
  if (x.silent == 0) push_reply(p, s, base, x, {PacketKind::kWriteAck, p.header_bytes, now});
  tell_slice(p, s, base, x, now);
  remove(p, s, base, e, now);
}

/// The read of entry `e` in cycle `c`.
NW_HD NW_INLINE void issue_read(const VaultParams& p, VaultState& s, std::byte* base, uint32_t e,
                                uint32_t c, Tick now) {
  VaultEntry& x = s.entries.in(base)[e];
  const uint32_t b = x.bank, group = b >> p.group_shift;
  uint32_t* pre_ok = s.pre_ok.in(base) + b;
  *pre_ok = later(*pre_ok, c + p.tRTP);
  s.read_ok = later(s.read_ok, c + p.tCCD);
  s.write_ok = later(s.write_ok, c + later(p.tCCD, p.tRTW));
  if (has_groups(p, s)) {
    s.group_read_ok[group] = later(s.group_read_ok[group], c + p.tCCD_L);
    s.group_write_ok[group] = later(s.group_write_ok[group], c + p.tCCD_L);
  }
  s.counters.read_commands += 1;
  s.counters.data_bytes_read += x.data_bytes;
  const bool atomic = x.kind == static_cast<uint8_t>(PacketKind::kAtomic);
  const bool near = x.kind == static_cast<uint8_t>(PacketKind::kReadNear);
  const Tick done = s.bus_free[b >> p.bus_shift];
  if (x.silent == 0)
    push_reply(p, s, base, x,
               {near     ? PacketKind::kNearReply
                : atomic ? PacketKind::kAtomicReply
                         : PacketKind::kReadReply,
                uint32_t{p.header_bytes} + (near ? 0 : x.data_bytes), done});
  if (near) {
    s.counters.near_reads += 1;
    s.counters.near_ticks += done - x.arrived;
  }
  if (atomic) {  // the entry stays, as the write of what was read
    x.silent = 1;
    x.opened = 0;
    s.writes |= uint64_t{1} << e;
    s.counters.atomic_writes += 1;
    if (s.head == e) s.head = kNoEntry;
  } else {
    remove(p, s, base, e, now);
  }
}

/// Read or write for entry `e` in cycle `c`.
NW_HD NW_CALLED void issue_column(const VaultParams& p, VaultState& s, std::byte* base, uint32_t e,
                                  uint32_t c, Tick now) {
  const VaultEntry& x = s.entries.in(base)[e];
  const uint32_t b = x.bank;
  const bool write = (s.writes >> e & 1) != 0;
  transfer(p, s, x, write, now);
  if (write) {
    issue_write(p, s, base, e, c, now);
  } else {
    issue_read(p, s, base, e, c, now);
  }
  if (p.closed_page != 0 && s.row_entries.in(base)[b] == 0) {  // with auto-precharge
    s.open_banks &= ~(uint64_t{1} << b);
    s.act_ok.in(base)[b] = later(s.act_ok.in(base)[b], s.pre_ok.in(base)[b] + p.tRP);
    s.counters.precharges += 1;
  }
  if (has_groups(p, s)) {
    const uint32_t group = b >> p.group_shift;
    hold_group(p, s.col_key.in(base), group,
               s.write_mode != 0 ? s.group_write_ok[group] : s.group_read_ok[group]);
  }
  if (p.general != 0) note_column(p, s, base, write, b, c);
  plan_bank(p, s, base, b);
}

/// Open the row of entry `e` in cycle `c`.
NW_HD NW_CALLED void issue_activate(const VaultParams& p, VaultState& s, std::byte* base,
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
  if (has_groups(p, s)) {
    const uint32_t group = b >> p.group_shift;
    s.group_activate_ok[group] = c + p.tRRD_L;
    hold_group(p, s.act_key.in(base), group, s.group_activate_ok[group]);
  }
  if (p.general != 0) note_row_command(p, s, base, DramCommand::kActivate, b, c);
  plan_bank(p, s, base, b);
}

/// Close bank `b` for entry `e` in cycle `c`.
NW_HD NW_CALLED void issue_precharge(const VaultParams& p, VaultState& s, std::byte* base,
                                     uint32_t e, uint32_t b, uint32_t c) {
  s.entries.in(base)[e].opened |= 2;
  s.open_banks &= ~(uint64_t{1} << b);
  s.row_entries.in(base)[b] = 0;
  s.act_ok.in(base)[b] = later(s.act_ok.in(base)[b], c + p.tRP);
  s.counters.precharges += 1;
  if (p.general != 0) note_row_command(p, s, base, DramCommand::kPrecharge, b, c);
  plan_bank(p, s, base, b);
}

}  // namespace vault_detail

}  // namespace nearwarp
