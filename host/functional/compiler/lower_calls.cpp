// Inlines calls of device functions. The .param variables of a call become registers if all
// accesses to them have matching shapes, else local memory.
#include <algorithm>
#include <map>
#include <set>

#include "host/core/error.h"
#include "host/functional/compiler/lower.h"
#include "host/functional/ptx/device_calls.h"
#include "host/functional/ptx/lexer.h"

namespace nearwarp::compiler {
namespace {

using ptx::bits_type;
using ptx::Opcode;
using ptx::quoted;
using ptx::signed_type;
using ptx::Space;
using ptx::Type;
using ptx::unsigned_type;
using Kind = ptx::Operand::Kind;

constexpr size_t kMaxInlineDepth = 128;

// The system function (printf, malloc, ...) of this name.
ptx::SystemCall system_call(std::string_view name) {
  if (name == "vprintf") return ptx::SystemCall::kPrintf;
  if (name == "__assertfail") return ptx::SystemCall::kAssert;
  if (name == "malloc") return ptx::SystemCall::kMalloc;
  if (name == "free") return ptx::SystemCall::kFree;
  if (ptx::device_call(name) != ptx::DeviceCall::kNone) return ptx::SystemCall::kDevice;
  return ptx::SystemCall::kNone;
}

}  // namespace

uint32_t Lowering::add_object(const ptx::VariableDecl& var) {
  const auto index = static_cast<uint32_t>(objects_.size());
  objects_.push_back({var.size, var.align, false});
  return index;
}

void Lowering::check_call(const Frame& frame, const ptx::Instruction& in,
                          const ptx::Function& callee) {
  const ptx::Call& call = frame.fn->calls[in.call];
  if (stack_.size() > kMaxInlineDepth) refuse(in, "calls nested more than 128 deep");
  if (call.num_args != callee.params.size() || call.num_returns != callee.returns.size()) {
    fail(in, "the call does not fit the declaration of " + quoted(callee.name),
         std::to_string(callee.params.size()) + " arguments and " +
             std::to_string(callee.returns.size()) + " return values");
  }
}

void Lowering::emit_call(Frame* frame, const ptx::Instruction& in) {
  const ptx::Call& call = frame->fn->calls[in.call];
  if (call.target.kind != Kind::kName) {
    emit_indirect_call(frame, in);
    return;
  }
  const auto it = module_.names.find(call.target.name);
  if (it == module_.names.end()) {
    fail(in, "undeclared function " + quoted(call.target.name));
  }
  if (!(it->second & ptx::kFunctionBit)) fail(in, quoted(call.target.name) + " is no function");
  const uint32_t index = it->second & ~ptx::kFunctionBit;
  const ptx::Function& callee = module_.functions[index];
  if (callee.is_entry) refuse(in, "a call of the kernel " + quoted(callee.name));
  if (!callee.is_defined) {
    const ptx::SystemCall which = system_call(callee.name);
    if (which == ptx::SystemCall::kNone) {
      if (callee.name == "cudaDeviceSynchronize" ||
          callee.name == "__cudaDeviceSynchronizeDeprecationAvoidance")
        refuse(in, "a kernel that waits for the kernels it launched (cudaDeviceSynchronize)",
               "launch what comes after them into cudaStreamTailLaunch");
      refuse(in, "the function " + quoted(callee.name) + " is not defined in this module");
    }
    emit_system_call(frame, in, callee, which);
    return;
  }
  direct_call(frame, in, callee, index);
}

// Lowers the call of a known function. It is inlined unless it may call itself or has too many
// copies.
void Lowering::direct_call(Frame* frame, const ptx::Instruction& in, const ptx::Function& callee,
                           uint32_t index) {
  if (is_called(index)) {
    call_subroutine(frame, in, callee, index);
    return;
  }
  const ptx::Call& call = frame->fn->calls[in.call];
  check_call(*frame, in, callee);

  Frame inner = make_frame(callee, frame->depth + 1, frame->local_end);
  inner.return_label = static_cast<uint32_t>(code_.labels.size());
  inner.owner = frame->owner;
  code_.labels.push_back(kNone);
  const ptx::Operand* pool = frame->fn->operands.data();
  std::set<uint32_t> used;  // objects that are passed; each only once, as it becomes the callee's
  for (uint32_t i = 0; i < call.num_args + call.num_returns; ++i) {
    const ptx::Operand& actual =
        i < call.num_args ? pool[call.first_arg + i] : pool[call.first_return + i - call.num_args];
    if (actual.kind != Kind::kVariable) continue;
    const uint32_t symbol = symbol_of_variable(frame, in, actual.index);
    if (!(symbol & kObjectBit)) continue;
    if (!used.insert(symbol & ~kObjectBit).second) {
      refuse(in, "one .param variable is passed twice");
    }
  }
  // The guard of the call guards a branch around all of its code.
  Instruction branch = start(in);
  branch.op = Opcode::kBra;
  branch.mod = {};
  branch.inlined_call = true;
  const bool grows = allocates(callee);  // its alloca moves the stack's end until it returns
  RegId top = kNone;
  if (grows) {
    Instruction plain = start(in);
    plain.guard_negated = false;
    top = compute(plain, Opcode::kMov, ptx::Type::kB64, {of_register(stack_top())});
  }
  if (in.guard != ptx::kNoIndex) {
    branch.guard = reg(frame, in.guard);
    branch.guard_negated = !in.guard_negated;
    branch.targets = {inner.return_label};
    code_.instructions.push_back(branch);
  }
  for (uint32_t i = 0; i < call.num_args; ++i) {
    pass(frame, &inner, in, pool[call.first_arg + i], callee.params[i]);
  }
  if (in.guard == ptx::kNoIndex) {
    branch.targets = {static_cast<uint32_t>(code_.labels.size())};
    code_.instructions.push_back(branch);
    code_.labels.push_back(static_cast<uint32_t>(code_.instructions.size()));
  }
  for (uint32_t i = 0; i < call.num_returns; ++i) {
    const ptx::Operand& actual = pool[call.first_return + i];
    if (!callee.returns[i].is_register && actual.kind == Kind::kVariable) {
      pass(frame, &inner, in, actual, callee.returns[i]);
    }
  }
  emit_function(&inner);
  code_.labels[inner.return_label] = static_cast<uint32_t>(code_.instructions.size());
  if (grows) {
    Instruction plain = start(in);
    plain.guard_negated = false;
    set_register(plain, stack_top(), Opcode::kMov, ptx::Type::kB64, {of_register(top)});
  }
  for (uint32_t i = 0; i < call.num_returns; ++i) {
    take_return(frame, &inner, in, pool[call.first_return + i], callee.returns[i]);
  }
}

// Lowers a call of a system function: its arguments become registers, and its result is stored in
// the caller's variable.
void Lowering::emit_system_call(Frame* frame, const ptx::Instruction& in,
                                const ptx::Function& callee, ptx::SystemCall which) {
  const ptx::Call& call = frame->fn->calls[in.call];
  check_call(*frame, in, callee);
  const ptx::Operand* pool = frame->fn->operands.data();
  Instruction common = start(in);
  common.mod = {};
  if (in.guard != ptx::kNoIndex) common.guard = reg(frame, in.guard);
  const auto width = [&](const ptx::FormalParam& formal) {
    return formal.is_register ? uint64_t{size_of(callee.registers[formal.index].type)}
                              : callee.variables[formal.index].size;
  };
  Instruction out = common;
  out.op = Opcode::kSystem;
  out.mod.system = which;
  out.mod.detail = static_cast<uint32_t>(ptx::device_call(callee.name));
  for (uint32_t i = 0; i < call.num_args; ++i) {
    const ptx::Operand& actual = pool[call.first_arg + i];
    const uint64_t bytes = width(callee.params[i]);
    if (actual.kind != Kind::kVariable) {
      if (bytes != 4 && bytes != 8) refuse(in, "an argument of this size");
      out.srcs.push_back(value(frame, in, actual, bits_type(bytes)));
      continue;
    }
    // Structures are passed member by member; all members of these structures have the same size.
    uint64_t part = bytes;
    if (!callee.params[i].is_register && callee.variables[callee.params[i].index].is_array)
      part = callee.variables[callee.params[i].index].align;
    if ((part != 4 && part != 8) || bytes % part != 0) refuse(in, "an argument of this size");
    for (uint64_t offset = 0; offset < bytes; offset += part) {
      Instruction load = common;
      load.op = Opcode::kLd;
      load.mod.type = bits_type(part);
      load.mod.space = Space::kParam;
      load.address.symbol = symbol_of_variable(frame, in, actual.index);
      load.address.offset = static_cast<int64_t>(offset);
      load.dsts = {new_register("%arg", bits_type(part))};
      out.srcs.push_back(of_register(load.dsts[0]));
      code_.instructions.push_back(std::move(load));
    }
  }
  if (call.num_returns == 0 || pool[call.first_return].kind == Kind::kBlank) {
    code_.instructions.push_back(std::move(out));
    return;
  }
  const ptx::Operand& actual = pool[call.first_return];
  const Type type = bits_type(width(callee.returns[0]));
  if (actual.kind == Kind::kRegister) {
    check_width(in, *frame, actual, type);
    out.dsts = {reg(frame, actual.index)};
    code_.instructions.push_back(std::move(out));
    return;
  }
  if (actual.kind != Kind::kVariable) refuse(in, "this kind of return value");
  out.dsts = {new_register("%result", type)};
  Instruction store = common;
  store.op = Opcode::kSt;
  store.mod.type = type;
  store.mod.space = Space::kParam;
  store.address.symbol = symbol_of_variable(frame, in, actual.index);
  Operand source;
  source.kind = Operand::Kind::kRegister;
  source.reg = out.dsts[0];
  store.srcs = {source};
  code_.instructions.push_back(std::move(out));
  code_.instructions.push_back(std::move(store));
}

RegId Lowering::new_register(const char* name, Type type) {
  const auto id = static_cast<RegId>(kernel_->registers.size());
  Register r;
  r.name = name + std::to_string(id);
  r.type = type;
  kernel_->registers.push_back(std::move(r));
  return id;
}

// Binds a .param argument to the formal parameter, or copies a register or constant into that.
void Lowering::pass(Frame* frame, Frame* callee, const ptx::Instruction& in,
                    const ptx::Operand& actual, const ptx::FormalParam& formal) {
  if (actual.kind == Kind::kVariable && actual.value == 0 && !formal.is_register) {
    const uint32_t symbol = symbol_of_variable(frame, in, actual.index);
    if (!(symbol & kObjectBit)) refuse(in, "an argument that is no .param variable of the caller");
    const uint32_t object = symbol & ~kObjectBit;
    const ptx::VariableDecl& var = callee->fn->variables[formal.index];
    if (objects_[object].size < var.size) {
      fail(in, "an argument of " + std::to_string(objects_[object].size) +
                   " bytes for a parameter of " + std::to_string(var.size) + " bytes");
    }
    objects_[object].align = std::max(objects_[object].align, var.align);
    callee->variables[formal.index] = {Binding::Kind::kObject, object};
    return;
  }
  if (actual.kind == Kind::kVariable || actual.kind == Kind::kName) {
    refuse(in, "this kind of argument");
  }
  Instruction out = start(in);
  if (formal.is_register) {
    const Type type = callee->fn->registers[formal.index].type;
    out.op = Opcode::kMov;
    out.mod = {};
    out.mod.type = type;
    out.srcs = {value(frame, in, actual, type)};
    out.dsts = {reg(callee, formal.index)};
  } else {
    const ptx::VariableDecl& var = callee->fn->variables[formal.index];
    if (var.is_array) fail(in, "a register for a parameter that is an array");
    out.op = Opcode::kSt;
    out.mod = {};
    out.mod.type = var.type;
    out.mod.space = Space::kParam;
    out.srcs = {value(frame, in, actual, var.type)};
    out.address.symbol = symbol_of_variable(callee, in, formal.index);
  }
  code_.instructions.push_back(std::move(out));
}

// Copies a returned register, or a .param into a register of the caller.
void Lowering::take_return(Frame* frame, Frame* callee, const ptx::Instruction& in,
                           const ptx::Operand& actual, const ptx::FormalParam& formal) {
  if (actual.kind == Kind::kBlank) return;
  if (actual.kind == Kind::kVariable && !formal.is_register)
    return;  // it was bound before the call
  if (actual.kind != Kind::kRegister) refuse(in, "this kind of return value");
  Instruction out = start(in);
  out.mod = {};
  if (in.guard != ptx::kNoIndex) out.guard = reg(frame, in.guard);
  if (formal.is_register) {
    out.op = Opcode::kMov;
    out.mod.type = callee->fn->registers[formal.index].type;
    Operand source;
    source.kind = Operand::Kind::kRegister;
    source.reg = reg(callee, formal.index);
    out.srcs = {source};
  } else {
    const ptx::VariableDecl& var = callee->fn->variables[formal.index];
    out.op = Opcode::kLd;
    out.mod.type = var.type;
    out.mod.space = Space::kParam;
    out.address.symbol = symbol_of_variable(callee, in, formal.index);
  }
  check_width(in, *frame, actual, out.mod.type);
  out.dsts = {reg(frame, actual.index)};
  code_.instructions.push_back(std::move(out));
}

namespace {

// The cells of an object: the byte ranges of its accesses.
struct Cells {
  std::map<uint64_t, unsigned> sizes;  // by offset, bytes
  std::map<uint64_t, RegId> registers;
  bool fits = true;  ///< accesses are equal or disjoint, so that each cell may be a register

