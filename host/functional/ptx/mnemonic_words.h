// The words after the dots of mnemonics and what they stand for.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "host/functional/ptx/types.h"

namespace nearwarp::ptx {

template <typename E, size_t N>
using Words = std::array<std::pair<std::string_view, E>, N>;

inline constexpr Words<Compare, 18> kCompareWords = {{
    {"eq", Compare::kEq},
    {"ne", Compare::kNe},
    {"lt", Compare::kLt},
    {"le", Compare::kLe},
    {"gt", Compare::kGt},
    {"ge", Compare::kGe},
    {"lo", Compare::kLo},
    {"ls", Compare::kLs},
    {"hi", Compare::kHi},
    {"hs", Compare::kHs},
    {"equ", Compare::kEqu},
    {"neu", Compare::kNeu},
    {"ltu", Compare::kLtu},
    {"leu", Compare::kLeu},
    {"gtu", Compare::kGtu},
    {"geu", Compare::kGeu},
    {"num", Compare::kNum},
    {"nan", Compare::kNan},
}};
inline constexpr Words<BoolOp, 3> kBoolWords = {
    {{"and", BoolOp::kAnd}, {"or", BoolOp::kOr}, {"xor", BoolOp::kXor}}};
inline constexpr Words<Rounding, 8> kRoundWords = {{
    {"rn", Rounding::kRn},
    {"rz", Rounding::kRz},
    {"rm", Rounding::kRm},
    {"rp", Rounding::kRp},
    {"rni", Rounding::kRni},
    {"rzi", Rounding::kRzi},
    {"rmi", Rounding::kRmi},
    {"rpi", Rounding::kRpi},
}};
inline constexpr Words<MulPart, 3> kPartWords = {
    {{"lo", MulPart::kLo}, {"hi", MulPart::kHi}, {"wide", MulPart::kWide}}};
inline constexpr Words<AtomicOp, 10> kAtomicWords = {{
    {"add", AtomicOp::kAdd},
    {"min", AtomicOp::kMin},
    {"max", AtomicOp::kMax},
    {"and", AtomicOp::kAnd},
    {"or", AtomicOp::kOr},
    {"xor", AtomicOp::kXor},
    {"exch", AtomicOp::kExch},
    {"cas", AtomicOp::kCas},
    {"inc", AtomicOp::kInc},
    {"dec", AtomicOp::kDec},
}};
inline constexpr Words<ShflMode, 4> kShflWords = {{{"up", ShflMode::kUp},
                                                   {"down", ShflMode::kDown},
                                                   {"bfly", ShflMode::kBfly},
                                                   {"idx", ShflMode::kIdx}}};
inline constexpr Words<VoteMode, 4> kVoteWords = {{{"all", VoteMode::kAll},
                                                   {"any", VoteMode::kAny},
                                                   {"uni", VoteMode::kUni},
                                                   {"ballot", VoteMode::kBallot}}};
inline constexpr Words<Testp, 6> kTestWords = {{{"finite", Testp::kFinite},
                                                {"infinite", Testp::kInfinite},
                                                {"number", Testp::kNumber},
                                                {"notanumber", Testp::kNotanumber},
                                                {"normal", Testp::kNormal},
                                                {"subnormal", Testp::kSubnormal}}};
inline constexpr Words<Space, 9> kSpaceWords = {{
    {"global", Space::kGlobal},
    {"shared", Space::kShared},
    {"shared::cta", Space::kShared},
    {"local", Space::kLocal},
    {"const", Space::kConst},
    {"param", Space::kParam},
    {"param::entry", Space::kParam},
    {"param::func", Space::kParam},
    {"generic", Space::kGeneric},
}};
// Index + 1 is Modifiers::mode.
inline constexpr std::array<std::string_view, 6> kPrmtWords = {"f4e", "b4e", "rc8",
                                                               "ecl", "ecr", "rc16"};

template <typename E, size_t N>
std::string_view word_of(const Words<E, N>& words, E value) {
  for (const auto& [text, candidate] : words) {
    if (candidate == value) return text;
  }
  return {};
}

}  // namespace nearwarp::ptx
