// Opportunistic computing's keys: the table [chains] of a policy.
#include <fmt/format.h>

#include <array>

#include "host/config/mechanism.h"
#include "host/mechanisms/opportunistic/settings.h"

namespace nearwarp::opportunistic {
namespace {

using config::Member;
using P = config::PolicyConfig;

constexpr bool kOptional = true;

#define NW_CHAINS(member) \
  "chains." #member, [](P& p) -> Member { return &p.table<ChainSettings>().member; }

constexpr std::array<config::Key<P>, 10> kKeys = {{
    {NW_CHAINS(offload_entries), "chains", 1, 256, false, "",
     "That an SM may have offloaded at a time: entries of its offload queue.", kOptional},
    {NW_CHAINS(service_entries), "chains", 1, 256, false, "",
     "That a service queue takes in; others come back as operands.", kOptional},
    {NW_CHAINS(buffer_entries), "chains", 1, 64, false, "",
     "Whose data a service queue reads, or has read, at a time.", kOptional},
    {NW_CHAINS(at_sms), "", 0, 0, false, "",
     "Chains whose data lies in several L2 slices are executed by SMs on the ways to both "
     "(Omni-Compute); machines of the shape mesh.",
     kOptional},
    {NW_CHAINS(sm_alu), "", 0, 0, false, "idle own",
     "What an SM executes others' chains with. idle: its own ALUs while they are idle; own: an "
     "ALU of the service queue's.",
     kOptional},
    {NW_CHAINS(alu_lanes), "lanes", 1, 32, false, "",
     "Of the ALUs that service queues have for themselves.", kOptional},
    {NW_CHAINS(max_parts), "packets", 1, 4, false, "",
     "Sets of lanes that access the same lines, each a ComputePacket: a chain of more stays at "
     "home.",
     kOptional},
    {NW_CHAINS(ack), "", 0, 0, false, "stored forwarded",
     "When a chain whose result is stored is acknowledged. stored: when memory has the result; "
     "forwarded: when its store has left the service queue.",
     kOptional},
    {NW_CHAINS(meet), "", 0, 0, false, "either route",
     "Ways on which the data of two slices can meet. either: along rows first, and along columns "
     "first; route: those that packets take (mesh.routing).",
     kOptional},
    {NW_CHAINS(when_full), "", 0, 0, false, "ask refuse",
     "What an SM does with a ComputePacket that finds its service queue full. ask: it sends for "
     "the "
     "operands in the sender's name, for one packet at a time, and sends others back; refuse: it "
     "sends all of them back. The sender of what comes back sends for the operands itself.",
     kOptional},
}};

using M = config::MachineConfig;

constexpr config::Need kNeeds[] = {
    {"an L2 in slices, at which chains are computed",
     [](const M& m, const P&) {
       return config::lack_of_shape(m, [](const config::Shape& s) { return s.slices; });
     }},
    {"tiles, for SMs to compute for each other on the ways through a mesh",
     [](const M& m, const P& p) {
       if (!p.table<ChainSettings>().at_sms) return std::string();
       const std::string lack =
           config::lack_of_shape(m, [](const config::Shape& s) { return s.tiles; });
       return lack.empty() ? lack : lack + ", or chains.at_sms false";
     }},
    {"SMs without TLBs",
     [](const M& m, const P&) {
       return m.tlb.entries == 0 ? ""
                                 : fmt::format(
                                       "tlb.entries is {} - chains are sent by "
                                       "physical addresses: set tlb.entries=0",
                                       m.tlb.entries);
     }},
    {"caches of whole lines",
     [](const M& m, const P&) -> std::string {
       if (!m.l2.sectors && !m.l1.sectors) return "";
       return "its caches are looked up by sectors - set l1.sectors=false and l2.sectors=false";
     }},
};

constexpr config::Claim kClaims[] = {
    {config::claims::kAccesses, "sends to L2 slices, those of chains past the load-store unit"},
    {config::claims::kStoreAcks, "gives before memory has the store (chains.ack)",
     [](const P& p) { return p.table<ChainSettings>().ack == "forwarded"; }},
};

}  // namespace

const config::MechanismDeclaration& declaration() {
  static constexpr config::MechanismDeclaration kDeclaration = {
      .name = "opportunistic",
      .doc =
          "chains of loads, arithmetic and stores are computed at L2 slices, after A. Pattnaik et "
          "al. (ISCA 2019)",
      .keys = kKeys,
      .needs = kNeeds,
      .claims = kClaims,
  };
  return kDeclaration;
}

}  // namespace nearwarp::opportunistic
