// TOM in a run, on the host: from its compiler pass to its part of the result.
#include "host/mechanisms/tom/mechanism.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "device/mechanisms/tom/on_front_end.h"
#include "device/mechanisms/tom/packets.h"
#include "device/mechanisms/tom/sm_state.h"
#include "host/core/error.h"
#include "host/mechanisms/tom/counters.h"
#include "host/mechanisms/tom/data_placement.h"
#include "host/mechanisms/tom/machine.h"
#include "host/mechanisms/tom/settings.h"
#include "host/mechanisms/tom/sides.h"

namespace nearwarp::tom {

namespace {

using sim::System;

class TomRun final : public sim::MechanismRun {
 public:
  TomRun(const sim::RunSubject& subject, uint32_t number, sim::ImageTables& image, const Tune& tune)
      : subject_(subject),
        number_(number),
        tables_(build_offload_tables(subject.recording, subject.machine, subject.policy, image)),
        tuning_(tune ? tune(mark(), tables_) : LoopTables{}),
        placement_(subject.recording, subject.machine, subject.policy, image, tables_) {
    mark_candidates(tables_, mark(), image);
  }

  sim::MachineNeeds needs() const override { return {.stacks_compute = true}; }

  void extend(sim::Graph& graph, const sim::Parts& parts) override {
    add_to_machine(graph, parts, subject_.policy, learns());
    // A stack takes three bits of the front end's status word.
    if (tuning_.params.room_known && parts.machine.stack.count > 10)
      throw Error(fmt::format("{}: stack.count = {} - with offload.room_known it is at most 10",
                              parts.machine.path, parts.machine.stack.count));
    if (subject_.policy.mapping != "tmap" && subject_.policy.mapping != "oracle") return;
    if (learns() && parts.machine.l2.write_policy == "back")
      throw Error(fmt::format(
          "{}: l2.write_policy = \"back\" - under policy {}, which learns a mapping while data is "
          "in the CPU's memory, it must be \"through\"",
          parts.machine.path, subject_.policy.name));
    if (!subject_.recording.applications.empty())
      throw Error(
          fmt::format("policy {}: a mapping of the data (mapping = \"{}\") is chosen for one "
                      "program, not for several at once - use one with mapping = \"bmap\"",
                      subject_.policy.name, subject_.policy.mapping));
    // Pages that candidates touch lie under a second address map.
    graph.address_spaces = std::max(1u, graph.address_spaces);
    graph.more_maps = std::max(1u, graph.more_maps);
    const uint32_t line = subject_.machine.l1.line_bytes;
    const uint64_t most = uint64_t{kMaxMappedLines} * line;
    if (placement_.plan().memory_bytes > most)
      throw Error(
          fmt::format("policy {}: the program's memory ends at {} bytes - with pages under a "
                      "mapping of their own it may have {} with lines of {} bytes",
                      subject_.policy.name, placement_.plan().memory_bytes, most, line));
    graph.mapped_lines =
        std::max(graph.mapped_lines, (placement_.plan().memory_bytes + line - 1) / line);
  }

  void attach(System& system) override {
    if (subject_.policy.mapping == "local") {
      AddressMap& local = system.map.others.in(system.arena.base())[kLocalMap - 1];
      local = one_stack_map(system.map.baseline);
      local.line_mask = kMaxMappedLines - 1;
    }
    attach_sms(system);
    attach_arbiter(system);
  }

  void begin(System& system) override { placement_.begin(system, number_); }
  bool learns() const override { return placement_.learns(); }
  std::string learnt(System& system) override { return placement_.learnt(system, number_); }
  void begin_learnt(System& system, std::string_view bytes) override {
    placement_.begin_learnt(system, number_, bytes);
  }
  void serve(System& system) override { placement_.watch(system, number_); }

  void collect(System& system, report::RunResult& result) override {
    collect_offloading(subject_.recording, tables_, number_, tuning_.params.on,
                       subject_.policy.table<SharedSettings>().shared != "none", system, result);
  }
  void report(System& system, report::RunResult& result) override {
    mapping_of(result) = placement_.report(system, number_);
    if (mapping_of(result).has_value())
      result.learning_cycles = mapping_of(result)->learning_cycles();
  }

