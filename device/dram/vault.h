// One vault or memory channel: a controller and its DRAM banks behind a data bus (TSVs in a stack).
//
// FR-FCFS over a finite queue [Rixner et al., ISCA 2000]: among the commands that may issue in a
// cycle, column commands of open rows go first, oldest first, then activations and precharges,
// oldest first; a request that has waited longer than a bound goes before everything else. Or FCFS.
// Pages stay open, or close with the last access of those that wait. Writes are collected and
// drained between two watermarks. Refresh: device/dram/vault_refresh.h.
//
// One command per command-clock cycle (or a row and a column command). The data bus (TSVs) is
// decoupled from the command clock: a transfer of n bytes takes n * ticks_per_byte, beginning when
// the column latency has passed and the bus is free; a column command issues only if that wait is
// less than one cycle, so the bus can be kept busy without a gap.
//
// Every bank keeps its next command and the cycle from which the bank allows it (`*_key`); they are
// recomputed only when something happens to the bank. Choosing a command is a minimum over banks.
#pragma once

#include "device/core/lanes.h"
#include "device/dram/vault_mechanisms.h"
#include "device/dram/vault_refresh.h"

namespace nearwarp {

namespace vault_detail {

/// Bring the cycle counters back to zero so that they fit 32 bits for ever.
NW_HD NW_RARE inline void rebase(const VaultParams& p, VaultState& s, std::byte* base,
                                 uint64_t cycle) {
  const uint64_t by = cycle - s.epoch;
  // Refreshes of parts that an empty queue has missed are counted from the epoch that they lie in.
  if (p.refresh.parts > 1 && s.valid == 0) catch_up_refreshes(p, s, base, cycle);
  const auto moved = [by](uint32_t c) { return c > by ? static_cast<uint32_t>(c - by) : 0u; };
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
  const auto move_all = [&](Ref<uint32_t> cycles) {
    lanes::each_scalar(cycles.count,
                       [&](uint32_t i) { cycles.in(base)[i] = moved(cycles.in(base)[i]); });
  };
  move_all(s.row_ok);
  move_all(s.windows);
  s.next_order = 0;
  VaultEntry* entries = s.entries.in(base);
  for (uint32_t e = s.oldest; e != kNoEntry; e = entries[e].younger) {
    entries[e].order = s.next_order++;
  }
  lanes::each_scalar(s.act_ok.count, [&](uint32_t b) {
    s.act_ok.in(base)[b] = moved(s.act_ok.in(base)[b]);
    s.col_ok.in(base)[b] = moved(s.col_ok.in(base)[b]);
    s.pre_ok.in(base)[b] = moved(s.pre_ok.in(base)[b]);
  });
  plan_all(p, s, base);
}

/// Choose between reading and writing, and see whether a request starves, as of `now`. Depends only
/// on the queue and the time, so it may be asked as often as one likes.
NW_HD NW_INLINE void settle(const VaultParams& p, VaultState& s, std::byte* base, Tick now) {
  const uint32_t starving = s.starves_at <= now ? s.oldest : s.starving;
  const uint32_t writes = population_count(s.writes);
  const bool any_read = s.valid != s.writes;
  uint32_t mode = s.write_mode;
  if (starving != kNoEntry) {
    mode = static_cast<uint32_t>(s.writes >> starving & 1);
  } else if (mode == 0) {
    if (writes >= p.write_high || (!any_read && writes != 0)) mode = 1;
  } else {
    if (any_read && writes <= p.write_low) mode = 0;
  }
  uint32_t head = kNoEntry;
  if (p.in_order != 0) {
    const uint64_t own = mode != 0 ? s.writes : s.valid & ~s.writes;
    if (own != 0) head = oldest_of(s, s.entries.in(base), own);
  }
  if (starving == s.starving && mode == s.write_mode && head == s.head) return;
  s.counters.starved += starving != s.starving ? 1 : 0;
  s.counters.turnarounds += mode != s.write_mode ? 1 : 0;
  s.starving = starving;
  if (starving != kNoEntry) s.starves_at = kNever;
  s.write_mode = mode;
  s.head = head;
  plan_all(p, s, base);
}

/// Minimum and arg-min over banks. The customary numbers of banks get code of constant length.
template <class F>
NW_HD NW_INLINE uint32_t bank_minimum(uint32_t banks, F&& key) {
  if (banks == 16) return lanes::minimum(16, key);
  return banks == 8 ? lanes::minimum(8, key) : lanes::minimum(banks, key);
}
template <class F>
NW_HD NW_INLINE uint32_t bank_arg_min(uint32_t banks, F&& key) {
  if (banks == 16) return lanes::arg_min(16, key);
  return banks == 8 ? lanes::arg_min(8, key) : lanes::arg_min(banks, key);
}

/// VaultState::commands.
NW_HD NW_INLINE VaultCommands earliest(const VaultParams& p, const VaultState& s, std::byte* base) {
  const uint32_t* col = s.col_key.in(base);
  const uint32_t* act = s.act_key.in(base);
  const uint32_t* pre = s.pre_key.in(base);
  VaultCommands at;
  if (!has_several(s.waiting_banks)) {  // often only one request waits
    const uint32_t b = count_trailing_zeros(s.waiting_banks);
    at.column = col[b];
    at.activate = act[b];
    at.precharge = pre[b];
  } else {
    const uint32_t banks = s.act_ok.count;
    at.column = bank_minimum(banks, [&](uint32_t b) { return col[b]; });
    at.activate = bank_minimum(banks, [&](uint32_t b) { return act[b]; });
    at.precharge = bank_minimum(banks, [&](uint32_t b) { return pre[b]; });
  }
  // A column command needs room for the reply that it causes, wherever that leaves.
  if (s.full_exits != 0) at.column = kNoCycle;
  at.column = later(at.column, column_ok(p, s));  // kNoCycle stays it
  at.activate = later(at.activate, s.activate_ok);
  return at;
}

/// Agenda: a vault's next work, and when. Ticks before the window's end are the same in all lanes.
struct Agenda {
  VaultCommands commands;
  uint64_t command;  ///< cycle (from zero) of the next DRAM command or refresh
  Tick reply;        ///< some exit's oldest reply can leave
  Tick arrival;      ///< the next request arrives, and there is room for it
};

/// Look for the next command, in cycle `from` (from zero) or later.
NW_HD NW_INLINE void plan_command(const VaultParams& p, const VaultState& s, std::byte* base,
                                  uint64_t from, Agenda& next) {
  next.command = kNoEvent;
  if (s.valid == 0) return;
  const VaultCommands at = next.commands = earliest(p, s, base);
  const uint32_t row = at.activate < at.precharge ? at.activate : at.precharge;
  const uint32_t first = at.column < row ? at.column : row;
  uint64_t command = first != kNoCycle ? s.epoch + first : kNoEvent;
  if (command < from) command = from;
  if (p.tREFI != 0 && s.refresh_at <= command) {  // first of all, and nothing goes before it
    command = p.refresh.parts > 1 ? before_refresh(p, s, base, command) : refresh_cycle(p, s, base);
    if (command < from) command = from;
  }
  next.command = command;
}

/// When the oldest reply of an exit can leave. `poll`: is the exit's credit not known?
NW_HD NW_INLINE Tick reply_of(const VaultExit& exit, std::byte* base, bool& poll) {
  const Tick ready = send_tick(*exit.out.in(base), base);
  poll |= ready >= kNever;
  return max_tick(exit.replies.in(base)[exit.head].due, ready);
}
/// When the next reply can leave.
NW_HD NW_INLINE Tick next_reply(const VaultState& s, std::byte* base, bool& poll) {
  Tick next = kNever;
  poll = false;
  for (uint32_t bits = s.waiting_exits; bits != 0; bits &= bits - 1)
    next = min_tick(next, reply_of(s.exits[count_trailing_zeros(bits)], base, poll));
  return next;
}

/// When a request can be taken in; kNever if there is no room for the next one. Whether there is
/// room matters only within the window.
NW_HD NW_INLINE Tick next_arrival(const VaultParams& p, const VaultState& s, const Channel& in,
                                  std::byte* base, Tick window_end) {
  if (population_count(s.valid) == s.entries.count) return kNever;
  const Tick arrival = head_arrival(in, base);
  return arrival < window_end && !has_room(p, s, front(in, base)) ? kNever : arrival;
}

/// The cycle, `from` or later, in which something happens.
NW_HD NW_INLINE uint64_t next_cycle(const VaultState& s, const Agenda& next, uint64_t from,
                                    uint32_t period) {
  const Tick tick = min_tick(min_tick(next.reply, next.arrival), s.starves_at);
  if (tick > (next.command - 1) * period) return next.command;
  return tick <= from * period ? from : cycle_at_or_after(tick, period);
}

/// The command that bank `b` waits for, in cycle `c`.
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

/// Issue what the command bus (both command buses) can take in cycle `c`, in which there is
/// something; was there a column command?
NW_HD NW_INLINE bool issue(const VaultParams& p, VaultState& s, std::byte* base,
                           const VaultCommands& at, uint32_t c, Tick now) {
  const uint32_t banks = s.act_ok.count;
  const uint32_t* col = s.col_key.in(base);
  const uint32_t* act = s.act_key.in(base);
  const uint32_t* pre = s.pre_key.in(base);
  const uint32_t* order = s.order_key.in(base);
  const bool column = at.column <= c, activate = at.activate <= c, precharge = at.precharge <= c;
  uint32_t first = kNoLane, second = kNoLane;
  // A starving request's command goes before everything else; where only one bank waits, there is
  // nothing else.
  if (s.starving != kNoEntry || !has_several(s.waiting_banks)) {
    const uint32_t own = s.starving != kNoEntry ? s.entries.in(base)[s.starving].bank
                                                : count_trailing_zeros(s.waiting_banks);
    if ((column && col[own] <= c) || (activate && act[own] <= c) || (precharge && pre[own] <= c))
      first = own;
  }
  if (first == kNoLane && column) {
    first = bank_arg_min(banks, [&](uint32_t i) { return col[i] <= c ? order[i] : kNoCycle; });
  }
  const bool has_column = first != kNoLane && col[first] <= c;
  const bool row_bus = first == kNoLane || (p.two_command_buses != 0 && has_column);
  if (row_bus && (activate || precharge)) {
    // Without branches, for the sake of compilers that make vectors of it.
    const uint32_t activate_before = activate ? c + 1 : 0;
    second = bank_arg_min(banks, [&](uint32_t i) {
      const bool now_due = (act[i] < activate_before) | (pre[i] <= c);
      return now_due ? order[i] : kNoCycle;
    });
  }
  if (first != kNoLane) issue_to(p, s, base, first, c, now);
  if (second != kNoLane) issue_to(p, s, base, second, c, now);
  return has_column;
}

/// A refresh is due in cycle `cycle`, or under way: do what it asks for. True if nothing else may
/// issue in the cycle; `at` is what else may.
NW_HD NW_RARE inline bool refresh_now(const VaultParams& p, VaultState& s, std::byte* base,
                                      uint64_t cycle, VaultCommands& at) {
  if (p.refresh.parts <= 1) {
    refresh(p, s, base, refresh_cycle(p, s, base));
    return true;
  }
  const bool issued = refresh_part(p, s, base, static_cast<uint32_t>(cycle - s.epoch));
  at = earliest(p, s, base);
  if (issued) at.activate = at.precharge = kNoCycle;
  if (issued && p.two_command_buses == 0) at.column = kNoCycle;
  return false;
}

/// The next exit, after the last one, whose oldest reply can leave at `at`; there is one.
NW_HD NW_INLINE uint32_t ready_exit(const VaultState& s, std::byte* base, Tick at) {
  uint32_t left = s.waiting_exits;
  while (true) {
    const uint32_t after = left & ~((2u << s.last_exit) - 1);
    const uint32_t e = count_trailing_zeros(after != 0 ? after : left);
    left &= ~(1u << e);
    bool ignored = false;
    if (left == 0 || reply_of(s.exits[e], base, ignored) <= at) return e;
  }
}

/// Send the oldest reply of the next exit that can send one.
NW_HD NW_CALLED void send_reply(const VaultParams& p, VaultState& s, std::byte* base, Tick now,
                                Horizon& horizon) {
  const uint32_t e = ready_exit(s, base, now);
  VaultExit& exit = s.exits[e];
  const VaultReply& r = exit.replies.in(base)[exit.head];
  Packet q;
  q.kind = static_cast<PacketKind>(r.kind);
  q.taken_in() = r.arrived;
  q.line = r.line;
  q.tag = r.tag;
  q.sectors = r.sectors;
  q.src = p.endpoint;
  q.dst = r.dst;
  q.bytes = r.bytes;
  send(*exit.out.in(base), base, now, q, horizon);
  s.full_exits -= exit.count == s.entries.count ? 1 : 0;
  exit.head = exit.head + 1 == exit.replies.count ? 0 : exit.head + 1;
  exit.count -= 1;
  if (exit.count == 0) s.waiting_exits &= ~(1u << e);
  s.last_exit = e;
  s.counters.replies_out += 1;
}

/// step_vault(). `List`: the mechanisms that may be attached to it.
template <class List>
NW_HD NW_INLINE StepResult step(const VaultParams& p, VaultState& s, std::byte* base, Window window,
                                Horizon& horizon) {
  constexpr bool kHooks = memory_hooks::any<vault::View<List>>(List());
  [[maybe_unused]] vault::View<List> view{p, s, base, horizon};
  const Channel& in = *s.in.in(base);
  uint64_t cycle = cycle_at_or_after(window.begin, p.period);  // from zero
  bool poll = false;
  Agenda next;
  next.reply = next_reply(s, base, poll);
  next.arrival = next_arrival(p, s, in, base, window.end);
  next.commands = s.commands;
  next.command = s.command;
  if (cycle - s.epoch > p.rebase_cycles) {
    rebase(p, s, base, cycle);
    plan_command(p, s, base, cycle, next);
  }
  Tick now = 0;
  // One reply. If there was no room for another one, commands and requests have waited for that.
  const auto reply = [&](Tick at) {
    const bool full = s.full_exits != 0;
    send_reply(p, s, base, at, horizon);
    next.reply = next_reply(s, base, poll);
    if (full) next.arrival = next_arrival(p, s, in, base, window.end);
    return full;
  };

  while (true) {
    [[maybe_unused]] const uint64_t own = kHooks ? next_of_mechanisms(view, cycle) : kNoEvent;
    cycle = next_cycle(s, next, cycle, p.period);
    if constexpr (kHooks) cycle = own < cycle ? own : cycle;
    now = cycle * p.period;
    if (now >= window.end) break;
    bool issued = false, queue_changed = false;
    if (s.starves_at <= now) {
      settle(p, s, base, now);
      plan_command(p, s, base, cycle, next);
    }
    if (next.reply <= now && reply(now)) plan_command(p, s, base, cycle, next);
    if constexpr (kHooks) {
      memory_hooks::step(view, now);
      if (reply_for_mechanism(view, now)) {
        next.reply = next_reply(s, base, poll);
        next.arrival = next_arrival(p, s, in, base, window.end);
        plan_command(p, s, base, cycle, next);
      }
    }
    if (next.command <= cycle) {
      issued = true;
      const bool due = p.tREFI != 0 && s.refresh_at <= cycle;
      const bool all = due && refresh_now(p, s, base, cycle, next.commands);
      if (!all && issue(p, s, base, next.commands, static_cast<uint32_t>(cycle - s.epoch), now)) {
        queue_changed = true;
        if constexpr (kHooks) tell_mechanism(view, now);
        next.reply = next_reply(s, base, poll);
        next.arrival = next_arrival(p, s, in, base, window.end);
      }
    }
    if (p.reply_lead_ticks != 0 && next.reply <= now) issued |= reply(now);
    if (kHooks ? take_with_mechanisms(view, next.arrival <= now, cycle, now)
               : next.arrival <= now) {
      if constexpr (!kHooks) {
        if (s.valid == 0) catch_up_refreshes(p, s, base, cycle);
        accept(p, s, base, now, horizon);
      }
      queue_changed = true;
      if (p.forward_writes != 0) next.reply = next_reply(s, base, poll);
      next.arrival = next_arrival(p, s, in, base, window.end);
    }
    cycle += 1;
    if (queue_changed) settle(p, s, base, now + p.period);
    if (queue_changed || issued) plan_command(p, s, base, cycle, next);
  }

  s.commands = next.commands;
  s.command = next.command;
  StepResult result;
  result.poll = poll;
  result.wake = cycle < kNoEvent ? now : kNever;
  return result;
}

}  // namespace vault_detail

/// Step a vault or memory channel through a window.
///
/// Reads:  requests from `in`; sends replies to the exits, one per cycle.
/// State:  the queue, per bank the open row and the earliest cycle of each command.
/// Units:  times in ticks of the machine's base clock; `*_ok`, `*_key` in command-clock cycles.
/// Source: JESD79-3F (constraints between commands); FR-FCFS after Rixner et al., ISCA 2000.
template <class List = NoMechanisms>
NW_HD NW_APART inline StepResult step_vault(const VaultParams& p, VaultState& s, std::byte* base,
                                            Window window, Horizon& horizon) {
  if constexpr (memory_hooks::any<vault::View<List>>(List())) {
    if (s.attached.bits != 0) return vault_detail::step<List>(p, s, base, window, horizon);
  }
  return vault_detail::step<NoMechanisms>(p, s, base, window, horizon);
}

/// Bring the refresh count of an idle vault up to `now`, for a report.
NW_HD inline void finish_vault(const VaultParams& p, VaultState& s, std::byte* base, Tick now) {
  if (s.valid == 0) vault_detail::catch_up_refreshes(p, s, base, now / p.period);
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
  NW_ASSERT(p.write_low < p.write_high);  // else either mode asks for the other
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
  if (p.any_row_buffer != 0) {
    s.given_row = arena.template allocate<uint32_t>(banks);
    s.last_wanted = arena.template allocate<uint64_t>(banks);
  }
  if (p.general != 0) {
    s.row_ok = arena.template allocate<uint32_t>(kDramTargets * kDramScopes * kMaxVaultBanks);
    s.windows = arena.template allocate<uint32_t>(4 * kMaxDramWindows);
    s.oldest_in_window = arena.template allocate<uint32_t>(kMaxDramWindows);
  }
  s.refresh_at = p.tREFI;
  for (uint32_t b = 0; b < banks; ++b) vault_detail::plan_bank(p, s, arena.base(), b);
  return s;
}

/// A vault that is not in the arena yet tells the L2 slice `slice` of every line that an endpoint
/// of `foreign` (by endpoint: 1) writes. It has one exit.
template <class Allocator>
void tell_of_writes(Allocator& arena, VaultState& s, Endpoint slice, Ref<uint8_t> foreign) {
  NW_ASSERT(s.num_exits == 1);
  s.tells = slice;
  s.foreign = foreign;
  s.exits[0].replies = arena.template allocate<VaultReply>(s.entries.count + 1);
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
