// A vault's refreshes: of all banks at once, or of parts of them in turn while the others go on.
//
// When a refresh of all falls due nothing else issues, open banks are closed together, and the
// channel goes on tRFC later. A part (a bank, banks alike in all groups, a rank) whose refresh is
// due takes no further command; its open banks are closed by a precharge each, and then it is
// refreshed, each on the command bus before anything else.
#pragma once

#include "device/dram/vault_queue.h"

namespace nearwarp {

namespace vault_detail {

/// Plan all banks anew. Banks without waiting requests have no plan.
NW_HD NW_RARE inline void plan_all(const VaultParams& p, const VaultState& s, std::byte* base) {
  lanes::each_bit(s.waiting_banks, [&](uint32_t b) { plan_bank(p, s, base, b); });
}

/// The cycle (from zero) in which the next refresh can begin: when it is due and every open bank
/// may be closed.
NW_HD NW_INLINE uint64_t refresh_cycle(const VaultParams& p, const VaultState& s, std::byte* base) {
  const uint32_t* pre_ok = s.pre_ok.in(base);
  const uint64_t open = s.open_banks;
  const uint32_t banks = s.pre_ok.count;
  // Maximum as the minimum of the complement.
  uint32_t closable = ~lanes::minimum(
      banks, [&](uint32_t b) { return (open >> b & 1) != 0 ? ~pre_ok[b] : kNoCycle; });
  if (p.general != 0)
    lanes::each_bit(open, [&](uint32_t b) {
      closable = later(closable, constraints_allow(p, s, base, DramCommand::kPrecharge, b));
    });
  // 0 stands for any time before `epoch`.
  const uint64_t when = open == 0 || closable == 0 ? 0 : s.epoch + closable;
  return when > s.refresh_at ? when : s.refresh_at;
}

/// Close all banks and refresh, beginning in cycle `when` (from zero).
NW_HD NW_RARE inline void refresh(const VaultParams& p, VaultState& s, std::byte* base,
                                  uint64_t when) {
  uint32_t* act_ok = s.act_ok.in(base);
  const uint32_t banks = s.act_ok.count;
  const uint32_t open = population_count(s.open_banks);
  const uint32_t idle = ~lanes::minimum(banks, [&](uint32_t b) { return ~act_ok[b]; });
  uint64_t begin = when + (open != 0 ? p.tRP : 0);
  if (idle != 0 && s.epoch + idle > begin) begin = s.epoch + idle;
  const uint32_t ready = relative(s, begin + p.tRFC);
  s.counters.precharges += open;
  s.counters.refreshes += 1;
  s.open_banks = 0;
  s.refresh_at += p.tREFI;
  lanes::each_scalar(banks, [&](uint32_t b) {
    act_ok[b] = ready;
    s.row_entries.in(base)[b] = 0;
  });
  plan_all(p, s, base);
}

/// The banks of the part that is refreshed next.
NW_HD NW_INLINE uint64_t next_part(const VaultParams& p, const VaultState& s) {
  const DramRefresh& r = p.refresh;
  return r.banks << (s.refresh_part % r.inner * r.step + s.refresh_part / r.inner * r.outer);
}

/// The cycle (from `epoch`) in which the part whose refresh is due can have its next command: a
/// precharge of `bank`, or if none is open the refresh itself, `bank` is ~0 then.
NW_HD NW_RARE inline uint32_t part_cycle(const VaultParams& p, const VaultState& s, std::byte* base,
                                         uint32_t& bank) {
  const uint64_t open = s.open_banks & s.refreshing;
  uint32_t first = kNoCycle, idle = 0;
  bank = ~0u;
  lanes::each_bit(s.refreshing, [&](uint32_t b) {
    if ((open >> b & 1) != 0) {
      const uint32_t at =
          later(s.pre_ok.in(base)[b], constraints_allow(p, s, base, DramCommand::kPrecharge, b));
      if (at < first) bank = b;
      first = at < first ? at : first;
    } else {
      idle = later(idle, s.act_ok.in(base)[b]);
      idle = later(idle, constraints_allow(p, s, base, DramCommand::kRefresh, b));
    }
  });
  return open != 0 ? first : idle;
}

/// When (from zero) a part's refresh has something to do, at most `command`.
NW_HD NW_RARE inline uint64_t before_refresh(const VaultParams& p, const VaultState& s,
                                             std::byte* base, uint64_t command) {
  uint32_t ignored = 0;
  const uint64_t own = s.refreshing == 0 ? s.refresh_at : s.epoch + part_cycle(p, s, base, ignored);
  return own < command ? own : command;
}

/// The refresh of the banks `part` in cycle `c`.
NW_HD NW_INLINE void end_refresh_of(const VaultParams& p, VaultState& s, std::byte* base,
                                    uint64_t part, uint32_t c) {
  lanes::each_bit(part, [&](uint32_t b) {
    uint32_t* act_ok = s.act_ok.in(base) + b;
    *act_ok = later(*act_ok, c + p.tRFC);
    note(p, s, base, DramCommand::kRefresh, b, c);
  });
  s.counters.refreshes += 1;
  s.refreshing = 0;
  s.refresh_part = s.refresh_part + 1 == p.refresh.parts ? 0 : s.refresh_part + 1;
  s.refresh_at += p.tREFI;
}

/// The precharge of bank `b` for a refresh, in cycle `c`.
NW_HD NW_INLINE void close_for_refresh(const VaultParams& p, VaultState& s, std::byte* base,
                                       uint32_t b, uint32_t c) {
  uint32_t* act_ok = s.act_ok.in(base) + b;
  *act_ok = later(*act_ok, c + p.tRP);
  s.open_banks &= ~(uint64_t{1} << b);
  s.row_entries.in(base)[b] = 0;
  s.counters.precharges += 1;
  s.closed_by = s.epoch + c + 1;
  note(p, s, base, DramCommand::kPrecharge, b, c);
}

/// A part's refresh is due in cycle `c` (from `epoch`): its banks take no other command, open ones
/// are closed, and it is refreshed, each as soon as it may be. Was there a command?
NW_HD NW_RARE inline bool refresh_part(const VaultParams& p, VaultState& s, std::byte* base,
                                       uint32_t c) {
  if (s.refreshing == 0) {
    s.refreshing = next_part(p, s);
    lanes::each_bit(s.refreshing & s.waiting_banks, [&](uint32_t b) { plan_bank(p, s, base, b); });
  }
  uint32_t bank = 0;
  if (part_cycle(p, s, base, bank) > c) return false;
  if (bank != ~0u) {
    close_for_refresh(p, s, base, bank, c);
  } else {
    end_refresh_of(p, s, base, s.refreshing, c);
    plan_all(p, s, base);
  }
  return true;
}

/// Parts' refreshes that fell due while the queue was empty, up to cycle `now` (from zero).
NW_HD NW_RARE inline void catch_up_parts(const VaultParams& p, VaultState& s, std::byte* base,
                                         uint64_t now) {
  while (s.refresh_at <= now) {
    s.refreshing = s.refreshing != 0 ? s.refreshing : next_part(p, s);
    const uint64_t part = s.refreshing;
    uint32_t c = 0, bank = 0;
    while (true) {  // a precharge a cycle
      c = relative(s, s.closed_by > s.refresh_at ? s.closed_by : s.refresh_at);
      if ((s.open_banks & part) == 0) break;
      c = later(c, part_cycle(p, s, base, bank));
      if (s.epoch + c > now) return;
      close_for_refresh(p, s, base, bank, c);
    }
    c = later(c, part_cycle(p, s, base, bank));
    end_refresh_of(p, s, base, part, c);
    // Once nothing is open all but the last of each part are alike.
    const uint64_t ahead = uint64_t{p.refresh.parts + 1u} * p.tREFI;
    if (s.open_banks == 0 && s.refresh_at + ahead <= now) {
      const uint64_t skipped = (now - s.refresh_at - ahead) / p.tREFI + 1;
      s.counters.refreshes += skipped;
      s.refresh_part = static_cast<uint32_t>((s.refresh_part + skipped) % p.refresh.parts);
      s.refresh_at += skipped * p.tREFI;
    }
  }
}

/// Do the refreshes that fell due while the queue was empty, up to cycle `now` (from zero).
NW_HD NW_RARE inline void catch_up_refreshes(const VaultParams& p, VaultState& s, std::byte* base,
                                             uint64_t now) {
  if (p.tREFI == 0) return;
  if (p.refresh.parts > 1) return catch_up_parts(p, s, base, now);
  while (s.refresh_at <= now) {
    const uint64_t when = refresh_cycle(p, s, base);
    if (when > now) return;
    refresh(p, s, base, when);
    if (s.refresh_at + p.tREFI <= now) {  // nothing is open any more: all but the last are alike
      const uint64_t skipped = (now - s.refresh_at) / p.tREFI;
      s.counters.refreshes += skipped;
      s.refresh_at += skipped * p.tREFI;
    }
  }
}

}  // namespace vault_detail

}  // namespace nearwarp
