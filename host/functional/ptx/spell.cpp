// Spells mnemonics from their parts, the reverse of decode_mnemonic().
#include "host/functional/ptx/mnemonic.h"
#include "host/functional/ptx/mnemonic_words.h"

namespace nearwarp::ptx {

std::string spell(Opcode op, const Modifiers& m) {
  std::string s(name_of(op));
  const auto add = [&](std::string_view word) {
    if (!word.empty()) s.append(".").append(word);
  };
  const auto add_if = [&](bool condition, std::string_view word) {
    if (condition) add(word);
  };
  if (op == Opcode::kBar && m.mode == 2)
    add(m.bar_arrive ? (m.release ? "cluster.arrive" : "cluster.arrive.relaxed") : "cluster.wait");
  else if (op == Opcode::kBar)
    add(m.bar_arrive ? "arrive" : "sync");
  add_if(op == Opcode::kBrx, "idx");
  add_if(op == Opcode::kShfl || op == Opcode::kVote || op == Opcode::kMatch ||
             op == Opcode::kRedux || op == Opcode::kElect,
         "sync");
  add_if(op == Opcode::kMembar, "gl");
  add_if(op == Opcode::kBarRed && m.bool_op == BoolOp::kNone, "popc");
  add_if(m.is_volatile, "volatile");
  if (m.ordered)
    add(m.acquire ? (m.release ? "acq_rel" : "acquire") : (m.release ? "release" : "relaxed"));
  add_if(m.uniform, "uni");
  add_if(m.to_space, "to");
  add_if(op == Opcode::kShf, m.shf_left ? "l" : "r");
  add_if(op == Opcode::kShf || op == Opcode::kBmsk, m.mode ? "wrap" : "clamp");
  add(name_of(m.space));
  add_if(m.non_coherent, "nc");
  add(word_of(kAtomicWords, m.atomic));
  add(word_of(kCompareWords, m.compare));
  add(word_of(kBoolWords, m.bool_op));
  add(word_of(kShflWords, m.shfl));
  add(word_of(kVoteWords, m.vote));
  add(word_of(kTestWords, m.testp));
  add_if(m.full, "full");
  add_if(m.approx && !m.full, "approx");
  add(word_of(kRoundWords, m.rounding));
  add_if(m.zero_outside, "oob");
  add_if(m.ftz, "ftz");
  add_if(m.saturate, "sat");
  add(word_of(kPartWords, m.mul_part));
  add_if(op == Opcode::kDp2a, m.mode ? "hi" : "lo");
  add_if(m.carry_out, "cc");
  add_if(m.shift_amount, "shiftamt");
  add_if(m.relu_nan, "NaN");
  add_if(m.abs, "xorsign.abs");
  add_if(m.vector == 2, "v2");
  add_if(m.vector == 4, "v4");
  add_if(m.vector == 8, "v8");
  if (op != Opcode::kIsspacep && op != Opcode::kElect) add(name_of(m.type));
  add(name_of(m.src_type));
  if (op == Opcode::kPrmt && m.mode > 0) add(kPrmtWords[m.mode - 1]);
  return s;
}

}  // namespace nearwarp::ptx
