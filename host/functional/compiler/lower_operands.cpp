// Lowers operands: registers, immediates converted to their type, addresses, symbols.
#include <bit>

#include "host/functional/compiler/lower.h"
#include "host/functional/ptx/lexer.h"
#include "host/functional/ptx/mnemonic.h"

namespace nearwarp::compiler {
namespace {

using ptx::bits_type;
using ptx::Opcode;
using ptx::quoted;
using ptx::Type;
using Kind = ptx::Operand::Kind;

Type widen(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    case Type::kS32:
      return Type::kS64;
    default:
      return type;
  }
}

// The type of an operand by its letter in Mnemonic::operands.
Type operand_type(char letter, const ptx::Modifiers& mod) {
  switch (letter) {
    case 'W':
    case 'w':
      return mod.mul_part == ptx::MulPart::kWide ? widen(mod.type) : mod.type;
    case 's':
      return mod.src_type;
    case 'I':
    case 'J':
    case 'u':
      return Type::kB32;
    case 'P':
    case 'Q':
    case 'p':
      return Type::kPred;
    default:
      return mod.type;
  }
}

bool is_destination(char letter) {
  return letter == 'D' || letter == 'W' || letter == 'I' || letter == 'P' || letter == 'Q' ||
         letter == 'E' || letter == 'J' || letter == 'Y';
}

// May registers be wider than the instruction's type?
bool is_relaxed(Opcode op) {
  return op == Opcode::kLd || op == Opcode::kLdu || op == Opcode::kSt || op == Opcode::kCvt;
}

bool takes_vector(Opcode op) {
  return op == Opcode::kSt || op == Opcode::kAtom || op == Opcode::kRed;
}

}  // namespace

RegId Lowering::reg(Frame* frame, uint32_t index) {
  RegId& id = frame->registers[index];
  if (id == kNone) {
    id = static_cast<RegId>(kernel_->registers.size());
    Register r;
    r.name = frame->fn->registers[index].name;
    if (frame->instance > 0) r.name.append(".").append(std::to_string(frame->instance));
    r.type = frame->fn->registers[index].type;
    kernel_->registers.push_back(std::move(r));
  }
  return id;
}

void Lowering::check_width(const ptx::Instruction& in, const Frame& frame, const ptx::Operand& op,
                           Type type) {
  const Type declared = frame.fn->registers[op.index].type;
  bool fits = (declared == Type::kPred) == (type == Type::kPred);
  if (fits && type != Type::kPred) {
    const unsigned have = size_of(declared), want = size_of(type);
    fits = have == want || (is_relaxed(in.op) && have > want);
  }
  if (!fits) {
    fail(in,
         "the register " + frame.fn->registers[op.index].name.substr(0, 40) + " of type ." +
             std::string(ptx::name_of(declared)) + " does not fit",
         "a register of type ." + std::string(ptx::name_of(type)));
  }
}

// Lowers all operands of an instruction, by the letters of its pattern.
void Lowering::operands(Frame* frame, const ptx::Instruction& in, Instruction* out) {
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  const std::string_view format = in.format;
  size_t wanted = 0, optional = 0;
  for (const char c : format) (c == '?' ? optional : wanted) += 1;
  const bool skip_optional = in.num_operands + optional == wanted;
  if (in.num_operands != wanted && !skip_optional) {
    const std::string have = std::to_string(in.num_operands) + " operands";
    const std::string right = std::to_string(wanted - optional) +
                              (optional ? " or " + std::to_string(wanted) : "") + " operands";
    // More may be a form of a later PTX: no reason to refuse the other kernels of the module.
    if (in.num_operands > wanted && wanted > 0) refuse(in, have, right);
    fail(in, have, right);
  }
  // mov reads and writes vectors as one value.
  const bool unpack = in.op == Opcode::kMov && ops[0].kind == Kind::kVector;
  for (size_t i = 0, k = 0; i < format.size(); ++i) {
    char letter = format[i];
    if (letter == '?') {
      if (skip_optional) {
        ++i;
        continue;
      }
      letter = format[++i];
    }
    const ptx::Operand& op = ops[k++];
    if (letter == 'h') continue;  // a cache policy has no effect
    if (letter == 'Y' || letter == 'y' || letter == 'X') {
      loose_operand(frame, in, op, letter, out);
    } else if (is_destination(letter)) {
      destination(frame, in, op, letter, out);
    } else if (letter == 'A') {
      address(frame, in, op, out);
    } else if (letter == 'L' || letter == 'T') {
      branch_targets(frame, op, out);
    } else {
      if (unpack && op.kind == Kind::kVector) fail(in, "mov between two vectors");
      source(frame, in, op, operand_type(letter, in.mod), out);
    }
  }
}

