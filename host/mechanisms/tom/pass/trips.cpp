// Trip counts of loops, and values of registers at a candidate's entry as linear sums.
#include "host/mechanisms/tom/pass/trips.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "host/mechanisms/tom/pass/facts.h"

namespace nearwarp::compiler {

using ptx::Compare;
using ptx::Opcode;

namespace {

constexpr int kMaxSteps = 64;  // of a walk along definitions; real programs need two or three

bool in_loop(const Loop& loop, BlockId block) {
  return std::binary_search(loop.blocks.begin(), loop.blocks.end(), block);
}

/// The value of an immediate as a signed number of the operation's width.
int64_t signed_value(uint64_t bits, ptx::Type type) {
  switch (ptx::size_of(type)) {
    case 1:
      return static_cast<int8_t>(bits);
    case 2:
      return static_cast<int16_t>(bits);
    case 4:
      return static_cast<int32_t>(bits);
    default:
      return static_cast<int64_t>(bits);
  }
}

bool is_integer(ptx::Type type) { return !ptx::is_float(type) && type != ptx::Type::kPred; }

/// Holds differences of any two numbers of 64 bits, with or without a sign.
__extension__ using Wide = __int128;

/// The number that a register with these bits is for operations of a type without a sign.
Wide unsigned_value(uint64_t bits, ptx::Type type) {
  const uint64_t bytes = ptx::size_of(type);
  return bytes == 0 || bytes >= 8 ? bits : bits & ((uint64_t{1} << (8 * bytes)) - 1);
}

/// The nearest number of 64 bits.
int64_t saturated(Wide value) {
  constexpr Wide kLeast = std::numeric_limits<int64_t>::min();
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(value, kLeast, kMost));
}

/// a + b * factor, modulo 2^64 as registers of 64 bits compute it.
int64_t wrapping_sum(int64_t a, int64_t b, int64_t factor) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b) * static_cast<uint64_t>(factor));
}

}  // namespace

std::optional<LinearSum> linear_definition(const Instruction& i) {
  if (i.guard != kNone || i.dsts.size() != 1 || !is_integer(i.mod.type)) return std::nullopt;
  const bool wide = i.mod.mul_part == ptx::MulPart::kWide;
  // Immediates count as signed modulo 2^64, but a wide product extends its factors by their type.
  const auto immediate = [&](uint64_t bits, size_t position) {
    if (wide && position == 2) return static_cast<int64_t>(bits);  // what is added is wide itself
    return wide && !ptx::is_signed(i.mod.type)
               ? static_cast<int64_t>(unsigned_value(bits, i.mod.type))
               : signed_value(bits, i.mod.type);
  };
  const auto sum_of = [&](const Operand& operand, size_t position) -> std::optional<LinearSum> {
    LinearSum sum;
    if (operand.kind == Operand::Kind::kRegister && !operand.negated) {
      sum.terms[operand.reg] = 1;
    } else if (operand.kind == Operand::Kind::kImmediate) {
      sum.constant = immediate(operand.bits, position);
    } else {
      return std::nullopt;
    }
    return sum;
  };
  std::vector<LinearSum> s;
  for (const Operand& operand : i.srcs) {
    const auto sum = sum_of(operand, s.size());
    if (!sum) return std::nullopt;
    s.push_back(*sum);
  }
  const auto scaled = [](const LinearSum& sum, int64_t factor) {
    LinearSum result;
    result.add(sum, factor);
    return result;
  };
  const bool low = i.mod.mul_part != ptx::MulPart::kHi;
  switch (i.op) {
    case Opcode::kMov:
    case Opcode::kCvt:
      if (s.size() != 1) return std::nullopt;
      if (i.op == Opcode::kCvt &&
          (!is_integer(i.mod.src_type) || ptx::size_of(i.mod.src_type) < 4 ||
           ptx::size_of(i.mod.type) < 4)) {
        return std::nullopt;
      }
      return s[0];
    case Opcode::kAdd:
    case Opcode::kSub:
      if (s.size() != 2) return std::nullopt;
      s[0].add(s[1], i.op == Opcode::kAdd ? 1 : -1);
      return s[0];
    case Opcode::kNeg:
      return s.size() == 1 ? std::optional(scaled(s[0], -1)) : std::nullopt;
    case Opcode::kNot: {  // -x - 1
      if (s.size() != 1) return std::nullopt;
      LinearSum result = scaled(s[0], -1);
      result.constant = wrapping_sum(result.constant, 1, -1);
      return result;
    }
    case Opcode::kShl:
      if (s.size() != 2 || !s[1].terms.empty() || s[1].constant < 0 || s[1].constant > 30)
        return std::nullopt;
      return scaled(s[0], int64_t{1} << s[1].constant);
    case Opcode::kMul:
    case Opcode::kMad: {
      const size_t wanted = i.op == Opcode::kMul ? 2 : 3;
      if (s.size() != wanted || !low) return std::nullopt;
      if (!s[1].terms.empty()) std::swap(s[0], s[1]);
      if (!s[1].terms.empty()) return std::nullopt;
      LinearSum result = scaled(s[0], s[1].constant);
      if (i.op == Opcode::kMad) result.add(s[2], 1);
      return result;
    }
    default:
      return std::nullopt;
  }
}

