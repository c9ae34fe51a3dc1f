// Converts the instructions that a warp executed into the simulator's trace of the warp.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/accel_sim/machine_kernel.h"

namespace nearwarp::sass {

/// Appends a warp's trace (device/trace/format.h) to `words`.
class WarpTrace {
 public:
  WarpTrace(MachineKernel& kernel, std::vector<uint64_t>& words) : kernel_(kernel), words_(words) {}

  /// Adds instruction `id` at `pc`, executed by the lanes of `mask`. `address` has the simulator's
  /// addresses by lane, if the instruction leaves a record. `counts` is false for an instruction
  /// that is derived from a traced one, so that it is not counted twice.
  void add(uint32_t id, uint64_t pc, uint32_t mask, const uint64_t* address, bool counts = true);
  /// Adds an instruction with `count` events of mbarriers. The caller fills in the events' words,
  /// whose positions places() returns.
  void add_events(uint32_t id, uint64_t pc, uint32_t mask, uint32_t count, bool counts = true);
  /// Adds a step of a bulk copy, which moves pieces at the `count` addresses (the simulator's).
  void add_pieces(uint32_t id, uint64_t pc, uint32_t mask, uint32_t count, const uint64_t* address,
                  bool counts);
  /// Ends the warp's trace; the next warp may follow.
  void finish();

  /// Indices into `words` of the events' words, in the order of the events.
  const std::vector<size_t>& places() const { return places_; }
  /// Number of events so far.
  size_t events() const { return places_.size() + pending_.size(); }

  /// Instructions in finished traces; one that no lane executed counts as executed by one lane.
  uint64_t warp_instructions() const { return warp_instructions_; }
  uint64_t thread_instructions() const { return thread_instructions_; }

 private:
  void begin(uint32_t id, uint64_t pc, uint32_t mask, bool counts);
  void add_record(const MachineInstruction& in, uint32_t mask, const uint64_t* address);
  void end_run();

  static constexpr size_t kNoControl = ~size_t{0};
  MachineKernel& kernel_;
  std::vector<uint64_t>& words_;
  // The current run: consecutive instructions under one mask (2 * id, plus 1 if no lane executed
  // it), and their records.
  std::vector<uint32_t> run_;
  std::vector<uint64_t> records_;
  std::vector<size_t> pending_;  ///< events' words in records_, as indices
  std::vector<size_t> places_;   ///< events' words in words_, as indices
  uint32_t run_mask_ = 0;
  uint64_t last_pc_ = 0;
  size_t last_control_ = kNoControl;  ///< the warp's last control word
  uint64_t warp_instructions_ = 0, thread_instructions_ = 0;
};

}  // namespace nearwarp::sass