  void add(uint64_t offset, unsigned bytes) {
    const auto [it, inserted] = sizes.emplace(offset, bytes);
    if (!inserted) {
      fits = fits && it->second == bytes;
      return;
    }
    const auto after = std::next(it);
    if (after != sizes.end() && offset + bytes > after->first) fits = false;
    if (it != sizes.begin()) {
      const auto before = std::prev(it);
      if (before->first + before->second > offset) fits = false;
    }
  }
};

// Emits a move between a register and a cell, which holds zero-extended bits.
Instruction move_cell(const Instruction& access, size_t element, RegId cell, unsigned bytes,
                      const std::vector<Register>& registers) {
  Instruction out = access;
  out.address = {};
  out.mod = {};
  out.dsts.clear();
  out.srcs.clear();
  const unsigned cell_bytes = std::max(bytes, 2u);
  const bool load = access.op == Opcode::kLd;
  Operand from;
  RegId to = cell;
  if (load) {
    from.kind = Operand::Kind::kRegister;
    from.reg = cell;
    to = access.dsts[element];
  } else {
    from = access.srcs[element];
  }
  const bool constant = from.kind == Operand::Kind::kImmediate;
  const RegId other = load ? to : from.reg;
  const unsigned width = constant ? cell_bytes : size_of(registers[other].type);
  out.dsts = {to};
  out.srcs = {from};
  if (constant || width == bytes) {
    out.op = Opcode::kMov;
    out.mod.type = bits_type(cell_bytes);
  } else {
    const bool extend_sign = load && ptx::is_signed(access.mod.type);
    out.op = Opcode::kCvt;
    out.mod.type = extend_sign ? signed_type(width) : unsigned_type(load ? width : cell_bytes);
    out.mod.src_type = extend_sign  ? signed_type(bytes)
                       : load       ? unsigned_type(bytes)
                       : bytes == 1 ? Type::kU8
                                    : unsigned_type(width);
  }
  return out;
}

}  // namespace

void Lowering::resolve_objects(FlatCode* code) {
  if (objects_.empty()) return;
  std::map<uint32_t, Cells> all;
  for (const Instruction& instr : code->instructions) {
    const uint32_t symbol = instr.address.symbol;
    if (symbol == kNone || !(symbol & kObjectBit)) continue;
    const uint32_t root = symbol & ~kObjectBit;
    const unsigned bytes = size_of(instr.mod.type);
    const int64_t offset = instr.address.offset;
    if (offset < 0 ||
        static_cast<uint64_t>(offset) + bytes * instr.mod.vector > objects_[root].size) {
      throw Error("an access beyond the end of a .param variable (" + module_.path + ":" +
                  std::to_string(instr.ptx_line) + ")");
    }
    for (const Operand& src : instr.srcs) {
      const bool movable =
          src.kind == Operand::Kind::kRegister || src.kind == Operand::Kind::kImmediate;
      all[root].fits = all[root].fits && movable;
    }
    for (unsigned i = 0; i < instr.mod.vector; ++i) {
      all[root].add(static_cast<uint64_t>(offset) + i * bytes, bytes);
    }
  }
  // Objects in memory lie behind all frames.
  std::map<uint32_t, uint32_t> depots;
  const auto depot = [&](uint32_t root) {
    const auto [it, inserted] = depots.try_emplace(root, 0);
    if (inserted) {
      const Object& object = objects_[root];
      ptx::VariableDecl var;
      var.name = "__call_depot";
      var.size = object.size;
      var.align = std::max(object.align, 1u);
      it->second = add_symbol(var, Space::kLocal);
      local_end_ = (local_end_ + var.align - 1) / var.align * var.align;
      kernel_->symbols[it->second].offset = local_end_;
      local_end_ += object.size;
    }
    return it->second;
  };
  FlatCode out;
  out.labels.assign(code->labels.size(), kNone);
  std::vector<uint32_t> position(code->instructions.size() + 1);
  for (size_t i = 0; i < code->instructions.size(); ++i) {
    position[i] = static_cast<uint32_t>(out.instructions.size());
    Instruction& instr = code->instructions[i];
    for (Operand& src : instr.srcs) {
      if (src.kind == Operand::Kind::kSymbol && (src.symbol & kObjectBit)) {
        src.symbol = depot(src.symbol & ~kObjectBit);
      }
    }
    const uint32_t symbol = instr.address.symbol;
    if (symbol == kNone || !(symbol & kObjectBit)) {
      out.instructions.push_back(std::move(instr));
      continue;
    }
    const uint32_t root = symbol & ~kObjectBit;
    Cells& cells = all[root];
    if (!cells.fits || objects_[root].address_taken) {
      instr.address.symbol = depot(root);
      instr.mod.space = Space::kLocal;
      out.instructions.push_back(std::move(instr));
      continue;
    }
    const unsigned bytes = size_of(instr.mod.type);
    for (unsigned k = 0; k < instr.mod.vector; ++k) {
      if (instr.op == Opcode::kLd && instr.dsts[k] == kNone) continue;
      const uint64_t offset = static_cast<uint64_t>(instr.address.offset) + k * bytes;
      const auto [it, inserted] = cells.registers.try_emplace(offset, kNone);
      if (inserted) {
        it->second = static_cast<RegId>(kernel_->registers.size());
        Register cell;
        cell.name = "%param" + std::to_string(root) + "_" + std::to_string(offset);
        cell.type = bits_type(std::max(bytes, 2u));
        kernel_->registers.push_back(std::move(cell));
      }
      out.instructions.push_back(move_cell(instr, k, it->second, bytes, kernel_->registers));
    }
  }
  position.back() = static_cast<uint32_t>(out.instructions.size());
  for (size_t i = 0; i < code->labels.size(); ++i) {
    if (code->labels[i] != kNone) out.labels[i] = position[code->labels[i]];
  }
  *code = std::move(out);
}

}  // namespace nearwarp::compiler