namespace {

/// The definitions of `reg` inside the loop.
std::vector<InstrId> defs_in_loop(const Kernel& kernel, const Definitions& definitions,
                                  uint32_t loop, RegId reg) {
  std::vector<InstrId> result;
  for (InstrId d : definitions.of(reg)) {
    if (in_loop(kernel.loops[loop], definitions.block(d))) result.push_back(d);
  }
  return result;
}

/// The value of a register at some point of an iteration: the value that `induction` has at the
/// loop's header, plus `constant`, plus `stepped` times a step register.
struct Induction {
  RegId induction = kNone;
  int64_t constant = 0;
  RegId step_reg = kNone;
  int64_t stepped = 0;
};

/// Trace the value of `reg` before instruction `at` back to a register's value at the beginning of
/// the iteration. Fails on anything but moves and additions that every iteration executes once.
std::optional<Induction> trace_induction(const Kernel& kernel, const Definitions& definitions,
                                         uint32_t loop, RegId reg, InstrId at) {
  Induction result;
  for (int n = 0; n < kMaxSteps; ++n) {
    const std::vector<InstrId> inside = defs_in_loop(kernel, definitions, loop, reg);
    if (inside.empty()) return std::nullopt;  // invariant, not an induction
    if (inside.size() > 1) return std::nullopt;
    const InstrId d = inside[0];
    const BlockId d_block = definitions.block(d), at_block = definitions.block(at);
    if (kernel.blocks[d_block].loop != loop) return std::nullopt;
    for (BlockId latch : kernel.loops[loop].latches) {
      if (!dominates(kernel, d_block, latch)) return std::nullopt;
    }
    const bool earlier = d_block == at_block ? d < at : dominates(kernel, d_block, at_block);
    if (!earlier) {
      result.induction = reg;
      return result;
    }
    const auto sum = linear_definition(kernel.instructions[d]);
    if (!sum) return std::nullopt;
    RegId next = kNone;
    for (const auto& [term, coefficient] : sum->terms) {
      const bool invariant = defs_in_loop(kernel, definitions, loop, term).empty();
      if (!invariant && coefficient == 1 && next == kNone) {
        next = term;
      } else if (invariant && coefficient == 1 && result.step_reg == kNone) {
        result.step_reg = term;
        result.stepped = 1;
      } else {
        return std::nullopt;
      }
    }
    if (next == kNone) return std::nullopt;
    result.constant = wrapping_sum(result.constant, sum->constant, 1);
    reg = next;
    at = d;
  }
  return std::nullopt;
}

/// The comparison that holds for (b, a) if and only if `c` holds for (a, b).
Compare mirrored(Compare c) {
  switch (c) {
    case Compare::kLt:
      return Compare::kGt;
    case Compare::kLe:
      return Compare::kGe;
    case Compare::kGt:
      return Compare::kLt;
    case Compare::kGe:
      return Compare::kLe;
    case Compare::kLo:
      return Compare::kHi;
    case Compare::kLs:
      return Compare::kHs;
    case Compare::kHi:
      return Compare::kLo;
    case Compare::kHs:
      return Compare::kLs;
    default:
      return c;
  }
}

/// The comparison that holds if and only if `c` does not; kNone if there is none.
Compare inverted(Compare c) {
  switch (c) {
    case Compare::kLt:
      return Compare::kGe;
    case Compare::kLe:
      return Compare::kGt;
    case Compare::kGt:
      return Compare::kLe;
    case Compare::kGe:
      return Compare::kLt;
    case Compare::kLo:
      return Compare::kHs;
    case Compare::kLs:
      return Compare::kHi;
    case Compare::kHi:
      return Compare::kLs;
    case Compare::kHs:
      return Compare::kLo;
    case Compare::kEq:
      return Compare::kNe;
    case Compare::kNe:
      return Compare::kEq;
    default:
      return Compare::kNone;
  }
}

/// Does the comparison read its operands as numbers with a sign? For equality it makes no
/// difference; values of an untyped operand are mostly small ones on either side of 0.
bool has_sign(Compare c, ptx::Type type) {
  if (c == Compare::kLo || c == Compare::kLs || c == Compare::kHi || c == Compare::kHs)
    return false;
  return type != ptx::Type::kU8 && type != ptx::Type::kU16 && type != ptx::Type::kU32 &&
         type != ptx::Type::kU64;
}

/// The only block from which control leaves the loop; kNone if there are several.
BlockId exiting_block(const Kernel& kernel, const Loop& loop) {
  BlockId result = kNone;
  for (BlockId b : loop.blocks) {
    for (BlockId s : kernel.blocks[b].successors) {
      if (in_loop(loop, s)) continue;
      if (result != kNone && result != b) return kNone;
      result = b;
    }
  }
  return result;
}

/// The comparison that keeps the loop running: `left compare right`.
struct ContinueTest {
  Compare compare = Compare::kNone;
  Operand left, right;
  ptx::Type type = ptx::Type::kNone;
  InstrId at = kNone;
};

/// The comparison of the conditional branch that ends `block`; nothing if it is not computed by one
/// plain `setp` in this block.
std::optional<ContinueTest> continue_test(const Kernel& kernel, const Loop& loop, BlockId block) {
  const Block& b = kernel.blocks[block];
  if (b.count == 0) return std::nullopt;
  const Instruction& branch = kernel.instructions[b.first + b.count - 1];
  if (branch.op != Opcode::kBra || branch.guard == kNone || branch.targets.size() != 1)
    return std::nullopt;
  for (InstrId i = b.first + b.count - 1; i-- > b.first;) {
    const Instruction& test = kernel.instructions[i];
    const std::vector<RegId> written = defs(test);
    if (std::find(written.begin(), written.end(), branch.guard) == written.end()) continue;
    if (test.op != Opcode::kSetp || test.guard != kNone || written.size() != 1 ||
        test.srcs.size() != 2 || test.mod.bool_op != ptx::BoolOp::kNone) {
      return std::nullopt;
    }
    const ptx::Type type =
        test.mod.src_type == ptx::Type::kNone ? test.mod.type : test.mod.src_type;
    ContinueTest result{test.mod.compare, test.srcs[0], test.srcs[1], type, i};
    const bool taken_stays = in_loop(loop, branch.targets[0]);
    if (taken_stays == branch.guard_negated) result.compare = inverted(result.compare);
    return result;
  }
  return std::nullopt;
}

/// The value of an operand that the loop does not change; nothing for others.
std::optional<LinearSum> invariant_operand(const Kernel& kernel, const Definitions& definitions,
                                           uint32_t loop, const Operand& operand, ptx::Type type) {
  LinearSum sum;
  if (operand.kind == Operand::Kind::kImmediate) {
    sum.constant = signed_value(operand.bits, type);
  } else if (operand.kind == Operand::Kind::kRegister &&
             defs_in_loop(kernel, definitions, loop, operand.reg).empty()) {
    sum.terms[operand.reg] = 1;
  } else {
    return std::nullopt;
  }
  return sum;
}

/// The constant that `reg` holds before `loop`, if its only definition outside of `loop` (kNone:
/// its only definition) is a constant; that definition may be anywhere in the kernel.
std::optional<LinearSum> constant_before(const Kernel& kernel, const Definitions& definitions,
                                         RegId reg, uint32_t loop) {
  InstrId only = kNone;
  for (InstrId d : definitions.of(reg)) {
    if (loop != kNone && in_loop(kernel.loops[loop], definitions.block(d))) continue;
    if (only != kNone) return std::nullopt;
    only = d;
  }
  if (only == kNone) return std::nullopt;
  const auto sum = linear_definition(kernel.instructions[only]);
  return sum && sum->terms.empty() ? sum : std::nullopt;
}

}  // namespace

