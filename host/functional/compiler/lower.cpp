// Lowers one entry of a PTX module: frames of inlined functions, calls, returns, memory layout.
#include "host/functional/compiler/lower.h"

#include <algorithm>

#include "host/core/error.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {
namespace {

constexpr size_t kMaxInstructions = size_t{1} << 20;
constexpr size_t kMaxStatementInMessage = 160;
constexpr uint64_t kMaxLocalBytes = uint64_t{1} << 24;

uint64_t align_up(uint64_t value, uint64_t align) {
  return align <= 1 ? value : (value + align - 1) / align * align;
}

// The text of a statement for messages: on one line, without runs of blanks, at a readable length.
std::string compact(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) {
      out += c > ' ' && c < 0x7f ? c : '?';
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
    if (out.size() > kMaxStatementInMessage) return out + "...";
  }
  return out + ";";
}

}  // namespace

Lowering::Lowering(const ptx::Module& module, const ptx::Function& entry, bool module_allocates,
                   std::optional<CallGraph>* call_graph)
    : module_(module), entry_(entry), call_graph_(call_graph), grows_by_alloca_(module_allocates) {}

std::string Lowering::message(const ptx::Instruction& in, const std::string& what,
                              const std::string& right) const {
  return what + " (" + module_.path + ":" + std::to_string(in.line) + ": " + compact(in.text) +
         ")" + (right.empty() ? "" : " - " + right);
}

void Lowering::fail(const ptx::Instruction& in, const std::string& what,
                    const std::string& right) const {
  throw Error(message(in, what, right));
}

void Lowering::refuse(const ptx::Instruction& in, const std::string& what,
                      const std::string& right) const {
  throw Unsupported{message(in, what, right)};
}

FlatCode Lowering::run(Kernel* kernel) {
  kernel_ = kernel;
  Frame frame = make_frame(entry_, 0, 0);
  for (size_t i = 0; i < entry_.params.size(); ++i) {
    const uint32_t variable = entry_.params[i].index;
    const uint32_t symbol = add_symbol(entry_.variables[variable], ptx::Space::kParam);
    kernel->symbols[symbol].offset = kernel->params[i].offset;
    frame.variables[variable] = {Binding::Kind::kSymbol, symbol};
  }
  emit_function(&frame);
  emit_subroutines();
  begin_stack();
  resolve_objects(&code_);
  finish_subroutines();
  layout_shared();
  if (local_end_ > kMaxLocalBytes) {
    throw Unsupported{"the stack of kernel '" + kernel->name + "' has more than 16 MiB (" +
                      module_.path + ":" + std::to_string(entry_.line) + ")"};
  }
  kernel->local_bytes = static_cast<uint32_t>(align_up(local_end_, 8));
  return std::move(code_);
}

Lowering::Frame Lowering::make_frame(const ptx::Function& fn, uint32_t depth, uint64_t local_base) {
  Frame frame;
  frame.fn = &fn;
  frame.registers.assign(fn.registers.size(), kNone);
  frame.variables.resize(fn.variables.size());
  frame.first_label = static_cast<uint32_t>(code_.labels.size());
  code_.labels.resize(code_.labels.size() + fn.labels.size(), kNone);
  frame.return_label = kNone;
  frame.instance = instances_++;
  frame.depth = depth;
  frame.local_base = frame.local_end = local_base;
  return frame;
}

void Lowering::emit_function(Frame* frame) {
  const ptx::Function& fn = *frame->fn;
  stack_.push_back(&fn);
  // Local variables lie at the bottom of the frame, since later calls must not reuse their place.
  for (uint32_t i = 0; i < fn.variables.size(); ++i) {
    const ptx::VariableDecl& var = fn.variables[i];
    if (var.space != ptx::Space::kLocal || frame->variables[i].kind == Binding::Kind::kStack)
      continue;
    const uint32_t symbol = add_symbol(var, ptx::Space::kLocal);
    frame->local_end = align_up(frame->local_end, var.align);
    kernel_->symbols[symbol].offset = frame->local_end;
    frame->local_end += var.size;
    frame->variables[i] = {Binding::Kind::kSymbol, symbol};
  }
  local_end_ = std::max(local_end_, frame->local_end);
  size_t next_label = 0;
  const auto place_labels = [&](size_t instruction) {
    while (next_label < fn.labels.size() && fn.labels[next_label].instruction <= instruction) {
      code_.labels[frame->first_label + next_label++] =
          static_cast<uint32_t>(code_.instructions.size());
    }
  };
  for (size_t i = 0; i < fn.instructions.size(); ++i) {
    place_labels(i);
    emit(frame, fn.instructions[i]);
    if (code_.instructions.size() > kMaxInstructions) {
      refuse(fn.instructions[i], "the kernel '" + kernel_->name +
                                     "' has more than a million instructions after inlining");
    }
  }
  place_labels(fn.instructions.size());
  if (frame->depth == 0 && frame->owner == kNone) {  // a missing `ret` at the end
    Instruction end;
    end.op = ptx::Opcode::kRet;
    end.ptx_line = fn.end_line;
    code_.instructions.push_back(end);
  }
  stack_.pop_back();
}

