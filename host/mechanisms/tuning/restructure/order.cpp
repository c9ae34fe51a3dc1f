#include "host/mechanisms/tuning/restructure/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace nearwarp::compiler {

using ptx::AtomicOp;
using ptx::Opcode;
using ptx::Space;
using ptx::SpecialReg;
using ptx::Type;

namespace {

bool is_register(const Operand& o) { return o.kind == Operand::Kind::kRegister; }

bool is_integer(Type type) {
  return type == Type::kU32 || type == Type::kS32 || type == Type::kB32 || type == Type::kU64 ||
         type == Type::kS64 || type == Type::kB64;
}

/// Instructions that read registers and write one, and nothing else.
bool is_plain(Opcode op) {
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kFma:
    case Opcode::kMul24:
    case Opcode::kMad24:
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kLg2:
    case Opcode::kEx2:
    case Opcode::kTanh:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kShf:
    case Opcode::kLop3:
    case Opcode::kPopc:
    case Opcode::kClz:
    case Opcode::kBrev:
    case Opcode::kBfe:
    case Opcode::kBfi:
    case Opcode::kPrmt:
    case Opcode::kSetp:
    case Opcode::kSet:
    case Opcode::kSelp:
    case Opcode::kMov:
    case Opcode::kCvt:
    case Opcode::kCvta:
      return true;
    default:
      return false;
  }
}

class Proof {
 public:
  Proof(const Kernel& kernel, const Values& values, const Turns& turns, const std::string& path,
        const Restructuring& what)
      : kernel_(kernel),
        values_(values),
        turns_(turns),
        path_(path),
        what_(what),
        loop_(kernel.loops[turns.loop]) {}

  void run() {
    for (const BlockId b : loop_.blocks) {
      const Block& block = kernel_.blocks[b];
      for (InstrId i = block.first; i < block.first + block.count; ++i) look_at(i);
    }
    check_carried();
    check_memory();
    check_outside();
  }

 private:
  struct Access {
    InstrId instruction = kNone;
    std::string base;  ///< parameter; of shared memory: empty
    std::optional<Values::Place> place;
    AtomicOp op = AtomicOp::kNone;
    bool writes = false, shared = false;
  };

  const Instruction& at(InstrId i) const { return kernel_.instructions[i]; }
  bool inside(InstrId i) const {
    return std::binary_search(loop_.blocks.begin(), loop_.blocks.end(), values_.block_of(i));
  }
  [[noreturn]] void no(InstrId i, const std::string& what, const std::string& right) const {
    refuse(path_, at(i), what, right);
  }

  void look_at(InstrId i) {
    const Instruction& in = at(i);
    if (i == turns_.step || i == turns_.bounded[0]) return;
    if (in.op == Opcode::kLd || in.op == Opcode::kSt || in.op == Opcode::kAtom ||
        in.op == Opcode::kRed) {
      add_access(i);
    } else if (in.op != Opcode::kBra && !is_plain(in.op)) {
      no(i, "threads work together, or the thread may end, in the loop",
         "right are arithmetic, loads, stores, atomic operations and branches");
    }
    if (what_.any_thread) return;
    for (const Operand& o : in.srcs) check_common(i, o);
    if (in.address.base != kNone) check_common(i, of_register(in.address.base));
    if (in.guard != kNone) check_common(i, of_register(in.guard));
    if (in.address.symbol != kNone && !is_common_symbol(in.address.symbol)) not_common(i);
  }