  void check(System& system) override {
    uint64_t offloaded = 0, returned = 0;
    each_side(system, number_, [&](uint32_t, const auto& side) {
      const CandidateCounters* n = side.candidates.in(system.arena.base());
      for (uint32_t k = 0; k < side.candidates.count; ++k) offloaded += n[k].offloaded;
      returned += side.counters.returned;
    });
    if (offloaded != returned)
      throw Error(
          fmt::format("conservation is violated: {} blocks offloaded, {} returned - this "
                      "is a defect of the simulator",
                      offloaded, returned));
    check_shared(system);
  }

  std::string describe_held(System& system) override {
    constexpr std::array kSteps = {std::pair{Step::kDeciding, "deciding on an offload"},
                                   std::pair{Step::kDraining, "draining stores"},
                                   std::pair{Step::kAsking, "asking for an offload slot"},
                                   std::pair{Step::kGranted, "sending an offload request"},
                                   std::pair{Step::kAway, "offloaded"},
                                   std::pair{Step::kReturning, "returning from an offload"}};
    std::array<uint64_t, 16> warps{};
    each_side(system, number_, [&](uint32_t, const auto& side) {
      const WarpSide* w = side.warps.in(system.arena.base());
      for (uint32_t i = 0; i < side.warps.count; ++i) warps[static_cast<size_t>(w[i].step)] += 1;
    });
    std::string text;
    for (const auto& [step, name] : kSteps)
      if (warps[static_cast<size_t>(step)] != 0)
        text += fmt::format(" {} {};", warps[static_cast<size_t>(step)], name);
    return text;
  }

  const char* packet_name(PacketKind kind) const override {
    constexpr std::array kNames = {std::pair{kOffloadRequest, "offload request"},
                                   std::pair{kOffloadDirty, "dirty-line notice"},
                                   std::pair{kOffloadAck, "offload acknowledgement"},
                                   std::pair{kTableRow, "row of a shared table"},
                                   std::pair{kMergeRow, "row of a shared accumulator"},
                                   std::pair{kOffloadDenyShared, "offload denial"},
                                   std::pair{kOffloadAsk, "offload question"},
                                   std::pair{kOffloadGrant, "offload grant"},
                                   std::pair{kOffloadDeny, "offload denial"},
                                   std::pair{kOffloadRelease, "offload release"},
                                   std::pair{kChannelBusy, "notice of busy channels"},
                                   std::pair{kInstanceSeen, "report of the memory map analyzer"},
                                   std::pair{kInstanceBegun, "notice of an instance's beginning"},
                                   std::pair{kStackHasRoom, "notice of room on a stack SM"},
                                   std::pair{kLearningStop, "stop"},
                                   std::pair{kLearningStopped, "standstill"},
                                   std::pair{kLearningResume, "resumption"}};
    for (const auto& [k, name] : kNames)
      if (k == kind) return name;
    return nullptr;
  }

  void save(runtime::Writer& out) override { placement_.io(out); }
  void restore(runtime::Reader& in) override { placement_.io(in); }

 private:
  uint8_t mark() const { return static_cast<uint8_t>(1u << number_); }

  /// Check that every offload has sent its shared array once, has returned it once, and has freed
  /// its rows of the stack SM's shared memory.
  void check_shared(System& system) {
    std::vector<CandidateCounters> all(tables_.candidates.size());
    uint64_t rows = 0;
    each_side(system, number_, [&](uint32_t, const auto& side) {
      rows += side.shared_rows;
      const CandidateCounters* n = side.candidates.in(system.arena.base());
      for (size_t k = 0; k < all.size(); ++k) {
        all[k].offloaded += n[k].offloaded;
        all[k].table_bytes += n[k].table_bytes;
        all[k].merged_bytes += n[k].merged_bytes;
      }
    });
    for (size_t k = 0; k < all.size(); ++k) {
      const Candidate& c = tables_.candidates[k];
      const uint64_t bytes = all[k].offloaded * c.shared_bytes;
      const uint64_t sent = c.shared == tuning::SharedKind::kTable ? bytes : 0,
                     back = c.shared == tuning::SharedKind::kAccumulator ? bytes : 0;
      if (all[k].table_bytes == sent && all[k].merged_bytes == back && rows == 0) continue;
      throw Error(fmt::format(
          "conservation is violated: of candidate {} {} bytes of shared memory were sent and {} "
          "came back, which should be {} and {}; {} rows are not free - this is a defect of the "
          "simulator",
          k, all[k].table_bytes, all[k].merged_bytes, sent, back, rows));
    }
  }