void LinearSum::add(const LinearSum& other, int64_t factor) {
  constant = wrapping_sum(constant, other.constant, factor);
  for (const auto& [reg, coefficient] : other.terms) {
    int64_t& mine = terms[reg];
    mine = wrapping_sum(mine, coefficient, factor);
    if (mine == 0) terms.erase(reg);
  }
}

Definitions::Definitions(const Kernel& kernel)
    : by_register_(kernel.registers.size()), block_(block_of_instructions(kernel)) {
  for (InstrId i = 0; i < kernel.instructions.size(); ++i) {
    for (RegId reg : defs(kernel.instructions[i])) by_register_[reg].push_back(i);
  }
}

LoopTrips loop_trips(const Kernel& kernel, const Definitions& definitions, uint32_t loop_index) {
  LoopTrips result;
  const Loop& loop = kernel.loops[loop_index];
  const BlockId exiting = exiting_block(kernel, loop);
  if (loop.latches.size() != 1 || exiting == kNone) return result;
  const BlockId latch = loop.latches[0];
  if (kernel.blocks[exiting].loop != loop_index || !dominates(kernel, exiting, latch))
    return result;
  result.count_block = latch;

  const auto test = continue_test(kernel, loop, exiting);
  if (!test) return result;
  Compare compare = test->compare;
  const Operand* counter = &test->left;
  auto bound = invariant_operand(kernel, definitions, loop_index, test->right, test->type);
  if (!bound) {
    counter = &test->right;
    bound = invariant_operand(kernel, definitions, loop_index, test->left, test->type);
    compare = mirrored(compare);
  }
  if (!bound || counter->kind != Operand::Kind::kRegister) return result;

  // Find the tested value, and how the induction register changes from one iteration to the next.
  const auto tested = trace_induction(kernel, definitions, loop_index, counter->reg, test->at);
  if (!tested) return result;
  const RegId induction = tested->induction;
  const std::vector<InstrId> update = defs_in_loop(kernel, definitions, loop_index, induction);
  // Before the branch that ends the latch, this iteration's update has happened.
  const InstrId end = kernel.blocks[latch].first + kernel.blocks[latch].count - 1;
  if (update[0] == end) return result;
  const auto next = trace_induction(kernel, definitions, loop_index, induction, end);
  if (!next || next->induction != induction) return result;
  if (tested->step_reg != kNone && tested->step_reg != next->step_reg) return result;
  const bool by_register = next->step_reg != kNone;
  if (by_register && next->constant != 0) return result;
  if (!by_register && (next->constant == 0 ||
                       next->constant == std::numeric_limits<int64_t>::min()))  // has no magnitude
    return result;

  const bool up = by_register || next->constant > 0;
  switch (compare) {
    case Compare::kLt:
    case Compare::kLo:
      if (!up) return result;
      break;
    case Compare::kLe:
    case Compare::kLs:
      if (!up) return result;
      result.inclusive = true;
      break;
    case Compare::kGt:
    case Compare::kHi:
      if (up) return result;
      break;
    case Compare::kGe:
    case Compare::kHs:
      if (up) return result;
      result.inclusive = true;
      break;
    case Compare::kNe:
      result.until_equal = true;
      break;
    default:
      return result;
  }
  result.induction = induction;
  result.first.terms[induction] = 1;
  result.first.constant = tested->constant;
  result.bound = *bound;
  result.up = up;
  result.type = test->type;
  result.has_sign = has_sign(compare, test->type);
  result.step = by_register ? 1 : std::abs(next->constant);
  // A test at the end of the body runs after the first trip, a test at its start before it.
  result.untested = exiting == latch ? 1 : 0;
  if (by_register) {
    result.step_reg = next->step_reg;
    result.extra = result.untested - tested->stepped;
  }
  result.known = true;
  return result;
}