  [[noreturn]] void not_common(InstrId i) const {
    no(i, "what the loop computes depends on the thread or block that takes an element",
       "right is a loop that uses its index and what all threads have in common; if it does not "
       "matter who takes which element, say so (`any_thread`)");
  }
  void check_common(InstrId i, const Operand& o) const {
    if (is_register(o)) {
      // Registers that the loop computes are looked at where it does.
      const auto& all = values_.definitions(o.reg);
      if (o.reg == turns_.index ||
          std::any_of(all.begin(), all.end(), [&](InstrId d) { return inside(d); }))
        return;
    }
    if (!is_common(o, 0)) not_common(i);
  }
  bool is_common_symbol(uint32_t symbol) const {
    const Space space = kernel_.symbols[symbol].space;
    return space == Space::kParam || space == Space::kGlobal || space == Space::kConst ||
           (space == Space::kShared && what_.of_block);
  }
  /// Is it the same for all threads that share the array?
  bool is_common(const Operand& o, int depth) const {
    if (o.kind == Operand::Kind::kSymbol) return is_common_symbol(o.symbol);
    if (o.kind == Operand::Kind::kSpecial) {
      const bool of_grid = (o.special >= SpecialReg::kNtidX && o.special <= SpecialReg::kNtidZ) ||
                           (o.special >= SpecialReg::kNctaidX && o.special <= SpecialReg::kNctaidZ);
      const bool of_block = o.special >= SpecialReg::kCtaidX && o.special <= SpecialReg::kCtaidZ;
      return of_grid || (of_block && what_.of_block);
    }
    if (!is_register(o)) return true;
    const InstrId d = depth > 32 ? kNone : values_.only(o.reg);
    if (d == kNone) return false;
    const Instruction& in = at(d);
    if (in.op == Opcode::kLd) return in.mod.space == Space::kParam && in.address.base == kNone;
    return is_plain(in.op) && std::all_of(in.srcs.begin(), in.srcs.end(), [&](const Operand& s) {
             return is_common(s, depth + 1);
           });
  }

  void add_access(InstrId i) {
    const Instruction& in = at(i);
    if (in.mod.is_volatile || in.mod.ordered || in.mod.async_copy)
      no(i, "the access orders others", "right are accesses that order nothing");
    const bool is_load = in.op == Opcode::kLd;
    if (is_load && (in.mod.space == Space::kParam || in.mod.space == Space::kConst)) return;
    Access access;
    access.instruction = i;
    access.writes = !is_load;
    access.shared = in.mod.space == Space::kShared;
    if (access.shared && is_load)
      no(i, "another thread may have written what is read, and nothing may be between",
         "right is that the loop does not read shared memory");
    if (!access.shared && in.mod.space != Space::kGlobal)
      no(i, "it is not known which memory is accessed", "right are global and shared memory");
    if (!access.shared) {
      if (in.address.base != kNone) access.base = values_.base_of(in.address.base);
      access.place = values_.place_of(in.address);
    }
    if (in.op == Opcode::kSt) {
      const auto bytes = static_cast<int64_t>(ptx::size_of(in.mod.type)) * in.mod.vector;
      if (access.shared || !access.place || access.place->index != turns_.index ||
          access.place->scale < bytes)
        no(i, "what is written may not be the element's own",
           "right is array[index] of a parameter's array");
    }
    if (in.op == Opcode::kAtom || in.op == Opcode::kRed) check_atomic(i, access);
    accesses_.push_back(access);
  }

  void check_atomic(InstrId i, Access& access) const {
    const Instruction& in = at(i);
    access.op = in.mod.atomic;
    const bool commutes =
        is_integer(in.mod.type) && (access.op == AtomicOp::kAdd || access.op == AtomicOp::kMin ||
                                    access.op == AtomicOp::kMax || access.op == AtomicOp::kAnd ||
                                    access.op == AtomicOp::kOr || access.op == AtomicOp::kXor);
    const bool unread = std::all_of(in.dsts.begin(), in.dsts.end(),
                                    [&](RegId r) { return r == kNone || values_.uses(r).empty(); });
    if (!commutes || !unread)
      no(i, "the atomic operation's effect depends on the order",
         "right are integer sums, minima, maxima and logic whose results nobody reads");
    if (!access.shared && access.base.empty())
      no(i, "it is not known which array is updated", "right is an array of a parameter");
  }