// Operands of families that mix widths: registers as they are, one or several in braces.
void Lowering::loose_operand(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op,
                             char letter, Instruction* out) {
  const bool vector = op.kind == Kind::kVector;
  if (letter == 'X' && !vector) fail(in, "no texture address", "[handle, {coordinates}]");
  const uint32_t count = vector ? op.count : 1;
  for (uint32_t i = 0; i < count; ++i) {
    const ptx::Operand& element = vector ? frame->fn->operands[op.index + i] : op;
    Type type = Type::kB32;
    if (element.kind == Kind::kRegister) {
      type = frame->fn->registers[element.index].type;
      if (type == Type::kPred && in.op != Opcode::kMbarrier) fail(in, "a predicate as an operand");
    }
    if (letter == 'Y') {
      add_destination(frame, in, element, type, out);
    } else {
      out->srcs.push_back(value(frame, in, element, type));
    }
  }
}

void Lowering::destination(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op,
                           char letter, Instruction* out) {
  const Type type = operand_type(letter, in.mod);
  const ptx::Operand* elements = frame->fn->operands.data() + op.index;
  if (op.kind == Kind::kPair) {
    if (letter != 'Q' && letter != 'E' && letter != 'J') fail(in, "two destinations");
    add_destination(frame, in, elements[0], type, out);
    add_destination(frame, in, elements[1], Type::kPred, out);
    return;
  }
  Type element = type;
  uint32_t count = 1;
  if (op.kind == Kind::kVector) {
    count = op.count;
    if (in.op == Opcode::kMov) {
      if ((count != 2 && count != 4) || type == Type::kPred || size_of(type) / count < 2) {
        refuse(in, "a vector of " + std::to_string(count) + " in mov");
      }
      element = bits_type(size_of(type) / count);
    } else if ((in.op != Opcode::kLd && in.op != Opcode::kLdu && in.op != Opcode::kAtom) ||
               count != in.mod.vector) {
      fail(in, "a vector of " + std::to_string(count) + " destinations does not fit");
    }
    for (uint32_t i = 0; i < count; ++i) add_destination(frame, in, elements[i], element, out);
    return;
  }
  if (in.mod.vector > 1) {
    fail(in, "a single destination", std::to_string(in.mod.vector) + " registers in braces");
  }
  add_destination(frame, in, op, element, out);
}

void Lowering::add_destination(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op,
                               Type type, Instruction* out) {
  if (op.kind == Kind::kBlank) {
    out->dsts.push_back(kNone);
    return;
  }
  if (op.kind != Kind::kRegister || op.negated) {
    fail(in, "a destination that is no register", "declared registers as destinations");
  }
  check_width(in, *frame, op, type);
  out->dsts.push_back(reg(frame, op.index));
}

void Lowering::source(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op, Type type,
                      Instruction* out) {
  if (op.kind != Kind::kVector) {
    if (in.mod.vector > 1 && takes_vector(in.op)) {
      fail(in, "a single source", std::to_string(in.mod.vector) + " values in braces");
    }
    out->srcs.push_back(value(frame, in, op, type));
    return;
  }
  Type element = type;
  if (in.op == Opcode::kMov) {
    if ((op.count != 2 && op.count != 4) || type == Type::kPred || size_of(type) / op.count < 2) {
      refuse(in, "a vector of " + std::to_string(op.count) + " in mov");
    }
    element = bits_type(size_of(type) / op.count);
  } else if (!takes_vector(in.op) || op.count != in.mod.vector) {
    fail(in, "a vector of " + std::to_string(op.count) + " sources does not fit");
  }
  for (uint32_t i = 0; i < op.count; ++i) {
    out->srcs.push_back(value(frame, in, frame->fn->operands[op.index + i], element));
  }
}

