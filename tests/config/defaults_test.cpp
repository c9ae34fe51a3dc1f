// Does every shipped machine say what its optional keys are, or is it known why it leaves one out?
//
// A key that a file leaves out has the schema's default, whatever the machine's sources say of it.
// So each such key is either in the file, where its source stands beside it, or here with a reason.
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <set>

#include "host/config/schema.h"
#include "tests/config/texts.h"

namespace nearwarp::config {
namespace {

/// Keys that machines leave out, and why the default is right for them.
struct LeftOut {
  std::string_view keys;  ///< a key, or with a dot or underscore at its end the start of several
  std::string_view machines;  ///< separated by blanks; empty: any
  std::string_view why;
};

/// Mechanisms that compute in memory find it up to date, so L2s there write through, whole lines
/// (host/config/rules.cpp); SM2_GTX480 and SM7_QV100, from which such machines take what their
/// papers leave open, have sectors and write back.
#define NW_NEAR_DATA "tom bench80 pim-tuning coda coda-host mpu mpu-sim opportunistic"

constexpr LeftOut kLeftOut[] = {
    {"machine.shape", "tom bench80 pim-tuning", "a GPU with stacks is the default"},
    {"gpu.launches_share_sms", NW_NEAR_DATA, "the papers run one launch at a time"},
    {"sm.int_units", "tom bench80 coda coda-host mpu mpu-sim opportunistic",
     "SM2_GTX480: integers are of the SPs"},
    {"sm.sub_cores", "tom bench80 coda coda-host mpu mpu-sim opportunistic",
     "SM2_GTX480: its schedulers share the units; of mpu the paper's subcores are not modelled"},
    {"sm.port_queue", NW_NEAR_DATA,
     "operand collectors are not modelled: their latencies are, by sm.pipeline_cycles"},
    {"sm.fetch_width", "tom bench80 pim-tuning coda coda-host mpu mpu-sim",
     "instructions are always there: sm.branch_latency_cycles has what a branch costs there"},
    {"sm.fetches_per_cycle", NW_NEAR_DATA,
     "of no effect without fetch_width; opportunistic: GPGPU-Sim's default"},
    {"sm.matrix_products_per_cycle", NW_NEAR_DATA,
     "Fermi's SMs have no tensor cores; of pim-tuning the paper names none"},
    {"sm.matrix_units", NW_NEAR_DATA " discrete16 gtx480 qv100 v100",
     "where there are matrix instructions, they take the SP ports"},
    {"sm.matrix_latency_cycles", NW_NEAR_DATA " discrete16 gtx480 qv100 v100",
     "that of a multiply-add"},
    {"instruction_cache.",
     "tom bench80 pim-tuning coda coda-host mpu mpu-sim discrete16 qv100 v100 a100 h100 h200",
     "code is always there; SM7_QV100: perfect_inst_const_cache"},
    {"constant_cache.",
     "tom bench80 pim-tuning coda coda-host mpu mpu-sim discrete16 qv100 v100 a100 h100 h200",
     "constants are always there (sm.classes.constant_load); SM7_QV100: perfect_inst_const_cache"},
    {"lsu.remote_shared_cycles", NW_NEAR_DATA " discrete16 gtx480 qv100 v100 a100",
     "GPUs before Hopper have no clusters"},
    {"lsu.remote_shared_bytes", "opportunistic discrete16 gtx480 qv100 v100 a100",
     "GPUs before Hopper have no clusters"},
    {"gpu.gpcs", "opportunistic discrete16 gtx480 qv100 v100 a100",
     "GPUs before Hopper have no clusters"},
    {"gpu.sms_per_tpc", "opportunistic discrete16 gtx480 qv100 v100 a100",
     "of no effect without GPCs"},
    {"lsu.atomic_packets", NW_NEAR_DATA, "hardware merges the lanes of a warp"},
    {"l1.set_function", "coda coda-host", "linear; the papers name none, SM2_GTX480 has fermi"},
    {"l1.set_function", "mpu", "of no effect: nothing is kept"},
    {"l1.set_function", "mpu-sim", "linear; nothing is known of it"},
    {"l1.miss_latency_cycles", "coda coda-host mpu mpu-sim opportunistic",
     "fixed latencies lie in the wires and the L2"},
    {"l1.keep", "tom bench80 pim-tuning coda coda-host opportunistic", "a cache"},
    {"l1.sectors", NW_NEAR_DATA, "with l2.sectors alone, which such machines cannot have"},
    {"l1.allocate", NW_NEAR_DATA, "SM2_GTX480 and SM7_QV100: on a miss"},
    {"l1.write_policy", NW_NEAR_DATA, "others are of discrete machines; Wu, Table 1: through"},
    {"memory.local_memory", "opportunistic", "nothing there uses local memory"},
    {"l2.set_function", "tom bench80 pim-tuning coda coda-host opportunistic",
     "folded; the papers name none, SM2_GTX480 has linear and SM7_QV100 a polynomial"},
    {"l2.sectors", "tom bench80 pim-tuning coda coda-host opportunistic", "see NW_NEAR_DATA"},
    {"l2.sectors_per_cycle", "tom bench80 pim-tuning coda coda-host opportunistic",
     "of no effect without sectors"},
    {"l2.write_policy", "tom bench80 pim-tuning coda-host", "see NW_NEAR_DATA"},
    {"l2.write_miss", "", "of whole lines that a slice keeps, which opportunistic and coda have"},
    {"l2.atomic_cycles", "tom bench80 pim-tuning coda coda-host opportunistic",
     "atomics of a line are served at once, as SM2_GTX480 serves one packet"},
    {"l2.begins_with_data", "tom bench80 pim-tuning coda coda-host opportunistic",
     "data lies in memory, which the papers are about"},
    {"l2.link_latency_cycles", "",
     "one part: where there are two, each keeps what its SMs read of the other (docs/hopper.md)"},
    {"l2.link_bytes", "", "of no effect without the link"},
    {"l2.link_copies", "", "of no effect without the link"},
    {"interconnect.flit_by_flit", "", "results are the same"},
    {"interconnect.split_packets", "tom bench80 pim-tuning coda coda-host opportunistic",
     "without sectors a reply is one packet"},
    {"interconnect.input_speedup", "", "SM2_GTX480: 1"},
    {"interconnect.wait_for_tail_credit", "", "SM2_GTX480: 0"},
    {"gpu.compute_capability", "", "9.0: code for 7.5 to 9.0 runs on every machine"},
    {"links.directions", "coda coda-host mpu mpu-sim",
     "each: their papers have a bandwidth of a link or bus and do not say more"},
    {"stack.interleave_bytes", "tom bench80 coda coda-host",
     "a line; TOM, section 3.2.1, and CODA, section 5.1"},
    {"stack.sm_latency_cycles", "coda-host", "of no effect: nothing computes in its stacks"},
    {"stack_sm.", "tom bench80 pim-tuning coda-host", "stack SMs are as main SMs in the papers"},
    {"near_bank.unit_interleave_bytes", "mpu", "a line, for which the paper names no size"},
    {"l1.replacement", "", "LRU, as simulators have it that machines are compared with"},
    {"l2.replacement", "", "LRU, as simulators have it that machines are compared with"},
    {"instruction_cache.replacement", "", "LRU, as simulators have it"},
    {"constant_cache.replacement", "", "LRU, as simulators have it"},
    {"tlb.replacement", "", "LRU, as papers have it that say anything"},
    {"partitions.interleave_bytes", "opportunistic", "a line (Table 2: chunks of 128 bytes)"},
    {"partitions.slices_own_banks", "opportunistic", "of no effect: a slice for each channel"},
    {"dram.row_buffer_rule",
     "tom bench80 pim-tuning coda coda-host opportunistic discrete16 gtx480 qv100 v100 a100 h100 "
     "h200",
     "of no effect: a bank has one row buffer"},
    {"dram.tRCDWR", "", "of no effect: no row of the machine's memory names it"},
    {"dram.tCCD_L_WR", "", "of no effect: no row of the machine's memory names it"},
    {"dram.tCCD_R", "", "of no effect: no row of the machine's memory names it"},
    {"dram.tCCDSB", "", "of no effect: no row of the machine's memory names it"},
    {"dram.tWTRSB", "", "of no effect: no row of the machine's memory names it"},
    {"dram.tPPD", "", "of no effect: no row of the machine's memory names it"},
    {"dram.tRFCpb", "", "of no effect: no row of the machine's memory names it"},
    {"dram.tRREFD", "", "of no effect: no row of the machine's memory names it"},
    {"dram.constraints", "", "those of its standard, or the customary ones"},
    {"dram.timing_mhz", "", "the clock that the file itself states, or its standard"},
    {"dram.other_clock", "", "an error, until the clock is changed"},
    {"dram.burst_bytes", NW_NEAR_DATA, "without sectors lines are read, which are whole bursts"},
    {"dram.sector_bursts", NW_NEAR_DATA, "without sectors there are none"},
};
#undef NW_NEAR_DATA

std::set<std::string> keys_in(const std::string& path) {
  std::set<std::string> found;
  const toml::table file = toml::parse_file(path);
  for (const Key<MachineConfig>& key : machine_keys())
    if (file.at_path(key.path)) found.emplace(key.path);
  return found;
}

bool is_of(const LeftOut& entry, std::string_view key, std::string_view machine) {
  const bool start = entry.keys.ends_with('.') || entry.keys.ends_with('_');
  return (start ? key.starts_with(entry.keys) : key == entry.keys) &&
         (entry.machines.empty() || is_choice(entry.machines, machine));
}

TEST(Defaults, EveryOptionalKeyIsInTheFileOrLeftOutForAReason) {
  std::set<const LeftOut*> used;
  for (const std::string& name : machine_names()) {
    const MachineConfig machine = load_machine(name);
    const std::set<std::string> in_file = keys_in(machine.path);
    for (const Key<MachineConfig>& key : machine_keys()) {
      if (!key.optional || !applies(key, machine) || in_file.count(std::string(key.path)) != 0)
        continue;
      bool known = false;
      for (const LeftOut& entry : kLeftOut) {
        if (!is_of(entry, key.path, name)) continue;
        known = true;
        used.insert(&entry);
      }
      EXPECT_TRUE(known) << machine.path << " leaves out " << key.path << ", which is then "
                         << value_text(member_of(key, machine))
                         << " - set it and say where it comes from, or say here why that is right";
    }
  }
  for (const LeftOut& entry : kLeftOut)
    EXPECT_EQ(used.count(&entry), 1u)
        << "no machine leaves out " << entry.keys << " (" << entry.machines << ")";
}

}  // namespace
}  // namespace nearwarp::config
