// The keys of a file that describes a DRAM standard.
#include <algorithm>
#include <vector>

#include "host/config/schema.h"

namespace nearwarp::config {
namespace {

using D = DramConfig;
using Keys = std::vector<Key<D>>;
constexpr bool kPowerOfTwo = true, kOptional = true;

#define NW_KEY(member_path) #member_path, [](D & d) -> Member { return &d.member_path; }

Keys organisation_keys() {
  return {
      {"standard.description", [](D& d) -> Member { return &d.description; }, "", 0, 0, false, "",
       "One line on what the memory is."},
      {NW_KEY(organisation.pseudo_channels), "pseudo channels", 1, 4, kPowerOfTwo, "",
       "Parts of a channel with data lines of their own that share its command buses.", kOptional},
      {NW_KEY(organisation.ranks), "ranks", 1, 4, kPowerOfTwo, "",
       "Ranks (or stack IDs) of a pseudo channel, which share its data lines.", kOptional},
      {NW_KEY(organisation.bank_groups), "groups", 1, 8, kPowerOfTwo, "", "Bank groups of a rank."},
      {NW_KEY(organisation.banks_per_group), "banks", 1, 64, kPowerOfTwo, "", "Banks of a group."},
      {NW_KEY(organisation.row_buffers), "row buffers", 1, 8, kPowerOfTwo, "",
       "Rows that a bank holds open at a time; the row's number modulo this chooses."},
      {NW_KEY(organisation.rows), "rows", 2, uint64_t{1} << 24, kPowerOfTwo, "", "Rows of a bank."},
      {NW_KEY(organisation.row_bytes), "bytes", 32, uint64_t{1} << 20, kPowerOfTwo, "",
       "Row of a bank."},
      {NW_KEY(organisation.access_bytes), "bytes", 8, 1024, kPowerOfTwo, "",
       "Data of one column command."},
      {NW_KEY(organisation.two_command_buses), "", 0, 0, false, "",
       "A row command and a column command may issue in the same cycle."},
      {NW_KEY(speed.clock_mhz), "MHz", 1, 100000, false, "", "Command clock."},
      {NW_KEY(speed.data_mbps), "MB/s", 1, 10000000, false, "",
       "Peak bandwidth of a data bus (one for each pseudo channel), or of the TSVs, whichever is "
       "less."},
  };
}

Keys timing_keys() {
  const char* const unit = "DRAM cycles";
  return {
      {NW_KEY(timing.tCL), unit, 1, 10000, false, "", "Read command to its first data."},
      {NW_KEY(timing.tCWL), unit, 1, 10000, false, "", "Write command to its first data."},
      {NW_KEY(timing.tRCD), unit, 1, 10000, false, "", "Activation to a column command."},
      {NW_KEY(timing.tRP), unit, 1, 10000, false, "", "Precharge to activation."},
      {NW_KEY(timing.tRAS), unit, 1, 10000, false, "", "Activation to precharge."},
      {NW_KEY(timing.tRC), unit, 1, 10000, false, "", "Activation to activation, one bank."},
      {NW_KEY(timing.tRRD_S), unit, 1, 10000, false, "",
       "Activation to activation, different bank groups."},
      {NW_KEY(timing.tRRD_L), unit, 1, 10000, false, "",
       "Activation to activation, one bank group."},
      {NW_KEY(timing.tFAW), unit, 1, 10000, false, "", "Window for at most four activations."},
      {NW_KEY(timing.tCCD_S), unit, 1, 10000, false, "",
       "Column command to column command, different bank groups."},
      {NW_KEY(timing.tCCD_L), unit, 1, 10000, false, "",
       "Column command to column command, one bank group."},
      {NW_KEY(timing.tWR), unit, 1, 10000, false, "", "End of write data to precharge."},
      {NW_KEY(timing.tWTR_S), unit, 1, 10000, false, "",
       "End of write data to a read command, different bank groups."},
      {NW_KEY(timing.tWTR_L), unit, 1, 10000, false, "",
       "End of write data to a read command, one bank group."},
      {NW_KEY(timing.tRTP), unit, 1, 10000, false, "", "Read command to precharge."},
      {NW_KEY(timing.tRTW), unit, 1, 10000, false, "", "Read command to a write command."},
      {NW_KEY(timing.tREFI), unit, 0, 1000000, false, "",
       "Average interval of refreshes; 0: no refresh."},
      {NW_KEY(timing.tRFC), unit, 1, 100000, false, "", "Refresh to the next activation."},
      {NW_KEY(timing.tRCDWR), unit, 0, 10000, false, "",
       "Activation to a write, where it differs from tRCD. 0: none.", kOptional},
      {NW_KEY(timing.tCCD_L_WR), unit, 0, 10000, false, "",
       "Write to write, one bank group, where it differs from tCCD_L. 0: none.", kOptional},
      {NW_KEY(timing.tCCD_R), unit, 0, 10000, false, "",
       "Column command to column command of another rank. 0: none.", kOptional},
      {NW_KEY(timing.tCCDSB), unit, 0, 10000, false, "",
       "Column command to column command, one bank. 0: none.", kOptional},
      {NW_KEY(timing.tWTRSB), unit, 0, 10000, false, "",
       "End of write data to a read command, one bank. 0: none.", kOptional},
      {NW_KEY(timing.tPPD), unit, 0, 10000, false, "", "Precharge to precharge. 0: none.",
       kOptional},
      {NW_KEY(timing.tRFCpb), unit, 0, 100000, false, "",
       "Refresh of some banks to their next activation. 0: none.", kOptional},
      {NW_KEY(timing.tRREFD), unit, 0, 10000, false, "",
       "Refresh of some banks to a refresh or activation of others. 0: none.", kOptional},
      {NW_KEY(timing.constraints), "", 0, 0, false, "",
       "Constraints between commands, a row each: SCOPE: COMMANDS > COMMANDS = CYCLES. Without the "
       "key: the customary rows of docs/memory.md.",
       kOptional},
      {NW_KEY(timing.clock_mhz), "MHz", 1, 100000, false, "",
       "Clock for which timings in cycles hold. Without the key: the file's speed.clock_mhz.",
       kOptional},
      {NW_KEY(timing.other_clock), "", 0, 0, false, "refuse keep-ns keep-cycles",
       "What becomes of timings in cycles of another clock than speed.clock_mhz. refuse: an error; "
       "keep-ns: they take as long, in cycles rounded up, and tCCD, a burst, as many cycles; "
       "keep-cycles: they are as many cycles.",
       kOptional},
  };
}

Keys controller_keys() {
  return {
      {NW_KEY(controller.scheduler), "", 0, 0, false, "fr-fcfs fcfs",
       "fr-fcfs: accesses to open rows first, then the oldest; fcfs: in order of arrival."},
      {NW_KEY(controller.page_policy), "", 0, 0, false, "open closed",
       "closed: a row closes with the last access to it that is waiting."},
      {NW_KEY(controller.mapping), "", 0, 0, false, "",
       "Fields of an address from the highest bits to the lowest: row, bank, column in any order, "
       "and group where it shall not lie below the bank."},
      {NW_KEY(controller.mapping_hash), "", 0, 0, false, "",
       "XOR bits of the row into bank and group."},
      {NW_KEY(controller.read_entries), "requests", 1, 63, false, "", "Reads that may wait."},
      {NW_KEY(controller.write_entries), "requests", 1, 63, false, "",
       "Writes that may wait; with read_entries at most 64."},
      {NW_KEY(controller.write_high_watermark), "requests", 1, 63, false, "",
       "Waiting writes from which on they are drained."},
      {NW_KEY(controller.write_low_watermark), "requests", 0, 62, false, "",
       "Waiting writes at which the draining ends."},
      {NW_KEY(controller.forward_writes), "", 0, 0, false, "",
       "Answer reads of lines that wait to be written from the write queue."},
      {NW_KEY(controller.starvation_cycles), "DRAM cycles", 1, 100000000, false, "",
       "A request that has waited longer goes before all others."},
      {NW_KEY(controller.fixed_latency_cycles), "DRAM cycles", 0, 100000, false, "",
       "Controller and return path, besides the timing."},
  };
}

Keys cost_keys() {
  constexpr uint64_t kMost = uint64_t{1} << 50;
  return {
      {NW_KEY(energy.activation_fj), "fJ", 0, kMost, false, "",
       "Activation and precharge of a row."},
      {NW_KEY(energy.read_fj_per_bit), "fJ/bit", 0, kMost, false, "",
       "Reading an open row, up to the interface."},
      {NW_KEY(energy.write_fj_per_bit), "fJ/bit", 0, kMost, false, "",
       "Writing an open row, from the interface."},
      {NW_KEY(energy.io_fj_per_bit), "fJ/bit", 0, kMost, false, "", "Interface, either way."},
      {NW_KEY(energy.refresh_fj), "fJ", 0, kMost, false, "",
       "Refresh of all banks; one of a part of them takes its share."},
      {NW_KEY(energy.background_uw), "uW", 0, kMost, false, "", "Whatever happens."},
  };
}

}  // namespace

std::vector<std::string> address_fields(const std::string& mapping) {
  std::vector<std::string> fields;
  for (size_t begin = 0; begin <= mapping.size();) {
    const size_t end = std::min(mapping.find('-', begin), mapping.size());
    fields.push_back(mapping.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto count = [&](const char* name) {
    return std::count(fields.begin(), fields.end(), name);
  };
  const size_t groups = static_cast<size_t>(count("group"));
  if (count("row") != 1 || count("bank") != 1 || count("column") != 1 || groups > 1) return {};
  if (fields.size() != 3 + groups) return {};
  if (groups == 0) fields.insert(std::find(fields.begin(), fields.end(), "bank") + 1, "group");
  return fields;
}

std::span<const Key<DramConfig>> dram_keys() {
  static const Keys all = [] {
    Keys keys;
    for (const Keys& part : {organisation_keys(), timing_keys(), controller_keys(), cost_keys()}) {
      keys.insert(keys.end(), part.begin(), part.end());
    }
    for (Key<D>& key : keys)
      key.in_ns = key.path.starts_with("timing.t") && key.unit == "DRAM cycles";
    return keys;
  }();
  return all;
}

}  // namespace nearwarp::config