Operand Lowering::value(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op,
                        Type type) {
  Operand out;
  out.negated = op.negated;
  if (op.negated && (op.kind != Kind::kRegister || type != Type::kPred)) {
    fail(in, "'!' before something that is no predicate");
  }
  switch (op.kind) {
    case Kind::kRegister:
      check_width(in, *frame, op, type);
      out.kind = Operand::Kind::kRegister;
      out.reg = reg(frame, op.index);
      return out;
    case Kind::kInteger:
    case Kind::kFloat32:
    case Kind::kFloat64:
      out.kind = Operand::Kind::kImmediate;
      out.bits = immediate(in, op, type);
      return out;
    case Kind::kSpecial:
      if (op.special == ptx::SpecialReg::kZero) {
        out.kind = Operand::Kind::kImmediate;
        return out;
      }
      if (op.special == ptx::SpecialReg::kIsExplicitCluster && type == Type::kPred) {
        Instruction test = start(in);
        test.op = Opcode::kSetp;
        test.guard = kNone;
        test.mod = {};
        test.mod.type = Type::kU32;
        test.mod.compare = ptx::Compare::kNe;
        out.kind = Operand::Kind::kSpecial;
        out.special = op.special;
        test.srcs = {out, constant(0)};
        test.dsts = {new_register("%p", Type::kPred)};
        code_.instructions.push_back(test);
        return of_register(test.dsts[0]);
      }
      if (size_of(type) != size_of(ptx::type_of(op.special)) &&
          op.special != ptx::SpecialReg::kGridid) {  // it had 32 bits in early PTX
        fail(in, "a special register where ." + std::string(ptx::name_of(type)) + " is wanted",
             "." + std::string(ptx::name_of(ptx::type_of(op.special))));
      }
      out.kind = Operand::Kind::kSpecial;
      out.special = op.special;
      return out;
    case Kind::kVariable:
    case Kind::kName:
      if (size_of(type) < 4 || ptx::is_float(type)) fail(in, "an address where none is wanted");
      if (op.kind == Kind::kVariable && frame->variables[op.index].kind == Binding::Kind::kStack) {
        Operand base, offset;
        base.kind = Operand::Kind::kRegister;
        base.reg = stack_pointer_;
        offset.kind = Operand::Kind::kImmediate;
        offset.bits = frame->variables[op.index].index + static_cast<uint64_t>(op.value);
        out.kind = Operand::Kind::kRegister;
        Instruction like = start(in);
        like.mod = {};
        like.guard_negated = false;
        out.reg = compute(like, Opcode::kAdd, Type::kU64, {base, offset});
        return out;
      }
      if (op.kind == Kind::kName) {
        if (const auto it = module_.names.find(op.name);
            it != module_.names.end() && (it->second & ptx::kFunctionBit)) {
          out.kind = Operand::Kind::kImmediate;
          out.bits = function_address(it->second & ~ptx::kFunctionBit);
          return out;
        }
      }
      out.kind = Operand::Kind::kSymbol;
      out.symbol = op.kind == Kind::kVariable ? symbol_of_variable(frame, in, op.index)
                                              : symbol_of_name(in, op.name);
      out.bits = static_cast<uint64_t>(op.value);
      if (out.symbol & kObjectBit) {
        objects_[out.symbol & ~kObjectBit].address_taken = true;
        if (frame->depth == 0 && frame->owner == kNone)
          refuse(in, "the address of a call's parameter");
      }
      return out;
    case Kind::kBlank:
      fail(in, "'_' as a source");
    default:
      fail(in, "this operand is not allowed here");
  }
}

// The bits of a constant as a value of `type`; upper bits are zero.
uint64_t Lowering::immediate(const ptx::Instruction& in, const ptx::Operand& op, Type type) {
  const auto bits = static_cast<uint64_t>(op.value);
  if (type == Type::kPred) {
    if (op.kind != Kind::kInteger) fail(in, "a floating-point constant as a predicate");
    return bits != 0;
  }
  const unsigned bytes = size_of(type);
  if (op.kind == Kind::kInteger) {
    if (ptx::is_float(type)) {
      fail(in,
           "the integer constant " + std::to_string(op.value) + " where ." +
               std::string(ptx::name_of(type)) + " is wanted",
           "a constant such as 0f3F800000");
    }
    return bytes >= 8 ? bits : bits & ((uint64_t{1} << 8 * bytes) - 1);
  }
  const bool is_single = op.kind == Kind::kFloat32;
  const bool bit_type = type == Type::kB32 || type == Type::kB64;
  if ((!ptx::is_float(type) && !bit_type) || bytes < 4) {
    fail(in, "a floating-point constant where ." + std::string(ptx::name_of(type)) + " is wanted");
  }
  if (bytes == 4) {
    return is_single ? bits
                     : std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  }
  return is_single ? std::bit_cast<uint64_t>(
                         static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))))
                   : bits;
}

