// The host's side of MPU: from its compiler back end to its part of a result.
#include "host/mechanisms/mpu/mechanism.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "device/mechanisms/mpu/packets.h"
#include "device/mechanisms/mpu/sm_state.h"
#include "host/core/error.h"
#include "host/mechanisms/mpu/counters.h"
#include "host/mechanisms/mpu/place_tables.h"
#include "host/mechanisms/mpu/report/energy.h"
#include "host/mechanisms/mpu/settings.h"

namespace nearwarp::mpu {

namespace {

using sim::System;

class MpuRun final : public sim::MechanismRun {
 public:
  MpuRun(const sim::RunSubject& subject, uint32_t number, sim::ImageTables& image)
      : subject_(subject),
        number_(number),
        tables_(build_place_tables(subject.recording, subject.machine, subject.policy, image)),
        track_words_((image.max_slots + 31) / 32) {
    for (sm::ImageInstr& in : image.instrs)
      in.marks = static_cast<uint8_t>(in.marks | 1u << number);
  }

  /// The TSVs carry what the two parts of a core have to say to each other, too. The near-bank
  /// units are a second end of the core at its TSVs: requests for a core itself go up there, and
  /// what it replies comes back to the subcores as other replies do.
  void extend(sim::Graph& g, const sim::Parts& parts) override {
    if (!subject_.policy.table<Settings>().hash_units) g.map.hash = 0;
    const config::MachineConfig::NearBank& n = parts.machine.near_bank;
    const sim::Wire tsv{n.tsv_latency_cycles * parts.icnt_period, n.queue_entries, 0};
    const std::vector<sim::NodeId> cores = g.members(g.class_named("sm")),
                                   switches = g.members(g.class_named("stack_switch"));
    constexpr auto kRequests = static_cast<uint8_t>(sim::kRequests | sim::kOwn),
                   kReplies = static_cast<uint8_t>(sim::kReplies | sim::kOwn);
    for (size_t c = 0; c < cores.size(); ++c) {
      const sim::End core = g.at(cores[c]);
      g.link(core, g.at(switches[c], 0), sim::ChannelClass::kInStack, sim::kOwn, tsv);
      g.link(g.at(switches[c], 1), core, sim::ChannelClass::kInStack, kRequests, tsv);
      g.link(core, g.at(switches[c], 1), sim::ChannelClass::kDirect, kReplies, tsv);
    }
  }

  void attach(System& system) override {
    const Settings& mpu = subject_.policy.table<Settings>();
    SmSideParams params;
    params.units = subject_.machine.near_bank.units;
    params.collectors = mpu.collectors;
    params.near_ops = mpu.near_instructions;
    // GPGPU-Sim's pipeline, whose stages sm.pipeline_cycles counts: of the latches before and
    // behind the operand collectors, and of that to the write-back, the first lies before the TSVs.
    params.front_cycles = std::min(subject_.machine.sm.pipeline_cycles, 1u);
    params.word_bytes = mpu.word_bytes;
    params.access_bytes = mpu.access_bytes;
    params.track_words = track_words_;
    params.offloads_accesses = mpu.offload_accesses;
    params.places = sim::place_all(system, tables_.places);
    const Ref<SmSideParams> at = sim::place(system, params);
    for (const uint16_t sm : system.sms) attach_sm(system, sm, at);
  }

  void collect(System& system, report::RunResult& result) override {
    collect_places(system, number_, tables_, result);
    result.parts.added.push_back(energy_of_moves());
  }

  void report(System& system, report::RunResult& result) override {
    report_alus(system, number_, result);
  }

