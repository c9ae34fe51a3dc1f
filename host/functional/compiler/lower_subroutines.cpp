// Calls that are not inlined. A function that may call itself, and a large one whose copies would
// be too many, is emitted once per kernel; its parameters, results and locals, what its callers
// keep across calls, and the place to return to lie in a frame on the thread's stack in local
// memory, at the register %sp.
#include <algorithm>

#include "host/core/error.h"
#include "host/functional/compiler/lower.h"
#include "host/functional/ptx/lexer.h"

namespace nearwarp::compiler {
namespace {

using ptx::bits_type;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

constexpr uint64_t kFirstSlot = 8;  // behind the number of the place to return to
constexpr uint64_t kStepSlot = 4;   // bytes to the caller's frame, if alloca lets that vary

uint64_t align_up(uint64_t value, uint64_t align) {
  return align <= 1 ? value : (value + align - 1) / align * align;
}

}  // namespace

const CallGraph& Lowering::call_graph() {
  if (!*call_graph_) call_graph_->emplace(module_);
  return **call_graph_;
}

// Is the function called instead of inlined?
bool Lowering::is_called(uint32_t function) {
  if (called_.empty()) {
    const auto entry = static_cast<uint32_t>(&entry_ - module_.functions.data());
    called_ = call_graph().called(entry, kMaxInlined);
  }
  return called_[function];
}

// The subroutine of a function, laid out when it is first called.
uint32_t Lowering::subroutine(const ptx::Function& fn, uint32_t index) {
  for (uint32_t i = 0; i < subroutines_.size(); ++i)
    if (subroutines_[i].index == index) return i;
  if (stack_pointer_ == kNone) {
    stack_pointer_ = new_register("%sp", Type::kB64);
    make_stack();
  }
  Subroutine sub;
  sub.fn = &fn;
  sub.index = index;
  sub.live = live_across_calls(fn);
  sub.variables.assign(fn.variables.size(), 0);
  sub.registers.assign(fn.registers.size(), 0);
  uint64_t end = kFirstSlot;
  const auto place = [&](uint64_t bytes, uint64_t align) {
    end = align_up(end, std::max<uint64_t>(align, 1));
    const uint64_t at = end;
    end += bytes;
    return at;
  };
  const auto place_formals = [&](const std::vector<ptx::FormalParam>& formals) {
    for (const ptx::FormalParam& formal : formals) {
      if (formal.is_register) throw Unsupported{"register parameters of a recursive function"};
      const ptx::VariableDecl& var = fn.variables[formal.index];
      sub.variables[formal.index] = place(var.size, var.align);
    }
  };
  place_formals(fn.params);
  place_formals(fn.returns);
  for (uint32_t i = 0; i < fn.variables.size(); ++i) {
    const ptx::VariableDecl& var = fn.variables[i];
    if (var.space == Space::kLocal) sub.variables[i] = place(var.size, var.align);
  }
  for (const auto& registers : sub.live) {
    for (const uint32_t r : registers) {
      const uint64_t bytes = std::max(size_of(fn.registers[r].type), 4u);
      if (sub.registers[r] == 0) sub.registers[r] = place(bytes, bytes);
    }
  }
  sub.frame_bytes = align_up(end, 16);
  sub.entry_label = static_cast<uint32_t>(code_.labels.size());
  sub.return_label = sub.entry_label + 1;
  code_.labels.resize(code_.labels.size() + 2, kNone);
  subroutines_.push_back(std::move(sub));
  return static_cast<uint32_t>(subroutines_.size() - 1);
}

void Lowering::stack_access(const Instruction& like, Opcode op, RegId base, uint64_t offset,
                            Type type, RegId data) {
  access(like, op, Space::kLocal, type, {base, kNone, static_cast<int64_t>(offset)}, {data});
}

// Copies between a call's .param variable (or a register) and a formal on the stack.
void Lowering::copy_actual(Frame* frame, const ptx::Instruction& in, const Instruction& like,
                           const ptx::Operand& actual, const ptx::VariableDecl& formal,
                           uint64_t offset, RegId base, bool to_stack) {
  if (actual.kind == Kind::kBlank) return;
  if (actual.kind != Kind::kVariable) {
    if (to_stack) {
      const Type type = bits_type(formal.size);
      const RegId data = compute(like, Opcode::kMov, type, {value(frame, in, actual, type)});
      stack_access(like, Opcode::kSt, base, offset, type, data);
    } else {
      if (actual.kind != Kind::kRegister) refuse(in, "this kind of return value");
      stack_access(like, Opcode::kLd, base, offset, bits_type(formal.size),
                   reg(frame, actual.index));
    }
    return;
  }
  const uint32_t symbol = symbol_of_variable(frame, in, actual.index);
  if (!(symbol & kObjectBit)) refuse(in, "an argument that is no .param variable of the caller");
  const uint64_t step = formal.is_array ? std::clamp<uint64_t>(formal.align, 1, 8)
                                        : std::min<uint64_t>(formal.size, 8);
  uint64_t bytes = step;
  for (uint64_t at = 0; at < formal.size; at += bytes) {
    // The alignment may be more than the size's: 16 for 12 bytes in code for 10.0 and later.
    while (at + bytes > formal.size) bytes /= 2;
    const Type type = bits_type(bytes);
    const RegId data = new_register("%t", bytes == 1 ? Type::kB16 : type);
    const Address object{kNone, symbol, static_cast<int64_t>(at)};
    if (to_stack) {
      access(like, Opcode::kLd, Space::kParam, type, object, {data});
      stack_access(like, Opcode::kSt, base, offset + at, type, data);
    } else {
      stack_access(like, Opcode::kLd, base, offset + at, type, data);
      access(like, Opcode::kSt, Space::kParam, type, object, {data});
    }
  }
}

// Saves or restores what the caller, itself such a function, needs after the call.
void Lowering::keep_registers(Frame* frame, const Instruction& like, uint32_t call, bool save) {
  const Subroutine sub = subroutines_[frame->owner];
  for (const uint32_t index : sub.live[call]) {
    const RegId r = reg(frame, index);
    const uint64_t at = sub.registers[index];
    const Type type = kernel_->registers[r].type;
    if (type != Type::kPred) {
      stack_access(like, save ? Opcode::kSt : Opcode::kLd, stack_pointer_, at,
                   bits_type(size_of(type)), r);
      continue;
    }
    if (save) {
      const RegId word =
          compute(like, Opcode::kSelp, Type::kB32, {constant(1), constant(0), of_register(r)});
      stack_access(like, Opcode::kSt, stack_pointer_, at, Type::kB32, word);
    } else {
      const RegId word = new_register("%t", Type::kB32);
      stack_access(like, Opcode::kLd, stack_pointer_, at, Type::kB32, word);
      compare(like, ptx::Compare::kNe, Type::kU32, of_register(word), constant(0), r);
    }
  }
}

void Lowering::call_subroutine(Frame* frame, const ptx::Instruction& in,
                               const ptx::Function& callee, uint32_t callee_index) {
  const ptx::Call& call = frame->fn->calls[in.call];
  if (call.num_args != callee.params.size() || call.num_returns != callee.returns.size())
    fail(in, "the call does not fit the declaration of " + ptx::quoted(callee.name));
  const uint32_t target = subroutine(callee, callee_index);
  Instruction like = start(in);
  like.mod = {};
  const auto done = static_cast<uint32_t>(code_.labels.size());
  code_.labels.push_back(kNone);
  const auto jump = [&](uint32_t label) {
    Instruction branch = like;
    branch.op = Opcode::kBra;
    branch.inlined_call = true;
    branch.targets = {label};
    return branch;
  };
  if (in.guard != ptx::kNoIndex) {
    Instruction around = jump(done);
    around.guard = reg(frame, in.guard);
    around.guard_negated = !in.guard_negated;
    code_.instructions.push_back(std::move(around));
  }
  like.guard_negated = false;
  const bool nested = frame->owner != kNone;
  // Only a call that may come back into the caller overwrites the caller's registers.
  const bool keeps = nested && frame->depth == 0 &&
                     call_graph().same_cycle(subroutines_[frame->owner].index, callee_index);
  const uint64_t caller_bytes = nested ? subroutines_[frame->owner].frame_bytes : 0;
  RegId next;
  if (grows_by_alloca_) {
    next = compute(like, Opcode::kMov, Type::kB64, {of_register(stack_top())});
  } else if (nested) {
    next = compute(like, Opcode::kAdd, Type::kU64,
                   {of_register(stack_pointer_), constant(caller_bytes)});
  } else {
    Operand base;
    base.kind = Operand::Kind::kSymbol;
    base.symbol = stack_symbol_;
    next = compute(like, Opcode::kMov, Type::kB64, {base});
  }
  const ptx::Operand* pool = frame->fn->operands.data();
  for (uint32_t i = 0; i < call.num_args; ++i) {
    const uint32_t formal = callee.params[i].index;
    copy_actual(frame, in, like, pool[call.first_arg + i], callee.variables[formal],
                subroutines_[target].variables[formal], next, true);
  }
  const auto site = static_cast<uint32_t>(subroutines_[target].sites.size());
  const auto site_label = static_cast<uint32_t>(code_.labels.size());
  code_.labels.push_back(kNone);
  subroutines_[target].sites.push_back(site_label);
  const RegId number = compute(like, Opcode::kMov, Type::kB32, {constant(site)});
  stack_access(like, Opcode::kSt, next, 0, Type::kB32, number);
  if (grows_by_alloca_ && nested) {
    const RegId step =
        compute(like, Opcode::kSub, Type::kU64, {of_register(next), of_register(stack_pointer_)});
    ptx::Modifiers narrows;
    narrows.src_type = Type::kU64;
    const RegId word = compute(like, Opcode::kCvt, Type::kU32, {of_register(step)}, narrows);
    stack_access(like, Opcode::kSt, next, kStepSlot, Type::kB32, word);
  }
  if (keeps) keep_registers(frame, like, in.call, true);
  Instruction move = like;
  move.op = Opcode::kMov;
  move.mod.type = Type::kB64;
  move.dsts = {stack_pointer_};
  move.srcs = {of_register(next)};
  code_.instructions.push_back(std::move(move));
  if (grows_by_alloca_)
    set_register(like, stack_top(), Opcode::kAdd, Type::kU64,
                 {of_register(stack_pointer_), constant(subroutines_[target].frame_bytes)});
  Instruction enter = jump(subroutines_[target].entry_label);
  // Lanes that make one recursive call may return at different places.
  if (!call_graph().is_recursive(callee_index)) enter.after_call = site_label;
  code_.instructions.push_back(std::move(enter));
  // Back again: %sp is still the callee's.
  code_.labels[site_label] = static_cast<uint32_t>(code_.instructions.size());
  for (uint32_t i = 0; i < call.num_returns; ++i) {
    const uint32_t formal = callee.returns[i].index;
    copy_actual(frame, in, like, pool[call.first_return + i], callee.variables[formal],
                subroutines_[target].variables[formal], stack_pointer_, false);
  }
  if (grows_by_alloca_) {
    set_register(like, stack_top(), Opcode::kMov, Type::kB64, {of_register(stack_pointer_)});
    if (nested) {
      const RegId step = new_register("%t", Type::kB32);
      stack_access(like, Opcode::kLd, stack_pointer_, kStepSlot, Type::kB32, step);
      ptx::Modifiers widens;
      widens.src_type = Type::kU32;
      const RegId wide = compute(like, Opcode::kCvt, Type::kU64, {of_register(step)}, widens);
      set_register(like, stack_pointer_, Opcode::kSub, Type::kU64,
                   {of_register(stack_pointer_), of_register(wide)});
    }
  } else if (nested) {
    Instruction pop = like;
    pop.op = Opcode::kSub;
    pop.mod.type = Type::kU64;
    pop.dsts = {stack_pointer_};
    pop.srcs = {of_register(stack_pointer_), constant(caller_bytes)};
    code_.instructions.push_back(std::move(pop));
  }
  if (keeps) keep_registers(frame, like, in.call, false);
  code_.labels[done] = static_cast<uint32_t>(code_.instructions.size());
}

// The bodies of all subroutines that were called, which may call further ones.
void Lowering::emit_subroutines() {
  for (uint32_t i = 0; i < subroutines_.size(); ++i) {
    const ptx::Function& fn = *subroutines_[i].fn;
    // Locals of what it inlines must not lie over those of its callers.
    Frame frame = make_frame(fn, 0, align_up(local_end_, 16));
    frame.owner = i;
    frame.return_label = subroutines_[i].return_label;
    const auto bind = [&](uint32_t variable) {
      frame.variables[variable] = {Binding::Kind::kStack,
                                   static_cast<uint32_t>(subroutines_[i].variables[variable])};
    };
    for (const ptx::FormalParam& formal : fn.params) bind(formal.index);
    for (const ptx::FormalParam& formal : fn.returns) bind(formal.index);
    for (uint32_t v = 0; v < fn.variables.size(); ++v)
      if (fn.variables[v].space == Space::kLocal) bind(v);
    code_.labels[subroutines_[i].entry_label] = static_cast<uint32_t>(code_.instructions.size());
    emit_function(&frame);
    code_.labels[subroutines_[i].return_label] = static_cast<uint32_t>(code_.instructions.size());
    Instruction like;
    like.ptx_line = fn.end_line;
    const RegId site = new_register("%site", Type::kB32);
    stack_access(like, Opcode::kLd, stack_pointer_, 0, Type::kB32, site);
    Instruction leave = like;
    leave.op = Opcode::kBrx;
    leave.inlined_call = true;
    leave.returns = !call_graph().is_recursive(subroutines_[i].index);
    leave.mod.detail = i + 1;  // until finish_subroutines()
    leave.srcs = {of_register(site)};
    code_.instructions.push_back(std::move(leave));
  }
}

// Now that all calls are known: where subroutines return to, and where the stack begins.
void Lowering::finish_subroutines() {
  if (stack_symbol_ == kNone) return;
  for (Instruction& in : code_.instructions) {
    if (in.op != Opcode::kBrx || !in.inlined_call) continue;
    in.targets = subroutines_[in.mod.detail - 1].sites;
    in.mod.detail = 0;
  }
  local_end_ = align_up(local_end_, 16);
  kernel_->symbols[stack_symbol_].offset = local_end_;
  local_end_ += kStackBytes;
}

// An indirect call compares the address with those of all functions that it can reach.
void Lowering::emit_indirect_call(Frame* frame, const ptx::Instruction& in) {
  const ptx::Call& call = frame->fn->calls[in.call];
  const std::vector<uint32_t> reached = call_graph().candidates(*frame->fn, call);
  const auto done = static_cast<uint32_t>(code_.labels.size());
  code_.labels.push_back(kNone);
  Instruction like = start(in);
  like.mod = {};
  Instruction branch = like;
  branch.op = Opcode::kBra;
  branch.inlined_call = true;
  branch.targets = {done};
  if (in.guard != ptx::kNoIndex) {
    Instruction around = branch;
    around.guard = reg(frame, in.guard);
    around.guard_negated = !in.guard_negated;
    code_.instructions.push_back(std::move(around));
  }
  like.guard_negated = branch.guard_negated = false;
  const Operand target = value(frame, in, call.target, Type::kB64);
  ptx::Instruction direct = in;
  direct.guard = ptx::kNoIndex;
  direct.guard_negated = false;
  for (const uint32_t index : reached) {
    const auto next = static_cast<uint32_t>(code_.labels.size());
    code_.labels.push_back(kNone);
    Instruction skip = branch;
    skip.guard =
        compare(like, ptx::Compare::kNe, Type::kU64, target, constant(function_address(index)));
    skip.targets = {next};
    code_.instructions.push_back(std::move(skip));
    direct_call(frame, direct, module_.functions[index], index);
    code_.instructions.push_back(branch);
    code_.labels[next] = static_cast<uint32_t>(code_.instructions.size());
  }
  Instruction trap = like;  // not the address of a function that this call can reach
  trap.op = Opcode::kTrap;
  code_.instructions.push_back(std::move(trap));
  code_.labels[done] = static_cast<uint32_t>(code_.instructions.size());
}

}  // namespace nearwarp::compiler
