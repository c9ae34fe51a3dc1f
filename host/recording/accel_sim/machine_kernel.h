// A kernel as far as traces show it: the instructions that were executed, and straight runs of
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/recording/accel_sim/instruction_line.h"
#include "host/recording/accel_sim/opcode_table.h"

namespace nearwarp::sass {

/// Tracers from this version on record asynchronous copies and mbarriers.
inline constexpr uint32_t kAsyncVersion = 6;

/// The part of an instruction in asynchronous work: it starts such work, or waits for it.
enum class AsyncKind : uint8_t {
  kNone,
  kInit,          ///< initialises an mbarrier, by a store
  kArrive,        ///< arrives at mbarriers
  kCopiesArrive,  ///< makes the end of asynchronous loads arrive at an mbarrier
  kWait,          ///< waits for a phase of an mbarrier
  kFiller,        ///< may stand between two tries of a wait
  kBulkLoad,
  kBulkStore,       ///< stores or reduces in bulk
  kRemoteBulk,      ///< copies from the shared memory of one block of a cluster to another's
  kPrefetch,        ///< loads a bulk copy's bytes into the L2
  kBulkCommit,      ///< ends a group of bulk copies
  kLoadCommit,      ///< ends a group of asynchronous loads
  kGroupWait,       ///< waits for groups of either of the two kinds
  kProducts,        ///< a warpgroup's matrix product
  kProductWait,     ///< waits for groups of these products
  kBarrier,         ///< a block's barrier whose number is an immediate
  kClusterBarrier,  ///< a barrier of the cluster
};

/// A static instruction.
struct MachineInstruction {
  StaticPart line;
  const OpcodeInfo* row = nullptr;  ///< null: the table of opcodes does not have it
  OpcodeClass opcode_class = OpcodeClass::kUnknown;
  compiler::Instruction instruction;     ///< its equivalent in the timing model
  compiler::Instruction predicated_off;  ///< its equivalent when no lane executes it
  bool has_record = false;               ///< it leaves its addresses in the trace
  bool ends_run = false;                 ///< it is a branch, barrier or exit
  uint32_t lanes = 0xffffffffu;          ///< lanes with addresses (ldmatrix: those that name rows)
  uint8_t lane_bytes = 0;                ///< bytes that a lane accesses
  AsyncKind async = AsyncKind::kNone;
  bool derived = false;              ///< it was made by MachineKernel::derived()
  uint64_t issued = 0, threads = 0;  ///< its executions, and the lanes in them
};

/// Instructions of all launches of a kernel. Its basic blocks are the straight runs that warps have
/// executed under one mask. A block is identified by its instructions, so blocks may overlap, and
/// one pass over a trace of any length finds them.
class MachineKernel {
 public:
  /// `registers` is the number per thread in the trace's header.
  MachineKernel(std::string name, uint32_t registers);

  /// Finds or adds the instruction at `pc` whose static part begins `rest`, a part of a line of a
  /// tracer of this version. `id` receives its number, and `length` the characters of the static
  /// part.
  LineProblem instruction(uint64_t pc, std::string_view rest, uint32_t version, uint32_t* id,
                          size_t* length);
  /// Number of the variant `key` of instruction `of`: a part of it, or the instruction with other
  /// immediates. The first call for a key makes the variant, by calling `make` with a copy.
  uint32_t derived(uint32_t of, uint64_t key,
                   const std::function<void(MachineInstruction& like)>& make);
  MachineInstruction& at(uint32_t id) { return instructions_[id]; }
  const std::vector<MachineInstruction>& instructions() const { return instructions_; }

  /// Number of the basic block with these instructions, each given as 2 * id, plus 1 if no lane
  /// executed it. Throws nearwarp::Error if there are more blocks than a trace can name.
  uint32_t block(const std::vector<uint32_t>& run);

  const std::string& name() const { return name_; }
  /// The kernel for the timing model. It has neither predicates nor live ranges.
  compiler::Kernel finish() const;

 private:
  struct AtPc {
    std::string text;  ///< the static part, as in the lines
    uint32_t id;
  };
  struct RunHash {
    size_t operator()(const std::vector<uint32_t>& run) const;
  };

  std::string name_;
  uint32_t registers_;
  std::vector<MachineInstruction> instructions_;
  std::unordered_map<uint64_t, std::vector<AtPc>> at_pc_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> derived_;
  std::unordered_map<std::vector<uint32_t>, uint32_t, RunHash> blocks_;
  std::vector<const std::vector<uint32_t>*> block_order_;
  uint64_t in_blocks_ = 0;  ///< number of instructions of all blocks together
};

/// Translates the instruction of a line into its equivalent in the timing model. The width of an
/// access is taken from the modifiers, since tracers sometimes record another one. With `async`,
/// asynchronous work is simulated as such.
MachineInstruction translate(StaticPart line, bool async);

}  // namespace nearwarp::sass
