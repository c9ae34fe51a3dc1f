// A simulated system: all components of a machine under a policy, laid out in one arena.
#include "host/sim/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "device/exec/decoded.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/sim/machine_map.h"
#include "host/sim/router_network.h"

namespace nearwarp::sim {

namespace {

using config::MachineConfig;
using config::PolicyConfig;
using kernels::Component;
using kernels::ComponentKind;

uint32_t log2_exact(uint32_t n) { return static_cast<uint32_t>(std::countr_zero(n)); }

/// Builds the parts in an order in which every channel exists before its users.
class Assembly {
 public:
  Assembly(const MachineConfig& machine, const PolicyConfig& policy, const ImageTables& image,
           const DataPlan& data, System& system)
      : m_(machine), policy_(policy), image_(image), data_(data), s_(system) {}

  void build() {
    s_.base_mhz = config::base_mhz(m_);
    s_.core_period = period(m_.clocks.core_mhz);
    icnt_ = period(m_.clocks.interconnect_mhz);
    number_endpoints();
    s_.table = s_.arena.allocate<Component>(s_.ends.count);
    s_.names.resize(s_.ends.count);
    make_map();
    make_channels();
    make_sms();
    make_front_end();
    make_crossbars();
    for (uint32_t i = 0; i < s_.ends.num_slices; ++i) make_slice(i);
    for (uint32_t i = 0; i < s_.ends.num_stacks; ++i) make_port(i);
    for (uint32_t i = 0; i < s_.ends.num_stacks; ++i) make_stack(i);
    if (s_.ends.learning) make_host_memory();
    s_.window = kNever;
    for (const ChannelInfo& c : s_.channels) {
      const Channel& channel = *s_.arena.get(c.channel);
      s_.window = std::min({s_.window, Tick{channel.latency}, Tick{channel.credit_latency}});
    }
  }

 private:
  uint32_t period(uint32_t mhz) const { return static_cast<uint32_t>(s_.base_mhz / mhz); }

  void number_endpoints() {
    Endpoints& e = s_.ends;
    e.offloading = policy_.mechanism == "tom";
    if (e.offloading && m_.stack.sms != 1)
      throw Error(fmt::format("{}: stack.sms = {} - TOM places one SM in each stack", m_.path,
                              m_.stack.sms));
    e.num_sms = e.offloading ? m_.gpu.sms_with_ndp : m_.gpu.sms;
    e.num_stacks = m_.stack.count;
    e.num_slices = m_.l2.slices;
    e.vaults_per_stack = m_.stack.vaults;
    uint32_t at = 0;
    const auto take = [&at](uint32_t n) {
      const uint32_t first = at;
      at += n;
      return static_cast<uint16_t>(first);
    };
    e.first_sm = take(e.num_sms);
    e.first_stack_sm = take(e.offloading ? e.num_stacks : 0);
    e.first_slice = take(e.num_slices);
    e.first_vault = take(e.num_stacks * e.vaults_per_stack);
    e.first_port = take(e.num_stacks);
    e.first_switch = take(e.num_stacks);
    e.request_crossbar = take(1);
    e.reply_crossbar = take(1);
    e.invalidation_crossbar = take(e.offloading ? 1 : 0);
    e.learning = data_.learning_instances != 0;
    e.host_memory = take(e.learning ? 1 : 0);
    e.front_end = take(1);
    e.count = static_cast<uint16_t>(at);
  }

  void make_map() {
    MemoryMap& map = s_.map;
    map.baseline = machine_address_map(m_);
    if (policy_.mapping != "tmap" && policy_.mapping != "oracle") return;
    OffloadMapping own;
    own.page_shift = kMappingPageShift - log2_exact(m_.l1.line_bytes);
    const uint64_t lines = data_.ranges.empty() ? 0 : data_.ranges.back().end;
    const uint64_t pages = (lines + (uint64_t{1} << own.page_shift) - 1) >> own.page_shift;
    own.pages = s_.arena.allocate<uint64_t>(static_cast<uint32_t>((pages + 63) / 64));
    map.offload = s_.arena.allocate<OffloadMapping>(1);
    *s_.arena.get(map.offload) = own;
  }

  // --- channels ---

  struct Wire {
    uint32_t latency = 0;  ///< ticks, both ways
    uint32_t slots = 0;
    uint32_t mbps = 0;  ///< 0: unlimited
  };

