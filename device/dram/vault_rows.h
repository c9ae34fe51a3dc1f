// The effect of a DRAM standard's constraint rows (device/dram/constraints.h): a command holds
// other commands back within a scope. A "row" in this file is a row of that table, not one of a
// bank, save in note_row_command(). Vaults whose constraints all have fields of VaultParams do not
// come here.
#pragma once

#include "device/core/lanes.h"
#include "device/dram/vault_state.h"

namespace nearwarp {

namespace vault_detail {

inline constexpr uint32_t kNoCycle = 0xffffffffu;

NW_HD NW_INLINE uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

/// An absolute cycle as one that counts from `epoch`; 0 if it lies before that.
NW_HD NW_INLINE uint32_t relative(const VaultState& s, uint64_t cycle) {
  return cycle > s.epoch ? static_cast<uint32_t>(cycle - s.epoch) : 0;
}

/// A part of the channel: one of its banks, bank groups, ranks or pseudo channels.
struct DramPart {
  DramScope scope;
  uint32_t number;
};

NW_HD NW_INLINE uint32_t shift_of(const VaultParams& p, DramScope scope) {
  return p.rows.shift[static_cast<uint32_t>(scope)];
}
/// The part of a scope in which bank `b` lies.
NW_HD NW_INLINE DramPart part_of(const VaultParams& p, DramScope scope, uint32_t b) {
  return {scope, b >> shift_of(p, scope)};
}

/// The earliest cycle in which command `to` is allowed in a part.
NW_HD NW_INLINE uint32_t& row_ok(const VaultState& s, std::byte* base, DramCommand to,
                                 DramPart part) {
  const uint32_t list = static_cast<uint32_t>(to) * kDramScopes + static_cast<uint32_t>(part.scope);
  return s.row_ok.in(base)[list * kMaxVaultBanks + part.number];
}

/// The earliest cycle in which the rows allow command `to` in bank `b`.
NW_HD NW_INLINE uint32_t constraints_allow(const VaultParams& p, const VaultState& s,
                                           std::byte* base, DramCommand to, uint32_t b) {
  uint32_t at = 0;
  for (uint32_t bits = p.rows.scopes[static_cast<uint32_t>(to)]; bits != 0; bits &= bits - 1) {
    const auto scope = static_cast<DramScope>(count_trailing_zeros(bits));
    at = later(at, row_ok(s, base, to, part_of(p, scope, b)));
  }
  return at;
}

/// Put off the commands that bank `b` waits for until the rows allow them; kNoCycle, no command,
/// stays. If the bank's refresh is due, it waits for none, and the function returns false.
NW_HD NW_INLINE bool apply_constraints(const VaultParams& p, const VaultState& s, std::byte* base,
                                       uint32_t b, VaultCommands& at) {
  if ((s.refreshing >> b & 1) != 0) {
    at = VaultCommands{};
    return false;
  }
  const DramCommand column = s.write_mode != 0 ? DramCommand::kWrite : DramCommand::kRead;
  const auto hold = [&](uint32_t& cycle, DramCommand to) {
    if (cycle != kNoCycle) cycle = later(cycle, constraints_allow(p, s, base, to, b));
  };
  hold(at.column, column);
  hold(at.activate, DramCommand::kActivate);
  hold(at.precharge, DramCommand::kPrecharge);
  return true;
}

/// By bank, the cycle for which it waits with command `to`; null if no bank can wait for that now.
NW_HD NW_INLINE uint32_t* keys_of(const VaultState& s, std::byte* base, DramCommand to) {
  if (to == DramCommand::kActivate) return s.act_key.in(base);
  if (to == DramCommand::kPrecharge) return s.pre_key.in(base);
  const DramCommand column = s.write_mode != 0 ? DramCommand::kWrite : DramCommand::kRead;
  return to == column ? s.col_key.in(base) : nullptr;
}

/// Allow command `to` in a part not before cycle `c`.
NW_HD NW_INLINE void put_off(const VaultParams& p, const VaultState& s, std::byte* base,
                             DramCommand to, DramPart part, uint32_t c) {
  uint32_t& ok = row_ok(s, base, to, part);
  ok = later(ok, c);
  uint32_t* const keys = keys_of(s, base, to);
  if (keys == nullptr) return;
  const uint32_t shift = shift_of(p, part.scope);
  const uint64_t banks =
      shift >= 6 ? ~uint64_t{0} : low_bits(1u << shift) << (part.number << shift);
  lanes::each_bit(banks & s.waiting_banks & ~s.refreshing,
                  [&](uint32_t b) { keys[b] = later(keys[b], c); });
}

/// Note the effects that the rows have of a command (or the end of a write's data) in cycle `c`.
NW_HD NW_INLINE void note(const VaultParams& p, const VaultState& s, std::byte* base,
                          DramCommand from, uint32_t b, uint32_t c) {
  const uint32_t rank_shift = shift_of(p, DramScope::kRank);
  for (uint32_t i = 0; i < p.rows.count; ++i) {
    const DramRow& row = p.rows.row[i];
    if (row.from != from) continue;
    const DramPart part = part_of(p, row.scope, b);
    if (row.others == 0) {
      put_off(p, s, base, row.to, part, c + row.cycles);
      continue;
    }
    // Ranks of other pseudo channels have other data lines.
    const uint32_t channel_shift = shift_of(p, DramScope::kPseudoChannel);
    for (uint32_t r = 0; r < s.act_ok.count >> rank_shift; ++r) {
      if (r == part.number || (r << rank_shift) >> channel_shift != b >> channel_shift) continue;
      put_off(p, s, base, row.to, {row.scope, r}, c + row.cycles);
    }
  }
}

/// Note an activation for the window of four activations (tFAW): a fifth one waits until the window
/// that began with the first of the last four has ended.
NW_HD NW_INLINE void note_window(const VaultParams& p, const VaultState& s, std::byte* base,
                                 uint32_t b, uint32_t c) {
  const DramPart part = part_of(p, p.rows.window_scope, b);
  uint32_t* last = s.windows.in(base) + part.number * 4;
  uint32_t& oldest = s.oldest_in_window.in(base)[part.number];
  last[oldest] = c + p.rows.window_cycles;
  oldest = (oldest + 1) % 4;
  put_off(p, s, base, DramCommand::kActivate, part, last[oldest]);
}

/// Note an activation or a precharge of bank `b` in cycle `c`.
NW_HD NW_CALLED void note_row_command(const VaultParams& p, const VaultState& s, std::byte* base,
                                      DramCommand command, uint32_t b, uint32_t c) {
  note(p, s, base, command, b, c);
  if (command == DramCommand::kActivate && p.rows.window_cycles != 0) note_window(p, s, base, b, c);
}

/// Note a read or write of bank `b` in cycle `c`, after its data have been given their time on the
/// bus.
NW_HD NW_CALLED void note_column(const VaultParams& p, VaultState& s, std::byte* base, bool write,
                                 uint32_t b, uint32_t c) {
  const uint32_t bus = b >> p.bus_shift;
  note(p, s, base, write ? DramCommand::kWrite : DramCommand::kRead, b, c);
  if (write)
    note(p, s, base, DramCommand::kWriteData, b,
         relative(s, cycle_at_or_after(s.bus_free[bus], p.period)));
  if (p.bus_shift == 31) return;
  // Column commands come so late that their data wait less than a cycle for the bus.
  const uint64_t busy = s.bus_free[bus] / p.period;
  const DramPart channel{DramScope::kPseudoChannel, bus};
  put_off(p, s, base, DramCommand::kRead, channel, busy > p.tCL ? relative(s, busy - p.tCL) : 0);
  put_off(p, s, base, DramCommand::kWrite, channel, busy > p.tCWL ? relative(s, busy - p.tCWL) : 0);
  s.bus_busy_cycles = 0;  // only channels with one bus use it
}

}  // namespace vault_detail

}  // namespace nearwarp
