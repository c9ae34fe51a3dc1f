// CODA's analysis at compile time: addresses as expressions, and how far blocks lie apart in them.
#include "host/mechanisms/coda/pass/strides.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace nearwarp::compiler {

namespace {

using Kind = Factor::Kind;
using ptx::Opcode;
using ptx::SpecialReg;

bool is_integer(ptx::Type t) {
  switch (t) {
    case ptx::Type::kU32:
    case ptx::Type::kS32:
    case ptx::Type::kB32:
    case ptx::Type::kU64:
    case ptx::Type::kS64:
    case ptx::Type::kB64:
      return true;
    default:
      return false;
  }
}

int64_t signed_value(uint64_t bits, ptx::Type type) {
  return ptx::size_of(type) == 4 ? static_cast<int32_t>(bits) : static_cast<int64_t>(bits);
}

std::optional<Factor> of_special(SpecialReg r) {
  const auto in = [&](SpecialReg first, Kind kind) -> std::optional<Factor> {
    const int i = static_cast<int>(r) - static_cast<int>(first);
    if (i < 0 || i > 2) return std::nullopt;
    return Factor{kind, static_cast<uint32_t>(i)};
  };
  for (const auto& [first, kind] :
       {std::pair{SpecialReg::kTidX, Kind::kTid}, std::pair{SpecialReg::kNtidX, Kind::kNtid},
        std::pair{SpecialReg::kCtaidX, Kind::kCtaid},
        std::pair{SpecialReg::kNctaidX, Kind::kNctaid}})
    if (const auto f = in(first, kind)) return f;
  return std::nullopt;
}

/// Values of registers as polynomials. A register with several definitions is a variable of loops
/// or branches: what all of its values have in common stays, and the rest is one unknown.
class Values {
 public:
  explicit Values(const Kernel& kernel)
      : kernel_(kernel),
        defs_(kernel.registers.size()),
        known_(kernel.registers.size()),
        with_zeros_(kernel.params.size()),
        with_sign_(kernel.params.size()) {
    for (InstrId i = 0; i < kernel.instructions.size(); ++i)
      for (const RegId r : kernel.instructions[i].dsts)
        if (r != kNone) defs_[r].push_back(i);
    // In order, so that what a value is made of is mostly known when it comes.
    for (const Instruction& in : kernel.instructions)
      for (const RegId r : in.dsts)
        if (r != kNone) of(r);
  }

  Polynomial of(RegId r) {
    if (known_[r]) {
      hidden_ |= std::find(provisional_.begin(), provisional_.end(), r) != provisional_.end();
      return *known_[r];
    }
    if (std::find(under_way_.begin(), under_way_.end(), r) != under_way_.end())
      return Polynomial(self(r));
    if (under_way_.size() == kMaxDepth || ++steps_ > kMaxSteps)
      return Polynomial(fresh(Kind::kOfBlock));
    under_way_.push_back(r);
    const bool hidden_before = std::exchange(hidden_, false);
    std::vector<Polynomial> values;
    for (const InstrId d : defs_[r]) values.push_back(defined_by(d, r));
    under_way_.pop_back();
    Polynomial value = merge(values, self(r));
    if (value.terms().size() > kMaxTerms) value = unknown({value});
    // The names of variables that are under way mean nothing later; but then all of it is in a loop
    // with them, and found again.
    if (under_way_.empty()) {
      for (const RegId p : provisional_) known_[p].reset();
      provisional_.clear();
      hidden_ = false;
      known_[r] = value;
    } else if (!of_variables_under_way(value)) {
      if (hidden_) provisional_.push_back(r);
      known_[r] = value;
    }
    hidden_ |= hidden_before;
    return value;
  }

  Polynomial of(const Operand& o, ptx::Type type) {
    switch (o.kind) {
      case OperandKind::kRegister:
        return o.negated ? unknown({}) : of(o.reg);
      case OperandKind::kImmediate:
        return Polynomial(signed_value(o.bits, type));
      case OperandKind::kSpecial:
        if (const auto f = of_special(o.special)) return Polynomial(*f);
        // Lanes and warps are threads' affair; the rest (SMs, clocks) may differ by block.
        return o.special == SpecialReg::kLaneid || o.special == SpecialReg::kWarpid
                   ? Polynomial(fresh(Kind::kLoop))
                   : Polynomial(fresh(Kind::kOfBlock));
      case OperandKind::kSymbol:
        return Polynomial(Factor{Kind::kVariable, o.symbol})
            .add(Polynomial(static_cast<int64_t>(o.bits)));
      default:
        return unknown({});
    }
  }

