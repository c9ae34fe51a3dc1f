// Copies the timings of a DRAM standard into a machine's vaults.
#include "host/config/vault_standard.h"

#include <fmt/format.h>

#include "host/config/config.h"
#include "host/config/find.h"
#include "host/config/overrides.h"
#include "host/core/error.h"

namespace nearwarp::config {
namespace {

using Vault = MachineConfig::Dram;
using Timing = DramConfig::Timing;

/// The key and member of a timing in a machine, and those of the same timing in a standard.
struct TimingKey {
  std::string_view key;
  uint32_t Vault::*to;
  std::string_view source;
  uint32_t Timing::*from;
};
constexpr TimingKey kTimings[] = {
    {"dram.tCL", &Vault::tCL, "timing.tCL", &Timing::tCL},
    {"dram.tCWL", &Vault::tCWL, "timing.tCWL", &Timing::tCWL},
    {"dram.tRCD", &Vault::tRCD, "timing.tRCD", &Timing::tRCD},
    {"dram.tRP", &Vault::tRP, "timing.tRP", &Timing::tRP},
    {"dram.tRAS", &Vault::tRAS, "timing.tRAS", &Timing::tRAS},
    {"dram.tRC", &Vault::tRC, "timing.tRC", &Timing::tRC},
    {"dram.tRRD", &Vault::tRRD, "timing.tRRD_S", &Timing::tRRD_S},
    {"dram.tRRD_L", &Vault::tRRD_L, "timing.tRRD_L", &Timing::tRRD_L},
    {"dram.tFAW", &Vault::tFAW, "timing.tFAW", &Timing::tFAW},
    {"dram.tCCD", &Vault::tCCD, "timing.tCCD_S", &Timing::tCCD_S},
    {"dram.tCCD_L", &Vault::tCCD_L, "timing.tCCD_L", &Timing::tCCD_L},
    {"dram.tWR", &Vault::tWR, "timing.tWR", &Timing::tWR},
    {"dram.tWTR", &Vault::tWTR, "timing.tWTR_S", &Timing::tWTR_S},
    {"dram.tWTR_L", &Vault::tWTR_L, "timing.tWTR_L", &Timing::tWTR_L},
    {"dram.tRTP", &Vault::tRTP, "timing.tRTP", &Timing::tRTP},
    {"dram.tRTW", &Vault::tRTW, "timing.tRTW", &Timing::tRTW},
    {"dram.tREFI", &Vault::tREFI, "timing.tREFI", &Timing::tREFI},
    {"dram.tRFC", &Vault::tRFC, "timing.tRFC", &Timing::tRFC},
    {"dram.tRCDWR", &Vault::tRCDWR, "timing.tRCDWR", &Timing::tRCDWR},
    {"dram.tCCD_L_WR", &Vault::tCCD_L_WR, "timing.tCCD_L_WR", &Timing::tCCD_L_WR},
    {"dram.tCCD_R", &Vault::tCCD_R, "timing.tCCD_R", &Timing::tCCD_R},
    {"dram.tCCDSB", &Vault::tCCDSB, "timing.tCCDSB", &Timing::tCCDSB},
    {"dram.tWTRSB", &Vault::tWTRSB, "timing.tWTRSB", &Timing::tWTRSB},
    {"dram.tPPD", &Vault::tPPD, "timing.tPPD", &Timing::tPPD},
    {"dram.tRFCpb", &Vault::tRFCpb, "timing.tRFCpb", &Timing::tRFCpb},
    {"dram.tRREFD", &Vault::tRREFD, "timing.tRREFD", &Timing::tRREFD},
};

/// Throws UsageError for a value from the command line, Error for one from a file.
[[noreturn]] void fail(const std::string& place, const std::string& text) {
  if (is_change(place)) throw UsageError(text);
  throw Error(text);
}

}  // namespace

void take_standard(MachineConfig& machine, std::string_view standard, Places& places) {
  if (!standard.empty()) {
    machine.dram.standard = standard;
    places["dram.standard"] = place_of_change(fmt::format("dram.standard={}", standard));
  }
  const auto named = places.find("dram.standard");
  if (named == places.end() || machine.dram.standard == "none") return;
  const std::string place = named->second;
  const auto refuse_besides = [&](std::string_view key) {
    const auto listed = places.find(key);
    if (listed == places.end()) return;
    fail(place,
         fmt::format(
             "{} ({}) is given besides dram.standard '{}' ({}) - name a standard, and change "
             "single timings of it one by one, or list them all under standard = \"none\"",
             key, listed->second, machine.dram.standard, place));
  };
  for (const TimingKey& timing : kTimings) refuse_besides(timing.key);
  refuse_besides("dram.constraints");
  refuse_besides("dram.timing_mhz");
  DramConfig source;
  try {
    source = read_dram(find_config("dram", machine.dram.standard, folder_of(place)).string());
  } catch (const Error& error) {
    fail(place, fmt::format("{} (dram.standard, {})", error.what(), place));
  }
  const std::string from = fmt::format("dram.standard '{}', {}", machine.dram.standard, place);
  for (const TimingKey& timing : kTimings) {
    machine.dram.*timing.to = source.timing.*timing.from;
    const auto time = source.timing_ps.find(timing.source);
    if (time != source.timing_ps.end()) machine.timing_ps[std::string(timing.key)] = time->second;
    places[std::string(timing.key)] = from;
  }
  machine.dram.constraints = source.timing.constraints;
  places["dram.constraints"] = from;
  machine.dram.timing_mhz = source.timing.clock_mhz;
}

}  // namespace nearwarp::config