  /// Registers that go from one round into the next, or out of the loop.
  void check_carried() const {
    const std::vector<RegId>& in_header = kernel_.live_in[loop_.header];
    const BlockId latch = loop_.latches[0];
    for (RegId r = 0; r < kernel_.registers.size(); ++r) {
      std::vector<InstrId> here;
      for (const InstrId d : values_.definitions(r))
        if (inside(d)) here.push_back(d);
      if (here.empty() || r == turns_.index) continue;
      const bool carried = std::binary_search(in_header.begin(), in_header.end(), r);
      if (carried) {
        if (!what_.any_thread)
          no(here[0], "what a thread gathers depends on the elements that it takes",
             "if it does not matter which these are, say so (`any_thread`)");
        check_gathers(r, here);
        continue;
      }
      for (const BlockId s : kernel_.blocks[latch].successors) {
        if (std::binary_search(loop_.blocks.begin(), loop_.blocks.end(), s)) continue;
        const std::vector<RegId>& out = kernel_.live_in[s];
        if (std::binary_search(out.begin(), out.end(), r))
          no(here[0], "what the last round computes is wanted behind the loop",
             "right is a loop that gathers values of all rounds alike");
      }
    }
  }
  void check_gathers(RegId r, const std::vector<InstrId>& here) const {
    const Instruction& in = at(here[0]);
    const bool sums = in.op == Opcode::kAdd || in.op == Opcode::kMin || in.op == Opcode::kMax ||
                      in.op == Opcode::kAnd || in.op == Opcode::kOr || in.op == Opcode::kXor;
    const auto is_it = [&](const Operand& o) { return is_register(o) && o.reg == r; };
    const bool once = std::count_if(in.srcs.begin(), in.srcs.end(), is_it) == 1;
    const std::vector<InstrId>& uses = values_.uses(r);
    const bool alone = std::none_of(uses.begin(), uses.end(),
                                    [&](InstrId u) { return inside(u) && u != here[0]; });
    if (here.size() != 1 || !sums || !once || !alone || !is_integer(in.mod.type) ||
        in.mod.carry_out || in.mod.saturate)
      no(here[0], "a round's result depends on the rounds before it",
         "right are integer sums, minima, maxima and logic that nothing else in the loop reads");
  }

  void check_memory() const {
    for (const Access& write : accesses_) {
      if (!write.writes) continue;
      for (const Access& other : accesses_) {
        if (&other == &write || other.shared != write.shared) continue;
        check_pair(write, other);
      }
    }
  }
  void check_pair(const Access& write, const Access& other) const {
    const bool both_atomic = write.op != AtomicOp::kNone && other.op != AtomicOp::kNone;
    if (both_atomic && write.op == other.op) return;
    if (write.shared)
      no(other.instruction, "shared memory that the loop updates is accessed otherwise, too",
         "right is one atomic operation, and no other access to shared memory");
    const bool known = !write.base.empty() && !other.base.empty();
    if (known && write.base == other.base) {
      // An element's own accesses keep their order.
      if (write.op == AtomicOp::kNone && other.op == AtomicOp::kNone && write.place &&
          other.place && *write.place == *other.place)
        return;
      no(other.instruction, "it may access what another element's round writes",
         "right is that an array that is written is accessed at the index alone");
    }
    if (!known || !what_.no_alias)
      no(other.instruction, "it may access what is written through another pointer",
         "if the parameters point to different memory, say so (`no_alias`)");
  }

  /// In front of the loop and behind it a thread may meet what it has written itself, or will read,
  /// without waiting for anybody; afterwards that would be another thread's.
  void check_outside() const {
    for (InstrId i = 0; i < kernel_.instructions.size(); ++i) {
      const Instruction& in = at(i);
      const bool is_load = in.op == Opcode::kLd;
      if (inside(i) ||
          (!is_load && in.op != Opcode::kSt && in.op != Opcode::kAtom && in.op != Opcode::kRed))
        continue;
      if (in.mod.space == Space::kParam || in.mod.space == Space::kConst ||
          in.mod.space == Space::kShared)
        continue;
      const std::string base = in.address.base == kNone ? "" : values_.base_of(in.address.base);
      for (const Access& a : accesses_) {
        if (a.shared || a.op != AtomicOp::kNone || (is_load && !a.writes)) continue;
        const bool apart = !base.empty() && !a.base.empty() && base != a.base && what_.no_alias;
        if (!apart)
          no(i, "outside of the loop a thread may access what the loop accesses",
             base != a.base ? "if the parameters point to different memory, say so (`no_alias`)"
                            : "right is a kernel that leaves that to others");
      }
    }
  }

  const Kernel& kernel_;
  const Values& values_;
  const Turns& turns_;
  const std::string& path_;
  const Restructuring& what_;
  const Loop& loop_;
  std::vector<Access> accesses_;
};

}  // namespace

void prove_order_free(const Kernel& kernel, const Values& values, const Turns& turns,
                      const std::string& path, const Restructuring& what) {
  Proof(kernel, values, turns, path, what).run();
}

}  // namespace nearwarp::compiler