std::optional<LinearSum> value_at_entry(const Kernel& kernel, const Definitions& definitions,
                                        const CandidateScope& scope, RegId reg, InstrId at,
                                        uint32_t excluded_loop) {
  const auto resolve = [&](auto&& self, RegId r, InstrId where, uint32_t excluded,
                           int depth) -> std::optional<LinearSum> {
    if (depth > kMaxSteps) return std::nullopt;
    bool nested = false;  // the loop is entered again while the candidate runs
    if (excluded != kNone) {
      const uint32_t parent = kernel.loops[excluded].parent;
      nested = parent != kNone && scope.contains[kernel.loops[parent].header];
    }
    std::vector<InstrId> reaching;
    bool later = false;
    for (InstrId d : definitions.of(r)) {
      if (!scope.has(definitions, d)) continue;
      if (excluded != kNone && in_loop(kernel.loops[excluded], definitions.block(d))) {
        later = true;
      } else {
        reaching.push_back(d);
      }
    }
    const auto before = [&](InstrId a, InstrId b) {
      const BlockId x = definitions.block(a), y = definitions.block(b);
      return x == y ? a < b : dominates(kernel, x, y);
    };
    if (reaching.empty()) {
      if (later && nested) return std::nullopt;
      if (const auto constant = constant_before(kernel, definitions, r, excluded)) return constant;
      LinearSum leaf;
      leaf.terms[r] = 1;
      return leaf;
    }
    // Find the definition that comes last on every path, if there is one.
    InstrId last = reaching[0];
    for (InstrId d : reaching) {
      if (before(last, d)) last = d;
    }
    for (InstrId d : reaching) {
      if (d != last && !before(d, last)) return std::nullopt;
    }
    if (!before(last, where)) return std::nullopt;
    const auto sum = linear_definition(kernel.instructions[last]);
    if (!sum) return std::nullopt;
    LinearSum result;
    result.constant = sum->constant;
    // In a nested loop, what the loop itself defines reaches its next entry.
    for (const auto& [term, coefficient] : sum->terms) {
      const auto value = self(self, term, last, nested ? kNone : excluded, depth + 1);
      if (!value) return std::nullopt;
      result.add(*value, coefficient);
    }
    return result;
  };
  return resolve(resolve, reg, at, excluded_loop, 0);
}

