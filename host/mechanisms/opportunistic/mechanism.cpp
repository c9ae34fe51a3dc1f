// Opportunistic computing in a run, on the host: from its compiler pass to its part of the result.
#include "host/mechanisms/opportunistic/mechanism.h"

#include <fmt/format.h>

#include <array>

#include "device/mechanisms/opportunistic/slice_service.h"
#include "device/mechanisms/opportunistic/sm_state.h"
#include "host/core/error.h"
#include "host/mechanisms/opportunistic/chain_tables.h"
#include "host/mechanisms/opportunistic/counters.h"
#include "host/mechanisms/opportunistic/settings.h"
#include "host/mechanisms/opportunistic/sm_service.h"

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
    if (!subject.policy.table<ChainSettings>().at_sms) return;
    at_sms_ = sms_can_serve(subject.machine, subject.policy, image);
  }

  void extend(sim::Graph& graph, const sim::Parts& parts) override {
    if (!at_sms_) return;
    link_service_queues(graph, parts);
    tiles_ = graph.spec<sim::RouterNetworkSpec>(graph.class_named("request_crossbar")).tiles;
  }

  void attach(System& system) override {
    SmSideParams params;
    params.entries = chains().offload_entries;
    params.max_parts = chains().max_parts;
    params.chains = sim::place_all(system, tables_.chains);
    params.chain_of = sim::place_all(system, tables_.chain_of);
    Meetings meetings;
    if (at_sms_) {
      meetings = find_meetings(system, tiles_, subject_.machine.gpu.sms_per_cluster,
                               ways_of(subject_.machine, subject_.policy));
      params.slices = meetings.slices;
      params.slice_at = sim::place_all(system, meetings.slice_at);
    }
    const Ref<SmSideParams> at = sim::place(system, params);
    for (uint32_t i = 0; i < system.num_sms(); ++i)
      attach_sm(system, system.sms[i], at, at_sms_ ? &meetings.of[i] : nullptr);
    for (const uint16_t slice : system.members("l2")) {
      ServiceState queue = make_service_queue(system.arena, chains().service_entries,
                                              chains().buffer_entries, alu_interval());
      queue.ack_forwarded = chains().ack == "forwarded";
      sim::attach_to_memory<L2SliceState>(system, slice, number_, sim::place(system, queue),
                                          sim::place(system, OnL2Slice::Params{}));
    }
  }

  void collect(System& system, report::RunResult& result) override {
    collect_chains(system, number_, tables_, result);
    if (chains().at_sms) collect_sm_service(system, number_, result);
    collect_use(system, number_, chains(), result);
  }

  void check(System& system) override {
    uint64_t packets = 0, came_back = 0, taken = 0, refused = 0, replies = 0, held = 0;
    const auto add = [&](const ServiceState& q) {
      taken += q.counters.taken;
      refused += q.counters.refused;
      replies += q.counters.replies;
      held += q.in_use;
    };
    each_side(system, number_, [&](const auto& side) {
      held += side.in_use;
      for (uint32_t k = 0; k < side.chains.count; ++k) {
        packets += side.chains.in(system.arena.base())[k].packets;
        came_back += side.chains.in(system.arena.base())[k].came_back;
      }
    });
    each_service_queue(system, number_, add);
    each_sm_service(system, number_, [&](const SmService& q) {
      add(q);
      refused += q.turned_away;
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
    return kind == kComputePacket    ? "ComputePacket"
           : kind == kComputeReply   ? "reply to a ComputePacket"
           : kind == kOperandReply   ? "operand of a chain"
           : kind == kOperandRead    ? "read of a chain's operand"
           : kind == kComputeRefusal ? "refusal of a ComputePacket"
                                     : nullptr;
  }

 private:
  const ChainSettings& chains() const { return subject_.policy.table<ChainSettings>(); }
  /// Cycles for which an instruction of a warp occupies the ALU of a service queue.
  uint32_t alu_interval() const {
    return (kWarpLanes + chains().alu_lanes - 1) / chains().alu_lanes;
  }

  /// Attach the mechanism to an SM. `meetings`: the SM's table of meeting points; null if SMs
  /// compute nothing for others, and have no service queue.
  void attach_sm(System& system, uint32_t endpoint, Ref<SmSideParams> params,
                 const std::vector<Endpoint>* meetings) {
    const uint32_t warps = system.state<sm::SmState>(endpoint).warps.count;
    SmSideState<1> side;
    side.warps = system.arena.allocate<WarpSide>(warps);
    side.chains = system.arena.allocate<ChainCounters>(
        static_cast<uint32_t>(std::max<size_t>(1, tables_.chains.size())));
    if (meetings != nullptr) {
      side.meetings = sim::place_all(system, *meetings);
      SmService service =
          make_sm_service(system.arena, chains().service_entries, chains().buffer_entries,
                          alu_interval(), chains().sm_alu == "own");
      service.arrivals = only(system.channels_to(endpoint, sim::ChannelClass::kChainsToSm));
      service.ack_forwarded = chains().ack == "forwarded";
      service.sends_back = chains().when_full == "refuse";
      service.answers = system.channel_from(endpoint, sim::ChannelClass::kChainsFromSm);
      side.service = sim::place(system, service);
      sm::SmState& sm = system.state<sm::SmState>(endpoint);
      sm.own_channels = static_cast<uint8_t>(sm.own_channels | 1u << number_);
    }
    sim::attach_to_sm(system, endpoint, number_, sim::place(system, side), params);
  }

  static constexpr uint32_t kWarpLanes = 32;
  static Ref<Channel> only(const std::vector<Ref<Channel>>& channels) { return channels.at(0); }

  sim::RunSubject subject_;
  uint32_t number_;
  ChainTables tables_;
  bool at_sms_ = false;  ///< SMs execute chains of others
  sim::Tiles tiles_;
};

}  // namespace

std::unique_ptr<sim::MechanismRun> OpportunisticMechanism::prepare(const sim::RunSubject& subject,
                                                                   uint32_t number,
                                                                   sim::ImageTables& image) const {
  return std::make_unique<OpportunisticRun>(subject, number, image);
}

const sim::Mechanism& mechanism() {
  static const OpportunisticMechanism it;
  return it;
}

}  // namespace nearwarp::opportunistic
