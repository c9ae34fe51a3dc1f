// The nine patterns of OC's table 1, matched from their last instruction back.
#include "host/mechanisms/opportunistic/pass/patterns.h"

#include <fmt/format.h>

#include <algorithm>

namespace nearwarp::opportunistic {

namespace {

using compiler::Block;
using compiler::InstrId;
using compiler::Instruction;
using compiler::Kernel;
using compiler::kNone;
using compiler::Operand;
using compiler::OperandKind;
using compiler::RegId;
using ptx::Opcode;

/// The most bytes per thread of an operand, so that those of a warp fit a line.
constexpr uint32_t kMaxBytes = 4;

/// Can the ALU of a service queue execute it? It has single precision and integers (OC, section
/// 4.2).
bool is_simple_alu(const Instruction& in) {
  if (ptx::size_of(in.mod.type) > kMaxBytes || in.guard != kNone || in.mod.carry_out) return false;
  switch (in.op) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kFma:
    case Opcode::kSetp:
      return true;
    case Opcode::kMul:
    case Opcode::kMad:
      return in.mod.mul_part != ptx::MulPart::kWide;
    case Opcode::kCvt:
      return ptx::size_of(in.mod.src_type) <= kMaxBytes;
    default:
      return false;
  }
}

bool is_multiply_add(const Instruction& in) {
  return in.op == Opcode::kFma || in.op == Opcode::kMad;
}

/// The kind of an operand of arithmetic in patterns.
enum class Role : uint8_t {
  kLoaded,     ///< a loaded value that only this instruction uses
  kComputed,   ///< a computed value that only this instruction uses
  kImmediate,  ///< a value that is the same for all threads, and is sent in the packet
  kOther,      ///< any other register, whose values differ between threads
};

/// Matches patterns in a block. Pattern numbers are those of table 1; 0 is none.
class Matcher {
 public:
  Matcher(const Kernel& kernel, const Values& values, compiler::BlockId block)
      : kernel_(kernel), values_(values), block_(block) {}

  std::optional<Chain> match(InstrId last) {
    const Instruction& in = kernel_.instructions[last];
    if (in.op == Opcode::kSt) return of_store(last);
    if (!is_simple_alu(in)) return {};
    std::optional<Chain> c = of_value(last);
    if (!c) return {};
    const bool compares = in.op == Opcode::kSetp;
    if (c->pattern == 7)
      c->pattern = compares ? 6 : 0;  // data would be returned: as much as the load brings
    else if (c->pattern == 4)
      c->pattern = 0;
    else if (c->pattern == 1)
      c->pattern = compares ? 5 : 2;
    else if (c->pattern == 9)
      c->pattern = 8;
    if (c->pattern == 0) return {};
    c->response = compares ? Response::kBitmap : Response::kData;
    return finished(*c);
  }

 private:
  bool in_block(InstrId i) const {
    const Block& b = kernel_.blocks[block_];
    return i != kNone && i >= b.first && i < b.first + b.count;
  }

  Role role_of(const Operand& s, InstrId user) const {
    if (s.kind == OperandKind::kImmediate) return Role::kImmediate;
    if (s.kind != OperandKind::kRegister) return Role::kOther;
    if (values_.is_uniform(s.reg) && ptx::size_of(kernel_.registers[s.reg].type) <= kMaxBytes)
      return Role::kImmediate;
    const InstrId def = values_.only_def(s.reg);
    if (!in_block(def) || def > user || values_.only_use(s.reg) != user) return Role::kOther;
    if (kernel_.instructions[def].op == Opcode::kLd)
      return refuse_load(kernel_, values_, def).empty() ? Role::kLoaded : Role::kOther;
    return is_simple_alu(kernel_.instructions[def]) ? Role::kComputed : Role::kOther;
  }

  /// Match a store: of a loaded value (pattern 3), or of a computed one (the pattern of that).
  std::optional<Chain> of_store(InstrId store) {
    const Instruction& in = kernel_.instructions[store];
    if (in.mod.space != ptx::Space::kGlobal || in.mod.vector != 1 || in.guard != kNone ||
        in.mod.is_volatile || in.mod.ordered || ptx::size_of(in.mod.type) > kMaxBytes)
      return {};
    const Operand& value = in.srcs.at(0);
    const Role role = role_of(value, store);
    std::optional<Chain> c;
    if (role == Role::kLoaded) {
      c = Chain{};
      c->pattern = 3;
      c->loads = {values_.only_def(value.reg)};
    } else if (role == Role::kComputed) {
      c = of_value(values_.only_def(value.reg));
      if (!c || c->splits_fma) return {};
    } else {
      return {};
    }
    c->store = store;
    c->response = Response::kAck;
    return finished(*c);
  }