  /// By parameter: is it extended with zeros, and nowhere with its sign?
  std::vector<bool> unsigned_parameters() const {
    std::vector<bool> result = with_zeros_;
    for (size_t i = 0; i < result.size(); ++i) {
      if (with_sign_[i]) result[i] = false;
    }
    return result;
  }

  Polynomial address_of(const Address& a) {
    Polynomial value(a.offset);
    if (a.base != kNone) value.add(of(a.base));
    if (a.symbol != kNone) value.add(Polynomial(Factor{Kind::kVariable, a.symbol}));
    return value;
  }

 private:
  static constexpr uint32_t kSelf = 1u << 31;  ///< of indices: a register whose value is under way
  // Beyond any address that a compiler makes: for code that somebody else does.
  static constexpr size_t kMaxDepth = 400, kMaxTerms = 64, kMaxSteps = 200'000;

  static Factor self(RegId r) { return {Kind::kLoop, kSelf | r}; }
  Factor fresh(Kind kind) { return {kind, next_++}; }
  static bool of_variables_under_way(const Polynomial& p) {
    return std::any_of(p.terms().begin(), p.terms().end(), [](const auto& term) {
      return std::any_of(term.first.begin(), term.first.end(), [](const Factor& f) {
        return f.kind == Kind::kLoop && (f.index & kSelf) != 0;
      });
    });
  }

  /// Something that is made of these in a way that polynomials do not have.
  Polynomial unknown(const std::vector<Polynomial>& parts) {
    Kind kind = Kind::kLoop;
    for (const Polynomial& p : parts) {
      hidden_ |= of_variables_under_way(p);
      if (p.has(Kind::kLoaded)) return Polynomial(fresh(Kind::kLoaded));
      if (p.has(Kind::kCtaid) || p.has(Kind::kOfBlock)) kind = Kind::kOfBlock;
    }
    return Polynomial(fresh(kind));
  }

  Polynomial loaded(const Instruction& in) {
    if (in.mod.space != ptx::Space::kParam || in.address.base != kNone ||
        in.address.symbol == kNone)
      return Polynomial(
          fresh(in.mod.space == ptx::Space::kConst || in.mod.space == ptx::Space::kParam
                    ? Kind::kLoop
                    : Kind::kLoaded));
    const uint64_t at =
        kernel_.symbols[in.address.symbol].offset + static_cast<uint64_t>(in.address.offset);
    for (uint32_t i = 0; i < kernel_.params.size(); ++i)
      if (kernel_.params[i].offset == at) return Polynomial(Factor{Kind::kParam, i});
    return Polynomial(fresh(Kind::kLoop));  // inside of a structure
  }