Instruction Lowering::start(const ptx::Instruction& in) const {
  Instruction out;
  out.op = in.op;
  out.mod = in.mod;
  out.guard_negated = in.guard_negated;
  out.ptx_line = in.line;
  out.source_file = in.source_file;
  out.source_line = in.source_line;
  out.caller_file = in.caller_file;
  out.caller_line = in.caller_line;
  return out;
}

namespace {

/// Does the executor lack .relu for this instruction? It does for integers and for conversions of
/// single numbers.
bool lacks_relu(const Instruction& in) {
  return in.op == ptx::Opcode::kVideo || in.mod.type == ptx::Type::kS32 ||
         (in.op == ptx::Opcode::kCvt && in.mod.detail == 0 && in.srcs.size() == 1);
}

}  // namespace

void Lowering::emit(Frame* frame, const ptx::Instruction& in) {
  if (in.problem != ptx::kNoIndex) refuse(in, frame->fn->problems[in.problem]);
  if (in.op == ptx::Opcode::kCall) {
    emit_call(frame, in);
    return;
  }
  if (in.op == ptx::Opcode::kRet && frame->return_label != kNone) {
    emit_return(frame, in);
    return;
  }
  if (expand(frame, in)) return;
  Instruction out = start(in);
  if (in.guard != ptx::kNoIndex) out.guard = reg(frame, in.guard);
  operands(frame, in, &out);
  if (in.op == ptx::Opcode::kVideo) select_parts(*frame, in, &out);
  if (in.op == ptx::Opcode::kCvt && in.mod.mode != 0) limit_sources(&out);
  // The parameters of a device function lie in the caller's frame, which is local memory.
  const bool by_register = out.address.base != kNone && out.mod.space == ptx::Space::kParam;
  if (by_register && frame->return_label != kNone) out.mod.space = ptx::Space::kLocal;
  const bool atomic = in.op == ptx::Opcode::kAtom || in.op == ptx::Opcode::kRed;
  if (atomic && in.mod.vector > 1) {
    split_atomic(out);
  } else if (in.mod.vector * ptx::size_of(in.mod.type) > 16 &&
             (in.op == ptx::Opcode::kLd || in.op == ptx::Opcode::kSt)) {
    split_access(std::move(out));
  } else if (in.mod.relu && lacks_relu(out)) {
    clamp_at_zero(in, out);
  } else {
    code_.instructions.push_back(std::move(out));
  }
}

// Lowers .relu where the executor lacks it: a second instruction is the maximum with 0.
void Lowering::clamp_at_zero(const ptx::Instruction& in, Instruction& out) {
  const RegId result = out.dsts.at(0);
  out.mod.relu = false;
  if (result == kNone) return;
  Instruction clamp = out;
  if (out.op == ptx::Opcode::kVideo) {
    ptx::VideoDetail detail = ptx::VideoDetail::unpack(out.mod.detail);
    detail.op = ptx::VideoDetail::Op::kMax;
    clamp.mod.detail = detail.pack();
  } else {
    if (size_of(kernel_->registers[result].type) != size_of(out.mod.type))
      refuse(in, ".relu into a wider register");
    clamp.op = ptx::Opcode::kMax;
    clamp.mod = {};
    clamp.mod.type = out.mod.type;
    clamp.mod.relu_nan = out.op == ptx::Opcode::kCvt;  // keeps NaN
  }
  Operand value, zero;
  value.kind = Operand::Kind::kRegister;
  value.reg = result;
  zero.kind = Operand::Kind::kImmediate;
  clamp.srcs = {value, zero};
  code_.instructions.push_back(std::move(out));
  code_.instructions.push_back(std::move(clamp));
}

