// The energy account of a run: counters times constants, by part of the machine.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/machine.h"

namespace nearwarp::report {

struct RunResult;

struct MachineParts;

/// Parts of the machine, in the order in which they are shown.
enum class EnergyPart : uint8_t { kSm, kL2, kNetwork, kLinks, kDram, kLeakage };
inline constexpr size_t kNumEnergyParts = 6;

/// The scale between a counter's unit and the constant's.
enum class EnergyScale : uint8_t {
  kEvents,     ///< energy per event, or per bit where bits are counted
  kBytes,      ///< energy per bit, bytes are counted
  kFlits,      ///< energy per bit, flits of the GPU's networks are counted
  kLanes,      ///< energy of a lane, registers of warps are counted
  kRows,       ///< energy of a row of another size than the machine's
  kRefreshes,  ///< energy of a refresh of all banks, those of parts are counted
  kCycles,     ///< power, core cycles are counted
};

/// One term of the account. Names of SMs' counters are without the leading "sm." or "stack_sm.".
struct EnergyRule {
  EnergyPart part;
  std::string_view name;
  std::string_view counters;  ///< separated by blanks; added
  std::string_view constant;  ///< key without "energy."
  EnergyScale scale;
  bool MachineParts::*not_with = nullptr;  ///< for machines without this part
};

/// Parts that not every machine has under every policy: what is not there has no terms, and need
/// not have counters.
struct MachineParts {
  bool stack_sms = false;    ///< beside main ones
  bool cross_links = false;  ///< SMs in stacks need them; else they are off
  /// Wires between the GPU's networks and what they join. In a mesh there are none: everything
  /// stands in a tile beside its router.
  bool network_wires = false;
  /// The switches of stacks are cores' TSVs, which all of their memory's packets cross.
  bool core_tsvs = false;
  /// Terms of what mechanisms have added.
  std::vector<std::span<const EnergyRule>> added = {};
  bool kept_lines = false;  ///< L2 slices keep whole lines that are written
  bool no_l1 = false;       ///< SMs keep no lines: these are in the load-store unit's buffers
};

/// Wide enough for every count times every constant.
__extension__ typedef unsigned __int128 Femtojoules;

inline double joules(Femtojoules energy) { return static_cast<double>(energy) / 1e15; }

/// Name in files ("sm", "l2", "network", "links", "dram", "leakage").
const char* energy_part_name(EnergyPart part);

/// One kind of event of one kind of component: energy = count x value x times / over, rounded down.
struct EnergyTerm {
  EnergyPart part = EnergyPart::kSm;
  std::string name;                   ///< e.g. "links.gpu_to_memory.transfer"
  std::vector<std::string> counters;  ///< of the run; `count` is their sum
  uint64_t count = 0;
  std::string constant;  ///< key, e.g. "energy.links.transfer_fj_per_bit"
  uint64_t value = 0;    ///< of that key: in fJ, or a power in uW
  /// Units: bits per byte, the row's size over the constant's, or for powers 1000 fJ/pJ over MHz.
  uint64_t times = 1, over = 1;
  Femtojoules energy = 0;
};

struct EnergyReport {
  std::string model;           ///< name of the energy file
  uint32_t technology_nm = 0;  ///< of its SMs and caches
  std::vector<EnergyTerm> terms;
  /// Another account: the board's most power (energy.board_uw) times time; without one all terms
  /// but leakage. So papers set a processor's events against a GPU's power.
  Femtojoules by_board = 0;

  Femtojoules part(EnergyPart part) const;
  Femtojoules total() const;
};

/// Accounts the energy of a run by its counters; of a partial run it is up to where it stopped.
/// Throws nearwarp::Error if a counter is missing.
EnergyReport account_energy(const config::MachineConfig& machine, const RunResult& run);

/// Names of all counters that the account of a machine with these parts wants.
std::vector<std::string> energy_counters(const MachineParts& parts);

}  // namespace nearwarp::report