  /// The value that instruction `d` writes to `r`.
  Polynomial defined_by(InstrId d, RegId r) {
    const Instruction& in = kernel_.instructions[d];
    if (in.op == Opcode::kLd) return loaded(in);
    std::vector<Polynomial> s;
    for (const Operand& o : in.srcs) s.push_back(of(o, in.mod.type));
    note_extensions(in, s);
    if (in.op == Opcode::kAtom || in.op == Opcode::kTex) return Polynomial(fresh(Kind::kLoaded));
    if (in.dsts.size() != 1 || in.dsts[0] != r || !is_integer(in.mod.type)) return unknown(s);
    const bool low = in.mod.mul_part != ptx::MulPart::kHi;
    int64_t n = 0;
    switch (in.op) {
      case Opcode::kMov:
      case Opcode::kCvta:
        return s.size() == 1 ? s[0] : unknown(s);
      case Opcode::kCvt:
        return s.size() == 1 && is_integer(in.mod.src_type) ? s[0] : unknown(s);
      case Opcode::kAdd:
        return s.size() == 2 ? s[0].add(s[1]) : unknown(s);
      case Opcode::kSub:
        return s.size() == 2 ? s[0].add(s[1], -1) : unknown(s);
      case Opcode::kNeg:
        return s.size() == 1 ? Polynomial().add(s[0], -1) : unknown(s);
      case Opcode::kShl:
        return s.size() == 2 && s[1].is_constant(n) && n >= 0 && n < 63
                   ? Polynomial().add(s[0], int64_t{1} << n)
                   : unknown(s);
      case Opcode::kMul:
        return s.size() == 2 && low ? s[0].times(s[1]) : unknown(s);
      case Opcode::kMad:
        return s.size() == 3 && low ? s[0].times(s[1]).add(s[2]) : unknown(s);
      case Opcode::kOr:  // of an aligned value and a small number: how nvcc adds
        return s.size() == 2 && s[1].is_constant(n) && n >= 0 && multiple_of_more(s[0], n)
                   ? s[0].add(s[1])
                   : unknown(s);
      case Opcode::kShr: {
        const int64_t bits = 8 * static_cast<int64_t>(ptx::size_of(in.mod.type));
        if (s.size() != 2 || !s[1].is_constant(n) || n < 0 || n >= bits) return unknown(s);
        if (n == bits - 1) return not_negative(s[0]) ? Polynomial() : unknown(s);  // the sign
        return n < 62 && (is_signed(in.mod.type) || not_negative(s[0]))
                   ? quotient(s[0], int64_t{1} << n)
                   : unknown(s);
      }
      case Opcode::kDiv:
        return s.size() == 2 && s[1].is_constant(n) && n > 0 && not_negative(s[0])
                   ? quotient(s[0], n)
                   : unknown(s);
      case Opcode::kRem:
        return s.size() == 2 && s[1].is_constant(n) && n > 0 && not_negative(s[0])
                   ? remainder(s[0], n)
                   : unknown(s);
      case Opcode::kAnd:
        if (s.size() != 2 || !s[1].is_constant(n) || n >= kLarge || n < -kLarge) return unknown(s);
        if (const int64_t unit = n & -n; n > 0 && ((n + unit) & n) == 0)  // bits next to each other
          return remainder(s[0], n + unit).add(remainder(s[0], unit), -1);
        if (n < 0 && (-n & (-n - 1)) == 0)  // all but these
          return Polynomial().add(s[0]).add(remainder(s[0], -n), -1);
        return unknown(s);
      default:
        return unknown(s);
    }
  }

  static constexpr int64_t kLarge = int64_t{1} << 62;

  /// Notes how a value of 4 bytes is extended to 8, if it is a parameter or made of some.
  void extended(const Polynomial& value, ptx::Type type) {
    if (ptx::size_of(type) != 4) return;
    for (const auto& [monomial, coefficient] : value.terms()) {
      const bool alone = value.terms().size() == 1 && monomial.size() == 1 && coefficient == 1;
      for (const Factor& f : monomial) {
        if (f.kind != Kind::kParam) continue;
        if (is_signed(type)) with_sign_[f.index] = true;
        if (!is_signed(type) && alone) with_zeros_[f.index] = true;
      }
    }
  }
  /// Notes the extensions that an instruction does with the values of its operands.
  void note_extensions(const Instruction& in, const std::vector<Polynomial>& s) {
    if (in.op == Opcode::kCvt && s.size() == 1 && ptx::size_of(in.mod.type) == 8)
      extended(s[0], in.mod.src_type);
    if (in.mod.mul_part != ptx::MulPart::kWide || s.size() < 2) return;
    extended(s[0], in.mod.type);
    extended(s[1], in.mod.type);
  }

  static bool is_signed(ptx::Type t) { return t == ptx::Type::kS32 || t == ptx::Type::kS64; }

  /// Is it so whatever the launch? Indices and dimensions are not negative; that they do not wrap
  /// is what the whole analysis assumes.
  static bool not_negative(const Polynomial& p) {
    return std::all_of(p.terms().begin(), p.terms().end(), [](const auto& term) {
      return term.second > 0 &&
             std::all_of(term.first.begin(), term.first.end(), [](const Factor& f) {
               return f.kind == Kind::kTid || f.kind == Kind::kNtid || f.kind == Kind::kCtaid ||
                      f.kind == Kind::kNctaid;
             });
    });
  }

  /// Terms that are multiples of `n`, and the others: only these make a remainder.
  static std::pair<Polynomial, Polynomial> split(const Polynomial& p, int64_t n) {
    std::pair<Polynomial, Polynomial> out;
    for (const auto& [monomial, coefficient] : p.terms()) {
      Polynomial product(1);
      for (const Factor& f : monomial) product = product.times(Polynomial(f));
      (coefficient % n == 0 ? out.first : out.second).add(product, coefficient);
    }
    return out;
  }
  static int64_t floor_of(int64_t a, int64_t n) { return a / n - (a % n < 0 ? 1 : 0); }
  static bool of_block(const Polynomial& p) { return p.has(Kind::kCtaid) || p.has(Kind::kOfBlock); }

