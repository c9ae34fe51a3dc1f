// The host's side of opportunistic computing: from its compiler pass to its part of a result.
#include "host/mechanisms/opportunistic/mechanism.h"

#include <fmt/format.h>

#include <array>

#include "device/mechanisms/opportunistic/mechanism.h"
#include "host/core/error.h"
#include "host/mechanisms/opportunistic/chain_tables.h"
#include "host/mechanisms/opportunistic/counters.h"

namespace nearwarp::opportunistic {

namespace {

using sim::System;

class OpportunisticRun final : public sim::MechanismRun {
 public:
  OpportunisticRun(const sim::RunSubject& subject, uint32_t number, sim::ImageTables& image)
      : subject_(subject),
        number_(number),
        tables_(build_chain_tables(subject.recording, subject.machine, image)) {
    for (size_t i = 0; i < tables_.chain_of.size(); ++i)
      if (tables_.chain_of[i] != kNoChain)
        image.instrs[i].marks = static_cast<uint8_t>(image.instrs[i].marks | 1u << number);
  }

  void attach(System& system) override {
    SmSideParams params;
    params.entries = subject_.policy.chains.offload_entries;
    params.chains = sim::place_all(system, tables_.chains);
    params.chain_of = sim::place_all(system, tables_.chain_of);
    const Ref<SmSideParams> at = sim::place(system, params);
    for (const uint16_t sm : system.sms) attach_sm(system, sm, at);
    for (const uint16_t slice : system.members("l2"))
      system.state<L2SliceState>(slice).service = sim::place(
          system, make_service_queue(system.arena, subject_.policy.chains.service_entries,
                                     subject_.policy.chains.buffer_entries));
  }

  void collect(System& system, report::RunResult& result) override {
    collect_chains(system, number_, tables_, result);
  }

  void check(System& system) override {
    uint64_t packets = 0, came_back = 0, taken = 0, refused = 0, replies = 0, held = 0;
    each_side(system, number_, [&](const auto& side) {
      held += side.in_use;
      for (uint32_t k = 0; k < side.chains.count; ++k) {
        packets += side.chains.in(system.arena.base())[k].packets;
        came_back += side.chains.in(system.arena.base())[k].came_back;
      }
    });
    each_service_queue(system, [&](const ServiceState& q) {
      taken += q.counters.taken;
      refused += q.counters.refused;
      replies += q.counters.replies;
      held += q.in_use;
    });
    if (taken != replies || refused != came_back || packets != taken + refused || held != 0)
      throw Error(fmt::format(
          "conservation is violated: {} ComputePackets sent, {} taken in, {} replied to; {} "
          "refused, "
          "{} came back as operands; {} entries are not free - this is a defect of the simulator",
          packets, taken, replies, refused, came_back, held));
  }

  std::string describe_held(System& system) override {
    constexpr std::array kSteps = {std::pair{Step::kWaiting, "waiting for a chain's operands"},
                                   std::pair{Step::kAway, "whose chain is away"}};
    std::array<uint64_t, 8> warps{};
    each_side(system, number_, [&](const auto& side) {
      for (uint32_t i = 0; i < side.warps.count; ++i)
        warps[static_cast<size_t>(side.warps.in(system.arena.base())[i].step)] += 1;
    });
    std::string text;
    for (const auto& [step, name] : kSteps)
      if (warps[static_cast<size_t>(step)] != 0)
        text += fmt::format(" {} {};", warps[static_cast<size_t>(step)], name);
    return text;
  }

  const char* packet_name(PacketKind kind) const override {
    return kind == kComputePacket  ? "ComputePacket"
           : kind == kComputeReply ? "reply to a ComputePacket"
           : kind == kOperandReply ? "operand of a chain"
                                   : nullptr;
  }

 private:
  void attach_sm(System& system, uint32_t endpoint, Ref<SmSideParams> params) {
    const uint32_t warps = system.state<sm::SmState>(endpoint).warps.count;
    SmSideState<1> side;
    side.warps = system.arena.allocate<WarpSide>(warps);
    side.chains = system.arena.allocate<ChainCounters>(
        static_cast<uint32_t>(std::max<size_t>(1, tables_.chains.size())));
    sim::attach_to_sm(system, endpoint, number_, sim::place(system, side), params);
  }

  sim::RunSubject subject_;
  uint32_t number_;
  ChainTables tables_;
};

/// Throws nearwarp::Error with what the machine lacks.
void require_machine(const sim::RunSubject& subject) {
  const config::MachineConfig& m = subject.machine;
  const auto refuse = [&](const std::string& what) {
    throw Error(fmt::format("policy '{}' on machine '{}': {}", subject.policy.name, m.name, what));
  };
  if (m.shape != "mesh" && m.shape != "discrete")
    refuse(
        fmt::format("machine.shape is \"{}\" - chains are computed at the L2 slices of a GPU of "
                    "the shape \"mesh\" or \"discrete\"",
                    m.shape));
  if (m.tlb.entries != 0)
    refuse(
        "it has TLBs (tlb.entries) - chains are offloaded by physical addresses; set "
        "tlb.entries=0");
  if (m.l2.sectors || m.l1.sectors)
    refuse("its caches are looked up by sectors - service queues compute on whole lines");
}

}  // namespace

std::unique_ptr<sim::MechanismRun> OpportunisticMechanism::prepare(const sim::RunSubject& subject,
                                                                   uint32_t number,
                                                                   sim::ImageTables& image) const {
  require_machine(subject);
  return std::make_unique<OpportunisticRun>(subject, number, image);
}

}  // namespace nearwarp::opportunistic
