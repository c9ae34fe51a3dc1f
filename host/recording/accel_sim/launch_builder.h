// Makes the record and the traces of one kernel launch out of the lines of its warps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/recording/accel_sim/address_space.h"
#include "host/recording/accel_sim/async_line.h"
#include "host/recording/accel_sim/async_opcodes.h"
#include "host/recording/accel_sim/machine_kernel.h"
#include "host/recording/accel_sim/mbarrier_order.h"
#include "host/recording/accel_sim/warp_trace.h"

namespace nearwarp::sass {

class LaunchBuilder {
 public:
  /// Traces go to `store` in the order of the thread blocks as they come.
  LaunchBuilder(const KernelHeader& header, MachineKernel& kernel, AddressSpace& addresses,
                runtime::TraceStore& store);

  uint32_t warps_per_block() const { return warps_per_block_; }
  uint64_t blocks() const { return record_.blocks_recorded; }

  /// `rank` of the block in its cluster; one that the cluster at hand has already begins another.
  LineProblem begin_block(uint32_t rank);
  /// A number below warps_per_block(), of which none has come in this block.
  void begin_warp(uint32_t number);
  /// An instruction of the warp.
  LineProblem line(std::string_view line);
  void end_warp();
  LineProblem end_block();
  /// Throws nearwarp::Error if something has been lost on the way.
  runtime::LaunchRecord finish(const std::string& path);

  /// Tries of waits that were left out, for they were those of the traced GPU.
  uint64_t left_out_tries() const { return left_out_tries_; }
  uint64_t assumed_phases() const { return order_.assumed_phases(); }

 private:
  /// Instructions that may stand between two tries of one wait.
  struct Held {
    uint32_t id;
    uint64_t pc;
    uint32_t mask;
  };
  /// The warp's lines so far.
  struct Warp {
    std::optional<WarpTrace> trace;
    uint32_t in_cluster = 0, in_launch = 0;  ///< numbers
    CopyGroups groups = CopyGroups::kNone;
    bool waits = false;  ///< nothing but `held` came behind its last wait, which was
    uint64_t wait_offset = 0;
    uint32_t wait_value = 0, wait_lanes = 0;
    std::vector<Held> held;
    size_t last_wait[trace::kMaxMbarriers];  ///< a step, or kNoStep
    uint32_t last_lanes[trace::kMaxMbarriers] = {};
  };
  /// The lanes of an instruction that are at one mbarrier.
  struct AtMbarrier {
    uint8_t block = 0, number = 0;
    uint32_t lanes = 0, first = 0;
  };

  LineProblem plain(uint32_t id, const DynamicPart& d, std::string_view rest);
  LineProblem async(uint32_t id, AsyncKind kind, const DynamicPart& d, std::string_view rest);
  LineProblem init(uint32_t id, const DynamicPart& d, const LineTail& tail);
  void arrive(uint32_t id, AsyncKind kind, const DynamicPart& d, const LineTail& tail);
  void barrier(const MachineInstruction& in, uint32_t number, uint32_t threads);
  void wait(uint32_t id, const DynamicPart& d, const LineTail& tail);
  LineProblem bulk(uint32_t id, AsyncKind kind, const DynamicPart& d, std::string_view rest);
  void add_step(const MbarrierStep& step) { order_.add(warp_.in_cluster, step); }
  /// The mbarriers that lanes of `mask` name in address_.
  std::vector<AtMbarrier> mbarriers(uint32_t mask);
  /// An address of shared memory has an mbarrier: which, and whose; false if it has none.
  bool mbarrier_at(uint64_t address, uint8_t* block, uint8_t* number);
  uint64_t rank_of(uint64_t address) const;
  uint64_t shared_offset(uint64_t address) const;
  /// As shared_offset(), of memory that may be another block's of the cluster.
  uint64_t shared_address(uint64_t address) const;
  void release_held();
  /// Turns the traced GPU's addresses into the simulator's.
  void move_addresses(const MachineInstruction& in, uint32_t mask);
  void begin_cluster();
  LineProblem end_cluster();
  void flush();

  static constexpr size_t kNoStep = ~size_t{0};
  const KernelHeader& header_;
  MachineKernel& kernel_;
  AddressSpace& addresses_;
  runtime::TraceStore& store_;
  uint32_t warps_per_block_;
  uint32_t rank_ = 0;      ///< of the block in its cluster
  std::vector<bool> has_;  ///< the blocks of the cluster that have come
  bool no_ranks_ = false;  ///< in the block's addresses of its own shared memory
  uint64_t window_bytes_;  ///< of generic addresses of shared memory
  std::vector<std::vector<uint64_t>> words_of_;  ///< by warp of the cluster
  Warp warp_;
  MbarrierOrder order_;
  BulkLine bulk_;
  runtime::TraceChunk chunk_;
  runtime::LaunchRecord record_;
  uint64_t address_[32] = {};
  uint64_t lines_ = 0, left_out_ = 0, added_ = 0, left_out_tries_ = 0;
};

}  // namespace nearwarp::sass