// Splits an atomic operation on a vector into one for each element. Results are moved to their
// registers after all operands have been read.
void Lowering::split_atomic(const Instruction& vector) {
  const uint32_t bytes = ptx::size_of(vector.mod.type);
  std::vector<Instruction> moves;
  for (size_t i = 0; i < vector.srcs.size(); ++i) {
    Instruction element = vector;
    element.mod.vector = 1;
    element.address.offset += static_cast<int64_t>(i * bytes);
    element.srcs = {vector.srcs[i]};
    if (i < vector.dsts.size() && vector.dsts[i] != kNone) {
      element.dsts = {new_register("%t", kernel_->registers[vector.dsts[i]].type)};
      Instruction move = vector;
      move.op = ptx::Opcode::kMov;
      move.mod = {};
      move.mod.type = kernel_->registers[vector.dsts[i]].type;
      move.address = {};
      move.dsts = {vector.dsts[i]};
      Operand result;
      result.kind = Operand::Kind::kRegister;
      result.reg = element.dsts[0];
      move.srcs = {result};
      moves.push_back(std::move(move));
    } else {
      element.dsts.clear();
      element.op = ptx::Opcode::kRed;
    }
    code_.instructions.push_back(std::move(element));
  }
  for (Instruction& move : moves) code_.instructions.push_back(std::move(move));
}

// Extracts parts of operands (%r1.b2) into registers, before the instruction.
void Lowering::select_parts(const Frame& frame, const ptx::Instruction& in, Instruction* out) {
  const bool is_signed[2] = {(in.mod.detail >> 10 & 1) != 0, (in.mod.detail >> 11 & 1) != 0};
  for (size_t i = 0; i + 1 < in.num_operands; ++i) {
    const uint32_t part = frame.fn->operands[in.first_operand + 1 + i].count;
    if (part == 0 || i >= out->srcs.size()) continue;
    if (i > 1) refuse(in, "a part of the third operand");
    Instruction field = *out;
    field.op = ptx::Opcode::kBfe;
    field.mod = {};
    field.mod.type = is_signed[i] ? ptx::Type::kS32 : ptx::Type::kU32;
    field.dsts = {new_register("%part", ptx::Type::kB32)};
    Operand position, length;
    position.kind = length.kind = Operand::Kind::kImmediate;
    position.bits = part <= 4 ? (part - 1) * 8 : (part - 5) * 16;
    length.bits = part <= 4 ? 8 : 16;
    field.srcs = {out->srcs[i], position, length};
    out->srcs[i] = {};
    out->srcs[i].kind = Operand::Kind::kRegister;
    out->srcs[i].reg = field.dsts[0];
    code_.instructions.push_back(std::move(field));
  }
  if (frame.fn->operands[in.first_operand].count != 0) refuse(in, "a part as a destination");
}

// Lowers the return of an inlined function to a branch to the instruction behind the call.
void Lowering::emit_return(Frame* frame, const ptx::Instruction& in) {
  Instruction out = start(in);
  out.op = ptx::Opcode::kBra;
  out.mod = {};
  out.inlined_call = true;
  if (in.guard != ptx::kNoIndex) out.guard = reg(frame, in.guard);
  out.targets = {frame->return_label};
  code_.instructions.push_back(std::move(out));
}

uint32_t Lowering::add_symbol(const ptx::VariableDecl& var, ptx::Space space) {
  const auto index = static_cast<uint32_t>(kernel_->symbols.size());
  Symbol symbol;
  symbol.name = std::string(var.name);
  symbol.space = space;
  symbol.size = var.size;
  kernel_->symbols.push_back(std::move(symbol));
  symbol_align_.push_back(var.align);
  symbol_extern_.push_back(var.is_extern);
  return index;
}

// Gives shared variables their offsets: static ones in the order of their first use, then dynamic
// ones, all at the same offset.
void Lowering::layout_shared() {
  uint64_t end = 0, dynamic_align = 0;
  for (size_t i = 0; i < kernel_->symbols.size(); ++i) {
    Symbol& symbol = kernel_->symbols[i];
    if (symbol.space != ptx::Space::kShared) continue;
    if (symbol_extern_[i]) {
      dynamic_align = std::max<uint64_t>(dynamic_align, symbol_align_[i]);
      continue;
    }
    symbol.offset = align_up(end, symbol_align_[i]);
    end = symbol.offset + symbol.size;
  }
  end = align_up(end, dynamic_align);
  for (size_t i = 0; i < kernel_->symbols.size(); ++i) {
    if (kernel_->symbols[i].space == ptx::Space::kShared && symbol_extern_[i]) {
      kernel_->symbols[i].offset = end;
      kernel_->symbols[i].size = 0;
    }
  }
  if (end > (uint64_t{1} << 30)) throw Unsupported{"too much shared memory in " + kernel_->name};
  kernel_->static_shared_bytes = static_cast<uint32_t>(end);
}

}  // namespace nearwarp::compiler
