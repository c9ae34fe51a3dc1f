// A mechanism of a few lines: it counts the instances of outermost loops that warps come to, and
// stalls each for a fixed time before its first instruction.
#pragma once

#include "host/mechanisms/mechanism.h"
#include "tests/support/program.h"

namespace nearwarp::loop_stall {

// --- what runs in the machine ---

inline constexpr uint16_t kNoLoop = 0xffff;

struct Params {
  uint32_t stall_cycles = 0;
  Ref<uint16_t> loop_of;  ///< by instruction
};

template <uint32_t kWords>
struct State {
  Ref<uint16_t> in_loop;  ///< by warp slot
  uint64_t instances = 0, stalled_cycles = 0;
};

struct OnSm : sm::Hooks {
  template <uint32_t kWords>
  using State = loop_stall::State<kWords>;
  using Params = loop_stall::Params;

  template <class O>
  NW_HD static bool at_cursor(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
    sm::Warp& w = o.v.warps[warp];
    uint16_t& inside = o.s.in_loop.in(o.v.base)[warp];
    const uint16_t here = o.p.loop_of.in(o.v.base)[w.at.pc];
    if (here == inside) return false;
    inside = here;
    const bool enters = here != kNoLoop;
    w.watch = static_cast<uint8_t>(enters ? w.watch | o.bit : w.watch & ~o.bit);
    if (!enters) return false;
    o.s.instances += 1;
    o.s.stalled_cycles += o.p.stall_cycles;
    sm::enter_phase(o.v, warp, sm::Phase::kHeld);
    w.holder = static_cast<uint8_t>(o.bit);
    sm::set_timer(o.v, warp, earliest + o.p.stall_cycles, now);
    return true;
  }
  template <class O>
  NW_HD static void at_end(O& o, uint32_t warp, uint32_t) {
    o.s.in_loop.in(o.v.base)[warp] = kNoLoop;
  }
  template <class O>
  NW_HD static void on_timer(O& o, uint32_t warp, uint32_t now) {
    sm::enter_phase(o.v, warp, sm::Phase::kRunning);
    sm::schedule(o.v, warp, now, now);
  }
};

struct OnFrontEnd : frontend::Hooks {
  struct State {};
  struct Params {};
};

struct Mechanism {
  static constexpr uint32_t kPacketBlock = 200;
  using OnSm = loop_stall::OnSm;
  using OnFrontEnd = loop_stall::OnFrontEnd;
};

// --- what runs on the host ---

/// By instruction of the image: its outermost loop, numbered over all kernels.
inline std::vector<uint16_t> find_loops(const runtime::Recording& recording,
                                        const sim::ImageTables& image) {
  std::vector<uint16_t> loop_of(image.instrs.size(), kNoLoop);
  uint16_t number = 0;
  for (size_t k = 0; k < recording.kernels.size(); ++k) {
    const compiler::Kernel& kernel = *recording.kernels[k];
    const auto in = [](const compiler::Loop& l, compiler::BlockId b) {
      return std::binary_search(l.blocks.begin(), l.blocks.end(), b);
    };
    for (const compiler::Loop& loop : kernel.loops) {
      const bool outermost =
          std::none_of(kernel.loops.begin(), kernel.loops.end(), [&](const compiler::Loop& other) {
            return other.blocks.size() > loop.blocks.size() && in(other, loop.header);
          });
      if (!outermost) continue;
      for (const compiler::BlockId b : loop.blocks) {
        const compiler::Block& block = kernel.blocks[b];
        for (uint32_t i = block.first; i < block.first + block.count; ++i)
          if (image.index_of[k][i] != sim::ImageTables::kNotIssued)
            loop_of[image.index_of[k][i]] = number;
      }
      number += 1;
    }
  }
  return loop_of;
}

class Run final : public sim::MechanismRun {
 public:
  Run(const sim::RunSubject& subject, uint32_t number, sim::ImageTables& image,
      uint32_t stall_cycles)
      : number_(number),
        stall_cycles_(stall_cycles),
        loop_of_(find_loops(subject.recording, image)) {
    for (size_t i = 0; i < loop_of_.size(); ++i)
      image.instrs[i].edges |= static_cast<uint8_t>(1u << number);
    for (size_t i = 0; i < loop_of_.size(); ++i)
      if (loop_of_[i] != kNoLoop) image.instrs[i].marks |= static_cast<uint8_t>(1u << number);
  }

  void attach(sim::System& system) override {
    const Ref<Params> params =
        sim::place(system, Params{stall_cycles_, sim::place_all(system, loop_of_)});
    for (const uint16_t endpoint : system.sms) {
      const uint32_t warps = system.state<sm::SmState>(endpoint).warps.count;
      const State<1> state{sim::place_all(system, std::vector<uint16_t>(warps, kNoLoop))};
      sim::attach_to_sm(system, endpoint, number_, sim::place(system, state), params);
    }
  }

  void collect(sim::System& system, report::RunResult& result) override {
    uint64_t instances = 0, stalled = 0;
    for (const uint16_t endpoint : system.sms) {
      const auto& state = *reinterpret_cast<const State<1>*>(
          system.arena.base() + system.state<sm::SmState>(endpoint).mechanism_state[number_]);
      instances += state.instances;
      stalled += state.stalled_cycles;
    }
    result.counters.push_back({"loop_stall.instances", instances, "instances", "Loops begun"});
    result.counters.push_back({"loop_stall.cycles", stalled, "core cycles", "Stalled, all warps"});
  }

 private:
  uint32_t number_, stall_cycles_;
  std::vector<uint16_t> loop_of_;
};

class LoopStall final : public sim::Mechanism {
 public:
  explicit LoopStall(uint32_t stall_cycles) : stall_cycles_(stall_cycles) {}
  std::string_view name() const override { return "loop-stall"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject& subject, uint32_t number,
                                             sim::ImageTables& image) const override {
    return std::make_unique<Run>(subject, number, image, stall_cycles_);
  }

 private:
  uint32_t stall_cycles_;
};

}  // namespace nearwarp::loop_stall
