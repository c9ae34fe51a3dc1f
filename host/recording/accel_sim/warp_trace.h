// Makes the simulator's trace of a warp from the instructions that it executed.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/accel_sim/machine_kernel.h"

namespace nearwarp::sass {

/// Appends a warp's trace (device/trace/format.h) to `words`.
class WarpTrace {
 public:
  WarpTrace(MachineKernel& kernel, std::vector<uint64_t>& words) : kernel_(kernel), words_(words) {}

  /// The warp executed instruction `id` at `pc`. `address`, if it leaves a record: by lane, the
  /// simulator's addresses.
  /// `counts`: it is an instruction of the trace, and not a part of one.
  void add(uint32_t id, uint64_t pc, uint32_t mask, const uint64_t* address, bool counts = true);
  /// One that leaves `count` events of mbarriers, whose words are to be filled in: see places().
  void add_events(uint32_t id, uint64_t pc, uint32_t mask, uint32_t count, bool counts = true);
  /// A step of a bulk copy: pieces at `count` of the simulator's addresses.
  void add_pieces(uint32_t id, uint64_t pc, uint32_t mask, uint32_t count, const uint64_t* address,
                  bool counts);
  /// End the warp's trace; the next one may begin.
  void finish();

  /// Where in the warp's trace the words of its events are, in their order; of the warp that was
  /// finished last.
  const std::vector<size_t>& places() const { return places_; }
  /// Numbers of events so far.
  size_t events() const { return places_.size() + pending_.size(); }

  /// In finished traces; an instruction that no lane executed counts as one of one lane.
  uint64_t warp_instructions() const { return warp_instructions_; }
  uint64_t thread_instructions() const { return thread_instructions_; }

 private:
  void begin(uint32_t id, uint64_t pc, uint32_t mask, bool counts);
  void add_record(const MachineInstruction& in, uint32_t mask, const uint64_t* address);
  void end_run();

  static constexpr size_t kNoControl = ~size_t{0};
  MachineKernel& kernel_;
  std::vector<uint64_t>& words_;
  // Instructions under one mask that follow each other, and their records.
  std::vector<uint32_t> run_;
  std::vector<uint64_t> records_;
  std::vector<size_t> pending_;  ///< places in records_
  std::vector<size_t> places_;
  uint32_t run_mask_ = 0;
  uint64_t last_pc_ = 0;
  size_t last_control_ = kNoControl;  ///< the warp's last control word
  uint64_t warp_instructions_ = 0, thread_instructions_ = 0;
};

}  // namespace nearwarp::sass