void Lowering::address(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op,
                       Instruction* out) {
  if (op.kind != Kind::kAddress)
    fail(in, "an operand without brackets", "an address such as [%rd1+4]");
  out->address.offset = op.value;
  switch (op.base) {
    case Kind::kRegister: {
      const Type type = frame->fn->registers[op.index].type;
      if (type == Type::kPred || ptx::is_float(type) || size_of(type) < 4) {
        fail(in, "an address in a register of type ." + std::string(ptx::name_of(type)),
             "a register of type .b64 or .b32");
      }
      out->address.base = reg(frame, op.index);
      return;
    }
    case Kind::kVariable:
      if (frame->variables[op.index].kind == Binding::Kind::kStack) {
        out->address.base = stack_pointer_;
        out->address.offset += frame->variables[op.index].index;
        out->mod.space = ptx::Space::kLocal;
        return;
      }
      out->address.symbol = symbol_of_variable(frame, in, op.index);
      break;
    case Kind::kName:
      out->address.symbol = symbol_of_name(in, op.name);
      break;
    default:
      return;
  }
  const bool is_object = out->address.symbol & kObjectBit;
  const ptx::Space space =
      is_object ? ptx::Space::kParam : kernel_->symbols[out->address.symbol].space;
  if (in.mod.space != space && in.mod.space != ptx::Space::kGeneric) {
    fail(in, "a variable of another state space", "." + std::string(ptx::name_of(space)));
  }
  if (is_object && in.op != Opcode::kLd && in.op != Opcode::kSt) {
    refuse(in, "this access to a call's parameter");
  }
}

void Lowering::branch_targets(Frame* frame, const ptx::Operand& op, Instruction* out) {
  if (op.kind == Kind::kTable) {
    for (const uint32_t label : frame->fn->tables[op.index]) {
      out->targets.push_back(frame->first_label + label);
    }
  } else {
    out->targets.push_back(frame->first_label + op.index);
  }
}

uint32_t Lowering::symbol_of_variable(Frame* frame, const ptx::Instruction& in, uint32_t index) {
  Binding& binding = frame->variables[index];
  if (binding.kind == Binding::Kind::kUnbound) {
    const ptx::VariableDecl& var = frame->fn->variables[index];
    if (var.space == ptx::Space::kParam) {
      binding = {Binding::Kind::kObject, add_object(var)};
    } else {  // a .shared variable, which all inlined instances of the function share
      if (var.is_extern && var.size != 0) refuse(in, "an undefined external variable");
      const auto [it, inserted] =
          shared_symbols_.try_emplace({frame->fn, index}, static_cast<uint32_t>(0));
      if (inserted) it->second = add_symbol(var, var.space);
      binding = {Binding::Kind::kSymbol, it->second};
    }
  }
  return binding.kind == Binding::Kind::kObject ? binding.index | kObjectBit : binding.index;
}

uint32_t Lowering::symbol_of_name(const ptx::Instruction& in, std::string_view name) {
  const auto it = module_.names.find(name);
  if (it == module_.names.end()) {
    fail(in, "undeclared name " + quoted(name));
  }
  if (it->second & ptx::kFunctionBit) {
    refuse(in, "the address of the function " + quoted(name) + " where a variable is wanted");
  }
  const ptx::VariableDecl& var = module_.variables[it->second];
  if (const auto known = module_symbols_.find(it->second); known != module_symbols_.end()) {
    return known->second;
  }
  if (var.type == Type::kNone) refuse(in, "textures and surfaces are not supported");
  if (var.is_extern && var.space != ptx::Space::kShared) {
    refuse(in, "the variable " + quoted(name) + " is not defined in this module",
           "link the modules into one");
  }
  const uint32_t symbol = add_symbol(var, var.space);
  module_symbols_.emplace(it->second, symbol);
  return symbol;
}

}  // namespace nearwarp::compiler