  bool counts_at_begin() const {
    return subject_.policy.table<LearningSettings>().counts_at == "begin";
  }

  /// Rows that a stack SM's shared memory holds.
  uint32_t stack_shared_rows() const {
    return stack_shared_bytes(subject_.machine) / tables_.row_bytes;
  }

  SmSideParams side_params(bool in_stack) const {
    SmSideParams p;
    p.in_stack = in_stack;
    p.dynamic_control = subject_.policy.table<OffloadSettings>().dynamic_control;
    p.busy_refuses = subject_.policy.table<OffloadSettings>().busy_refuses;
    p.tuning = tuning_.params;
    p.no_overhead = !subject_.policy.table<OffloadSettings>().overhead;
    p.even = subject_.policy.table<OffloadSettings>().even;
    p.any_stack = subject_.policy.mapping == "local";
    p.flush_l1 = subject_.policy.table<OffloadSettings>().overhead &&
                 subject_.policy.table<OffloadSettings>().flush_l1;
    p.count_at_begin = counts_at_begin();
    p.pipeline_latency = subject_.machine.table<OffloadParts>().pipeline_latency_cycles;
    p.dirty_entries = subject_.machine.table<OffloadParts>().dirty_entries;
    p.shared_rows = stack_shared_rows();
    return p;
  }

  template <uint32_t kWords>
  void attach_sm(System& system, uint32_t endpoint, Ref<SmSideParams> params, uint32_t warps,
                 SmSideState<kWords> side) {
    side.warps = system.arena.allocate<WarpSide>(warps);
    side.candidates = system.arena.allocate<CandidateCounters>(
        static_cast<uint32_t>(std::max<size_t>(1, tables_.candidates.size())));
    if (!subject_.policy.table<OffloadSettings>().overhead) attach_ways(system, endpoint, side);
    sim::attach_to_sm(system, endpoint, number_, sim::place(system, side), params);
  }

  template <uint32_t kWords>
  void attach_ways(System& system, uint32_t endpoint, SmSideState<kWords>& side) {
    using Channels = std::vector<Ref<Channel>>;
    const Channels to = system.channels_from(endpoint, sim::ChannelClass::kDirect),
                   from = system.channels_to(endpoint, sim::ChannelClass::kDirect);
    side.ways = kernels::place(system.arena, std::span<const Ref<Channel>>(to));
    side.answers = kernels::place(system.arena, std::span<const Ref<Channel>>(from));
    side.refused = system.arena.allocate<uint16_t>(static_cast<uint32_t>(to.size()));
    sim::with_sm(system, endpoint, [&](auto& s) {
      s.own_channels = static_cast<uint8_t>(s.own_channels | 1u << number_);
    });
  }