  Ref<Channel> channel(uint32_t producer, uint32_t consumer, ChannelClass kind, const Wire& wire) {
    const Ref<Slot> slots = s_.arena.allocate<Slot>(wire.slots);
    const Ref<Channel> ref = s_.arena.allocate<Channel>(1);
    Channel& c = *s_.arena.get(ref);
    c.slots = slots;
    c.latency = wire.latency;
    c.credit_latency = wire.latency;
    if (wire.mbps != 0) {
      // Ticks per byte = base frequency / bytes per second.
      const uint64_t g = std::gcd(s_.base_mhz, uint64_t{wire.mbps});
      c.ticks_per_byte_num = static_cast<uint32_t>(s_.base_mhz / g);
      c.ticks_per_byte_den = static_cast<uint32_t>(wire.mbps / g);
    }
    c.producer = static_cast<uint16_t>(producer);
    c.consumer = static_cast<uint16_t>(consumer);
    s_.channels.push_back({ref, kind});
    return ref;
  }

  Wire hop() const {
    return {m_.interconnect.channel_latency_cycles * icnt_, m_.interconnect.queue_entries, 0};
  }
  Wire in_stack() const {
    return {m_.stack.switch_latency_cycles * icnt_, m_.stack.queue_entries, 0};
  }
  Wire link(uint32_t mbps) const {
    return {m_.links.latency_cycles * icnt_, m_.links.queue_entries, mbps};
  }
  Wire pcie() const {
    const Tick round_trip = std::max<Tick>(2, ns_ticks(m_.pcie.round_trip_ns));
    return {static_cast<uint32_t>(round_trip / 2), m_.pcie.queue_entries, m_.pcie.mbps};
  }
  Tick ns_ticks(uint64_t ns) const { return ns * s_.base_mhz / 1000; }
  Wire control(uint32_t slots) const { return {m_.gpu.control_latency_cycles * icnt_, slots, 0}; }

  void make_channels() {
    const Endpoints& e = s_.ends;
    for (uint32_t i = 0; i < e.num_sms; ++i) {
      const uint32_t sm = e.first_sm + i;
      sm_out_.push_back(channel(sm, e.request_crossbar, ChannelClass::kSmToNetwork, hop()));
      sm_in_.push_back(channel(e.reply_crossbar, sm, ChannelClass::kNetworkToSm, hop()));
      control_out_.push_back(channel(sm, e.front_end, ChannelClass::kControl, control(16)));
      control_in_.push_back(channel(e.front_end, sm, ChannelClass::kControl, control(16)));
      if (e.offloading)
        invalidate_out_.push_back(
            channel(sm, e.invalidation_crossbar, ChannelClass::kInvalidation, hop()));
    }
    for (uint32_t i = 0; i < e.num_slices; ++i) {
      const uint32_t slice = e.first_slice + i;
      const uint32_t port = e.first_port + i / slices_per_stack();
      slice_request_.push_back(channel(e.request_crossbar, slice, ChannelClass::kOnChip, hop()));
      slice_reply_.push_back(channel(slice, e.reply_crossbar, ChannelClass::kOnChip, hop()));
      slice_to_port_.push_back(channel(slice, port, ChannelClass::kOnChip, hop()));
      port_to_slice_.push_back(channel(port, slice, ChannelClass::kOnChip, hop()));
      if (e.offloading)
        slice_invalidate_.push_back(
            channel(e.invalidation_crossbar, slice, ChannelClass::kInvalidation, hop()));
    }
    for (uint32_t k = 0; k < e.num_stacks; ++k) {
      const uint32_t port = e.first_port + k, sw = e.first_switch + k;
      port_request_.push_back(channel(e.request_crossbar, port, ChannelClass::kOnChip, hop()));
      port_reply_.push_back(channel(port, e.reply_crossbar, ChannelClass::kOnChip, hop()));
      const Wire wire = link(m_.links.gpu_to_memory_mbps);
      tx_.push_back(channel(port, sw, ChannelClass::kGpuToMemory, wire));
      rx_.push_back(channel(sw, port, ChannelClass::kMemoryToGpu, wire));
      if (e.offloading) {
        port_control_.push_back(channel(port, e.front_end, ChannelClass::kControl, control(4)));
        stack_sm_out_.push_back(
            channel(e.first_stack_sm + k, sw, ChannelClass::kInStack, in_stack()));
        stack_sm_in_.push_back(
            channel(sw, e.first_stack_sm + k, ChannelClass::kInStack, in_stack()));
      }
    }
    if (e.learning) {
      to_host_ = channel(e.request_crossbar, e.host_memory, ChannelClass::kPcie, pcie());
      from_host_ = channel(e.host_memory, e.reply_crossbar, ChannelClass::kPcie, pcie());
    }
    cross_request_.resize(e.num_stacks * e.num_stacks);
    cross_reply_.resize(e.num_stacks * e.num_stacks);
    for (uint32_t a = 0; a < e.num_stacks; ++a) {
      for (uint32_t b = 0; b < e.num_stacks; ++b) {
        if (a == b) continue;
        const Wire wire = link(m_.links.memory_to_memory_mbps);
        const uint32_t at = a * e.num_stacks + b;
        cross_request_[at] =
            channel(e.first_switch + a, e.first_switch + b, ChannelClass::kMemoryToMemory, wire);
        cross_reply_[at] =
            channel(e.first_switch + a, e.first_switch + b, ChannelClass::kMemoryToMemory, wire);
      }
    }
  }

