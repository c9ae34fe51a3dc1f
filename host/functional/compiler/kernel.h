// A kernel as the compiler leaves it: one control-flow graph with its device functions inlined,
// registers allocated. The functional executor, the timing images and the NDP passes all read this.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/functional/compiler/registers.h"
#include "host/functional/ptx/types.h"

namespace nearwarp::compiler {

enum class OperandKind : uint8_t {
  kNone,
  kRegister,   ///< reg
  kImmediate,  ///< bits, already converted to the operand's type (f32: IEEE bits; upper bits 0)
  kSpecial,    ///< special
  kSymbol,     ///< address of variable `symbol` plus `bits` (mov.u64 %rd, name+8)
};

using RegId = uint32_t;  ///< index into Kernel::registers
using BlockId = uint32_t;
using InstrId = uint32_t;  ///< index into Kernel::instructions
inline constexpr uint32_t kNone = 0xffffffffu;

/// A virtual register. `type` is the declared type (.b32, .f32, .pred, ...).
struct Register {
  std::string name;  ///< as in the PTX; registers of inlined functions get a suffix
  ptx::Type type = ptx::Type::kNone;
  /// First physical 32-bit register; 64-bit values take an aligned pair. Predicates have a
  /// numbering of their own. kNone if the register is never used.
  uint32_t physical = kNone;
  /// Defined and used inside one basic block only, never live across its ends.
  bool block_local = false;
};

/// A source operand.
struct Operand {
  using Kind = OperandKind;
  Kind kind = Kind::kNone;
  ptx::SpecialReg special = ptx::SpecialReg::kTidX;
  bool negated = false;  ///< `!%p` as a source of setp, selp, ...
  RegId reg = kNone;
  uint32_t symbol = kNone;  ///< index into Kernel::symbols
  uint64_t bits = 0;
};

inline Operand of_register(RegId reg) {
  Operand out;
  out.kind = OperandKind::kRegister;
  out.reg = reg;
  return out;
}
inline Operand constant(uint64_t bits) {
  Operand out;
  out.kind = OperandKind::kImmediate;
  out.bits = bits;
  return out;
}

/// Where a variable lives; global and const ones get their address when the module is loaded.
struct Symbol {
  std::string name;
  ptx::Space space = ptx::Space::kNone;  ///< kGlobal, kConst, kShared, kLocal or kParam
  uint64_t offset = 0;  ///< shared, local, param: byte offset in the kernel's window
  uint64_t size = 0;    ///< bytes; 0 for `.extern .shared x[]`
};

/// [base + offset]: a register or a symbol (or neither: an absolute address) plus bytes.
struct Address {
  RegId base = kNone;
  uint32_t symbol = kNone;
  int64_t offset = 0;
};

/// An instruction. Conventions beyond the PTX text:
/// - dsts and srcs follow the text's order; an address is in `address`, labels are in `targets`.
/// - A register is as wide as its operand's type, except that registers of ld, ldu, st (data) and
///   cvt may be wider. Special registers may appear as any source of 32 or 64 bits.
/// - ld, st, atom, red, prefetch without a space have Space::kGeneric.
/// - setp, shfl, match may have a second, predicate dst; `_` is kNone.
/// - shfl, vote without a member mask (no .sync) lack the last source.
/// - mov with vectors: several dsts (unpack, low part first) or several srcs (pack).
/// - isspacep has mod.type u64; mad.f32/f64 is fma; redux has its operation in mod.atomic,
///   match its mode in mod.vote (kAny, kAll; its dst is 32 bits); dp4a, dp2a have the types of a
///   and b in type and src_type, dp2a .lo/.hi in mode (0, 1); prmt mode: 1 f4e, 2 b4e, 3 rc8,
///   4 ecl, 5 ecr, 6 rc16.
/// - bar, barrier: srcs are the barrier and, optionally, the number of threads; bar.red has the
///   predicate last, and bool_op kNone for .popc.
/// - `ret` remains only in the entry itself, where it ends the thread like `exit`.
struct Instruction {
  ptx::Opcode op = ptx::Opcode::kNop;
  ptx::Modifiers mod;
  RegId guard = kNone;  ///< predicate register, kNone if unguarded
  bool guard_negated = false;
  std::vector<RegId> dsts;       ///< kNone entries for `_`; ld.v4 has four; setp may have two
  std::vector<Operand> srcs;     ///< st: the values stored; atom: the operands after the address
  Address address;               ///< ld, st, atom, red, prefetch
  std::vector<BlockId> targets;  ///< bra: one; brx: the table
  bool inlined_call = false;  ///< a kBra that stands for a call or a return of an inlined function
  /// A part of what a GPU does in one instruction: it takes no issue slot, and leaves no record.
  bool implied = false;
  /// bra that calls a function emitted once: where its lanes are after the call; not of recursive
  /// ones. The brx back to all such places `returns`.
  BlockId after_call = kNone;
  bool returns = false;
  uint32_t ptx_line = 0;     ///< line of the statement in the PTX text, from 1
  uint32_t source_file = 0;  ///< .loc file index, 0 if none
  uint32_t source_line = 0;  ///< .loc line, 0 if none
  /// File and line in the outermost function, into which the others have been inlined; line 0 if
  /// they are the same.
  uint32_t caller_file = 0, caller_line = 0;
};

/// A basic block. Blocks end at control transfers, before labels, and after `bar` (so that a warp
/// waits for a barrier only at a block's end). A block whose last instruction is a guarded branch
/// has two successors: the target first, then the fall-through (the next block); a guarded exit has
/// one, the fall-through. For ipdom, paths that end in `trap` do not count (the launch is dead),
/// and calls lead to what follows them, not through the function.
struct Block {
  InstrId first = 0;
  uint32_t count = 0;
  std::vector<BlockId> successors;
  std::vector<BlockId> predecessors;
  BlockId idom = kNone;   ///< immediate dominator; kNone for the entry
  BlockId ipdom = kNone;  ///< immediate post-dominator; kNone when only the exit follows
  uint32_t loop = kNone;  ///< innermost loop, index into Kernel::loops
};

/// A natural loop; loops with one header are merged.
struct Loop {
  BlockId header = kNone;
  std::vector<BlockId> blocks;   ///< sorted, header included
  std::vector<BlockId> latches;  ///< sources of the back edges
  uint32_t parent = kNone;       ///< enclosing loop
  uint32_t depth = 1;
};

struct Param {
  std::string name;
  ptx::Type type = ptx::Type::kNone;
  uint32_t offset = 0;  ///< byte offset in the parameter buffer
  uint32_t size = 0;    ///< bytes
  uint32_t align = 0;
};

struct Kernel {
  std::string name;      ///< the entry's (mangled) name
  std::string code;      ///< what its PTX was made for, e.g. "sm_90a"; empty for traces
  uint64_t address = 0;  ///< as device code sees it; not kept in recordings
  /// Why the kernel cannot run ("what (file:line: statement) - what would be right"); empty if it
  /// can. Then only name and params are filled: throw this when the kernel is asked for.
  std::string unsupported;
  std::vector<Param> params;
  uint32_t param_bytes = 0;
  uint32_t static_shared_bytes = 0;
  uint32_t local_bytes = 0;  ///< stack of one thread
  std::vector<Register> registers;
  std::vector<Symbol> symbols;
  std::vector<Instruction> instructions;  ///< in block order; block 0 is the entry
  std::vector<Block> blocks;
  std::vector<Loop> loops;
  uint32_t num_physical = 0;    ///< 32-bit registers per thread after allocation
  RegisterCount machine_code;   ///< what occupancy goes by in its place, if anything is known
  uint32_t num_predicates = 0;  ///< predicate registers after allocation
  ptx::LaunchBounds bounds;     ///< of the directives
  /// live_in[b], live_out[b]: sorted register ids live at a block's ends.
  std::vector<std::vector<RegId>> live_in, live_out;
  std::vector<std::string> source_files;  ///< by .file index; empty names where undefined
};

/// 32-bit registers per thread that occupancy counts on an SM with `sm_registers`: those of machine
/// code where they are known, else of the allocation; at most 255, and at most so many that the
/// blocks of .maxntid and .minnctapersm fit (rounded down to 8, as ptxas does). Where that is
/// fewer, ptxas spills; here, nothing is spilled. A launch in blocks of `block_threads` counts no
/// more than lets one such block fit, as though its size were the kernel's bound: PTX is compiled
/// for the machine, and code made for GPUs with more registers runs on it. 0 asks without a launch.
uint32_t occupancy_registers(const Kernel& kernel, uint32_t sm_registers,
                             uint64_t block_threads = 0);

/// Name of the symbol that recursive functions have their frames in; the last of local memory.
inline constexpr const char* kStackSymbol = "__stack";
/// Bytes of the stack per thread. A launch may give more to a thread: only the last symbol grows.
inline constexpr uint32_t kStackBytes = 16 << 10;

/// A module-level variable (.global or .const) with its initial contents.
struct Variable {
  std::string name;
  ptx::Space space = ptx::Space::kGlobal;
  uint64_t size = 0;
  uint32_t align = 1;
  std::vector<uint8_t> init;  ///< empty: zero; else `size` bytes
  /// Places in `init` that hold addresses of other variables: {byte offset, variable name, addend}.
  struct Relocation {
    uint64_t offset = 0;
    std::string target;
    int64_t addend = 0;
  };
  std::vector<Relocation> relocations;
};

/// A compiled PTX module.
struct Program {
  std::string path;  ///< where the PTX came from, for messages
  std::vector<Kernel> kernels;
  std::vector<Variable> variables;

  const Kernel* find(const std::string& name) const {
    for (const Kernel& k : kernels)
      if (k.name == name) return &k;
    return nullptr;
  }
  /// By its address in device code.
  const Kernel* find(uint64_t address) const {
    for (const Kernel& k : kernels)
      if (k.address == address) return &k;
    return nullptr;
  }
};

/// Parse and compile PTX text. `path` is used in messages only.
/// Throws nearwarp::Error naming file, line and statement for anything unsupported or malformed.
Program compile_ptx(const std::string& text, const std::string& path);
/// PTX text and where it came from.
struct PtxSource {
  std::string text, path;
};
/// Compile modules that refer to one another (nvcc -rdc=true) into one program.
Program link_ptx(const std::vector<PtxSource>& sources);
/// Compiles a file of PTX; throws nearwarp::Error if it cannot be read.
Program compile_ptx_file(const std::string& path);

}  // namespace nearwarp::compiler