namespace {

/// The distance from the first tested value to the bound, which is one further for trips.inclusive,
/// plus the trips before the first test times `step`.
LinearSum numerator_of(const LoopTrips& trips, LinearSum first, LinearSum bound, int64_t step) {
  const auto number = [&](const LinearSum& sum) -> Wide {
    const auto bits = static_cast<uint64_t>(sum.constant);
    return trips.has_sign ? signed_value(bits, trips.type) : unsigned_value(bits, trips.type);
  };
  const Wide more = Wide{trips.inclusive ? 1 : 0} + Wide{trips.untested} * step;
  LinearSum result;
  if (first.terms.empty() && bound.terms.empty()) {
    Wide distance = trips.up ? number(bound) - number(first) : number(first) - number(bound);
    // Counters that pass the end of their type's range come to every value.
    if (trips.until_equal) distance = unsigned_value(static_cast<uint64_t>(distance), trips.type);
    result.constant = saturated(distance + more);
    return result;
  }
  for (LinearSum* sum : {&first, &bound}) {
    if (sum->terms.empty()) sum->constant = static_cast<int64_t>(number(*sum));
  }
  result.add(bound, trips.up ? 1 : -1);
  result.add(first, trips.up ? -1 : 1);
  result.constant = wrapping_sum(result.constant, static_cast<int64_t>(more), 1);
  return result;
}

void set_sum(TripCount& count, const LinearSum& sum) {
  count.constant = sum.constant;
  for (const auto& [reg, coefficient] : sum.terms) count.terms.push_back({reg, coefficient});
}

}  // namespace