  uint32_t slices_per_stack() const { return s_.ends.num_slices / s_.ends.num_stacks; }

  // --- components ---

  template <class P>
  uint32_t store(const P& value) {
    const Ref<P> ref = s_.arena.allocate<P>(1);
    *s_.arena.get(ref) = value;
    return ref.offset;
  }

  template <class P, class S>
  void add(uint32_t endpoint, ComponentKind kind, const P& params, const S& state,
           std::span<const Ref<Channel>> inputs, std::string name) {
    Component c;
    c.kind = kind;
    c.params = store(params);
    c.state = store(state);
    c.inputs = s_.arena.allocate<Ref<Channel>>(static_cast<uint32_t>(inputs.size()));
    std::copy(inputs.begin(), inputs.end(), s_.arena.get(c.inputs));
    s_.component(endpoint) = c;
    s_.names[endpoint].name = std::move(name);
  }

  sm::SmParams sm_params(bool in_stack_sm) const {
    const Endpoints& e = s_.ends;
    sm::SmParams p;
    p.period = s_.core_period;
    p.num_warps = in_stack_sm ? m_.stack.sm_warps : m_.sm.warps;
    p.num_blocks = in_stack_sm ? p.num_warps : m_.sm.blocks;
    p.num_schedulers = m_.sm.schedulers;
    p.policy = m_.sm.scheduler_policy == "lrr" ? sm::SchedulerPolicy::kLooseRoundRobin
                                               : sm::SchedulerPolicy::kGreedyThenOldest;
    p.sp_units = m_.sm.sp_units;
    p.sfu_units = m_.sm.sfu_units;
    p.dp_units = m_.sm.dp_units;
    p.slots_per_warp = image_.max_slots;
    p.lsu_queue = m_.lsu.queue_entries;
    p.load_entries = m_.lsu.load_entries;
    p.shared_latency = m_.lsu.shared_latency_cycles;
    p.shared_banks = m_.lsu.shared_banks;
    p.branch_latency = m_.sm.branch_latency_cycles;
    p.device_base = exec::kDeviceBase;
    p.line_shift = log2_exact(m_.l1.line_bytes);
    p.header_bytes = m_.packets.header_bytes;
    p.sector_bytes = m_.packets.sector_bytes;
    p.line_address_bytes = m_.packets.line_address_bytes;
    p.map = s_.map;
    p.l1.sets = m_.l1.bytes / (m_.l1.ways * m_.l1.line_bytes);
    p.l1.ways = m_.l1.ways;
    p.l1.hit_latency = m_.l1.hit_latency_cycles;
    p.l1.mshrs = m_.l1.mshr_entries;
    p.l1.merges = m_.l1.mshr_merges;
    p.tlb.entries = m_.tlb.entries;
    p.tlb.page_shift = log2_exact(m_.tlb.page_bytes / m_.l1.line_bytes);
    p.tlb.walkers = m_.tlb.walkers;
    p.tlb.walk_accesses = m_.tlb.walk_accesses;
    p.tlb.entry_shift = log2_exact(m_.l1.line_bytes / sm::kPageTableEntryBytes);
    p.first_slice = e.first_slice;
    p.slices_per_stack = static_cast<uint16_t>(slices_per_stack());
    p.first_vault = e.first_vault;
    p.vaults_per_stack = static_cast<uint16_t>(e.vaults_per_stack);
    p.first_stack_sm = e.first_stack_sm;
    p.front_end = e.front_end;
    p.host_memory = e.host_memory;
    p.in_stack = in_stack_sm;
    p.offload.enabled = e.offloading;
    p.offload.dynamic_control = policy_.offload.dynamic_control;
    p.offload.no_overhead = !policy_.offload.overhead;
    p.offload.all_local = policy_.mapping == "local";
    p.offload.pipeline_latency = m_.offload.pipeline_latency_cycles;
    p.offload.dirty_entries = m_.offload.dirty_entries;
    return p;
  }

