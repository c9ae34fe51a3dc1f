// Rows of memory that launches before have left open.
#include "host/timing/run/warm_rows.h"

#include <algorithm>

#include "device/cache/l2_pipeline.h"

namespace nearwarp::sim {

OpenRows::OpenRows(System& system) : system_(system), stay_open_(system.table.count) {
  for (const uint16_t vault : system.of_kind(kernels::ComponentKind::kVault)) {
    const auto& p = system.params<VaultParams>(vault);
    stay_open_[vault] = p.tREFI == 0 && p.closed_page == 0 && p.any_row_buffer == 0;
  }
  if (std::ranges::find(stay_open_, true) != stay_open_.end())
    asked_.resize(size_t{system.table.count} * kMaxVaultBanks);
}

void OpenRows::use(uint64_t order, uint16_t slice, LineAddr line) {
  std::byte* base = system_.arena.base();
  const uint32_t vault =
      node_of(l2_detail::vault_endpoint(system_.params<L2SliceParams>(slice), base, line));
  if (!stay_open_[vault]) return;
  const auto& p = system_.params<VaultParams>(vault);
  const BankLocation at =
      p.own_map != 0 ? p.channel_map.locate(line) : p.map.of(line, base).bank_of(line);
  const uint32_t bank = at.bank << p.row_buffer_bits | (at.row & low_bits32(p.row_buffer_bits));
  uint64_t& last = asked_[size_t{vault} * kMaxVaultBanks + bank];
  if (order < last) return;
  last = order;
  auto& s = system_.state<VaultState>(vault);
  s.open_banks |= uint64_t{1} << bank;
  s.open_row.in(base)[bank] = at.row;
}

}  // namespace nearwarp::sim