std::optional<TripCount> trips_at_entry(const Kernel& kernel, const Definitions& definitions,
                                        const CandidateScope& scope, const LoopTrips& trips,
                                        uint32_t loop) {
  if (!trips.known) return std::nullopt;
  const InstrId at = kernel.blocks[kernel.loops[loop].header].first;
  const auto at_entry = [&](const LinearSum& sum) -> std::optional<LinearSum> {
    LinearSum result;
    result.constant = sum.constant;
    for (const auto& [reg, coefficient] : sum.terms) {
      const auto value = value_at_entry(kernel, definitions, scope, reg, at, loop);
      if (!value) return std::nullopt;
      result.add(*value, coefficient);
    }
    return result;
  };
  const auto first = at_entry(trips.first), bound = at_entry(trips.bound);
  if (!first || !bound) return std::nullopt;
  TripCount count;
  count.loop = loop;
  count.step = trips.step;
  LoopTrips counted = trips;
  if (trips.step_reg != kNone) {
    counted.untested = 0;  // in `extra`
    const auto step = value_at_entry(kernel, definitions, scope, trips.step_reg, at, loop);
    if (!step) return std::nullopt;
    if (step->terms.empty() && step->constant > 0) {
      count.step = step->constant;
      counted.untested = trips.extra;
    } else if (step->terms.size() == 1 && step->constant == 0 && step->terms.begin()->second == 1) {
      count.step_reg = step->terms.begin()->first;
      count.extra = trips.extra;
    } else {
      return std::nullopt;
    }
  }
  set_sum(count, numerator_of(counted, *first, *bound, count.step));
  return count;
}

std::optional<TripCount> trips_at_entry(const Kernel& kernel, const Definitions& definitions,
                                        const CandidateScope& scope, const UnrolledLoop& unrolled) {
  const RegId iterations = kernel.instructions[unrolled.split].srcs[0].reg;
  std::optional<LinearSum> sum;
  if (scope.has(definitions, unrolled.split)) {
    sum = value_at_entry(kernel, definitions, scope, iterations, unrolled.split, kNone);
  } else if (std::none_of(
                 definitions.of(iterations).begin(), definitions.of(iterations).end(),
                 [&](InstrId d) { return d > unrolled.split || scope.has(definitions, d); })) {
    sum.emplace();
    sum->terms[iterations] = 1;
  }
  if (!sum) return std::nullopt;
  TripCount count;
  count.loop = unrolled.main;
  set_sum(count, *sum);
  return count;
}

std::optional<int64_t> static_trips(const TripCount& count) {
  if (!count.terms.empty() || count.step_reg != kNone) return std::nullopt;
  const int64_t whole =
      count.constant > 0 ? (count.constant - 1) / count.step + 1 : 0;  // rounded up
  return std::max<int64_t>(1, whole + count.extra);
}

}  // namespace nearwarp::compiler