  template <uint32_t kWords>
  sm::SmStateOf<kWords> sm_state(const sm::SmParams& p, uint32_t endpoint) {
    ArenaBuilder& a = s_.arena;
    sm::SmStateOf<kWords> s;
    s.endpoint = static_cast<uint16_t>(endpoint);
    s.free_warps = WarpSet<kWords>::lowest(p.num_warps);
    s.free_loads = low_bits(p.load_entries);
    s.warps = a.allocate<sm::Warp>(p.num_warps);
    s.scoreboard = a.allocate<uint32_t>(p.num_warps * p.slots_per_warp);
    s.load_entries = a.allocate<sm::LoadEntry>(p.load_entries);
    s.blocks = a.allocate<sm::BlockSlotOf<kWords>>(p.num_blocks);
    if (!p.in_stack) {
      s.barrier_waiting = a.allocate<WarpSet<kWords>>(p.num_blocks * sm::kMaxBarriers);
      s.barrier_arrived = a.allocate<uint16_t>(p.num_blocks * sm::kMaxBarriers);
    }
    const uint32_t lines = p.l1.sets * p.l1.ways;
    s.l1.tags = a.allocate<LineAddr>(lines);
    s.l1.last_use = a.allocate<uint32_t>(lines);
    s.l1.filling = a.allocate<uint8_t>(lines);
    s.l1.mshr_line = a.allocate<LineAddr>(p.l1.mshrs);
    s.l1.mshr_since = a.allocate<uint32_t>(p.l1.mshrs);
    s.l1.mshr_way = a.allocate<uint16_t>(p.l1.mshrs);
    s.l1.mshr_count = a.allocate<uint8_t>(p.l1.mshrs);
    s.l1.mshr_loads = a.allocate<uint8_t>(p.l1.mshrs * p.l1.merges);
    s.l1.mshr_free = low_bits(p.l1.mshrs);
    std::fill_n(a.get(s.l1.tags), lines, kNoLine);
    std::fill_n(a.get(s.l1.mshr_line), p.l1.mshrs, kNoLine);
    if (p.tlb.entries != 0) s.tlb = sm::make_tlb(a, p.tlb);
    if (p.offload.enabled) {
      s.offload.candidates = a.allocate<offload::CandidateCounters>(
          static_cast<uint32_t>(std::max<size_t>(1, image_.candidates.size())));
      if (p.in_stack) {
        s.offload.dirty = a.allocate<uint32_t>(p.num_warps * p.offload.dirty_entries);
        s.offload.num_dirty = a.allocate<uint16_t>(p.num_warps);
      } else {
        s.offload.since = a.allocate<uint32_t>(p.num_warps);
        s.offload.decided = a.allocate<uint32_t>(p.num_warps);
        if (s_.ends.learning) {
          s.offload.analyzer.mode = offload::SmMode::kLearning;
          s.offload.analyzer.entries = a.allocate<offload::AnalyzerEntry>(p.num_warps);
          s.offload.analyzer.ranges = ranges_;
          s.offload.analyzer.touched = a.allocate<uint8_t>(ranges_.count);
        }
      }
    }
    return s;
  }

  void make_sms() {
    const Endpoints& e = s_.ends;
    ranges_ = s_.arena.allocate<offload::LineRange>(static_cast<uint32_t>(data_.ranges.size()));
    std::copy(data_.ranges.begin(), data_.ranges.end(), s_.arena.get(ranges_));
    const sm::SmParams main = sm_params(false);
    for (uint32_t i = 0; i < e.num_sms; ++i) {
      sm::SmState s = sm_state<1>(main, e.first_sm + i);
      s.to_network = sm_out_[i];
      s.from_network = sm_in_[i];
      s.to_front_end = control_out_[i];
      s.from_front_end = control_in_[i];
      if (e.offloading) s.invalidations = invalidate_out_[i];
      add(e.first_sm + i, ComponentKind::kSm, main, s,
          std::vector<Ref<Channel>>{sm_in_[i], control_in_[i]}, fmt::format("sm {}", i));
    }
    if (!e.offloading) return;
    const sm::SmParams stack = sm_params(true);
    for (uint32_t i = 0; i < e.num_stacks; ++i) {
      if (stack.num_warps <= WarpSet<1>::kCapacity) {
        make_stack_sm<1>(ComponentKind::kSm, stack, i);
      } else {
        make_stack_sm<sm::kWideWords>(ComponentKind::kWideSm, stack, i);
      }
    }
  }

  template <uint32_t kWords>
  void make_stack_sm(ComponentKind kind, const sm::SmParams& p, uint32_t i) {
    sm::SmStateOf<kWords> s = sm_state<kWords>(p, s_.ends.first_stack_sm + i);
    s.to_network = stack_sm_out_[i];
    s.from_network = stack_sm_in_[i];
    add(s_.ends.first_stack_sm + i, kind, p, s, std::vector<Ref<Channel>>{stack_sm_in_[i]},
        fmt::format("stack sm {}", i));
  }