  /// The largest integer below p / n. Where the block makes no remainder, what the remainder adds
  /// is the same for all blocks.
  Polynomial quotient(const Polynomial& p, int64_t n) {
    const auto [multiple, rest] = split(p, n);
    if (of_block(rest)) return unknown({p});
    Polynomial whole;
    for (const auto& [monomial, coefficient] : multiple.terms()) {
      Polynomial product(1);
      for (const Factor& f : monomial) product = product.times(Polynomial(f));
      whole.add(product, coefficient / n);
    }
    int64_t number = 0;
    return whole.add(rest.is_constant(number) ? Polynomial(floor_of(number, n)) : unknown({rest}));
  }
  /// p - n * quotient(p, n).
  Polynomial remainder(const Polynomial& p, int64_t n) {
    const Polynomial rest = split(p, n).second;
    if (of_block(rest)) return unknown({p});
    int64_t number = 0;
    return rest.is_constant(number) ? Polynomial(number - n * floor_of(number, n))
                                    : unknown({rest});
  }

  /// Are all coefficients multiples of a power of two beyond `n`?
  static bool multiple_of_more(const Polynomial& p, int64_t n) {
    int64_t power = 1;
    while (power <= n) power *= 2;
    return std::all_of(p.terms().begin(), p.terms().end(),
                       [&](const auto& t) { return t.second % power == 0; });
  }

  /// One value for all of a variable's. Those that are the variable itself and something more are
  /// steps; if they step alike in all blocks, the variable differs from block to block as it began.
  Polynomial merge(const std::vector<Polynomial>& values, Factor own) {
    std::vector<Polynomial> begins;
    bool stepped = false, steps_of_block = false, steps_loaded = false;
    for (const Polynomial& v : values) {
      if (!v.has(own)) {
        begins.push_back(v);
        continue;
      }
      stepped = true;
      bool linear = false;
      int64_t times = 0;
      const Polynomial rest = Polynomial().add(v).add(Polynomial(own), -1);
      if (!v.step(own, linear).is_constant(times) || !linear || times != 1) return unknown(values);
      steps_of_block |= rest.has(Kind::kCtaid) || rest.has(Kind::kOfBlock);
      steps_loaded |= rest.has(Kind::kLoaded);
    }
    if (begins.empty()) return Polynomial(fresh(Kind::kLoop));  // never defined
    Polynomial common;
    bool differ = false, of_block = steps_of_block, from_memory = steps_loaded;
    for (const auto& [monomial, coefficient] : begins[0].terms()) {
      const bool everywhere = std::all_of(begins.begin(), begins.end(), [&](const Polynomial& b) {
        const auto at = b.terms().find(monomial);
        return at != b.terms().end() && at->second == coefficient;
      });
      if (!everywhere) continue;
      Polynomial term(coefficient);
      for (const Factor& f : monomial) term = term.times(Polynomial(f));
      common.add(term);
    }
    for (const Polynomial& b : begins) {
      const Polynomial rest = Polynomial().add(b).add(common, -1);
      differ |= !rest.is_zero();
      of_block |= rest.has(Kind::kCtaid) || rest.has(Kind::kOfBlock);
      from_memory |= rest.has(Kind::kLoaded);
    }
    if (!differ && !stepped) return common;
    return common.add(Polynomial(fresh(from_memory ? Kind::kLoaded
                                       : of_block  ? Kind::kOfBlock
                                                   : Kind::kLoop)));
  }

