// The table of mnemonics and their modifiers. Families of instructions with a syntax of their own
// are in mnemonic_families.h.
#include "host/functional/ptx/mnemonic.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "host/functional/ptx/details.h"
#include "host/functional/ptx/mnemonic_families.h"
#include "host/functional/ptx/mnemonic_words.h"

namespace nearwarp::ptx {
namespace {

// Groups of modifiers that an opcode may have; comments list the words of a group.
enum Group : uint64_t {
  kRound = 1ull << 0,  // rn rz rm rp; cvt: also rni rzi rmi rpi
  kFtz = 1ull << 1,
  kSat = 1ull << 2,
  kApproximate = 1ull << 3,  // approx full
  kCarry = 1ull << 4,        // cc
  kPart = 1ull << 5,         // lo hi wide
  kCompares = 1ull << 6,
  kBools = 1ull << 7,
  kAtomics = 1ull << 8,
  kOrder = 1ull << 9,  // relaxed acquire release acq_rel sc weak, cta gpu sys cluster, gl
  kCache = 1ull << 10,
  kNonCoherent = 1ull << 11,
  kTo = 1ull << 12,
  kUniform = 1ull << 13,
  kSync = 1ull << 14,  // sync aligned
  kShflModes = 1ull << 15,
  kVoteModes = 1ull << 16,
  kTests = 1ull << 17,
  kVectors = 1ull << 18,
  kWrap = 1ull << 19,        // wrap clamp
  kDirections = 1ull << 20,  // l r
  kShiftAmount = 1ull << 21,
  kNanMode = 1ull << 22,  // NaN xorsign abs
  kPrmtModes = 1ull << 23,
  kVolatile = 1ull << 24,
  kSpaces = 1ull << 25,
  kSecondType = 1ull << 26,
  kBarrier = 1ull << 27,  // warp cta arrive red popc
  kIndexed = 1ull << 28,  // idx (brx.idx)
  kLevels = 1ull << 29,   // L1 L2
  kReluFlag = 1ull << 30,
  kOutside = 1ull << 31,  // oob
};

constexpr uint32_t bit(Type t) { return 1u << static_cast<unsigned>(t); }
constexpr uint32_t bits(std::initializer_list<Type> types) {
  uint32_t set = 0;
  for (const Type t : types) set |= bit(t);
  return set;
}
constexpr uint32_t kB = bits({Type::kB16, Type::kB32, Type::kB64});
constexpr uint32_t kI32 = bits({Type::kU32, Type::kS32});
constexpr uint32_t kI64 = bits({Type::kU64, Type::kS64});
constexpr uint32_t kI = bits({Type::kU16, Type::kS16}) | kI32 | kI64;
constexpr uint32_t kS = bits({Type::kS16, Type::kS32, Type::kS64});
constexpr uint32_t kF = bits({Type::kF32, Type::kF64});
constexpr uint32_t kF32 = bit(Type::kF32);
constexpr uint32_t kB32 = bit(Type::kB32);
constexpr uint32_t kB64 = bit(Type::kB64);
constexpr uint32_t kB128 = bit(Type::kB128);
constexpr uint32_t kP = bit(Type::kPred);
constexpr uint32_t kBytes = bits({Type::kB8, Type::kU8, Type::kS8});
constexpr uint32_t kHalf = bits({Type::kF16, Type::kBF16, Type::kF16x2, Type::kBF16x2});
constexpr uint32_t kData = kB | kI | kF | kBytes | kB128;  // types of ld and st

struct Row {
  std::string_view name;
  Opcode op;
  std::string_view operands;
  uint64_t groups;
  uint32_t types;  // as bits; 0: the instruction has no type
};

constexpr std::array<Row, 88> kRows = {{
    {"add", Opcode::kAdd, "Daa", kRound | kFtz | kSat | kCarry, kI | kF | kHalf},
    {"sub", Opcode::kSub, "Daa", kRound | kFtz | kSat | kCarry, kI | kF | kHalf},
    {"mul", Opcode::kMul, "Waa", kRound | kFtz | kSat | kPart, kI | kF | kHalf},
    {"mad", Opcode::kMad, "Waaw", kRound | kFtz | kSat | kPart | kCarry, kI | kF},
    {"fma", Opcode::kFma, "Daaa", kRound | kFtz | kSat | kReluFlag | kOutside, kF | kHalf},
    {"mul24", Opcode::kMul24, "Daa", kPart, kI32},
    {"mad24", Opcode::kMad24, "Daaa", kPart | kSat, kI32},
    {"div", Opcode::kDiv, "Daa", kRound | kFtz | kApproximate, kI | kF},
    {"rem", Opcode::kRem, "Daa", 0, kI},
    {"neg", Opcode::kNeg, "Da", kFtz, kS | kF | kHalf},
    {"abs", Opcode::kAbs, "Da", kFtz, kS | kF | kHalf},
    {"min", Opcode::kMin, "Daa?a", kFtz | kNanMode | kReluFlag, kI | kF | kHalf},
    {"max", Opcode::kMax, "Daa?a", kFtz | kNanMode | kReluFlag, kI | kF | kHalf},
    {"addc", Opcode::kAddc, "Daa", kCarry, kI32 | kI64},
    {"subc", Opcode::kSubc, "Daa", kCarry, kI32 | kI64},
    {"madc", Opcode::kMadc, "Daaa", kPart | kCarry, kI32 | kI64},
    {"sad", Opcode::kSad, "Daaa", 0, kI},
    {"rcp", Opcode::kRcp, "Da", kRound | kFtz | kApproximate, kF},
    {"sqrt", Opcode::kSqrt, "Da", kRound | kFtz | kApproximate, kF},
    {"rsqrt", Opcode::kRsqrt, "Da", kFtz | kApproximate, kF},
    {"sin", Opcode::kSin, "Da", kFtz | kApproximate, kF32},
    {"cos", Opcode::kCos, "Da", kFtz | kApproximate, kF32},
    {"lg2", Opcode::kLg2, "Da", kFtz | kApproximate, kF32},
    {"ex2", Opcode::kEx2, "Da", kFtz | kApproximate, kF32 | kHalf},
    {"tanh", Opcode::kTanh, "Da", kApproximate, kF32 | kHalf},
    {"copysign", Opcode::kCopysign, "Daa", 0, kF},
    {"testp", Opcode::kTestp, "Pa", kTests, kF},
    {"and", Opcode::kAnd, "Daa", 0, kB | kP},
    {"or", Opcode::kOr, "Daa", 0, kB | kP},
    {"xor", Opcode::kXor, "Daa", 0, kB | kP},
    {"not", Opcode::kNot, "Da", 0, kB | kP},
    {"cnot", Opcode::kCnot, "Da", 0, kB},
    {"shl", Opcode::kShl, "Dau", 0, kB},
    {"shr", Opcode::kShr, "Dau", 0, kB | kI},
    {"shf", Opcode::kShf, "Daau", kDirections | kWrap, kB32},
    {"lop3", Opcode::kLop3, "Daaau", 0, kB32},
    {"popc", Opcode::kPopc, "Ia", 0, kB32 | kB64},
    {"clz", Opcode::kClz, "Ia", 0, kB32 | kB64},
    {"brev", Opcode::kBrev, "Da", 0, kB32 | kB64},
    {"bfind", Opcode::kBfind, "Ia", kShiftAmount, kI32 | kI64},
    {"bfe", Opcode::kBfe, "Dauu", 0, kI32 | kI64},
    {"bfi", Opcode::kBfi, "Daauu", 0, kB32 | kB64},
    {"bmsk", Opcode::kBmsk, "Dau", kWrap, kB32},
    {"prmt", Opcode::kPrmt, "Daau", kPrmtModes, kB32},
    {"dp4a", Opcode::kDp4a, "Daaa", kSecondType, kI32},
    {"dp2a", Opcode::kDp2a, "Daaa", kSecondType | kPart, kI32},
    {"setp", Opcode::kSetp, "Qaa?p", kCompares | kBools | kFtz, kB | kI | kF | kHalf},
    {"set", Opcode::kSet, "Dss?p", kCompares | kBools | kFtz | kSecondType,
     kI | kB32 | kF32 | kHalf},
    {"selp", Opcode::kSelp, "Daap", 0, kB | kI | kF},
    {"slct", Opcode::kSlct, "Daas", kFtz | kSecondType, kB | kI | kF},
    {"mov", Opcode::kMov, "Da", 0, kB | kI | kF | kP | kHalf | kB128},
    {"cvt", Opcode::kCvt, "Ds", kRound | kFtz | kSat | kSecondType | kReluFlag,
     kBytes | kI | kF | kHalf},
    {"cvta", Opcode::kCvta, "Da", kTo | kSpaces, bits({Type::kU32, Type::kU64})},
    {"isspacep", Opcode::kIsspacep, "Pu", kSpaces, 0},
    {"ld", Opcode::kLd, "DA", kSpaces | kVectors | kVolatile | kOrder | kCache | kNonCoherent,
     kData},
    {"ldu", Opcode::kLdu, "DA", kSpaces | kVectors, kData},
    {"st", Opcode::kSt, "Aa", kSpaces | kVectors | kVolatile | kOrder | kCache, kData},
    {"prefetch", Opcode::kPrefetch, "A", kSpaces | kLevels | kCache, 0},
    {"prefetchu", Opcode::kPrefetch, "A", kLevels, 0},
    {"atom", Opcode::kAtom, "DAa?a", kSpaces | kOrder | kAtomics | kCache | kVectors,
     kB | kI32 | kI64 | kF | kHalf | kB128},
    {"red", Opcode::kRed, "Aa", kSpaces | kOrder | kAtomics | kVolatile | kCache | kVectors,
     kB | kI32 | kI64 | kF | kHalf},
    {"shfl", Opcode::kShfl, "Eauu?u", kSync | kShflModes, kB32},
    {"vote", Opcode::kVote, "Dp?u", kSync | kVoteModes, kP | kB32},
    {"match", Opcode::kMatch, "Jau", kSync | kVoteModes, kB32 | kB64},
    {"activemask", Opcode::kActivemask, "D", 0, kB32},
    {"redux", Opcode::kRedux, "Dau", kSync | kAtomics | kNanMode, kB32 | kI32 | kF32},
    {"elect", Opcode::kElect, "Eu", kSync, 0},
    {"bra", Opcode::kBra, "L", kUniform, 0},
    {"brx", Opcode::kBrx, "uT", kUniform | kIndexed, 0},
    {"call", Opcode::kCall, "C", kUniform, 0},
    {"ret", Opcode::kRet, "", kUniform, 0},
    {"exit", Opcode::kExit, "", 0, 0},
    {"trap", Opcode::kTrap, "", 0, 0},
    {"bar", Opcode::kBar, "u?u", kSync | kBarrier | kBools, kP | kI32},
    {"barrier", Opcode::kBar, "u?u", kSync | kBarrier | kBools, kP | kI32},
    {"membar", Opcode::kMembar, "", kOrder, 0},
    {"fence", Opcode::kMembar, "", kOrder, 0},
    {"nanosleep", Opcode::kNanosleep, "u", 0, bit(Type::kU32)},
}};

template <typename E, size_t N>
bool set_word(const Words<E, N>& words, std::string_view word, E* field) {
  if (*field != E{}) return false;  // the mnemonic has a word of this group already
  for (const auto& [text, value] : words) {
    if (text == word) {
      *field = value;
      return true;
    }
  }
  return false;
}
bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool apply_flag(std::string_view w, uint64_t groups, Modifiers* m) {
  if ((groups & kFtz) && w == "ftz") return m->ftz = true;
  if ((groups & kReluFlag) && w == "relu") return m->relu = true;
  if ((groups & kOutside) && w == "oob") return m->zero_outside = true;
  if ((groups & kCache) && w == "unified") return true;
  if ((groups & kSat) && w == "sat") return m->saturate = true;
  if ((groups & kCarry) && w == "cc") return m->carry_out = true;
  if ((groups & kTo) && w == "to") return m->to_space = true;
  if ((groups & kUniform) && w == "uni") return m->uniform = true;
  if ((groups & kShiftAmount) && w == "shiftamt") return m->shift_amount = true;
  if ((groups & kVolatile) && w == "volatile") return m->is_volatile = true;
  if ((groups & kNonCoherent) && w == "nc") return m->non_coherent = true;
  if ((groups & kSync) && (w == "sync" || w == "aligned")) return true;
  if ((groups & kIndexed) && w == "idx") return true;
  if ((groups & kLevels) && (w == "L1" || w == "L2")) return true;
  if (groups & kApproximate) {
    if (w == "approx") return m->approx = true;
    if (w == "full") return m->approx = m->full = true;
  }
  if (groups & kNanMode) {
    if (w == "NaN") return m->relu_nan = true;
    if (w == "xorsign" || w == "abs") return m->abs = true;
  }
  if (groups & kOrder) {
    if (is_one_of(w, {"relaxed", "acquire", "release", "acq_rel", "sc"})) {
      m->acquire = w != "relaxed" && w != "release";
      m->release = w != "relaxed" && w != "acquire";
      return m->ordered = true;
    }
    if (w == "cta") return m->block_scope = true;
    if (w == "cluster") return m->cluster_scope = true;
    if (is_one_of(w, {"weak", "gpu", "sys", "gl", "mmio", "noftz"})) return true;
  }
  if (groups & kCache) {
    if (is_one_of(w, {"ca", "cg", "cs", "lu", "cv", "wb", "wt"})) return true;
    // Prefetch sizes and eviction priorities are hints.
    if (w == "L2::cache_hint") return m->cache_hint = true;
    if (w.starts_with("L1::") || w.starts_with("L2::")) return true;
  }
  if (groups & kVectors) {
    if (w == "v2" || w == "v4" || w == "v8") {
      m->vector = static_cast<uint8_t>(w[1] - '0');
      return true;
    }
  }
  if (groups & kWrap) {
    if (w == "wrap" || w == "clamp") {
      m->mode = w == "wrap";
      return true;
    }
  }
  if (groups & kDirections) {
    if (w == "l" || w == "r") {
      m->shf_left = w == "l";
      return true;
    }
  }
  if (groups & kPrmtModes) {
    const auto it = std::find(kPrmtWords.begin(), kPrmtWords.end(), w);
    if (it != kPrmtWords.end()) {
      m->mode = static_cast<uint8_t>(it - kPrmtWords.begin() + 1);
      return true;
    }
  }
  return false;
}

// bar.warp.sync, bar.arrive, bar.red.popc.u32 and their `barrier` forms.
bool apply_barrier(std::string_view w, Mnemonic* out) {
  if (w == "cta") return true;
  if (w == "cluster") {
    out->mod.mode = 2;
    out->operands = "";
    return true;
  }
  if (out->mod.mode == 2) {  // barrier.cluster.arrive releases and .wait acquires, unless .relaxed
    out->mod.release = out->mod.release || w == "arrive";
    out->mod.acquire = out->mod.acquire || w == "wait";
    if (w == "relaxed") out->mod.release = false;
    if (w == "arrive") out->mod.bar_arrive = 1;
    return w == "arrive" || w == "wait" || w == "release" || w == "acquire" || w == "relaxed";
  }
  if (w == "warp") {
    out->op = Opcode::kBarWarp;
    out->operands = "u";
    return true;
  }
  if (w == "arrive") {
    out->mod.bar_arrive = 1;
    out->operands = "uu";
    return true;
  }
  if (w == "red") {
    out->op = Opcode::kBarRed;
    out->operands = "Du?up";
    return true;
  }
  if (w == "popc" && out->op == Opcode::kBarRed) {
    out->mod.mode = 1;  // complete() checks and clears it
    return true;
  }
  return false;
}

bool apply(std::string_view w, const Row& row, Mnemonic* out) {
  Modifiers* m = &out->mod;
  if (const Type type = type_by_name(w); type != Type::kNone) {
    if (m->type == Type::kNone) {
      m->type = type;
    } else if ((row.groups & kSecondType) && m->src_type == Type::kNone) {
      m->src_type = type;
    } else {
      return false;
    }
    return true;
  }
  if (w == "f32x2" && m->type == Type::kNone &&
      (row.op == Opcode::kAdd || row.op == Opcode::kSub || row.op == Opcode::kMul ||
       row.op == Opcode::kFma)) {
    m->type = Type::kF32;
    return m->pairs = true;
  }
  if ((row.groups & kBarrier) && apply_barrier(w, out)) return true;
  if ((row.groups & kSpaces) && w == "shared::cluster") {
    m->space = Space::kShared;
    if (row.op == Opcode::kIsspacep) m->mode = 1;  // 0: only the block's own shared memory
    return true;
  }
  // fence.proxy.tensormap::generic.acquire has an address and a size.
  if (row.op == Opcode::kMembar && w == "tensormap::generic") out->operands = "?A?u";
  // Between plain and asynchronous accesses: to shared memory (1), or to global memory alone (2).
  if (row.op == Opcode::kMembar && w.starts_with("async")) m->mode = w == "async::global" ? 2 : 1;
  if (row.op == Opcode::kMembar && w == "global" && m->mode == 1) m->mode = 2;
  if (row.op == Opcode::kMembar &&
      is_one_of(w, {"proxy", "alias", "async", "async::generic", "mbarrier_init", "global",
                    "shared::cta", "shared::cluster", "tensormap::generic", "generic",
                    "async::global", "async::shared::cta", "sync_restrict::shared::cta",
                    "sync_restrict::shared::cluster"}))
    return true;
  if (apply_flag(w, row.groups, m)) return true;
  const uint64_t g = row.groups;
  return ((g & kCompares) && m->compare == Compare::kNone &&
          set_word(kCompareWords, w, &m->compare)) ||
         ((g & kBools) && set_word(kBoolWords, w, &m->bool_op)) ||
         ((g & kRound) && set_word(kRoundWords, w, &m->rounding)) ||
         ((g & kPart) && set_word(kPartWords, w, &m->mul_part)) ||
         ((g & kAtomics) && set_word(kAtomicWords, w, &m->atomic)) ||
         ((g & kShflModes) && set_word(kShflWords, w, &m->shfl)) ||
         ((g & kVoteModes) && set_word(kVoteWords, w, &m->vote)) ||
         ((g & kTests) && set_word(kTestWords, w, &m->testp)) ||
         ((g & kSpaces) && set_word(kSpaceWords, w, &m->space));
}

bool plain_vector_of_8(const Mnemonic& out) {
  return out.mod.vector == 8 && out.op != Opcode::kAtom && out.op != Opcode::kRed;
}

bool is_half(Type t) {
  return t == Type::kF16 || t == Type::kF16x2 || t == Type::kBF16 || t == Type::kBF16x2;
}

// Checks an atomic operation on vectors, which is atomic for each element by itself.
std::string check_atomic_vector(const Modifiers& m) {
  const bool half = is_half(m.type),
             minmax = m.atomic == AtomicOp::kMin || m.atomic == AtomicOp::kMax;
  if (m.type != Type::kF32 && !half) return "vectors of atomic operations are of .f32 or of halves";
  if (m.atomic != AtomicOp::kAdd && !(half && minmax)) return "this operation has no vector form";
  if (m.vector == 8 && size_of(m.type) != 2) return ".v8 is for 16-bit elements";
  if (m.space != Space::kNone && m.space != Space::kGlobal) return "vectors are for .global";
  return {};
}

// Checks rules that the table cannot express and adds implied modifiers; returns the problem.
std::string complete(const Row& row, Mnemonic* out) {
  Modifiers& m = out->mod;
  const bool packed_cvt = out->op == Opcode::kCvt && size_of(m.type) == 4 && is_half(m.type);
  if (row.types != 0 && m.type == Type::kNone && row.op != Opcode::kBar) {
    return "the instruction has no type";
  }
  if (m.type != Type::kNone && !(row.types & bit(m.type))) {
    return "the type ." + std::string(name_of(m.type)) + " is not supported here";
  }
  const bool integer_relu =
      (out->op == Opcode::kMin || out->op == Opcode::kMax) && m.type == Type::kS32;
  if (m.relu && !is_half(m.type) && !integer_relu) return ".relu is for halves and .s32";
  if (m.zero_outside && (!is_half(m.type) || m.ftz)) return ".oob is for halves without .ftz";
  switch (out->op) {
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kMul24:
    case Opcode::kMad24:
    case Opcode::kMadc:
      if (is_float(m.type) != (m.mul_part == MulPart::kNone)) {
        return is_float(m.type) ? ".lo, .hi and .wide are for integers"
                                : ".lo, .hi or .wide is missing";
      }
      if (m.mul_part == MulPart::kWide && size_of(m.type) == 8) return ".wide needs 16 or 32 bits";
      break;
    case Opcode::kSetp:
    case Opcode::kSet:
      if (m.compare == Compare::kNone) return "the comparison is missing";
      if (m.src_type == Type::kNone && out->op == Opcode::kSet) return "the source type is missing";
      if (m.bool_op == BoolOp::kNone)
        out->operands = out->op == Opcode::kSet ? "Dss" : "Qaa";
      else
        out->operands = out->op == Opcode::kSet ? "Dssp" : "Qaap";
      break;
    case Opcode::kSlct:
      if (m.src_type != Type::kS32 && m.src_type != Type::kF32)
        return "the second type must be .s32 or .f32";
      break;
    case Opcode::kCvt:
      if (m.src_type == Type::kNone) return "the source type is missing";
      if (packed_cvt && m.src_type != Type::kF32) return "the source type must be .f32";
      if (packed_cvt) out->operands = "Dss";
      if (!(row.types & bit(m.src_type))) return "the source type is not supported";
      break;
    case Opcode::kDp4a:
    case Opcode::kDp2a:
      if (m.src_type == Type::kNone) m.src_type = m.type;
      if (out->op == Opcode::kDp2a) {
        if (m.mul_part == MulPart::kNone) return ".lo or .hi is missing";
        m.mode = m.mul_part == MulPart::kHi;
        m.mul_part = MulPart::kNone;
      }
      break;
    case Opcode::kAtom:
    case Opcode::kRed:
      if (m.atomic == AtomicOp::kNone) return "the operation is missing";
      if (out->op == Opcode::kRed && (m.atomic == AtomicOp::kCas || m.atomic == AtomicOp::kExch))
        return "red has no .cas and no .exch";
      if (out->op == Opcode::kAtom) out->operands = m.atomic == AtomicOp::kCas ? "DAaa" : "DAa";
      if (m.vector > 1)
        if (std::string problem = check_atomic_vector(m); !problem.empty()) return problem;
      break;
    case Opcode::kRedux:
      if (m.atomic == AtomicOp::kNone) return "the operation is missing";
      if (m.type == Type::kF32 && m.atomic != AtomicOp::kMin && m.atomic != AtomicOp::kMax)
        return "of .f32 there are .min and .max";
      if (m.atomic == AtomicOp::kExch || m.atomic == AtomicOp::kCas || m.atomic == AtomicOp::kInc ||
          m.atomic == AtomicOp::kDec)
        return "redux has no such operation";
      if (m.type != Type::kF32 && (m.abs || m.relu_nan)) return ".abs and .NaN are for .f32";
      break;
    case Opcode::kShfl:
      if (m.shfl == ShflMode::kNone) return "the mode is missing";
      break;
    case Opcode::kVote:
      if (m.vote == VoteMode::kNone) return "the mode is missing";
      if ((m.vote == VoteMode::kBallot) != (m.type == Type::kB32))
        return "the type does not fit the mode";
      break;
    case Opcode::kMatch:
      if (m.vote != VoteMode::kAny && m.vote != VoteMode::kAll) return "the mode is missing";
      break;
    case Opcode::kTestp:
      if (m.testp == Testp::kNone) return "the property is missing";
      break;
    case Opcode::kBarRed:
      if (m.type != (m.mode == 1 ? Type::kU32 : Type::kPred) ||
          (m.mode == 1) != (m.bool_op == BoolOp::kNone) || m.bool_op == BoolOp::kXor) {
        return "the reduction must be .popc.u32, .and.pred or .or.pred";
      }
      m.mode = 0;
      break;
    case Opcode::kElect:
      m.type = Type::kB32;
      break;
    case Opcode::kCvta:
      if (m.space == Space::kNone || m.space == Space::kGeneric) return "the space is missing";
      break;
    case Opcode::kIsspacep:
      if (m.space == Space::kNone || m.space == Space::kGeneric) return "the space is missing";
      m.type = Type::kU64;
      out->operands = "Pa";
      break;
    default:
      break;
  }
  const bool memory = out->op == Opcode::kLd || out->op == Opcode::kLdu || out->op == Opcode::kSt ||
                      out->op == Opcode::kAtom || out->op == Opcode::kRed ||
                      out->op == Opcode::kPrefetch;
  if (memory && m.space == Space::kNone) m.space = Space::kGeneric;
  if (m.cache_hint) {  // one more operand, the cache policy, which has no effect
    if (out->op == Opcode::kLd) out->operands = "DAh";
    if (out->op == Opcode::kSt || out->op == Opcode::kRed) out->operands = "Aah";
    if (out->op == Opcode::kAtom) out->operands = m.atomic == AtomicOp::kCas ? "DAaah" : "DAah";
  }
  if (memory && m.vector * size_of(m.type) > 16) {
    const bool plain = out->op == Opcode::kLd || out->op == Opcode::kSt;
    if (!plain || m.space != Space::kGlobal || m.vector * size_of(m.type) > 32 ||
        m.type == Type::kB128)
      return "an access of more than 16 bytes is only possible in .global, with .v8 of 32 bits and "
             ".v4 of 64 bits";
  }
  if (plain_vector_of_8(*out) && size_of(m.type) != 4) return ".v8 is for 32-bit elements";
  return {};
}

}  // namespace

Mnemonic decode_mnemonic(std::string_view text) {
  Mnemonic out;
  if (decode_family(text, &out)) return out;
  size_t dot = std::min(text.find('.'), text.size());
  const std::string_view base = text.substr(0, dot);
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [&](const Row& r) { return !r.name.empty() && r.name == base; });
  if (row == kRows.end()) {
    out.problem = "the instruction is not supported";
    return out;
  }
  out.op = row->op;
  out.operands = row->operands;
  if (base == "barrier") out.mod.detail = static_cast<uint32_t>(BarrierForm::kUnaligned);
  while (dot < text.size()) {
    const size_t end = std::min(text.find('.', dot + 1), text.size());
    const std::string_view word = text.substr(dot + 1, end - dot - 1);
    if (!apply(word, *row, &out)) {
      out.problem = "the modifier ." + std::string(word.substr(0, 40)) + " is not supported here";
      return out;
    }
    if (base == "barrier" && word == "aligned")
      out.mod.detail = static_cast<uint32_t>(BarrierForm::kAligned);
    dot = end;
  }
  out.problem = complete(*row, &out);
  return out;
}

