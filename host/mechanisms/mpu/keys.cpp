// MPU's keys: the table [mpu] of a policy.
#include <fmt/format.h>

#include <array>

#include "host/config/mechanism.h"
#include "host/mechanisms/mpu/settings.h"

namespace nearwarp::mpu {
namespace {

using config::Member;
using P = config::PolicyConfig;

constexpr bool kOptional = true;

#define NW_MPU(member) "mpu." #member, [](P& p) -> Member { return &p.table<Settings>().member; }

constexpr std::array<config::Key<P>, 12> kKeys = {{
    {NW_MPU(locations), "", 0, 0, false, "annotated hardware near far",
     "Where instructions are executed that both parts of a core can execute. annotated: as the "
     "compiler says, and where it says both as with hardware; hardware: near the banks if all of "
     "their registers are there; near, far: all of them.",
     kOptional},
    {NW_MPU(shared_memory), "", 0, 0, false, "near far",
     "Where a core's shared memory is: beside the banks or on the logic die.", kOptional},
    {NW_MPU(offload_accesses), "", 0, 0, false, "",
     "Coalesced loads and stores of a warp's own near-bank unit leave their data above the TSVs; "
     "false: all data goes through the load-store unit.",
     kOptional},
    {NW_MPU(scalar_moves), "", 0, 0, false, "",
     "Registers that by the code have the same value in all lanes (parameters, constants, and "
     "what is "
     "computed from them) move as one value instead of 32.",
     kOptional},
    {NW_MPU(near_operations), "", 0, 0, false, "simple all",
     "Arithmetic that near-bank units have. simple: not divisions, special functions and "
     "operations across lanes, which are of the far-bank operation set; all: these, too.",
     kOptional},
    {NW_MPU(both_spreads), "", 0, 0, false, "",
     "What an instruction computes for both places is wanted in both from its sources, too; "
     "false: such a location is not propagated.",
     kOptional},
    {NW_MPU(hash_units), "", 0, 0, false, "",
     "Lines are spread over near-bank units and their banks by a hash; false: consecutive lines "
     "of a core go to its units in turn, as warps have their registers there.",
     kOptional},
    {NW_MPU(near_registers), "registers", 1024, 1048576, false, "",
     "32-bit registers of all near-bank register files of a core.", kOptional},
    {NW_MPU(collectors), "instructions", 1, 8, false, "",
     "That can wait for their operands in a near-bank unit.", kOptional},
    {NW_MPU(near_instructions), "instructions", 1, 8, false, "",
     "Of a warp that may be near the banks at a time, the way there and back included.", kOptional},
    {NW_MPU(word_bytes), "B", 1, 64, false, "",
     "What an instruction, its commit, or the name of a register takes of the TSVs.", kOptional},
    {NW_MPU(access_bytes), "B", 1, 64, false, "",
     "What an offloaded access takes of the TSVs: address, register and unit.", kOptional},
}};

using M = config::MachineConfig;

constexpr config::Need kNeeds[] = {
    {"cores below banks of their own, beside which instructions are executed",
     [](const M& m, const P&) {
       return config::lack_of_shape(m, [](const config::Shape& s) { return s.in_banks(); });
     }},
    {"cores without TLBs",
     [](const M& m, const P&) {
       return m.tlb.entries == 0 ? ""
                                 : fmt::format(
                                       "tlb.entries is {} - the load-store unit "
                                       "compares physical addresses: set "
                                       "tlb.entries=0",
                                       m.tlb.entries);
     }},
    {"L1 caches of whole lines",
     [](const M& m, const P&) -> std::string {
       return m.l1.sectors ? "l1.sectors is true - set l1.sectors=false" : "";
     }},
};

constexpr config::Claim kClaims[] = {
    {config::claims::kAccesses, "sends up to the banks, data and all"},
    {config::claims::kEveryAccess, "sends up to the banks, data and all"},
};

}  // namespace

const config::MechanismDeclaration& declaration() {
  static constexpr config::MechanismDeclaration kDeclaration = {
      .name = "mpu",
      .doc = "instructions are executed beside the banks of a core, after the MPU paper",
      .keys = kKeys,
      .needs = kNeeds,
      .claims = kClaims,
  };
  return kDeclaration;
}

}  // namespace nearwarp::mpu
