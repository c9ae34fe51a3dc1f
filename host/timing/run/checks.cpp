// Checks that a run's end is in order, and words for a run that does not end.
#include "host/timing/run/checks.h"

#include <fmt/format.h>

#include <array>

#include "host/core/error.h"

namespace nearwarp::sim {

namespace {

using kernels::ComponentKind;

const char* kind_name(PacketKind kind, const MechanismRuns& mechanisms) {
  switch (kind) {
    case PacketKind::kNone:
      return "nothing";
    case PacketKind::kRead:
      return "read";
    case PacketKind::kWrite:
      return "write";
    case PacketKind::kAtomic:
      return "atomic";
    case PacketKind::kInvalidate:
      return "invalidation";
    case PacketKind::kNewLaunch:
      return "notice that a launch begins";
    case PacketKind::kClean:
      return "notice that an L2 slice is clean";
    case PacketKind::kLineWritten:
      return "notice that another stack has written a line";
    case PacketKind::kReadReply:
      return "read reply";
    case PacketKind::kWriteAck:
      return "write acknowledgement";
    case PacketKind::kReadNear:
      return "read beside the banks";
    case PacketKind::kNearReply:
      return "end of a read beside the banks";
    case PacketKind::kAtomicReply:
      return "atomic reply";
    case PacketKind::kLaunchBlock:
      return "block launch";
    case PacketKind::kBlockDone:
      return "block end";
    case PacketKind::kAtClusterBarrier:
      return "notice that a block is at its cluster's barrier";
    case PacketKind::kPassClusterBarrier:
      return "notice that a cluster is at its barrier";
    case PacketKind::kSharedRequest:
      return "access to another SM's shared memory";
    case PacketKind::kSharedReply:
      return "answer of another SM's shared memory";
    case PacketKind::kSharedLine:
      return "line of another SM's copy engine";
  }
  for (const auto& m : mechanisms)
    if (const char* name = m->packet_name(kind)) return name;
  return "packet";
}

const char* phase_name(sm::Phase phase) {
  switch (phase) {
    case sm::Phase::kFree:
      return "free";
    case sm::Phase::kRunning:
      return "running";
    case sm::Phase::kAtBarrier:
      return "at a barrier";
    case sm::Phase::kAtFence:
      return "at a fence";
    case sm::Phase::kAtFetch:
      return "waiting for instructions";
    case sm::Phase::kAtConstant:
      return "waiting for constants";
    case sm::Phase::kFinished:
      return "finished";
    case sm::Phase::kHeld:
      return "held by a mechanism";
    case sm::Phase::kAtMbarrier:
      return "at an mbarrier";
    case sm::Phase::kAtCopy:
      return "waiting for bulk copies";
  }
  return "?";
}

std::string channel_name(const System& system, const Channel& c) {
  return fmt::format("{} -> {}", system.nodes[c.producer].name, system.nodes[c.consumer].name);
}

[[noreturn]] void lost(const std::string& what) {
  throw Error(
      fmt::format("conservation is violated: {} - this is a defect of the simulator", what));
}

template <class F>
void each_sm(System& system, F&& f) {
  for (uint32_t i = 0; i < system.table.count; ++i)
    if (kernels::is_sm(system.component(i).kind))
      with_sm(system, i, [&](const auto& s) {
        f(i, s,
          kernels::at_offset<const sm::SmParams>(system.arena.base(), system.component(i).params));
      });
}

/// Checks that stores kept in an L1 are there, or have been written back or dropped.
void check_kept(System& system, const std::string& name, const cache::L1State& s,
                const cache::L1Params& p) {
  uint64_t dirty = 0;
  for (uint32_t i = 0; p.writes == cache::L1Writes::kLocalBack && i < s.lines.count; ++i)
    dirty += s.lines.in(system.arena.base())[i].dirty;
  const cache::L1Counters& c = s.counters;
  if (c.lines_dirtied != c.write_backs + c.lines_dropped_dirty + dirty)
    lost(fmt::format("{}: {} lines became dirty, {} were written back, {} dropped, {} still are",
                     name, c.lines_dirtied, c.write_backs, c.lines_dropped_dirty, dirty));
}

template <uint32_t kWords>
void check_sm(System& system, uint32_t i, const sm::SmStateOf<kWords>& s, const sm::SmParams& p) {
  const std::string& name = system.nodes[i].name;
  if (s.free_warps != WarpSet<kWords>::lowest(p.num_warps)) lost(name + " still holds warps");
  if (s.free_loads != low_bits(p.load_entries)) lost(name + " still waits for loads");
  if (s.l1.mshr_free != low_bits(p.l1.mshrs)) lost(name + " still holds MSHRs");
  if (p.fetch.cached && s.fetch.cache.mshr_free != low_bits(p.fetch.cache.mshrs))
    lost(name + " still waits for instructions");
  if (s.constants.free_loads != low_bits(s.constants.loads.count))
    lost(name + " still waits for constants");
  for (uint32_t k = 1; !p.l1.plain && k < 4; ++k)
    if (s.l1.mshr_free_more[k - 1] != (p.l1.mshrs > 64 * k ? low_bits(p.l1.mshrs - 64 * k) : 0))
      lost(name + " still holds MSHRs");
  check_kept(system, name, s.l1, p.l1);
  if (s.lsu_count != 0) lost(name + " has memory operations in its queue");
  if (p.copies && s.copies.in(system.arena.base())->free_boxes != ~uint32_t{0})
    lost(name + " still has bulk copies under way");
  if (s.parked_ops != 0) lost(name + " has memory operations that wait for a page");
  if (p.tlb.entries != 0 && (s.tlb.free_walkers != low_bits(p.tlb.walkers) || s.tlb.unsent != 0))
    lost(name + " still walks page tables");
  const sm::TlbCounters& t = s.tlb.counters;
  if (t.walk_reads != t.walks * p.tlb.walk_accesses + t.repeats)
    lost(fmt::format("{} has read {} page-table entries in {} walks", name, t.walk_reads, t.walks));
  const sm::SmCounters& n = s.counters;
  if (p.tlb.entries != 0 && t.hits + t.misses != n.load_lines + n.store_lines + n.atomic_lines)
    lost(name + " has accessed lines that it did not translate");
  for (const uint32_t stores : s.epoch_stores)
    if (stores != 0) lost(name + " has stores that were never acknowledged");
}

/// Checks that lines written to a slice are dirty there, or have been written back.
void check_lines(System& system, uint32_t i, const L2SliceState& s) {
  uint64_t dirty = 0;
  for (uint32_t k = 0; k < s.dirty_lines.count; ++k)
    dirty += s.dirty_lines.in(system.arena.base())[k] != 0;
  if (s.dirty_lines.count != 0 && s.counters.lines_dirtied != s.counters.write_backs + dirty)
    lost(fmt::format("{}: {} lines became dirty, {} were written back, {} still are",
                     system.nodes[i].name, s.counters.lines_dirtied, s.counters.write_backs,
                     dirty));
}
void check_sectors(System& system, uint32_t i, const L2SliceState& s) {
  uint64_t dirty = 0;
  for (uint32_t k = 0; k < s.sectors.count; ++k)
    dirty += population_count(s.sectors.in(system.arena.base())[k].dirty);
  if (s.counters.sectors_dirtied != s.counters.sectors_written_back + dirty)
    lost(fmt::format("{}: {} sectors became dirty, {} were written back, {} still are",
                     system.nodes[i].name, s.counters.sectors_dirtied,
                     s.counters.sectors_written_back, dirty));
}

}  // namespace

void check_conservation(System& system, uint64_t expected_instructions) {
  for (const ChannelInfo& info : system.channels) {
    const Channel& c = *system.arena.get(info.channel);
    if (c.producer_side.packets != c.consumer_side.packets ||
        c.producer_side.bytes != c.consumer_side.bytes)
      lost(fmt::format("channel {}: {} packets ({} bytes) sent, {} ({}) received",
                       channel_name(system, c), c.producer_side.packets, c.producer_side.bytes,
                       c.consumer_side.packets, c.consumer_side.bytes));
  }
  uint64_t issued = 0, redundant = 0;
  each_sm(system, [&](uint32_t i, const auto& s, const sm::SmParams& p) {
    check_sm(system, i, s, p);
    issued += s.counters.issued();
    redundant += s.counters.redundant;
  });
  if (expected_instructions != 0 && issued - redundant != expected_instructions)
    lost(fmt::format("{} warp-instructions recorded, {} committed", expected_instructions,
                     issued - redundant));
  for (uint32_t i = 0; i < system.table.count; ++i) {
    const ComponentKind kind = system.component(i).kind;
    if ((kind == ComponentKind::kRouterNetwork &&
         system.state<noc::ChannelNetworkState>(i).flits_inside != 0) ||
        (kind == ComponentKind::kCrossbar && system.state<noc::CrossbarState>(i).flits_inside != 0))
      lost(system.nodes[i].name + " still has flits");
    if (system.component(i).kind != ComponentKind::kL2Slice) continue;
    const L2SliceState& s = system.state<L2SliceState>(i);
    if (s.mshrs_in_use != 0 || s.request_count != 0 || s.reply_count != 0 || s.halves.count != 0 ||
        s.halves.under_way != 0)
      lost(system.nodes[i].name + " still has requests");
    if (s.counters.atomic_writes + s.counters.write_backs != s.counters.atomic_write_acks)
      lost(system.nodes[i].name + " has writes of its own that were never acknowledged");
    check_lines(system, i, s);
    check_sectors(system, i, s);
  }
}

void check_faults(System& system) {
  for (uint32_t i = 0; i < system.table.count; ++i) {
    const Fault* f = kernels::ProductFamily::fault(system.component(i), system.arena.base());
    if (f == nullptr) continue;
    if (f->code != kFaultNone)
      throw Error(fmt::format(
          "{} at tick {}: {} - this is a defect of the simulator", system.nodes[i].name, f->tick,
          f->code == kFaultNoRoute ? "no route for a packet" : "a packet that it cannot treat"));
  }
}

std::string describe_stall(System& system, const MechanismRuns& mechanisms) {
  std::string text;
  uint32_t shown = 0;
  for (const ChannelInfo& info : system.channels) {
    const Channel& c = *system.arena.get(info.channel);
    const uint64_t waiting = c.producer_side.packets - c.consumer_side.packets;
    if (waiting == 0) continue;
    if (++shown > 20) continue;
    text += fmt::format("\n  {}: {} packets, first: {}", channel_name(system, c), waiting,
                        kind_name(front(c, system.arena.base()).kind, mechanisms));
  }
  if (shown > 20) text += fmt::format("\n  ... and {} more channels", shown - 20);
  constexpr size_t kPhases = sm::kNumPhases;
  std::array<uint64_t, kPhases> warps{};
  uint32_t walks = 0;
  each_sm(system, [&](uint32_t, const auto& s, const sm::SmParams& p) {
    const sm::Warp* w = s.warps.in(system.arena.base());
    for (uint32_t i = 0; i < p.num_warps; ++i) warps[static_cast<size_t>(w[i].phase)] += 1;
    if (p.tlb.entries != 0) walks += p.tlb.walkers - population_count(s.tlb.free_walkers);
  });
  if (walks != 0) text += fmt::format("\n  page walks under way: {}", walks);
  text += "\n  warps:";
  for (size_t i = 1; i < kPhases; ++i)
    if (warps[i] != 0)
      text += fmt::format(" {} {};", warps[i], phase_name(static_cast<sm::Phase>(i)));
  for (const auto& m : mechanisms) text += m->describe_held(system);
  return text;
}

}  // namespace nearwarp::sim
