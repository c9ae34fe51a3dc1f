// The constraints between a DRAM standard's commands, which its file lists as rows:
// "bank-group: RD > RD WR = tCCD_L" is read "within a bank group, from a read to a read or a write:
// tCCD_L cycles". docs/memory.md says what words there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/config/dram.h"
#include "host/config/machine.h"
#include "host/config/require.h"

namespace nearwarp::config {

/// As in device/dram/constraints.h, in the same order. kWriteData: the end of a write's data.
enum class DramCommand : uint8_t { kActivate, kPrecharge, kRead, kWrite, kRefresh, kWriteData };

/// Scopes, from the largest. kBankPair and kSameBank are of refreshes alone: banks b and b + half
/// of all in their rank, and the banks of one number in all groups of their rank.
enum class DramScope : uint8_t {
  kChannel,
  kPseudoChannel,
  kRank,
  kBankGroup,
  kSameBank,
  kBankPair,
  kBank
};

/// A row for one pair of commands.
struct Constraint {
  DramScope scope = DramScope::kChannel;
  DramCommand from = DramCommand::kActivate, to = DramCommand::kActivate;
  bool window = false;  ///< from the last but three activations
  bool others = false;  ///< holds in the other ranks of the pseudo channel
  uint32_t cycles = 0;
  uint32_t row = 0;  ///< in the list of rows
};

/// The rows of DDR3, GDDR5, HBM and HBM2: of all files that list none.
std::vector<std::string> customary_constraints();

/// The parts that a channel consists of, from the outside to the inside.
struct DramParts {
  uint32_t pseudo_channels = 1, ranks = 1, bank_groups = 1, banks_per_group = 1;
  uint32_t row_buffers = 1;  ///< per bank

  uint32_t groups() const { return pseudo_channels * ranks * bank_groups; }
  uint32_t banks() const { return groups() * banks_per_group; }
};
DramParts parts_of(const DramConfig& dram);
DramParts parts_of(const MachineConfig& machine);

/// The scope as such a channel has it: one that contains a single part of another is that.
DramScope scope_in(const DramParts& parts, DramScope scope);
/// Windows of activations are counted in at most so many parts of a channel.
inline constexpr uint32_t kMostWindows = 16;

/// Which banks a refresh takes: the smallest scope that has a row from REF to ACT.
DramScope refresh_scope(const std::vector<Constraint>& constraints);
/// How many refreshes of such banks are one of all.
uint32_t refreshes_of_all(DramScope scope, const DramParts& parts);
uint32_t refreshes_of_all(const DramConfig& dram);
uint32_t refreshes_of_all(const MachineConfig& machine);
/// Is it the interval of refreshes?
bool is_interval(const Constraint& c);
/// Is it what a refresh takes from its own banks, the parts of `refreshed`?
bool is_refresh(const Constraint& c, DramScope refreshed);

/// Cycles of the data bus that an access of a standard takes.
uint32_t burst_cycles(const DramConfig& dram);

/// All pairs of a configuration whose values are right; `burst`: tBL. Throws nearwarp::Error about
/// the first wrong row.
std::vector<Constraint> constraints_of(const DramConfig& dram);
std::vector<Constraint> constraints_of(const MachineConfig& machine, uint32_t burst);
void check_constraints(const DramConfig& dram, const PlaceOf& place_of);
void check_constraints(const MachineConfig& machine, const PlaceOf& place_of);

}  // namespace nearwarp::config