  void check(System& system) override {
    Counters all;
    uint64_t held = 0;
    each_side(system, number_, [&](const auto& side) {
      all.near += side.counters.near;
      all.shared += side.counters.shared;
      all.commits += side.counters.commits;
      held += side.down_count + side.up_count + side.near_loads + side.wheel_used;
      for (uint32_t i = 0; i < side.warps.count; ++i) {
        const WarpSide& t = side.warps.in(system.arena.base())[i];
        held += t.ops + t.moving + t.coming;
      }
    });
    // Accesses to shared memory without a lane end before they get there.
    if (all.commits > all.near + all.shared || all.commits < all.near || held != 0)
      throw Error(fmt::format(
          "conservation is violated: {} instructions and {} accesses to shared memory went to "
          "near-bank units, {} were committed; {} are still there - this is a defect of the "
          "simulator",
          all.near, all.shared, all.commits, held));
  }

  std::string describe_held(System& system) override {
    constexpr std::array kSteps = {
        std::pair{Step::kValue, "waiting for the value of a register that is to move"},
        std::pair{Step::kMove, "waiting for registers that move"},
        std::pair{Step::kOperands, "waiting for operands of a near-bank instruction"},
        std::pair{Step::kRoom, "with too many near-bank instructions"}};
    std::array<uint64_t, kNumSteps> warps{};
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
    return kind == kNearInstruction  ? "near-bank instruction"
           : kind == kNearShared     ? "access to near-bank shared memory"
           : kind == kRegisterToNear ? "register for near-bank units"
           : kind == kLoadedToNear   ? "loaded register for near-bank units"
           : kind == kRegisterWanted ? "request for a register"
           : kind == kCommit         ? "commit"
           : kind == kRegisterToFar  ? "register for a subcore"
                                     : nullptr;
  }

 private:
  void attach_sm(System& system, uint32_t endpoint, Ref<SmSideParams> params) {
    const uint32_t warps = system.state<sm::SmState>(endpoint).warps.count,
                   loads = subject_.machine.lsu.load_entries;
    SmSideState<1> side;
    side.down_out = system.channel_from(endpoint, sim::ChannelClass::kInStack);
    side.down_in = system.channels_to(endpoint, sim::ChannelClass::kInStack).at(0);
    side.up_out = system.channel_from(endpoint, sim::ChannelClass::kDirect);
    side.warps = system.arena.allocate<WarpSide>(warps);
    side.near_valid = system.arena.allocate<uint32_t>(warps * track_words_);
    side.far_valid = system.arena.allocate<uint32_t>(warps * track_words_);
    side.ops = system.arena.allocate<NearOp>(warps * kNearOps + loads);
    // A warp moves no more registers at a time than an instruction has.
    const uint32_t orders = warps * (kNearOps + sm::kMaxSlots) + loads;
    side.down = system.arena.allocate<QueuedPacket>(orders);
    side.up = system.arena.allocate<QueuedPacket>(orders);
    sim::attach_to_sm(system, endpoint, number_, sim::place(system, side), params);
    sim::with_sm(system, endpoint, [&](auto& s) {
      s.own_channels = static_cast<uint8_t>(s.own_channels | 1u << number_);
    });
  }

  sim::RunSubject subject_;
  uint32_t number_;
  PlaceTables tables_;
  uint32_t track_words_;
};

/// Throws nearwarp::Error with what the machine lacks.
void require_machine(const sim::RunSubject& subject) {
  const config::MachineConfig& m = subject.machine;
  const auto refuse = [&](const std::string& what) {
    throw Error(fmt::format("policy '{}' on machine '{}': {}", subject.policy.name, m.name, what));
  };
  if (m.near_bank.units > kMaxUnits)
    refuse(fmt::format("near_bank.units = {} - a core has {} near-bank units at most",
                       m.near_bank.units, kMaxUnits));
}

}  // namespace

std::unique_ptr<sim::MechanismRun> MpuMechanism::prepare(const sim::RunSubject& subject,
                                                         uint32_t number,
                                                         sim::ImageTables& image) const {
  require_machine(subject);
  return std::make_unique<MpuRun>(subject, number, image);
}

const sim::Mechanism& mechanism() {
  static const MpuMechanism it;
  return it;
}

}  // namespace nearwarp::mpu
