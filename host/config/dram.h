// A DRAM standard with its controller as a file of configs/dram/ describes it: one memory channel.
// Every field is a key of the file; units are in names.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nearwarp::config {

struct DramConfig {
  std::string name;         ///< file name without ".toml"
  std::string path;         ///< where it was read from
  std::string description;  ///< [standard] description

  struct Organisation {            // [organisation]: one channel, pseudo channel or vault
    uint32_t pseudo_channels = 1;  ///< with data lines of their own
    uint32_t ranks = 1;            ///< of a pseudo channel; they share its data lines
    uint32_t bank_groups = 0;      ///< of a rank
    uint32_t banks_per_group = 0;
    uint32_t row_buffers = 0;  ///< per bank
    uint32_t rows = 0;         ///< per bank
    uint32_t row_bytes = 0;
    uint32_t access_bytes = 0;  ///< moved by one column command
    bool two_command_buses = false;
  } organisation;

  struct Speed {             // [speed]
    uint32_t clock_mhz = 0;  ///< command clock
    uint32_t data_mbps = 0;  ///< a data bus or TSVs, 10^6 bytes per second
  } speed;

  struct Timing {  // [timing]: cycles of the command clock
    uint32_t tCL = 0, tCWL = 0, tRCD = 0, tRP = 0, tRAS = 0, tRC = 0, tRRD_S = 0, tRRD_L = 0,
             tFAW = 0, tCCD_S = 0, tCCD_L = 0, tWR = 0, tWTR_S = 0, tWTR_L = 0, tRTP = 0, tRTW = 0,
             tREFI = 0, tRFC = 0;
    // Timings that only some standards have; 0: not given.
    uint32_t tRCDWR = 0, tCCD_L_WR = 0, tCCD_R = 0, tCCDSB = 0, tWTRSB = 0, tPPD = 0, tRFCpb = 0,
             tRREFD = 0;
    std::vector<std::string> constraints;  ///< in a file without them: the customary ones
    uint32_t clock_mhz = 0;                ///< see MachineConfig::Dram::timing_mhz
    std::string other_clock = "refuse";    ///< likewise
  } timing;
  std::map<std::string, uint64_t, std::less<>> timing_ps;  ///< see MachineConfig::timing_ps

  struct Controller {         // [controller]
    std::string scheduler;    ///< "fr-fcfs" or "fcfs"
    std::string page_policy;  ///< "open" or "closed"
    std::string mapping;      ///< order of address bits, from the highest
    bool mapping_hash = false;
    uint32_t read_entries = 0, write_entries = 0;
    uint32_t write_high_watermark = 0, write_low_watermark = 0;
    bool forward_writes = false;
    uint32_t starvation_cycles = 0;
    uint32_t fixed_latency_cycles = 0;
  } controller;

  struct Energy {                           // [energy]: nothing where no source tells
    std::optional<uint64_t> activation_fj;  ///< activation and precharge of a row
    std::optional<uint64_t> read_fj_per_bit, write_fj_per_bit;  ///< inside the DRAM
    std::optional<uint64_t> io_fj_per_bit;                      ///< interface
    std::optional<uint64_t> refresh_fj;                         ///< of all banks
    std::optional<uint64_t> background_uw;
  } energy;
};

/// Peak bandwidth of a channel, of all of its data buses.
inline uint64_t peak_mbps(const DramConfig& dram) {
  return uint64_t{dram.speed.data_mbps} * dram.organisation.pseudo_channels;
}

/// The fields of an address from the highest to the lowest, e.g. {"row", "bank", "group", "column"}
/// for "row-bank-column"; empty if the text is no such order. Unless it is named, the group lies
/// below the bank.
std::vector<std::string> address_fields(const std::string& mapping);

}  // namespace nearwarp::config