  void make_front_end() {
    const Endpoints& e = s_.ends;
    ArenaBuilder& a = s_.arena;
    frontend::FrontEndParams p;
    p.period = s_.core_period;
    p.num_sms = e.num_sms;
    p.num_stacks = e.num_stacks;
    // The host's doorbell takes as long as a control message.
    const uint32_t doorbell =
        (m_.gpu.control_latency_cycles * icnt_ + s_.core_period - 1) / s_.core_period;
    p.launch_gap = m_.gpu.kernel_launch_latency_cycles + doorbell;
    p.stack_warps = m_.stack.sm_warps;
    p.dynamic_control = policy_.offload.dynamic_control;
    p.outbox_entries = m_.sm.warps + 1;
    p.endpoint = e.front_end;
    p.learning_instances = data_.learning_instances;
    // At least a window, so that the host comes in between.
    p.remap_ticks = std::max(ns_ticks(m_.pcie.remap_latency_ns), Tick{hop().latency});
    frontend::FrontEndState s;
    if (e.learning) s.learning = frontend::LearningPhase::kLearning;
    s.to_sm = a.allocate<Ref<Channel>>(e.num_sms);
    s.from_sm = a.allocate<Ref<Channel>>(e.num_sms);
    s.outbox = a.allocate<frontend::Outbox>(e.num_sms);
    s.outgoing = a.allocate<frontend::Outgoing>(e.num_sms * p.outbox_entries);
    s.done_log = a.allocate<uint32_t>(e.num_sms * m_.sm.blocks);
    s.launch_end = a.allocate<Tick>(std::max<uint32_t>(1, image_.view().num_launches));
    s.launch_at = Tick{p.launch_gap} * p.period;
    if (e.offloading) {
      s.waiting_entries = e.num_sms * m_.sm.warps;
      s.waiting = a.allocate<frontend::Waiting>(e.num_stacks * s.waiting_entries);
      s.from_link_port = a.allocate<Ref<Channel>>(e.num_stacks);
      std::copy(port_control_.begin(), port_control_.end(), a.get(s.from_link_port));
    }
    std::copy(control_in_.begin(), control_in_.end(), a.get(s.to_sm));
    std::copy(control_out_.begin(), control_out_.end(), a.get(s.from_sm));
    std::vector<Ref<Channel>> inputs = control_out_;
    inputs.insert(inputs.end(), port_control_.begin(), port_control_.end());
    add(e.front_end, ComponentKind::kFrontEnd, p, s, inputs, "front end");
  }

  SwitchParams switch_params(uint32_t flit_bytes, uint32_t endpoint) const {
    SwitchParams p;
    p.period = icnt_;
    p.flit_bytes = flit_bytes;
    p.component = static_cast<uint16_t>(endpoint);
    p.endpoints = s_.ends.count;
    return p;
  }

  static std::vector<Ref<Channel>> channels_of(const std::vector<SwitchLink>& links) {
    std::vector<Ref<Channel>> channels;
    for (const SwitchLink& l : links) channels.push_back(l.channel);
    return channels;
  }

  /// SM channels, with the SMs of a cluster on one port.
  std::vector<SwitchLink> by_cluster(const std::vector<Ref<Channel>>& channels) const {
    std::vector<SwitchLink> links;
    for (uint32_t i = 0; i < channels.size(); ++i)
      links.push_back({channels[i], static_cast<uint16_t>(i / m_.gpu.sms_per_cluster)});
    return links;
  }
  /// Slice channels and link-port channels, each on a port of its own.
  static std::vector<SwitchLink> one_by_one(const std::vector<Ref<Channel>>& slices,
                                            const std::vector<Ref<Channel>>& ports) {
    std::vector<SwitchLink> links;
    for (const Ref<Channel> c : slices) links.push_back({c, static_cast<uint16_t>(links.size())});
    for (const Ref<Channel> c : ports) links.push_back({c, static_cast<uint16_t>(links.size())});
    return links;
  }

  void add_switch(uint32_t endpoint, const SwitchParams& p, const SwitchState& s,
                  const std::vector<SwitchLink>& in, std::string name) {
    add(endpoint, ComponentKind::kSwitch, p, s, channels_of(in), std::move(name));
  }