  void attach_sms(System& system) {
    const std::span<const uint16_t> stack_sms = system.members("stack_sm");
    SmSideParams params = side_params(false);
    params.stack_sms = sim::place_all(system, sim::endpoints_of(stack_sms));
    params.candidates = sim::place_all(system, tables_.candidates);
    params.candidate_of = sim::place_all(system, tables_.candidate_of);
    params.inner_of = sim::place_all(system, tables_.inner_of);
    params.weight = sim::place_all(system, tables_.weight);
    params.head_of = sim::place_all(system, tuning_.head_of);
    params.heads = sim::place_all(system, tuning_.heads);
    const Ref<SmSideParams> main = sim::place(system, params);
    params.in_stack = true;
    const Ref<SmSideParams> stack = sim::place(system, params);
    const Ref<LineRange> ranges = sim::place_all(system, placement_.plan().ranges);
    for (const uint16_t endpoint : system.sms) {
      const uint32_t warps = system.state<sm::SmState>(endpoint).warps.count;
      SmSideState<1> side;
      side.invalidations = system.channel_from(endpoint, sim::ChannelClass::kInvalidation);
      if (learns()) {
        side.analyzer.mode = SmMode::kLearning;
        auto& counts = system.state<sm::SmState>(endpoint).counts_accesses;
        counts = static_cast<uint8_t>(counts | 1u << number_);
        side.analyzer.entries = system.arena.allocate<AnalyzerEntry>(warps);
        side.analyzer.ranges = ranges;
        side.analyzer.touched = system.arena.allocate<uint8_t>(ranges.count);
      }
      attach_sm(system, endpoint, main, warps, side);
    }
    for (const uint16_t endpoint : stack_sms) attach_stack_sm(system, endpoint, stack);
  }

  void attach_stack_sm(System& system, uint32_t endpoint, Ref<SmSideParams> params) {
    const uint32_t warps =
        sim::with_sm(system, endpoint, [](const auto& s) { return s.warps.count; });
    const auto attach = [&](auto side) {
      side.dirty = system.arena.allocate<uint32_t>(
          warps * subject_.machine.table<OffloadParts>().dirty_entries);
      if (tuning_.params.on) side.history = system.arena.allocate<tuning::TrafficHistory>(warps);
      attach_sm(system, endpoint, params, warps, side);
    };
    if (system.component(endpoint).kind == kernels::ComponentKind::kWideSm) {
      attach(SmSideState<sm::kWideWords>{});
    } else {
      attach(SmSideState<1>{});
    }
  }

  void attach_arbiter(System& system) {
    const auto stacks = static_cast<uint32_t>(system.members("stack_sm").size());
    ArbiterParams p;
    p.stack_warps = subject_.machine.stack.sm_warps;
    p.stack_rows = stack_shared_rows();
    p.tell_room = tuning_.params.room_known;
    p.dynamic_control = subject_.policy.table<OffloadSettings>().dynamic_control;
    p.count_at_begin = counts_at_begin();
    p.learning_instances = placement_.plan().learning_instances;
    // It is at least a window, so that the host gets its turn before the phase ends.
    p.remap_ticks = std::max<Tick>(
        uint64_t{subject_.machine.table<Pcie>().remap_latency_ns} * system.base_mhz / 1000,
        system.window);
    ArbiterState s;
    if (learns()) s.learning = LearningPhase::kLearning;
    s.waiting_entries = system.num_sms() * subject_.machine.sm.warps;
    s.waiting = system.arena.allocate<WaitingAsk>(stacks * s.waiting_entries);
    const Ref<ArbiterParams> params = sim::place(system, p);
    sim::attach_to_front_end(system, number_, sim::place(system, s), params);
    system.params<frontend::FrontEndParams>(system.front_end_at).word_kind = kChannelBusy;
  }

  sim::RunSubject subject_;
  uint32_t number_;
  OffloadTables tables_;
  LoopTables tuning_;
  sim::DataPlacement placement_;
};

}  // namespace

std::unique_ptr<sim::MechanismRun> TomMechanism::prepare(const sim::RunSubject& subject,
                                                         uint32_t number,
                                                         sim::ImageTables& image) const {
  return prepare_offloading(subject, number, image, [&](uint8_t mark, OffloadTables& tables) {
    return toms_loops(subject.recording, subject.machine, subject.policy, mark, tables, image);
  });
}

std::unique_ptr<sim::MechanismRun> prepare_offloading(const sim::RunSubject& subject,
                                                      uint32_t number, sim::ImageTables& image,
                                                      const Tune& tune) {
  return std::make_unique<TomRun>(subject, number, image, tune);
}

const sim::Mechanism& mechanism() {
  static const TomMechanism it;
  return it;
}

}  // namespace nearwarp::tom
