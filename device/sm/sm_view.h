// One SM during one step: its state with references resolved, and what the step may touch.
#pragma once

#include <type_traits>

#include "device/core/step.h"
#include "device/sm/sm_state.h"

namespace nearwarp::sm {

using nearwarp::MechanismList;
using nearwarp::NoMechanisms;
/// No mechanisms but those that only place pages, on an SM of a family that has `All`.
template <class All>
struct NoneOf : NoMechanisms {
  using Others = All;
  static constexpr bool kSimple = false;
};
/// As that, on an SM that is_simple() besides: what others have is not asked for.
template <class All>
struct SimpleOf : NoneOf<All> {
  static constexpr bool kSimple = true;
};

/// Are instructions and constants always there, and nothing waits for ports, of which there are two
/// of a kind at most, for bulk copies, or for other blocks of a cluster?
NW_HD NW_INLINE bool is_simple(const SmParams& p) {
  bool few = true;
  for (uint32_t u = 0; u < kNumPortUnits; ++u) few &= p.ports[u] <= 2;
  return few && p.fetch.width == 0 && !p.constants.cached && !p.sub_cores && p.port_queue == 0 &&
         !p.copies && !p.clusters;
}

/// `List`: the MechanismList of the SM's family.
template <uint32_t kWarpWords, class List>
struct SmViewOf {
  static constexpr uint32_t kWords = kWarpWords;
  using Warps = WarpSet<kWords>;
  using Mechanisms = List;
  static constexpr bool kSimple = requires { requires List::kSimple; };
  static constexpr bool kPlain = std::is_base_of_v<NoMechanisms, List>;
  /// May thread blocks come to it, and what only they have: barriers, bulk copies, messages of the
  /// front end? More than 64 warps are on stack SMs alone, which have guests.
  static constexpr bool kHasBlocks = kWords == 1;

  const SmParams& p;
  SmStateOf<kWords>& s;
  std::byte* base;
  const SystemView& system;
  Horizon& horizon;
  Warp* warps;
  uint32_t* scoreboard;
  LoadEntry* load_entries;
  BlockSlotOf<kWords>* blocks;

  NW_HD SmViewOf(const SmParams& params, SmStateOf<kWords>& state, const SystemView& sys,
                 Horizon& h)
      : p(params),
        s(state),
        base(sys.arena),
        system(sys),
        horizon(h),
        warps(state.warps.in(sys.arena)),
        scoreboard(state.scoreboard.in(sys.arena)),
        load_entries(state.load_entries.in(sys.arena)),
        blocks(state.blocks.in(sys.arena)) {}

  /// For code that SMs come to rarely: on a GPU those without mechanisms have it in common with the
  /// others of their family, so that it is there once.
  NW_HD NW_INLINE decltype(auto) rarely() {
#if defined(__CUDA_ARCH__)
    return with_mechanisms();
#else
    return (*this);
#endif
  }
  /// The SM as those of its family see it that have mechanisms.
  NW_HD NW_INLINE decltype(auto) with_mechanisms() {
    if constexpr (requires { typename List::Others; }) {
      return SmViewOf<kWords, typename List::Others>(p, s, system, horizon);
    } else {
      return (*this);
    }
  }

  /// The mechanisms among `bits` that there are: a constant where there can be none.
  NW_HD static constexpr uint32_t who(uint32_t bits) { return kPlain ? 0 : bits; }
  /// The mechanisms that place pages, as bits; they are there where all others are not.
  NW_HD uint32_t placers() const {
    return kPlain && !requires { typename List::Others; }
    ? 0 : s.places_pages;
  }

  // Parts of is_simple(), as constants where it is known.
  NW_HD bool fetches() const { return !kSimple && p.fetch.width != 0; }
  NW_HD bool caches_constants() const { return !kSimple && p.constants.cached; }
  NW_HD bool has_sub_cores() const { return !kSimple && p.sub_cores; }
  NW_HD bool queues_for_ports() const { return !kSimple && p.port_queue != 0; }
  NW_HD bool copies() const { return !kSimple && p.copies; }
  NW_HD bool clusters() const { return kHasBlocks && !kSimple && p.clusters; }
  /// Does anything wait beside the load-store unit for the network to take it?
  NW_HD bool others_unsent() const {
    return s.tlb.unsent != 0 ||
           (!kSimple && (s.fetch.unsent | s.constants.unsent | s.boxes_to_send) != 0);
  }
  /// Does a warp want to fetch?
  NW_HD bool may_fetch() const { return !kSimple && (s.fetch.wanted | s.fetch.arrived).any(); }

  NW_HD Tick tick(uint32_t cycle) const { return Tick{cycle} * p.period; }
  NW_HD Channel& to_network() const { return *s.to_network.in(base); }
  NW_HD Channel& from_network() const { return *s.from_network.in(base); }
  NW_HD Channel& from_banks() const { return *s.from_banks.in(base); }
  NW_HD Channel& to_front_end() const { return *s.to_front_end.in(base); }
  NW_HD Channel& from_front_end() const { return *s.from_front_end.in(base); }
  NW_HD const uint64_t* words(const Warp& w) const { return system.trace(w.thread_block).words; }
  /// The record of an access, or of what it tells mbarriers.
  NW_HD trace::RecordView record(const LsuOp& op) const {
    return {system.trace(op.thread_block).words, op.record, op.mask};
  }
  NW_HD WarpTrace trace(const Warp& w) const { return {words(w), system.image, w.first_block}; }
  NW_HD uint32_t* slots(uint32_t warp) const { return scoreboard + warp * p.slots_per_warp; }
  NW_HD const ImageInstr& instr(uint32_t pc) const { return system.image.instrs[pc]; }

  /// The physical line of a virtual one, by the page table of the address space. All below here are
  /// of physical lines.
  NW_HD LineAddr physical(LineAddr line, uint32_t space) const {
    return translate(p.translation, base, space, line);
  }
  /// Endpoint that holds a line for this SM: an L2 slice, or a vault for a stack SM.
  NW_HD NW_APART_ON_GPU Endpoint home_of(LineAddr line) const {
    return p.homes.at(number_of(stack_of(line)), p.map.of(line, base).vault_of(line), base);
  }
  /// The stack that holds a line for this SM.
  NW_HD StackId stack_of(LineAddr line) const {
    if (p.in_stack && p.all_local) return own_stack();
    return stack_id(p.map.of(line, base).stack_of(line));
  }
  /// A line as others know it.
  NW_HD LineAddr shared_line(LineAddr line) const {
    return p.local_map != 0 && line >> kMapShift == p.local_map ? line & (kMaxMappedLines - 1)
                                                                : line;
  }
  /// Stack SMs: where it is.
  NW_HD StackId own_stack() const { return s.stack; }
};

NW_HD constexpr uint64_t bit(uint32_t i) { return uint64_t{1} << i; }

}  // namespace nearwarp::sm
