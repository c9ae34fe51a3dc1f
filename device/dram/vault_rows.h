// Constraints of a standard that are rows (device/dram/constraints.h): a command holds others back
// within its scope. Vaults whose constraints all have fields of VaultParams do not come here.
#pragma once

#include "device/core/lanes.h"
#include "device/dram/vault_state.h"

namespace nearwarp {

namespace vault_detail {

inline constexpr uint32_t kNoCycle = 0xffffffffu;

NW_HD NW_INLINE uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

/// Cycle, from `epoch`, of an absolute cycle (0 if it lies before).
NW_HD NW_INLINE uint32_t relative(const VaultState& s, uint64_t cycle) {
  return cycle > s.epoch ? static_cast<uint32_t>(cycle - s.epoch) : 0;
}

/// The earliest cycle of command `to` in part `part` of a scope.
NW_HD NW_INLINE uint32_t& row_ok(const VaultState& s, std::byte* base, DramCommand to,
                                 DramScope scope, uint32_t part) {
  const uint32_t list = static_cast<uint32_t>(to) * kDramScopes + static_cast<uint32_t>(scope);
  return s.row_ok.in(base)[list * kMaxVaultBanks + part];
}

/// The earliest cycle in which rows allow bank `b` a command.
NW_HD NW_INLINE uint32_t rows_allow(const VaultParams& p, const VaultState& s, std::byte* base,
                                    DramCommand to, uint32_t b) {
  uint32_t at = 0;
  for (uint32_t bits = p.rows.scopes[static_cast<uint32_t>(to)]; bits != 0; bits &= bits - 1) {
    const uint32_t scope = count_trailing_zeros(bits);
    at = later(at, row_ok(s, base, to, static_cast<DramScope>(scope), b >> p.rows.shift[scope]));
  }
  return at;
}

/// Put off what bank `b` waits for until rows allow it, kNoCycle stays; false, and nothing, if its
/// refresh is due.
NW_HD NW_INLINE bool rows_hold(const VaultParams& p, const VaultState& s, std::byte* base,
                               uint32_t b, uint32_t& col, uint32_t& act, uint32_t& pre) {
  if ((s.refreshing >> b & 1) != 0) {
    col = act = pre = kNoCycle;
    return false;
  }
  const DramCommand column = s.write_mode != 0 ? DramCommand::kWrite : DramCommand::kRead;
  if (col != kNoCycle) col = later(col, rows_allow(p, s, base, column, b));
  if (act != kNoCycle) act = later(act, rows_allow(p, s, base, DramCommand::kActivate, b));
  if (pre != kNoCycle) pre = later(pre, rows_allow(p, s, base, DramCommand::kPrecharge, b));
  return true;
}

/// The cycles that banks wait for with command `to`; none if nobody can wait for it now.
NW_HD NW_INLINE uint32_t* keys_of(const VaultState& s, std::byte* base, DramCommand to) {
  if (to == DramCommand::kActivate) return s.act_key.in(base);
  if (to == DramCommand::kPrecharge) return s.pre_key.in(base);
  const DramCommand column = s.write_mode != 0 ? DramCommand::kWrite : DramCommand::kRead;
  return to == column ? s.col_key.in(base) : nullptr;
}

/// In part `part` of a scope `to` may not come before cycle `c`.
NW_HD NW_INLINE void put_off(const VaultParams& p, const VaultState& s, std::byte* base,
                             DramCommand to, DramScope scope, uint32_t part, uint32_t c) {
  uint32_t& ok = row_ok(s, base, to, scope, part);
  ok = later(ok, c);
  uint32_t* const keys = keys_of(s, base, to);
  if (keys == nullptr) return;
  const uint32_t shift = p.rows.shift[static_cast<uint32_t>(scope)];
  const uint64_t banks = shift >= 6 ? ~uint64_t{0} : low_bits(1u << shift) << (part << shift);
  lanes::each_bit(banks & s.waiting_banks & ~s.refreshing,
                  [&](uint32_t b) { keys[b] = later(keys[b], c); });
}

/// The effect of the rows from a command (or the end of a write's data) in cycle `c`.
NW_HD NW_INLINE void note(const VaultParams& p, const VaultState& s, std::byte* base,
                          DramCommand from, uint32_t b, uint32_t c) {
  const uint32_t rank_shift = p.rows.shift[static_cast<uint32_t>(DramScope::kRank)];
  for (uint32_t i = 0; i < p.rows.count; ++i) {
    const DramRow& row = p.rows.row[i];
    if (row.from != from) continue;
    const uint32_t part = b >> p.rows.shift[static_cast<uint32_t>(row.scope)];
    if (row.others == 0) {
      put_off(p, s, base, row.to, row.scope, part, c + row.cycles);
      continue;
    }
    // Ranks of other pseudo channels have other data lines.
    const uint32_t channel_shift = p.rows.shift[static_cast<uint32_t>(DramScope::kPseudoChannel)];
    for (uint32_t r = 0; r < s.act_ok.count >> rank_shift; ++r) {
      if (r == part || (r << rank_shift) >> channel_shift != b >> channel_shift) continue;
      put_off(p, s, base, row.to, row.scope, r, c + row.cycles);
    }
  }
}

/// A fifth activation waits until the window after the first of the last four.
NW_HD NW_INLINE void note_window(const VaultParams& p, const VaultState& s, std::byte* base,
                                 uint32_t b, uint32_t c) {
  const uint32_t part = b >> p.rows.shift[static_cast<uint32_t>(p.rows.window_scope)];
  uint32_t* last = s.windows.in(base) + part * 4;
  uint32_t& oldest = s.oldest_in_window.in(base)[part];
  last[oldest] = c + p.rows.window_cycles;
  oldest = (oldest + 1) % 4;
  put_off(p, s, base, DramCommand::kActivate, p.rows.window_scope, part, last[oldest]);
}

/// Activation or precharge of bank `b` in cycle `c`.
NW_HD NW_CALLED void note_row_command(const VaultParams& p, const VaultState& s, std::byte* base,
                                      DramCommand command, uint32_t b, uint32_t c) {
  note(p, s, base, command, b, c);
  if (command == DramCommand::kActivate && p.rows.window_cycles != 0) note_window(p, s, base, b, c);
}

/// Read or write of bank `b` in cycle `c`, whose data have been given their time on the bus.
NW_HD NW_CALLED void note_column(const VaultParams& p, VaultState& s, std::byte* base, bool write,
                                 uint32_t b, uint32_t c) {
  const uint32_t bus = b >> p.bus_shift;
  note(p, s, base, write ? DramCommand::kWrite : DramCommand::kRead, b, c);
  if (write)
    note(p, s, base, DramCommand::kWriteData, b,
         relative(s, cycle_at_or_after(s.bus_free[bus], p.period)));
  if (p.bus_shift == 31) return;
  // Data may wait less than one cycle for their bus.
  const uint64_t busy = s.bus_free[bus] / p.period;
  put_off(p, s, base, DramCommand::kRead, DramScope::kPseudoChannel, bus,
          busy > p.tCL ? relative(s, busy - p.tCL) : 0);
  put_off(p, s, base, DramCommand::kWrite, DramScope::kPseudoChannel, bus,
          busy > p.tCWL ? relative(s, busy - p.tCWL) : 0);
  s.bus_busy_cycles = 0;  // that of a channel with one bus
}

}  // namespace vault_detail

}  // namespace nearwarp
