// mbarriers, and bulk copies between blocks of a cluster.
//
// An mbarrier is a word in shared memory (exec::MbarrierWord); all that happens to it is an atomic
// operation. A bulk copy between blocks of a cluster is a loop of the thread that asks for it, 16
// bytes at a time: its data and its traffic are right, its time is an estimate from above.
#include "host/functional/compiler/lower.h"
#include "host/functional/instructions/decoded.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {

using ptx::MbarrierOp;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

/// The change of an mbarrier's word by an arrival: `bytes` (64 bits; a multiple of 2^21 more or
/// less does not matter) expected, and other fields of the word besides.
Operand Lowering::bytes_change(const Instruction& like, const Operand& bytes, uint64_t others) {
  using Word = exec::MbarrierWord;
  const Instruction part = implied(like);
  const RegId field = compute(part, Opcode::kAnd, Type::kB64, {bytes, constant(Word::kBytes)});
  const RegId placed =
      compute(part, Opcode::kShl, Type::kB64, {of_register(field), constant(Word::kBytesShift)});
  return of_register(
      compute(part, Opcode::kOr, Type::kB64, {of_register(placed), constant(others)}));
}

void Lowering::arrive(const Instruction& like, Space space, const Address& at,
                      const std::vector<RegId>& before, const Operand& change, bool ends_copies) {
  Instruction atom = like;
  atom.implied = false;
  atom.op = Opcode::kAtom;
  atom.mod.type = Type::kB64;
  atom.mod.space = space;
  atom.mod.atomic = ptx::AtomicOp::kArrive;
  atom.mod.async_copy = ends_copies;
  atom.address = at;
  atom.dsts = before;
  atom.srcs = {change};
  code_.instructions.push_back(std::move(atom));
}

// mbarrier.pending_count count, state
void Lowering::expand_pending_count(Frame* frame, const ptx::Instruction& in,
                                    const Instruction& like) {
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  if (in.num_operands != 2) fail(in, "too few operands");
  Instruction out = like;
  out.op = Opcode::kCvt;
  out.mod.type = Type::kU32;
  out.mod.src_type = Type::kU64;
  add_destination(frame, in, ops[0], Type::kB32, &out);
  const RegId count =
      compute(like, Opcode::kAnd, Type::kB64,
              {value(frame, in, ops[1], Type::kB64), constant(exec::MbarrierWord::kCount)});
  out.srcs = {of_register(count)};
  code_.instructions.push_back(std::move(out));
}

// mbarrier: a word in shared memory (exec::MbarrierWord); arriving is an atomic operation.
void Lowering::expand_mbarrier(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  using Word = exec::MbarrierWord;
  const auto op = static_cast<MbarrierOp>(in.mod.detail);
  if (op == MbarrierOp::kInval) return;
  if (op == MbarrierOp::kPendingCount) {
    expand_pending_count(frame, in, like);
    return;
  }
  const Instruction part = implied(like);
  Instruction out = start(in);
  const auto begin = static_cast<uint32_t>(code_.instructions.size());
  const bool wait = op == MbarrierOp::kTestWait || op == MbarrierOp::kTryWait;
  if (wait || op == MbarrierOp::kArrive || op == MbarrierOp::kArriveExpect ||
      op == MbarrierOp::kDrop || op == MbarrierOp::kDropExpect) {
    const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
    if (in.num_operands < (wait ? 3u : 2u)) fail(in, "too few operands");
    add_destination(frame, in, ops[0], wait ? Type::kPred : Type::kB64, &out);
    address(frame, in, ops[1], &out);
    if (in.num_operands > 2)
      out.srcs.push_back(
          value(frame, in, ops[2], wait && in.mod.mode == 0 ? Type::kB64 : Type::kB32));
  } else {
    operands(frame, in, &out);
  }
  const Space space = in.mod.space;
  const auto widened = [&](const Operand& source) {
    ptx::Modifiers widen;
    widen.src_type = Type::kU32;
    return compute(part, Opcode::kCvt, Type::kU64, {source}, widen);
  };
  if (op == MbarrierOp::kInit) {
    const RegId count = widened(out.srcs.at(0));
    const RegId high = compute(part, Opcode::kShl, Type::kB64,
                               {of_register(count), constant(Word::kExpectedShift)});
    const RegId word =
        compute(part, Opcode::kOr, Type::kB64, {of_register(count), of_register(high)});
    access(like, Opcode::kSt, space, Type::kB64, out.address, {word});
    // Readers of recordings know by this that it makes an mbarrier.
    code_.instructions.back().mod.mode = 1;
    return;
  }
  if (!wait) {
    const auto number = [&](uint64_t otherwise) {
      return out.srcs.empty() ? constant(otherwise) : of_register(widened(out.srcs[0]));
    };
    Operand change;
    switch (op) {
      case MbarrierOp::kArriveExpect:
        change = bytes_change(like, number(0), 1);
        break;
      case MbarrierOp::kDrop: {
        const RegId dropped =
            compute(part, Opcode::kShl, Type::kB64, {number(1), constant(Word::kExpectedShift)});
        change =
            of_register(compute(part, Opcode::kOr, Type::kB64, {number(1), of_register(dropped)}));
        break;
      }
      case MbarrierOp::kDropExpect:
        change = bytes_change(like, number(0), 1 | uint64_t{1} << Word::kExpectedShift);
        break;
      case MbarrierOp::kExpect:
        change = bytes_change(like, number(0), 0);
        break;
      case MbarrierOp::kComplete:
        change = bytes_change(
            part, of_register(compute(part, Opcode::kSub, Type::kU64, {constant(0), number(0)})),
            0);
        break;
      default:
        change = number(1);
    }
    arrive(like, space, out.address, out.dsts, change, op == MbarrierOp::kCopiesArrive);
    if (op == MbarrierOp::kCopiesArrive) code_.instructions.back().mod.mode = 2;
    const bool drops = op == MbarrierOp::kDrop || op == MbarrierOp::kDropExpect;
    code_.instructions.back().mod.bar_arrive = drops;  // for readers of recordings, too
    return;
  }
  // The phase is over when the parity differs: from the word that arrive returned, or from the
  // parity asked for.
  Instruction read = part;
  read.op = Opcode::kLd;
  read.mod.type = Type::kB64;
  read.mod.space = space;
  read.mod.is_volatile = true;
  read.mod.acquire = true;
  read.address = out.address;
  const RegId now = new_register("%t", Type::kB64);
  read.dsts = {now};
  code_.instructions.push_back(std::move(read));
  RegId before = kNone;
  if (in.mod.mode != 0) {
    before = compute(part, Opcode::kShl, Type::kB64,
                     {of_register(widened(out.srcs.at(0))), constant(Word::kPhaseShift)});
  } else {
    before = compute(part, Opcode::kMov, Type::kB64, {out.srcs.at(0)});
  }
  const RegId changed =
      compute(part, Opcode::kXor, Type::kB64, {of_register(now), of_register(before)});
  if (out.dsts.at(0) == kNone) out.dsts[0] = new_register("%p", Type::kPred);
  compare(part, ptx::Compare::kLt, Type::kS64, of_register(changed), constant(0), out.dsts[0]);
  Instruction end = like;
  end.op = Opcode::kPhaseWait;
  end.mod.type = Type::kB64;
  end.mod.space = space;
  end.mod.detail = static_cast<uint32_t>(code_.instructions.size()) - begin;
  end.address = out.address;
  end.dsts = out.dsts;
  code_.instructions.push_back(std::move(end));
}

