// The parts that a channel consists of, and what a table of constraints says of its refreshes.
#include <algorithm>

#include "host/config/constraints.h"

namespace nearwarp::config {

std::vector<std::string> customary_constraints() {
  return {"bank: ACT > RD WR = tRCD",
          "bank: ACT > PRE = tRAS",
          "bank: ACT > ACT = tRC",
          "bank: PRE > ACT = tRP",
          "bank: RD > PRE = tRTP",
          "bank: WR-data > PRE = tWR",
          "bank-group: ACT > ACT = tRRD_L",
          "bank-group: RD WR > RD WR = tCCD_L",
          "bank-group: WR-data > RD = tWTR_L",
          "rank: ACT > ACT = tRRD_S",
          "rank: 4 ACT > ACT = tFAW",
          "rank: RD WR > RD WR = tCCD_S",
          "rank: RD > WR = tRTW",
          "rank: WR-data > RD = tWTR_S",
          "rank: REF > ACT = tRFC",
          "channel: REF > REF = tREFI"};
}

DramParts parts_of(const DramConfig& dram) {
  const DramConfig::Organisation& o = dram.organisation;
  return {o.pseudo_channels, o.ranks, o.bank_groups, o.banks_per_group, o.row_buffers};
}
DramParts parts_of(const MachineConfig& machine) {
  return {1, 1, machine.dram.bank_groups,
          std::max(machine.dram.banks / std::max(machine.dram.bank_groups, 1u), 1u),
          machine.dram.row_buffers};
}

DramScope refresh_scope(const std::vector<Constraint>& constraints) {
  DramScope scope = DramScope::kChannel;
  for (const Constraint& c : constraints)
    if (c.from == DramCommand::kRefresh && c.to == DramCommand::kActivate && !c.others)
      scope = std::max(scope, c.scope);
  return scope;
}
bool is_interval(const Constraint& c) {
  return c.from == DramCommand::kRefresh && c.to == DramCommand::kRefresh &&
         c.scope == DramScope::kChannel;
}
bool is_refresh(const Constraint& c, DramScope refreshed) {
  return c.from == DramCommand::kRefresh && c.to == DramCommand::kActivate &&
         c.scope == refreshed && !c.others;
}

DramScope scope_in(const DramParts& parts, DramScope scope) {
  if (scope == DramScope::kRank && parts.ranks == 1) scope = DramScope::kPseudoChannel;
  if (scope == DramScope::kPseudoChannel && parts.pseudo_channels == 1) scope = DramScope::kChannel;
  return scope;
}

uint32_t refreshes_of_all(DramScope scope, const DramParts& parts) {
  const uint32_t ranks = parts.pseudo_channels * parts.ranks;
  switch (scope) {
    case DramScope::kChannel:
      return 1;
    case DramScope::kPseudoChannel:
      return parts.pseudo_channels;
    case DramScope::kRank:
      return ranks;
    case DramScope::kBankGroup:
      return parts.groups();
    case DramScope::kSameBank:
      return ranks * parts.banks_per_group;
    case DramScope::kBankPair:
      return std::max(parts.banks() / 2, ranks);
    case DramScope::kBank:
      break;
  }
  return parts.banks();
}

uint32_t burst_cycles(const DramConfig& dram) {
  return static_cast<uint32_t>(
      (uint64_t{dram.organisation.access_bytes} * dram.speed.clock_mhz + dram.speed.data_mbps - 1) /
      dram.speed.data_mbps);
}

}  // namespace nearwarp::config
