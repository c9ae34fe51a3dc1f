// Lowers alloca, stacksave and stackrestore. A thread's stack in local memory holds the frames of
// called functions (lower_subroutines.cpp) and, between them, the memory that alloca reserves.
//
// If a function of the module has an alloca, the register %top holds the end of the stack, where
// new frames begin. When a function returns, %top is restored, which frees the function's memory.
#include <algorithm>
#include <bit>

#include "host/functional/compiler/lower.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {

using ptx::Opcode;
using ptx::StackOp;
using ptx::Type;

namespace {

constexpr uint64_t kStackAlign = 16;  // alignment of %top and of frames
// The default and the largest alignment of alloca. Source: PTX ISA 9.0, alloca.
constexpr uint64_t kLeastAlign = 8;
constexpr uint64_t kMostAlign = 1u << 23;

}  // namespace

/// Gives the kernel a stack, if it has none yet.
void Lowering::make_stack() {
  if (stack_symbol_ != kNone) return;
  ptx::VariableDecl stack;
  stack.name = kStackSymbol;
  stack.size = kStackBytes;
  stack.align = kStackAlign;
  stack_symbol_ = add_symbol(stack, ptx::Space::kLocal);
}

bool allocates(const ptx::Function& fn) {
  return std::any_of(fn.instructions.begin(), fn.instructions.end(), [](const auto& in) {
    return in.op == Opcode::kAlloca && in.problem == ptx::kNoIndex;
  });
}

/// The register %top, made with the stack at its first use.
RegId Lowering::stack_top() {
  make_stack();
  if (stack_top_ == kNone) stack_top_ = new_register("%top", Type::kB64);
  return stack_top_;
}

/// Emits `to` = `op`(`srcs`), under the guard of `like`.
void Lowering::set_register(const Instruction& like, RegId to, Opcode op, Type type,
                            std::vector<Operand> srcs, const ptx::Modifiers& mod) {
  Instruction out = like;
  out.op = op;
  out.mod = mod;
  out.mod.type = type;
  out.address = {};
  out.dsts = {to};
  out.srcs = std::move(srcs);
  code_.instructions.push_back(std::move(out));
}

// Lowers alloca.type place, bytes{, alignment}; stacksave.type place; stackrestore.type place.
void Lowering::expand_stack(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  Instruction holder = like;
  operands(frame, in, &holder);
  const RegId top = stack_top();
  const bool narrow = in.mod.type == Type::kU32;
  ptx::Modifiers narrows, widens;
  narrows.src_type = Type::kU64;
  widens.src_type = Type::kU32;
  const auto wide = [&](const Operand& op) {
    if (!narrow || op.kind == Operand::Kind::kImmediate) return op;
    return of_register(compute(like, Opcode::kCvt, Type::kU64, {op}, widens));
  };
  const auto give = [&](RegId value) {
    if (holder.dsts.at(0) == kNone) return;
    set_register(like, holder.dsts[0], narrow ? Opcode::kCvt : Opcode::kMov,
                 narrow ? Type::kU32 : Type::kB64, {of_register(value)},
                 narrow ? narrows : ptx::Modifiers());
  };
  switch (static_cast<StackOp>(in.mod.detail)) {
    case StackOp::kSave:
      give(top);
      return;
    case StackOp::kRestore:
      set_register(like, top, Opcode::kMov, Type::kB64, {wide(holder.srcs.at(0))});
      return;
    case StackOp::kAllocate:
      break;
  }
  uint64_t align = kLeastAlign;
  if (holder.srcs.size() > 1) {
    if (holder.srcs[1].kind != Operand::Kind::kImmediate)
      fail(in, "an alignment that is no constant");
    align = holder.srcs[1].bits;
    if (!std::has_single_bit(align) || align > kMostAlign)
      fail(in, "an alignment of " + std::to_string(align), "a power of two up to 2^23");
  }
  RegId place = top;
  if (align > kStackAlign) {
    place = compute(like, Opcode::kAdd, Type::kU64, {of_register(top), constant(align - 1)});
    place = compute(like, Opcode::kAnd, Type::kB64, {of_register(place), constant(~(align - 1))});
  }
  const RegId end =
      compute(like, Opcode::kAdd, Type::kU64, {of_register(place), wide(holder.srcs.at(0))});
  const RegId rounded =
      compute(like, Opcode::kAdd, Type::kU64, {of_register(end), constant(kStackAlign - 1)});
  if (place == top) place = compute(like, Opcode::kMov, Type::kB64, {of_register(top)});
  set_register(like, top, Opcode::kAnd, Type::kB64,
               {of_register(rounded), constant(~(kStackAlign - 1))});
  give(place);
}

/// Inserts the kernel's first instruction, which sets %top to the beginning of the stack.
void Lowering::begin_stack() {
  if (stack_top_ == kNone) return;
  Instruction begin;
  begin.op = Opcode::kMov;
  begin.mod.type = Type::kB64;
  begin.ptx_line = entry_.line;
  begin.dsts = {stack_top_};
  Operand base;
  base.kind = Operand::Kind::kSymbol;
  base.symbol = stack_symbol_;
  begin.srcs = {base};
  code_.instructions.insert(code_.instructions.begin(), std::move(begin));
  for (uint32_t& label : code_.labels)
    if (label != kNone) label += 1;
}

}  // namespace nearwarp::compiler