std::string_view name_of(Opcode op) {
  if (op == Opcode::kBarRed) return "bar.red";
  if (op == Opcode::kBarWarp) return "bar.warp.sync";
  if (op == Opcode::kNop) return "nop";
  if (op == Opcode::kSystem) return "call";
  if (op == Opcode::kSzext) return "szext";
  if (op == Opcode::kFns) return "fns";
  if (op == Opcode::kVideo) return "v";
  if (op == Opcode::kTex) return "tex";
  if (op == Opcode::kSuld) return "suld";
  if (op == Opcode::kSust) return "sust";
  if (op == Opcode::kMma) return "mma";
  if (op == Opcode::kWarpMma) return "mma";
  if (op == Opcode::kTensorSize) return "tensor.size";
  if (op == Opcode::kTensorLoad) return "tensor.load";
  if (op == Opcode::kTensorStore) return "tensor.store";
  if (op == Opcode::kTensorReduce) return "tensor.reduce";
  if (op == Opcode::kWgmmaCommit) return "wgmma.commit_group";
  if (op == Opcode::kWgmmaWait) return "wgmma.wait_group";
  if (op == Opcode::kPhaseWait) return "mbarrier.wait";
  if (op == Opcode::kAlloca) return "alloca";
  if (op == Opcode::kMapa) return "mapa";
  if (op == Opcode::kCreatePolicy) return "createpolicy";
  for (const Row& row : kRows) {
    if (row.op == op) return row.name;
  }
  return "?";
}

}  // namespace nearwarp::ptx
