// A kernel as its traces show it: the instructions that were executed, and runs of them.
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

/// Tracers from this version on tell what is asynchronous.
inline constexpr uint32_t kAsyncVersion = 6;

/// How an instruction works by itself, or waits for one that does.
enum class AsyncKind : uint8_t {
  kNone,
  kInit,          ///< of an mbarrier: a store
  kArrive,        ///< at mbarriers
  kCopiesArrive,  ///< when asynchronous loads are done
  kWait,          ///< for a phase of an mbarrier
  kFiller,        ///< may stand between two tries of a wait
  kBulkLoad,
  kBulkStore,   ///< reductions too
  kRemoteBulk,  ///< from the shared memory of one block of a cluster to another's
  kPrefetch,    ///< of a bulk copy, to the L2
  kBulkCommit,
  kLoadCommit,
  kGroupWait,  ///< for groups of whichever of the two
  kProducts,
  kProductWait,
  kBarrier,  ///< whose number is an immediate
  kClusterBarrier,
};

/// An instruction at a PC.
struct MachineInstruction {
  StaticPart line;
  const OpcodeInfo* row = nullptr;  ///< null: the table does not have it
  OpcodeClass opcode_class = OpcodeClass::kUnknown;
  /// The instruction that it counts as in the timing model.
  compiler::Instruction instruction;
  compiler::Instruction predicated_off;  ///< the same when no lane executes it
  bool has_record = false;               ///< leaves its addresses in the trace
  bool ends_run = false;                 ///< a branch, barrier or exit
  uint32_t lanes = 0xffffffffu;          ///< whose addresses count (ldmatrix: those that name rows)
  uint8_t lane_bytes = 0;
  AsyncKind async = AsyncKind::kNone;
  bool derived = false;              ///< a part of another one, or that with other immediates
  uint64_t issued = 0, threads = 0;  ///< executions, and lanes in them
};

/// Instructions of all launches of a kernel. Its basic blocks are the straight runs that warps
/// executed under one mask: a block is known by its instructions, so blocks may overlap, and one
/// pass over a trace of any length finds them.
class MachineKernel {
 public:
  /// `registers`: per thread, as the header has it.
  MachineKernel(std::string name, uint32_t registers);

  /// Number of the instruction at a PC that `rest` of a line begins with; `length` gets the
  /// characters of its static part. `version` of the tracer.
  LineProblem instruction(uint64_t pc, std::string_view rest, uint32_t version, uint32_t* id,
                          size_t* length);
  /// Number of an instruction that is made of another one, which `make` does for the first of a
  /// `key`.
  uint32_t derived(uint32_t of, uint64_t key,
                   const std::function<void(MachineInstruction& like)>& make);
  MachineInstruction& at(uint32_t id) { return instructions_[id]; }
  const std::vector<MachineInstruction>& instructions() const { return instructions_; }

  /// The block of these instructions: 2 * id, plus 1 if no lane executed it. Throws
  /// nearwarp::Error if there are more than a trace can name.
  uint32_t block(const std::vector<uint32_t>& run);

  const std::string& name() const { return name_; }
  /// The kernel for the timing model. It has neither predicates nor live ranges.
  compiler::Kernel finish() const;

 private:
  struct AtPc {
    std::string text;  ///< the static part, as the lines have it
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
  uint64_t in_blocks_ = 0;  ///< instructions of all blocks
};

/// Translates the instruction of a line into what it counts as. Widths of accesses
/// come from the modifiers, as tracers now and then give others.
/// `async`: what is asynchronous has a time of its own.
MachineInstruction translate(StaticPart line, bool async);

}  // namespace nearwarp::sass
