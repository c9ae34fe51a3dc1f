// The example's host side: where loops are, what SMs get to know of them, what they have counted.
#include "host/mechanisms/mechanism.h"

#include <algorithm>

#include "loop_stall/device.h"
#include "loop_stall/settings.h"

namespace nearwarp::loop_stall {
namespace {

/// By instruction of the image: its outermost loop, numbered over all kernels.
std::vector<uint16_t> find_loops(const runtime::Recording& recording,
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
      const Settings& settings)
      : number_(number), settings_(settings), loop_of_(find_loops(subject.recording, image)) {
    for (size_t i = 0; i < loop_of_.size(); ++i)
      image.instrs[i].edges |= static_cast<uint8_t>(1u << number);
    for (size_t i = 0; i < loop_of_.size(); ++i)
      if (loop_of_[i] != kNoLoop) image.instrs[i].marks |= static_cast<uint8_t>(1u << number);
  }

  void attach(sim::System& system) override {
    const Ref<Params> params =
        sim::place(system, Params{.stall_cycles = settings_.stall_cycles,
                                  .loop_of = sim::place_all(system, loop_of_)});
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
  uint32_t number_;
  Settings settings_;
  std::vector<uint16_t> loop_of_;
};

class LoopStall final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "loop_stall"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject& subject, uint32_t number,
                                             sim::ImageTables& image) const override {
    return std::make_unique<Run>(subject, number, image, subject.policy.table<Settings>());
  }
};

}  // namespace

const sim::Mechanism& mechanism() {
  static const LoopStall kMechanism;
  return kMechanism;
}

}  // namespace nearwarp::loop_stall