// cp.async.bulk dst, src, bytes, mbarrier: from the block's shared memory to another's.
void Lowering::expand_bulk_copy(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  constexpr uint32_t kStep = 16;
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  if (in.num_operands < 4) fail(in, "too few operands");
  const auto label = [this] {
    code_.labels.push_back(kNone);
    return static_cast<uint32_t>(code_.labels.size() - 1);
  };
  const auto place = [this](uint32_t at) {
    code_.labels[at] = static_cast<uint32_t>(code_.instructions.size());
  };
  Instruction branch = like;
  branch.op = Opcode::kBra;
  branch.inlined_call = true;
  const uint32_t head = label(), done = label();
  if (like.guard != kNone) {
    branch.guard_negated = !like.guard_negated;
    branch.targets = {done};
    code_.instructions.push_back(branch);
  }
  Instruction plain = like;
  plain.guard = branch.guard = kNone;
  plain.guard_negated = branch.guard_negated = false;

  ptx::Instruction generic = in;
  generic.mod.space = Space::kGeneric;
  const auto place_of = [&](const ptx::Operand& op) {
    Instruction out = plain;
    address(frame, generic, op, &out);
    if (out.address.base == kNone) refuse(in, "an address that is no register", "a register");
    return out.address;
  };
  const Address to = place_of(ops[0]), from = place_of(ops[1]);
  const RegId bytes =
      compute(plain, Opcode::kMov, Type::kB32, {value(frame, in, ops[2], Type::kB32)});
  const auto widened = [&](RegId narrow) {
    ptx::Modifiers widen;
    widen.src_type = Type::kU32;
    return compute(plain, Opcode::kCvt, Type::kU64, {of_register(narrow)}, widen);
  };

  const RegId at = compute(plain, Opcode::kMov, Type::kB32, {constant(0)});
  place(head);
  const uint32_t copied = label();
  Instruction leave = branch;
  leave.guard = compare(plain, ptx::Compare::kGe, Type::kU32, of_register(at), of_register(bytes));
  leave.targets = {copied};
  code_.instructions.push_back(std::move(leave));
  const RegId at_wide = widened(at);
  const auto moved = [&](Address a) {
    const bool wide = ptx::size_of(kernel_->registers[a.base].type) == 8;
    a.base = compute(plain, Opcode::kAdd, wide ? Type::kU64 : Type::kU32,
                     {of_register(a.base), of_register(wide ? at_wide : at)});
    return a;
  };
  std::vector<RegId> data;
  for (uint32_t i = 0; i < kStep / 4; ++i) data.push_back(new_register("%t", Type::kB32));
  access(plain, Opcode::kLd, Space::kShared, Type::kB32, moved(from), data);
  access(plain, Opcode::kSt, Space::kShared, Type::kB32, moved(to), data);
  code_.instructions.back().mod.async_copy = true;
  Instruction step = plain;
  step.op = Opcode::kAdd;
  step.mod.type = Type::kU32;
  step.dsts = {at};
  step.srcs = {of_register(at), constant(kStep)};
  code_.instructions.push_back(std::move(step));
  branch.targets = {head};
  code_.instructions.push_back(branch);
  place(copied);
  const RegId missing =
      compute(plain, Opcode::kSub, Type::kU64, {constant(0), of_register(widened(bytes))});
  arrive(plain, Space::kShared, place_of(ops[3]), {}, bytes_change(plain, of_register(missing), 0),
         true);
  place(done);
}

}  // namespace nearwarp::compiler
