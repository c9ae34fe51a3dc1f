// A machine's vaults with the timings of a DRAM standard.
#include "host/config/vault_standard.h"

#include <fmt/format.h>

#include "host/config/config.h"
#include "host/config/find.h"
#include "host/core/error.h"

namespace nearwarp::config {
namespace {

using Vault = MachineConfig::Dram;
using Timing = DramConfig::Timing;

/// A timing's key in a machine's file, and where a standard has it.
struct TimingKey {
  std::string_view key;
  uint32_t Vault::*to;
  uint32_t Timing::*from;
};
constexpr TimingKey kTimings[] = {
    {"dram.tCL", &Vault::tCL, &Timing::tCL},
    {"dram.tCWL", &Vault::tCWL, &Timing::tCWL},
    {"dram.tRCD", &Vault::tRCD, &Timing::tRCD},
    {"dram.tRP", &Vault::tRP, &Timing::tRP},
    {"dram.tRAS", &Vault::tRAS, &Timing::tRAS},
    {"dram.tRC", &Vault::tRC, &Timing::tRC},
    {"dram.tRRD", &Vault::tRRD, &Timing::tRRD_S},
    {"dram.tRRD_L", &Vault::tRRD_L, &Timing::tRRD_L},
    {"dram.tFAW", &Vault::tFAW, &Timing::tFAW},
    {"dram.tCCD", &Vault::tCCD, &Timing::tCCD_S},
    {"dram.tCCD_L", &Vault::tCCD_L, &Timing::tCCD_L},
    {"dram.tWR", &Vault::tWR, &Timing::tWR},
    {"dram.tWTR", &Vault::tWTR, &Timing::tWTR_S},
    {"dram.tWTR_L", &Vault::tWTR_L, &Timing::tWTR_L},
    {"dram.tRTP", &Vault::tRTP, &Timing::tRTP},
    {"dram.tRTW", &Vault::tRTW, &Timing::tRTW},
    {"dram.tREFI", &Vault::tREFI, &Timing::tREFI},
    {"dram.tRFC", &Vault::tRFC, &Timing::tRFC},
};

/// What comes from the command line is a mistake there.
[[noreturn]] void fail(const std::string& place, const std::string& text) {
  if (place.starts_with("--set")) throw UsageError(text);
  throw Error(text);
}

}  // namespace

void take_standard(MachineConfig& machine, std::string_view standard, Places& places) {
  if (!standard.empty()) {
    machine.dram.standard = standard;
    places["dram.standard"] = fmt::format("--set dram.standard={}", standard);
  }
  const auto named = places.find("dram.standard");
  if (named == places.end() || machine.dram.standard == "none") return;
  const std::string place = named->second;
  for (const TimingKey& timing : kTimings) {
    const auto listed = places.find(timing.key);
    if (listed == places.end()) continue;
    fail(place,
         fmt::format(
             "{} ({}) is given besides dram.standard '{}' ({}) - name a standard, and change "
             "single timings of it with --set, or list them all under standard = \"none\"",
             timing.key, listed->second, machine.dram.standard, place));
  }
  DramConfig source;
  try {
    source = load_dram(find_config("dram", machine.dram.standard, folder_of(place)).string());
  } catch (const Error& error) {
    fail(place, fmt::format("{} (dram.standard, {})", error.what(), place));
  }
  for (const TimingKey& timing : kTimings) {
    machine.dram.*timing.to = source.timing.*timing.from;
    places[std::string(timing.key)] = fmt::format("dram.standard, {}", place);
  }
  machine.dram_standard_mhz = source.speed.clock_mhz;
}

void check_standard_clock(const MachineConfig& machine, const Places& places) {
  const std::string& clock = places.at("clocks.dram_mhz");
  if (machine.dram.standard == "none" || clock.starts_with("--set") ||
      machine.clocks.dram_mhz == machine.dram_standard_mhz) {
    return;
  }
  fail(places.at("dram.standard"),
       fmt::format(
           "dram.standard '{}' counts cycles of {} MHz, but clocks.dram_mhz is {} ({}) - let "
           "them agree",
           machine.dram.standard, machine.dram_standard_mhz, machine.clocks.dram_mhz, clock));
}

}  // namespace nearwarp::config