  /// Match arithmetic that ends with instruction `at`, as if its result were stored: patterns 1, 4,
  /// 7 and 9.
  std::optional<Chain> of_value(InstrId at) {
    const Instruction& in = kernel_.instructions[at];
    Chain c;
    c.alu = {at};
    std::vector<const Operand*> loaded, computed;
    uint32_t immediates = 0, others = 0;
    for (const Operand& s : in.srcs) {
      const Role role = role_of(s, at);
      const auto same = [&](const Operand* o) { return o->reg == s.reg; };
      if (role == Role::kLoaded) {
        if (std::none_of(loaded.begin(), loaded.end(), same)) loaded.push_back(&s);
      } else if (role == Role::kComputed) {
        computed.push_back(&s);
      } else {
        (role == Role::kImmediate ? immediates : others) += 1;
      }
    }
    for (const Operand* s : loaded) c.loads.push_back(values_.only_def(s->reg));
    if (computed.size() == 1 && loaded.size() == 1 && immediates + others == 0)
      return with_inner(std::move(c), values_.only_def(computed[0]->reg));
    if (is_multiply_add(in)) return of_multiply_add(std::move(c));
    if (!computed.empty() || others != 0 || immediates > 1) return {};
    if (loaded.size() == 2 && immediates == 0)
      c.pattern = 1;
    else if (loaded.size() == 1)
      c.pattern = immediates == 0 ? 4 : 7;
    else
      return {};
    return c;
  }

  /// Match f(a, g(b, i)), where `c` has f and the load of a, and `inner` is the instruction g.
  std::optional<Chain> with_inner(Chain c, InstrId inner) {
    const Instruction& in = kernel_.instructions[inner];
    if (is_multiply_add(in) || in.op == Opcode::kSetp) return {};
    uint32_t loads = 0, immediates = 0;
    for (const Operand& s : in.srcs) {
      const Role role = role_of(s, inner);
      if (role == Role::kLoaded) {
        loads += 1;
        c.loads.push_back(values_.only_def(s.reg));
      } else if (role == Role::kImmediate) {
        immediates += 1;
      } else {
        return {};
      }
    }
    if (loads != 1 || immediates != 1) return {};
    c.alu.insert(c.alu.begin(), inner);
    c.pattern = 9;
    return c;
  }

  /// Match a multiply-add: a * i + b is f(b, g(a, i)). Of other sums with a product a * b of two
  /// loaded values, the product alone becomes a chain (OC, section 5).
  std::optional<Chain> of_multiply_add(Chain c) {
    const Instruction& in = kernel_.instructions[c.alu[0]];
    const Role x = role_of(in.srcs[0], c.alu[0]), y = role_of(in.srcs[1], c.alu[0]),
               z = role_of(in.srcs[2], c.alu[0]);
    const bool one = (x == Role::kLoaded && y == Role::kImmediate) ||
                     (y == Role::kLoaded && x == Role::kImmediate);
    if (one && z == Role::kLoaded && c.loads.size() == 2) {
      c.pattern = 9;
      return c;
    }
    if (x != Role::kLoaded || y != Role::kLoaded || in.srcs[0].reg == in.srcs[1].reg) return {};
    c.loads = {values_.only_def(in.srcs[0].reg), values_.only_def(in.srcs[1].reg)};
    c.pattern = 1;
    c.splits_fma = true;
    return c;
  }

  /// Fill in the members of a chain that follow from its loads, arithmetic and store.
  Chain finished(Chain c) const {
    c.block = block_;
    std::sort(c.loads.begin(), c.loads.end());
    c.instructions = c.loads;
    c.instructions.insert(c.instructions.end(), c.alu.begin(), c.alu.end());
    if (c.store != kNone) c.instructions.push_back(c.store);
    std::sort(c.instructions.begin(), c.instructions.end());
    return c;
  }

  const Kernel& kernel_;
  const Values& values_;
  const compiler::BlockId block_;
};

}  // namespace

std::string refuse_load(const Kernel& kernel, const Values& values, InstrId load) {
  const Instruction& in = kernel.instructions[load];
  if (in.op != Opcode::kLd || in.mod.space != ptx::Space::kGlobal)
    return "no load of global memory";
  if (in.mod.is_volatile || in.mod.ordered) return "volatile, or ordered";
  if (in.mod.vector != 1 || ptx::size_of(in.mod.type) > kMaxBytes)
    return fmt::format("more than {} bytes per thread", kMaxBytes);
  if (in.guard != kNone) return "guarded";
  const RegId value = in.dsts.at(0);
  if (value == kNone || values.uses(value) == 0) return "its value is not used";
  if (values.only_def(value) == kNone) return "its register has other values, too";
  if (values.uses(value) > 1) return "its value is used again";
  return {};
}

std::optional<Chain> match_pattern(const Kernel& kernel, const Values& values,
                                   compiler::BlockId block, InstrId last) {
  return Matcher(kernel, values, block).match(last);
}

}  // namespace nearwarp::opportunistic