  const Kernel& kernel_;
  std::vector<std::vector<InstrId>> defs_;
  std::vector<std::optional<Polynomial>> known_;
  std::vector<bool> with_zeros_, with_sign_;  ///< by parameter: how it is extended to 8 bytes
  std::vector<RegId> under_way_;
  /// An unknown has been made of a variable under way, of which it may only look independent: what
  /// it is part of is known for as long as that variable is under way.
  bool hidden_ = false;
  std::vector<RegId> provisional_;
  uint32_t next_ = 0;
  size_t steps_ = 0;
};

/// The pointer that an address is made from: the only parameter of 64 bits, or variable, that
/// stands by itself in it.
bool find_object(const Kernel& kernel, AccessStride& a) {
  uint32_t found = 0;
  for (const auto& [monomial, coefficient] : a.address.terms()) {
    if (monomial.size() != 1 || coefficient != 1) continue;
    const Factor& f = monomial[0];
    const bool pointer = f.kind == Kind::kVariable ||
                         (f.kind == Kind::kParam && ptx::size_of(kernel.params[f.index].type) == 8);
    if (!pointer) continue;
    a.object = f;
    found += 1;
  }
  return found == 1;
}

void find_stride(AccessStride& a) {
  if (a.address.has(Kind::kLoaded)) {
    a.pattern = AccessPattern::kIrregular;
    return;
  }
  if (a.address.has(Kind::kOfBlock)) return;
  a.pattern = a.address.has(Kind::kCtaid) ? AccessPattern::kRegular : AccessPattern::kShared;
  for (uint32_t i = 0; i < 3; ++i) {
    bool linear = false;
    a.by_block[i] = a.address.step({Kind::kCtaid, i}, linear);
    // A distance is one only if it is the same for all blocks and threads.
    if (!linear || a.by_block[i].has(Kind::kCtaid) || a.by_block[i].has(Kind::kLoop) ||
        a.by_block[i].has(Kind::kTid))
      a.pattern = AccessPattern::kUnknown;
  }
}

/// B, if blocks follow each other in the order of their numbers: in rows of x, planes of y.
std::optional<Polynomial> block_bytes(const AccessStride& a) {
  const Polynomial& x = a.by_block[0];
  Polynomial row = x.times(Polynomial(Factor{Kind::kNctaid, 0}));
  if (!a.by_block[1].is_zero() && !(a.by_block[1] == row)) return std::nullopt;
  const Polynomial plane = row.times(Polynomial(Factor{Kind::kNctaid, 1}));
  if (!a.by_block[2].is_zero() && !(a.by_block[2] == plane)) return std::nullopt;
  return x;
}

}  // namespace

std::vector<AccessStride> analyze_strides(const Kernel& kernel) {
  std::vector<AccessStride> out;
  Values values(kernel);
  for (InstrId i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& in = kernel.instructions[i];
    const bool load = in.op == Opcode::kLd;
    const bool store = in.op == Opcode::kSt || in.op == Opcode::kAtom || in.op == Opcode::kRed;
    if ((!load && !store) ||
        (in.mod.space != ptx::Space::kGlobal && in.mod.space != ptx::Space::kGeneric))
      continue;
    AccessStride a;
    a.instruction = i;
    a.store = store;
    a.address = values.address_of(in.address);
    a.object_known = find_object(kernel, a);
    find_stride(a);
    out.push_back(std::move(a));
  }
  return out;
}

std::vector<bool> unsigned_parameters(const Kernel& kernel) {
  return Values(kernel).unsigned_parameters();
}

std::vector<ObjectStride> strides_of_objects(const std::vector<AccessStride>& accesses) {
  std::map<Factor, ObjectStride> objects;
  const auto rank = [](AccessPattern p) {  // the higher one wins
    return p == AccessPattern::kRegular   ? 0
           : p == AccessPattern::kShared  ? 1
           : p == AccessPattern::kUnknown ? 2
                                          : 3;
  };
  for (const AccessStride& a : accesses) {
    if (!a.object_known) continue;
    const auto [at, is_new] = objects.try_emplace(a.object);
    ObjectStride& o = at->second;
    o.object = a.object;
    o.accesses += 1;
    AccessPattern pattern = a.pattern;
    if (pattern == AccessPattern::kRegular) {
      const std::optional<Polynomial> b = block_bytes(a);
      if (!b || (!o.block_bytes.is_zero() && !(o.block_bytes == *b))) {
        pattern = AccessPattern::kUnknown;
      } else {
        o.block_bytes = *b;
      }
    }
    if (is_new || rank(pattern) > rank(o.pattern)) o.pattern = pattern;
  }
  std::vector<ObjectStride> out;
  for (auto& [factor, object] : objects) {
    if (object.pattern != AccessPattern::kRegular) object.block_bytes = Polynomial();
    out.push_back(std::move(object));
  }
  return out;
}

}  // namespace nearwarp::compiler