  /// A network between channels, by the machine's topology; `routes(params, state)` sets its
  /// routes.
  template <class Routes>
  void add_network(uint32_t endpoint, const std::vector<SwitchLink>& in,
                   const std::vector<SwitchLink>& out, bool from_sms, std::string name,
                   Routes&& routes) {
    if (m_.interconnect.topology == "switch") {
      const SwitchParams p = switch_params(m_.interconnect.flit_bytes, endpoint);
      const SwitchState s = make_switch(s_.arena, p, in, out);
      routes(p, s);
      add_switch(endpoint, p, s, in, std::move(name));
      return;
    }
    noc::ChannelNetworkParams p;
    p.period = icnt_;
    p.component = static_cast<uint16_t>(endpoint);
    p.endpoints = s_.ends.count;
    const RouterNetwork n = make_router_network(s_.arena, m_, p, in, out, from_sms);
    routes(n.params, n.state);
    add(endpoint, ComponentKind::kRouterNetwork, n.params, n.state, channels_of(in),
        std::move(name));
  }

  void make_crossbars() {
    const Endpoints& e = s_.ends;
    const auto out_of = [](uint32_t i) { return static_cast<uint16_t>(i); };
    auto ports = port_request_;
    if (e.learning) ports.push_back(to_host_);
    add_network(
        e.request_crossbar, by_cluster(sm_out_), one_by_one(slice_request_, ports), true,
        "request crossbar", [&](const auto& p, const auto& s) {
          std::byte* base = s_.arena.base();
          if (e.learning)
            set_route(p, s, base, e.host_memory, out_of(e.num_slices + e.num_stacks), kNoRoute);
          for (uint32_t i = 0; i < e.num_slices; ++i)
            set_route(p, s, base, out_of(e.first_slice + i), out_of(i), kNoRoute);
          if (!e.offloading) return;
          for (uint32_t k = 0; k < e.num_stacks; ++k)
            set_route(p, s, base, out_of(e.first_stack_sm + k), out_of(e.num_slices + k), kNoRoute);
        });
    ports = port_reply_;
    if (e.learning) ports.push_back(from_host_);
    add_network(e.reply_crossbar, one_by_one(slice_reply_, ports), by_cluster(sm_in_), false,
                "reply crossbar", [&](const auto& p, const auto& s) {
                  for (uint32_t i = 0; i < e.num_sms; ++i)
                    set_route(p, s, s_.arena.base(), out_of(e.first_sm + i), kNoRoute, out_of(i));
                });
    if (!e.offloading) return;
    const SwitchParams p = switch_params(m_.interconnect.flit_bytes, e.invalidation_crossbar);
    const auto in = by_cluster(invalidate_out_);
    const auto out = one_by_one(slice_invalidate_, {});
    const SwitchState s = make_switch(s_.arena, p, in, out);
    for (uint32_t i = 0; i < e.num_slices; ++i)
      set_route(p, s, s_.arena.base(), out_of(e.first_slice + i), out_of(i), kNoRoute);
    add_switch(e.invalidation_crossbar, p, s, in, "invalidation crossbar");
  }

  void make_slice(uint32_t i) {
    const Endpoints& e = s_.ends;
    L2SliceParams p;
    p.period = period(m_.clocks.l2_mhz);
    p.latency_cycles = m_.l2.latency_cycles;
    p.set_bits = log2_exact(m_.l2.bytes / m_.l2.slices / (m_.l2.ways * m_.l1.line_bytes));
    p.ways = m_.l2.ways;
    p.mshr_entries = m_.l2.mshr_entries;
    p.mshr_merges = m_.l2.mshr_merges;
    p.header_bytes = static_cast<uint16_t>(m_.packets.header_bytes);
    p.line_bytes = static_cast<uint16_t>(m_.l1.line_bytes);
    p.sector_bytes = static_cast<uint16_t>(m_.packets.sector_bytes);
    p.endpoint = static_cast<uint16_t>(e.first_slice + i);
    p.first_vault_endpoint = e.first_vault;
    p.vaults_per_stack = static_cast<uint16_t>(e.vaults_per_stack);
    p.map = s_.map;
    L2SliceState s = make_l2_slice(s_.arena, p, m_.l2.queue_entries, slice_request_[i],
                                   port_to_slice_[i], slice_to_port_[i], slice_reply_[i]);
    std::vector<Ref<Channel>> inputs{slice_request_[i], port_to_slice_[i]};
    if (e.offloading) {
      s.invalidate_in = slice_invalidate_[i];
      inputs.push_back(slice_invalidate_[i]);
    }
    add(e.first_slice + i, ComponentKind::kL2Slice, p, s, inputs, fmt::format("l2 slice {}", i));
  }

