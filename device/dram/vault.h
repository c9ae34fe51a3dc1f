// One vault or memory channel: a controller and its DRAM banks behind a data bus (TSVs in a stack).
//
// FR-FCFS over a finite queue [Rixner et al., ISCA 2000]: among the commands that may issue in a
// cycle, column commands of open rows go first, oldest first, then activations and precharges,
// oldest first; a request that has waited longer than a bound goes before everything else. Or FCFS.
// Pages stay open, or close with the last access that anybody waits for. Writes are collected and
// drained between two watermarks. Refresh is all-bank.
//
// One command per command-clock cycle (or a row and a column command). The data bus (TSVs) is
// decoupled from the command clock: a transfer of n bytes takes n * ticks_per_byte, beginning when
// the column latency has passed and the bus is free; a column command issues only if that wait is
// less than one cycle, so the bus can be kept busy without a gap.
//
// Every bank keeps its next command and the cycle from which the bank allows it (`*_key`); they are
// recomputed only when something happens to the bank. Choosing a command is a minimum over banks.
#pragma once

#include "device/dram/vault_queue.h"

namespace nearwarp {

namespace vault_detail {

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
    plan_bank(p, s, base, b);
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
NW_HD NW_INLINE void rebase(const G& g, const VaultParams& p, VaultState& s, std::byte* base,
                            uint64_t cycle) {
  const uint64_t by = cycle - s.epoch;
  const auto moved = [by](uint32_t c) { return c > by ? static_cast<uint32_t>(c - by) : 0u; };
  g.leader([&] {
    s.epoch = cycle;
    s.read_ok = moved(s.read_ok);
    s.write_ok = moved(s.write_ok);
    s.activate_ok = moved(s.activate_ok);
    for (uint32_t i = 0; i < 4; ++i) s.activations[i] = moved(s.activations[i]);
    for (uint32_t i = 0; i < kMaxBankGroups; ++i) {
      s.group_read_ok[i] = moved(s.group_read_ok[i]);
      s.group_write_ok[i] = moved(s.group_write_ok[i]);
      s.group_activate_ok[i] = moved(s.group_activate_ok[i]);
    }
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
    plan_bank(p, s, base, b);
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
  uint32_t head = kNoEntry;
  if (p.in_order != 0) {
    const uint64_t own = mode != 0 ? s.writes : s.valid & ~s.writes;
    if (own != 0) head = oldest_of(s, s.entries.in(base), own);
  }
  if (starving == s.starving && mode == s.write_mode && head == s.head) return false;
  g.leader([&] {
    s.counters.starved += starving != s.starving ? 1 : 0;
    s.counters.turnarounds += mode != s.write_mode ? 1 : 0;
    s.starving = starving;
    s.write_mode = mode;
    s.head = head;
  });
  g.each_scalar(s.act_ok.count, [&](uint32_t b) { plan_bank(p, s, base, b); });
  return true;
}

/// Minimum and arg-min over banks. The customary numbers of banks get code of constant length.
template <class G, class F>
NW_HD NW_INLINE uint32_t bank_minimum(const G& g, uint32_t banks, F&& key) {
  if (banks == 16) return g.minimum(16, key);
  return banks == 8 ? g.minimum(8, key) : g.minimum(banks, key);
}
template <class G, class F>
NW_HD NW_INLINE uint32_t bank_arg_min(const G& g, uint32_t banks, F&& key) {
  if (banks == 16) return g.arg_min(16, key);
  return banks == 8 ? g.arg_min(8, key) : g.arg_min(banks, key);
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
  // A column command needs room for the reply that it causes, wherever that leaves.
  at.column =
      s.col_first == kNoCycle || s.full_exits != 0 ? kNoCycle : later(s.col_first, column_ok(p, s));
  at.activate = s.act_first == kNoCycle ? kNoCycle : later(s.act_first, s.activate_ok);
  at.precharge = s.pre_first;
  return at;
}

/// The command that bank `b` waits for, in cycle `c`. Leader only.
NW_HD NW_INLINE void issue_to(const VaultParams& p, VaultState& s, std::byte* base, uint32_t b,
                              uint32_t c, Tick now) {
  const uint32_t e = s.chosen.in(base)[b];
  if (s.col_key.in(base)[b] <= c) {
    issue_column(p, s, base, e, c, now);
  } else if (s.act_key.in(base)[b] <= c) {
    issue_activate(p, s, base, e, c);
  } else {
    issue_precharge(p, s, base, e, b, c);
  }
}

/// Issue what the command bus (both command buses) can take in cycle `c`; was there anything?
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
  uint32_t first = kNoLane, second = kNoLane;
  // A starving request's command goes before everything else.
  if (s.starving != kNoEntry) {
    const uint32_t own = s.entries.in(base)[s.starving].bank;
    if ((column && col[own] <= c) || (activate && act[own] <= c) || pre[own] <= c) first = own;
  }
  if (first == kNoLane && column) {
    first = bank_arg_min(g, banks, [&](uint32_t i) { return col[i] <= c ? order[i] : kNoCycle; });
  }
  const bool row_bus = first == kNoLane || (p.two_command_buses != 0 && col[first] <= c);
  if (row_bus && (activate || precharge)) {
    second = bank_arg_min(g, banks, [&](uint32_t i) {
      return (activate && act[i] <= c) || pre[i] <= c ? order[i] : kNoCycle;
    });
  }
  if (first == kNoLane && second == kNoLane) return false;
  g.leader([&] {
    if (first != kNoLane) issue_to(p, s, base, first, c, now);
    if (second != kNoLane) issue_to(p, s, base, second, c, now);
  });
  return true;
}

/// The next exit, after the last one, whose oldest reply can leave at `at`; kNoLane if there is
/// none.
NW_HD NW_INLINE uint32_t ready_exit(const VaultState& s, std::byte* base, Tick at) {
  uint32_t e = s.last_exit;
  for (uint32_t i = 0; i < s.num_exits; ++i) {
    e = e + 1 >= s.num_exits ? 0 : e + 1;
    const VaultExit& exit = s.exits[e];
    if (exit.count != 0 && exit.replies.in(base)[exit.head].due <= at &&
        can_send(*exit.out.in(base), base, at))
      return e;
  }
  return kNoLane;
}

/// Send the oldest reply of an exit. Leader only.
NW_HD NW_INLINE void send_reply(const VaultParams& p, VaultState& s, std::byte* base, uint32_t e,
                                Tick now, Horizon& horizon) {
  VaultExit& exit = s.exits[e];
  const VaultReply& r = exit.replies.in(base)[exit.head];
  Packet q;
  q.kind = static_cast<PacketKind>(r.kind);
  q.payload = r.arrived;
  q.line = r.line;
  q.tag = r.tag;
  q.sectors = r.sectors;
  q.src = p.endpoint;
  q.dst = r.dst;
  q.bytes = r.bytes;
  send(*exit.out.in(base), base, now, q, horizon);
  s.full_exits -= exit.count == exit.replies.count ? 1 : 0;
  exit.head = exit.head + 1 == exit.replies.count ? 0 : exit.head + 1;
  exit.count -= 1;
  s.last_exit = e;
  s.counters.replies_out += 1;
}

}  // namespace vault_detail

/// Step a vault or memory channel through a window.
///
/// Reads:  requests from `in`; sends replies to the exits, one per cycle.
/// State:  the queue, per bank the open row and the earliest cycle of each command.
/// Units:  times in ticks of the machine's base clock; `*_ok`, `*_key` in command-clock cycles.
/// Source: JESD79-3F (constraints between commands); FR-FCFS after Rixner et al., ISCA 2000.
template <class G>
NW_HD NW_APART StepResult step_vault(const G& g, const VaultParams& p, VaultState& s,
                                     std::byte* base, Window window, Horizon& horizon) {
  using namespace vault_detail;
  const Channel& in = *s.in.in(base);
  const Tick period = p.period;
  const uint32_t capacity = s.entries.count;
  uint64_t cycle = cycle_at_or_after(window.begin, p.period);  // from zero
  if (cycle - s.epoch > p.rebase_cycles) {
    rebase(g, p, s, base, cycle);
    find_first(g, s, base);
  }
  bool poll = false;

  // Can the packet at the head be taken in at `now`? It must have arrived by then.
  const auto acceptable = [&](Tick at) {
    return population_count(s.valid) < capacity && has_packet(in, base, at) &&
           has_room(p, s, front(in, base));
  };

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
    for (uint32_t e = 0; e < s.num_exits; ++e) {
      const VaultExit& exit = s.exits[e];
      if (exit.count == 0) continue;
      const Tick credit = credit_tick(*exit.out.in(base), base);
      poll |= credit >= kNever;
      tick = min_tick(tick, max_tick(exit.replies.in(base)[exit.head].due, credit));
    }
    if (population_count(s.valid) < capacity) {
      const Tick arrival = head_arrival(in, base);
      // One that waits in vain for its kind's part of the queue is nothing to wake up for.
      const bool refused =
          arrival <= from * period && arrival < window.end && !has_room(p, s, front(in, base));
      if (!refused) tick = min_tick(tick, arrival);
    }
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
    uint32_t exit = ready_exit(s, base, now);
    if (exit != kNoLane) g.leader([&] { send_reply(p, s, base, exit, now, horizon); });
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
    if (p.reply_lead_ticks != 0) {
      exit = ready_exit(s, base, now);
      if (exit != kNoLane) g.leader([&] { send_reply(p, s, base, exit, now, horizon); });
    }
    if (acceptable(now)) {
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

/// Lay out a vault. `banks`: as the map has them, a power of two; with their row buffers at
/// most 64. `queue_entries` at most 64.
template <class Allocator>
VaultState make_vault(Allocator& arena, const VaultParams& p, uint32_t banks,
                      uint32_t queue_entries, Ref<Channel> in, Ref<Channel> out) {
  banks <<= p.row_buffer_bits;
  NW_ASSERT(banks <= kMaxVaultBanks);
  NW_ASSERT(banks >> p.group_shift <= kMaxBankGroups);
  NW_ASSERT(queue_entries >= 1 && queue_entries <= kMaxVaultEntries);
  VaultState s;
  s.in = in;
  s.entries = arena.template allocate<VaultEntry>(queue_entries);
  s.exits[0].out = out;
  s.exits[0].replies = arena.template allocate<VaultReply>(queue_entries);
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
  for (uint32_t b = 0; b < banks; ++b) vault_detail::plan_bank(p, s, arena.base(), b);
  return s;
}

/// Give a vault that is not in the arena yet a further exit, which `exit_of` has to lead to.
/// Returns its number.
template <class Allocator>
uint32_t add_exit(Allocator& arena, VaultState& s, Ref<Channel> out) {
  NW_ASSERT(s.num_exits < kMaxVaultExits);
  VaultExit& exit = s.exits[s.num_exits];
  exit.out = out;
  exit.replies = arena.template allocate<VaultReply>(s.entries.count);
  return s.num_exits++;
}

}  // namespace nearwarp
