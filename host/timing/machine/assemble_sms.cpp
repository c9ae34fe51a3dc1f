// The SMs of a system, in the GPU and in the stacks, and the front end that feeds them.
#include <fmt/format.h>

#include "host/functional/instructions/decoded.h"
#include "host/timing/machine/assembly.h"

namespace nearwarp::sim {

sm::SmParams Assembly::sm_params(bool in_stack_sm) const {
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
  p.translation = s_.page_tables.translation;
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
sm::SmStateOf<kWords> Assembly::sm_state(const sm::SmParams& p, uint32_t endpoint) {
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

void Assembly::make_sms() {
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
void Assembly::make_stack_sm(ComponentKind kind, const sm::SmParams& p, uint32_t i) {
  sm::SmStateOf<kWords> s = sm_state<kWords>(p, s_.ends.first_stack_sm + i);
  s.to_network = stack_sm_out_[i];
  s.from_network = stack_sm_in_[i];
  add(s_.ends.first_stack_sm + i, kind, p, s, std::vector<Ref<Channel>>{stack_sm_in_[i]},
      fmt::format("stack sm {}", i));
}

void Assembly::make_front_end() {
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

}  // namespace nearwarp::sim