  void make_port(uint32_t k) {
    const Endpoints& e = s_.ends;
    const uint32_t n = slices_per_stack();
    LinkPortParams p;
    // The port moves a packet per cycle; the slices' channels and the link set the pace.
    p.ports = switch_params(m_.l1.line_bytes * 2, e.first_port + k);
    p.monitor = e.offloading ? 1 : 0;
    p.interval_ticks = m_.offload.monitor_interval_cycles * icnt_;
    p.threshold_percent = std::max(1u, policy_.offload.busy_threshold_percent);
    p.endpoint = static_cast<uint16_t>(e.first_port + k);
    p.front_end = e.front_end;
    p.control_bytes = static_cast<uint16_t>(m_.packets.header_bytes);
    const auto slice = [&](const std::vector<Ref<Channel>>& v) {
      return std::vector<Ref<Channel>>(v.begin() + k * n, v.begin() + (k + 1) * n);
    };
    const auto in = one_by_one(slice(slice_to_port_), {port_request_[k], rx_[k]});
    const auto out = one_by_one(slice(port_to_slice_), {port_reply_[k], tx_[k]});
    const LinkPortState s = make_link_port(s_.arena, p, in, out, tx_[k], rx_[k],
                                           e.offloading ? port_control_[k] : Ref<Channel>{});
    const auto to_sms = static_cast<uint16_t>(n), to_link = static_cast<uint16_t>(n + 1);
    for (uint32_t x = 0; x < e.count; ++x) {
      const bool main_sm = x < uint32_t{e.first_sm} + e.num_sms;
      const bool own_slice = x >= e.first_slice + k * n && x < e.first_slice + (k + 1) * n;
      const bool in_stack_part = is_stack_sm(x) || is_vault(x);
      set_route(p.ports, s.ports, s_.arena.base(), static_cast<uint16_t>(x),
                in_stack_part ? to_link : kNoRoute,
                own_slice ? static_cast<uint16_t>(x - e.first_slice - k * n)
                          : (main_sm ? to_sms : kNoRoute));
    }
    add(e.first_port + k, ComponentKind::kLinkPort, p, s, channels_of(in),
        fmt::format("link port {}", k));
  }

  void make_host_memory() {
    HostMemoryParams p;
    p.period = icnt_;
    p.header_bytes = static_cast<uint16_t>(m_.packets.header_bytes);
    p.line_bytes = static_cast<uint16_t>(m_.l1.line_bytes);
    p.sector_bytes = static_cast<uint16_t>(m_.packets.sector_bytes);
    p.endpoint = s_.ends.host_memory;
    HostMemoryState s;
    s.in = to_host_;
    s.out = from_host_;
    add(s_.ends.host_memory, ComponentKind::kHostMemory, p, s, std::vector<Ref<Channel>>{to_host_},
        "CPU memory");
  }

  bool is_stack_sm(uint32_t x) const {
    return s_.ends.offloading && x >= s_.ends.first_stack_sm &&
           x < uint32_t{s_.ends.first_stack_sm} + s_.ends.num_stacks;
  }
  bool is_vault(uint32_t x) const {
    return x >= s_.ends.first_vault &&
           x < s_.ends.first_vault + s_.ends.num_stacks * s_.ends.vaults_per_stack;
  }
  /// The stack that holds endpoint `x` (a vault or a stack SM).
  uint32_t stack_of(uint32_t x) const {
    return is_vault(x) ? (x - s_.ends.first_vault) / s_.ends.vaults_per_stack
                       : x - s_.ends.first_stack_sm;
  }

  void make_stack(uint32_t k) {
    const Endpoints& e = s_.ends;
    std::vector<SwitchLink> in, out;
    std::vector<uint16_t> request_to(e.num_stacks), reply_to(e.num_stacks), vault_to;
    const auto last = [&] { return static_cast<uint16_t>(out.size() - 1); };
    uint16_t in_port = 0, out_port = 0;
    in.push_back({tx_[k], in_port++});
    out.push_back({rx_[k], out_port++});
    for (uint32_t o = 0; o < e.num_stacks; ++o) {
      if (o == k) continue;
      in.push_back({cross_request_[o * e.num_stacks + k], in_port});
      in.push_back({cross_reply_[o * e.num_stacks + k], in_port++});
      out.push_back({cross_request_[k * e.num_stacks + o], out_port});
      request_to[o] = last();
      out.push_back({cross_reply_[k * e.num_stacks + o], out_port++});
      reply_to[o] = last();
    }
    for (uint32_t v = 0; v < e.vaults_per_stack; ++v) {
      const uint32_t endpoint = e.first_vault + k * e.vaults_per_stack + v;
      const auto request =
          channel(e.first_switch + k, endpoint, ChannelClass::kInStack, in_stack());
      const auto reply = channel(endpoint, e.first_switch + k, ChannelClass::kInStack, in_stack());
      in.push_back({reply, in_port++});
      out.push_back({request, out_port++});
      vault_to.push_back(last());
      make_vault_at(endpoint, k, v, request, reply);
    }
    uint16_t sm_to = kNoRoute;
    if (e.offloading) {
      in.push_back({stack_sm_out_[k], in_port++});
      out.push_back({stack_sm_in_[k], out_port++});
      sm_to = last();
    }
    const SwitchParams p = switch_params(m_.stack.switch_flit_bytes, e.first_switch + k);
    const SwitchState s = make_switch(s_.arena, p, in, out);
    for (uint32_t x = 0; x < e.count; ++x) {
      uint16_t request = kNoRoute, reply = kNoRoute;
      if (is_vault(x) || is_stack_sm(x)) {
        const uint32_t home = stack_of(x);
        if (home != k) {
          request = request_to[home];
          reply = reply_to[home];
        } else if (is_vault(x)) {
          request = vault_to[(x - e.first_vault) % e.vaults_per_stack];
        } else {
          request = reply = sm_to;
        }
      } else {
        reply = 0;  // everything else is on the GPU
      }
      set_route(p, s, s_.arena.base(), static_cast<uint16_t>(x), request, reply);
    }
    add_switch(e.first_switch + k, p, s, in, fmt::format("switch of stack {}", k));
  }

  void make_vault_at(uint32_t endpoint, uint32_t stack, uint32_t vault, Ref<Channel> in,
                     Ref<Channel> out) {
    VaultParams p;
    const MachineConfig::Dram& d = m_.dram;
    p.period = period(m_.clocks.dram_mhz);
    p.tCL = d.tCL, p.tCWL = d.tCWL, p.tRCD = d.tRCD, p.tRP = d.tRP, p.tRAS = d.tRAS;
    p.tRC = d.tRC, p.tRRD = d.tRRD, p.tFAW = d.tFAW, p.tCCD = d.tCCD, p.tWR = d.tWR;
    p.tRRD_L = d.tRRD_L, p.tCCD_L = d.tCCD_L, p.tWTR_L = d.tWTR_L;
    p.in_order = d.scheduler == "fcfs" ? 1 : 0;
    p.closed_page = d.page_policy == "closed" ? 1 : 0;
    p.forward_writes = d.forward_writes ? 1 : 0;
    p.row_buffer_bits = static_cast<uint8_t>(log2_exact(d.row_buffers));
    p.group_shift = static_cast<uint8_t>(log2_exact(d.banks / d.bank_groups * d.row_buffers));
    p.tWTR = d.tWTR, p.tRTP = d.tRTP, p.tRTW = d.tRTW, p.tREFI = d.tREFI, p.tRFC = d.tRFC;
    const uint64_t g = std::gcd(s_.base_mhz, uint64_t{m_.stack.tsv_mbps});
    p.ticks_per_byte_num = static_cast<uint32_t>(s_.base_mhz / g);
    p.ticks_per_byte_den = static_cast<uint32_t>(m_.stack.tsv_mbps / g);
    p.starvation_cycles = d.starvation_cycles;
    p.fixed_latency_cycles = d.fixed_latency_cycles;
    p.write_high = d.write_high_watermark;
    p.write_low = d.write_low_watermark;
    p.header_bytes = static_cast<uint16_t>(m_.packets.header_bytes);
    p.line_bytes = static_cast<uint16_t>(m_.l1.line_bytes);
    p.sector_bytes = static_cast<uint16_t>(m_.packets.sector_bytes);
    p.endpoint = static_cast<uint16_t>(endpoint);
    p.map = s_.map;
    const VaultState s = make_vault(s_.arena, p, d.banks, d.queue_entries, in, out);
    add(endpoint, ComponentKind::kVault, p, s, std::vector<Ref<Channel>>{in},
        fmt::format("vault {} of stack {}", vault, stack));
  }

  const MachineConfig& m_;
  const PolicyConfig& policy_;
  const ImageTables& image_;
  const DataPlan& data_;
  System& s_;
  uint32_t icnt_ = 1;  ///< ticks per interconnect cycle
  Ref<offload::LineRange> ranges_;
  Ref<Channel> to_host_, from_host_;
  std::vector<Ref<Channel>> sm_out_, sm_in_, control_out_, control_in_, invalidate_out_;
  std::vector<Ref<Channel>> slice_request_, slice_reply_, slice_to_port_, port_to_slice_,
      slice_invalidate_;
  std::vector<Ref<Channel>> port_request_, port_reply_, port_control_, tx_, rx_;
  std::vector<Ref<Channel>> stack_sm_out_, stack_sm_in_, cross_request_, cross_reply_;
};

}  // namespace

System build_system(const config::MachineConfig& machine, const config::PolicyConfig& policy,
                    const ImageTables& image, const DataPlan& data) {
  System system;
  Assembly(machine, policy, image, data, system).build();
  return system;
}

}  // namespace nearwarp::sim
