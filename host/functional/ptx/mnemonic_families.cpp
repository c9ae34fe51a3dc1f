// Mnemonics whose modifiers form families of their own: textures, matrices, copies, video.
#include "host/functional/ptx/mnemonic_families.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "host/functional/ptx/details.h"

namespace nearwarp::ptx {
namespace {

bool take_geometry(WordList* words, TextureDetail* detail) {
  static constexpr std::string_view kNames[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (take(words, kNames[i])) {
      detail->geometry = static_cast<Geometry>(i);
      return true;
    }
  }
  return false;
}

// tex{.level,.grad}.geom.v4.dtype.ctype, tld4.comp.2d.v4.dtype.f32
void texture(WordList words, bool gather, Mnemonic* out) {
  TextureDetail detail;
  out->op = Opcode::kTex;
  out->operands = "YX";
  if (gather) {
    static constexpr std::string_view kComponents[] = {"r", "g", "b", "a"};
    for (uint8_t i = 0; i < 4; ++i)
      if (take(&words, kComponents[i])) detail.gather = static_cast<uint8_t>(i + 1);
    if (detail.gather == 0) out->problem = "the component is missing";
  } else if (take(&words, "level")) {
    detail.lod = TextureDetail::Lod::kLevel;
    out->operands = "YXy";
  } else if (take(&words, "grad")) {
    detail.lod = TextureDetail::Lod::kGrad;
    out->operands = "YXyy";
  }
  drop(&words, {"base"});
  if (!take_geometry(&words, &detail)) out->problem = "this texture geometry is not supported";
  if (!take(&words, "v4")) out->problem = "a texture access must be .v4";
  const std::vector<Type> types = take_types(&words);
  if (types.size() != 2) {
    out->problem = "a texture access has two types";
  } else {
    out->mod.type = types[0];
    out->mod.src_type = types[1];
    if (size_of(types[0]) != 4 || (types[1] != Type::kS32 && types[1] != Type::kF32))
      out->problem = "textures of these types are not supported";
  }
  out->mod.space = Space::kGlobal;
  out->mod.vector = 4;
  out->mod.detail = detail.pack();
  finish(words, out);
}

// suld.b.geom{.vec}.dtype.clamp, sust.b.geom{.vec}.ctype.clamp
void surface(WordList words, bool store, Mnemonic* out) {
  TextureDetail detail;
  out->op = store ? Opcode::kSust : Opcode::kSuld;
  out->operands = store ? "Xy" : "YX";
  if (!take(&words, "b")) out->problem = "formatted surface stores (.p) are not supported";
  drop(&words, {"ca", "cg", "cs", "cv", "wb", "wt"});
  if (!take_geometry(&words, &detail)) out->problem = "this surface geometry is not supported";
  if (take(&words, "v2")) detail.vector = 2;
  if (take(&words, "v4")) detail.vector = 4;
  if (take(&words, "clamp")) detail.outside = TextureDetail::Outside::kClamp;
  if (take(&words, "zero")) detail.outside = TextureDetail::Outside::kZero;
  drop(&words, {"trap"});
  const std::vector<Type> types = take_types(&words);
  if (types.size() != 1 || size_of(types[0]) * detail.vector > 16) {
    out->problem = "a surface access of this type is not supported";
  } else {
    out->mod.type = types[0];
  }
  out->mod.space = Space::kGlobal;
  out->mod.vector = detail.vector;
  out->mod.detail = detail.pack();
  finish(words, out);
}

/// "m16n8k16"
bool parse_shape(std::string_view word, MatrixDetail* detail) {
  unsigned values[3] = {};
  static constexpr char kLetters[] = {'m', 'n', 'k'};
  for (int i = 0; i < 3; ++i) {
    if (word.empty() || word[0] != kLetters[i]) return false;
    word.remove_prefix(1);
    size_t digits = 0;
    while (digits < word.size() && digits < 3 && word[digits] >= '0' && word[digits] <= '9')
      values[i] = values[i] * 10 + static_cast<unsigned>(word[digits++] - '0');
    if (digits == 0) return false;
    word.remove_prefix(digits);
  }
  if (!word.empty() || values[0] > 63 || values[1] > 63 || values[2] > 127) return false;
  detail->m = static_cast<uint8_t>(values[0]);
  detail->n = static_cast<uint8_t>(values[1]);
  detail->k = static_cast<uint8_t>(values[2]);
  return true;
}

/// The shapes that wmma multiplies here: matrices with 256 results, and those of doubles, with 64.
bool wmma_shape(const MatrixDetail& detail, Type type) {
  if (type == Type::kF64) return detail.m == 8 && detail.n == 8 && detail.k == 4;
  return detail.m * detail.n == 256;
}

/// wmma of factors of less than a byte: m8n8k32 and m8n8k128.
bool narrow_wmma(const WordList& words) {
  return std::any_of(words.begin(), words.end(), [](std::string_view w) {
    return w == "s4" || w == "u4" || w == "b1" || w == "m8n8k32" || w == "m8n8k128";
  });
}

/// Is there a product of factors of type `a` with results of type `d`, in this shape? (tf32: its
/// factors are of kB32.) Source: PTX ISA 9.0, mma and wmma.mma, as ptxas 13.0 has them.
bool is_product(const MatrixDetail& detail, Type a, Type d) {
  const bool words = a == Type::kB32, bytes = a == Type::kS8 || a == Type::kU8;
  if (a == Type::kF64) {
    const bool fits =
        detail.m == 8 ? detail.k == 4 : detail.k == 4 || detail.k == 8 || detail.k == 16;
    return d == Type::kF64 && !detail.saturate && fits;
  }
  if (bytes ? d != Type::kS32 : d != Type::kF32 && (a != Type::kF16 || d != Type::kF16))
    return false;
  if (!bytes && a != Type::kF16 && a != Type::kBF16 && !words) return false;
  if (detail.wmma)
    return detail.k == (words ? 8 : 16) && (!words || detail.m == 16) &&
           (!detail.saturate || bytes || a == Type::kF16);
  if (detail.saturate && !bytes) return false;
  if (detail.m == 8) return bytes && detail.k == 16;
  const uint32_t row = detail.k * (words ? 32u : bytes ? 8u : 16u);
  return row == 128 || row == 256;
}

// mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype; wmma.mma may name d and c alone.
void matrix(WordList words, bool wmma, Mnemonic* out) {
  MatrixDetail detail;
  detail.wmma = wmma;
  out->op = Opcode::kMma;
  out->operands = "Yyyy";
  drop(&words, {"sync", "aligned", "rn"});
  bool shape = false;
  std::vector<bool> columns;
  std::erase_if(words, [&](std::string_view word) {
    if (word == "row" || word == "col") columns.push_back(word == "col");
    return word == "row" || word == "col";
  });
  for (auto it = words.begin(); it != words.end(); ++it) {
    if ((shape = parse_shape(*it, &detail))) {
      words.erase(it);
      break;
    }
  }
  detail.saturate = take(&words, "satfinite");
  const bool tf32 = take(&words, "tf32");
  if (tf32) take(&words, "tf32");
  const std::vector<Type> types = take_types(&words);
  if (columns.size() == 2) {
    detail.a_column = columns[0];
    detail.b_column = columns[1];
  }
  Type d = Type::kNone, a = Type::kNone, b = Type::kNone, c = Type::kNone;
  if (tf32 && types.size() == 2) {
    d = types[0], a = b = Type::kB32, c = types[1];
  } else if (types.size() == 4) {
    d = types[0], a = types[1], b = types[2], c = types[3];
  } else if (types.size() == 2 && wmma) {  // .f16 factors
    d = types[0], a = b = Type::kF16, c = types[1];
  }
  out->mod.type = d;
  out->mod.src_type = a;
  out->mod.detail = detail.pack();
  const auto bytes = [](Type t) { return t == Type::kS8 || t == Type::kU8; };
  if (!shape || columns.size() != 2 || d == Type::kNone) {
    out->problem = "this form of mma is not supported";
  } else if (wmma ? !wmma_shape(detail, d)
                  : detail.a_column || !detail.b_column || detail.n != 8 ||
                        (detail.m != 8 && detail.m != 16)) {
    out->problem = "this shape or layout of mma is not supported";
  } else if (c != d && (d == Type::kF16 || d == Type::kF32) &&
             (c == Type::kF16 || c == Type::kF32)) {
    out->problem = "a matrix c of another type than d is not supported";
  } else if (c != d || (a != b && !(bytes(a) && bytes(b))) || !is_product(detail, a, d)) {
    out->problem = "mma of these types, or of this shape with them, is not supported";
  }
  // The types of b and c differ from those of a and d only in sign.
  out->mod.mode = is_signed(b);
  finish(words, out);
}

// wmma.load.{a,b,c}.sync.aligned.layout.shape{.ss}.type, wmma.store.d...
void wmma_memory(WordList words, bool store, Mnemonic* out) {
  MatrixDetail detail;
  detail.wmma = true;
  out->op = store ? Opcode::kWmmaStore : Opcode::kWmmaLoad;
  out->operands = store ? "Ay?u" : "YA?u";
  drop(&words, {"sync", "aligned"});
  if (take(&words, "a")) {
    detail.operand = 0;
  } else if (take(&words, "b")) {
    detail.operand = 1;
  } else if (take(&words, "c") || take(&words, "d")) {
    detail.operand = 2;
  } else {
    out->problem = "the matrix is missing";
  }
  detail.a_column = take(&words, "col");
  drop(&words, {"row"});
  bool shape = false;
  for (auto it = words.begin(); it != words.end(); ++it) {
    if ((shape = parse_shape(*it, &detail))) {
      words.erase(it);
      break;
    }
  }
  take_space(&words, &out->mod);
  const bool tf32 = take(&words, "tf32");
  const std::vector<Type> types = take_types(&words);
  // Factors of m16n16k8 are of tf32, and the reverse.
  const bool eights = detail.m == 16 && detail.n == 16 && detail.k == 8;
  if (!shape || types.size() + (tf32 ? 1 : 0) != 1 ||
      !wmma_shape(detail, tf32 ? Type::kB32 : types[0]) ||
      (detail.operand != 2 && eights != tf32)) {
    out->problem = "this form of wmma is not supported";
  } else {
    out->mod.type = tf32 ? Type::kB32 : types[0];
  }
  out->mod.detail = detail.pack();
  finish(words, out);
}

// ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 and stmatrix; of bytes, ldmatrix of
// m16n16.trans.b8, m16n16.trans.b8x16.format and m8n16.b8x16.format, and stmatrix of
// m16n8.trans.b8. (detail: bits of an element in memory, if they are no 16.)
void shared_matrix(WordList words, bool store, Mnemonic* out) {
  out->op = store ? Opcode::kStmatrix : Opcode::kLdmatrix;
  out->operands = store ? "Ay" : "YA";
  drop(&words, {"sync", "aligned"});
  const bool eights = take(&words, "m8n8"), squares = !store && take(&words, "m16n16"),
             flat = !store && take(&words, "m8n16"), tall = store && take(&words, "m16n8");
  out->mod.vector = 1;
  if (take(&words, "x2")) out->mod.vector = 2;
  if (take(&words, "x4")) out->mod.vector = 4;
  drop(&words, {"x1"});
  out->mod.mode = take(&words, "trans");
  take_space(&words, &out->mod);
  out->mod.type = Type::kB32;
  bool right = eights && take(&words, "b16");
  if ((squares || tall) && take(&words, "b8")) {
    out->mod.detail = 8;
    right = true;
  } else if ((squares || flat) && take(&words, "b8x16")) {
    out->mod.detail = take(&words, "b6x16_p32") ? 6 : take(&words, "b4x16_p64") ? 4 : 0;
    right = out->mod.detail != 0;
  }
  if (squares) out->mod.vector = static_cast<uint8_t>(out->mod.vector * 2);
  if (!right || out->mod.vector > 4 || (out->mod.detail != 0 && (out->mod.mode != 0) == flat))
    out->problem = "this form of " + std::string(store ? "stmatrix" : "ldmatrix") +
                   " is not supported (.m8n8 of .b16, or a shape of bytes)";
  finish(words, out);
}

// vadd.s32.u32.s32{.sat}{.add}, vabsdiff4.u32.u32.u32.add, vmad..., vset...
bool video(std::string_view base, WordList words, Mnemonic* out) {
  using Op = VideoDetail::Op;
  static constexpr std::pair<std::string_view, Op> kOps[] = {
      {"vadd", Op::kAdd}, {"vsub", Op::kSub},  {"vabsdiff", Op::kAbsdiff}, {"vmin", Op::kMin},
      {"vmax", Op::kMax}, {"vshl", Op::kShl},  {"vshr", Op::kShr},         {"vmad", Op::kMad},
      {"vset", Op::kSet}, {"vavrg", Op::kAvrg}};
  VideoDetail detail;
  if (base.back() == '2' || base.back() == '4') {
    detail.lanes = static_cast<uint8_t>(base.back() - '0');
    base.remove_suffix(1);
  }
  const auto* found = std::find_if(std::begin(kOps), std::end(kOps),
                                   [&](const auto& entry) { return entry.first == base; });
  if (found == std::end(kOps)) return false;
  out->op = Opcode::kVideo;
  detail.op = found->second;
  std::vector<Type> types = take_types(&words);
  if (detail.op == Op::kSet && types.size() == 2)  // the result is 0 or 1
    types.insert(types.begin(), Type::kU32);
  if (types.size() != 3 || std::any_of(types.begin(), types.end(),
                                       [](Type t) { return t != Type::kU32 && t != Type::kS32; })) {
    out->problem = "the types must be three of .u32 and .s32";
    return true;
  }
  detail.d_signed = types[0] == Type::kS32;
  detail.a_signed = types[1] == Type::kS32;
  detail.b_signed = types[2] == Type::kS32;
  detail.saturate = take(&words, "sat");
  detail.wrap = take(&words, "wrap");
  drop(&words, {"clamp"});
  if (take(&words, "shr7")) detail.shift = 7;
  if (take(&words, "shr15")) detail.shift = 15;
  static constexpr std::string_view kCompare[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (uint8_t i = 0; i < 6; ++i)
    if (take(&words, kCompare[i])) detail.compare = i;
  if (take(&words, "add")) detail.second = VideoDetail::Second::kAdd;
  if (take(&words, "min")) detail.second = VideoDetail::Second::kMin;
  if (take(&words, "max")) detail.second = VideoDetail::Second::kMax;
  const bool third = detail.op == Op::kMad || detail.second != VideoDetail::Second::kNone;
  out->operands = third || detail.lanes > 1 ? "Daaa" : "Daa";
  out->mod.type = Type::kB32;
  out->mod.detail = detail.pack();
  finish(words, out);
  return true;
}

// add, min and max of pairs of 16-bit integers: what vadd2, vmin2 and vmax2 do with both halves.
bool packed_integers(std::string_view base, WordList words, Mnemonic* out) {
  const bool is_signed = take(&words, "s16x2");
  if (!is_signed && !take(&words, "u16x2")) return false;
  VideoDetail detail;
  detail.op = base == "add"   ? VideoDetail::Op::kAdd
              : base == "min" ? VideoDetail::Op::kMin
                              : VideoDetail::Op::kMax;
  detail.lanes = 2;
  detail.a_signed = detail.b_signed = detail.d_signed = is_signed;
  out->op = Opcode::kVideo;
  out->operands = "Daa";
  out->mod.relu = is_signed && base != "add" && take(&words, "relu");
  out->mod.type = Type::kB32;
  out->mod.detail = detail.pack();
  finish(words, out);
  return true;
}

// Instructions that have no effect on values, and small ones.
bool others(std::string_view base, WordList words, Mnemonic* out) {
  if (base == "discard" || base == "applypriority") {
    out->op = Opcode::kPrefetch;
    out->operands = "Au";
    take_space(&words, &out->mod);
    drop(&words, {"L2", "L2::evict_normal"});
  } else if (base == "prefetch" && take(&words, "tensormap")) {
    out->op = Opcode::kPrefetch;
    out->operands = "A";
    drop(&words, {"param", "const", "param::entry"});
    out->mod.space = Space::kGeneric;
  } else if (base == "createpolicy") {
    out->op = Opcode::kCreatePolicy;
    out->operands = "Y?y?y?y";
    words.clear();  // cache policies have no effect
    out->mod.type = Type::kB64;
  } else if (base == "pmevent") {
    out->op = Opcode::kNop;
    out->operands = "u";
    drop(&words, {"mask"});
  } else if (base == "griddepcontrol") {
    // Launches run one after the other: nothing to wait for.
    out->op = Opcode::kNop;
    drop(&words, {"launch_dependents", "wait"});
  } else if (base == "alloca" || base == "stacksave" || base == "stackrestore") {
    const StackOp op = base == "alloca"      ? StackOp::kAllocate
                       : base == "stacksave" ? StackOp::kSave
                                             : StackOp::kRestore;
    out->op = Opcode::kAlloca;
    out->operands = op == StackOp::kAllocate ? "Da?u" : op == StackOp::kSave ? "D" : "a";
    out->mod.detail = static_cast<uint32_t>(op);
    const std::vector<Type> types = take_types(&words);
    out->mod.type = types.size() == 1 ? types[0] : Type::kNone;
    if (out->mod.type != Type::kU32 && out->mod.type != Type::kU64)
      out->problem = "the type must be .u32 or .u64";
  } else if (base == "brkpt") {
    out->op = Opcode::kNop;
  } else if (base == "setmaxnreg") {
    out->op = Opcode::kNop;
    out->operands = "u";
    drop(&words, {"inc", "dec", "sync", "aligned", "u32"});
  } else if (base == "fns") {
    out->op = Opcode::kFns;
    out->operands = "Daaa";
    drop(&words, {"b32"});
    out->mod.type = Type::kB32;
  } else if (base == "szext") {
    out->op = Opcode::kSzext;
    out->operands = "Dau";
    out->mod.mode = take(&words, "wrap");
    drop(&words, {"clamp"});
    const std::vector<Type> types = take_types(&words);
    out->mod.type = types.size() == 1 ? types[0] : Type::kNone;
    if (out->mod.type != Type::kU32 && out->mod.type != Type::kS32)
      out->problem = "the type must be .u32 or .s32";
  } else if (base == "mapa" || base == "getctarank") {
    out->op = Opcode::kMapa;
    out->operands = base == "mapa" ? "Yyy" : "Yy";
    drop(&words, {"shared::cluster"});
    out->mod.mode = base != "mapa";
    const std::vector<Type> types = take_types(&words);
    out->mod.type = types.size() == 1 ? types[0] : Type::kNone;
    if (out->mod.type != Type::kU32 && out->mod.type != Type::kU64)
      out->problem = "the type must be .u32 or .u64";
  } else {
    return false;
  }
  finish(words, out);
  return true;
}

}  // namespace

namespace {

/// Why forms that other tables would take for mistakes are not executed; empty: another form.
std::string_view reason_against(std::string_view base, const WordList& words) {
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const bool sums = base == "add" || base == "sub" || base == "fma";
  if (sums && has("f32") && (has("f16") || has("bf16")))
    return "adding halves to f32 belongs to Blackwell and is not supported - cvt and .f32 are";
  if (base == "st" && has("bulk")) return "st.bulk belongs to Blackwell and is not supported";
  if ((base == "st" || base == "red") && has("async") && has("mmio"))
    return ".mmio of st.async and red.async belongs to Blackwell and is not supported";
  if (base == "tensormap" && has("swizzle_atomicity"))
    return "swizzle_atomicity belongs to Blackwell and is not supported";
  if (base == "lop3" && (has("and") || has("or") || has("xor")))
    return "lop3 with a predicate besides is not supported - lop3 and setp are";
  if (base == "multimem" && !has("red") && (has("v8") || has("v16")))
    return "multimem.ld_reduce and multimem.st of .v8 and .v16 are not supported - of .v4 they are";
  return {};
}

}  // namespace

bool decode_family(std::string_view text, Mnemonic* out) {
  WordList words = split(text);
  if (words.empty()) return false;
  const std::string_view base = words[0];
  words.erase(words.begin());
  if (const std::string_view reason = reason_against(base, words); !reason.empty()) {
    out->problem = reason;
    return true;
  }
  if (base == "tex" || base == "tld4") {
    texture(words, base == "tld4", out);
  } else if (base == "suld" || base == "sust") {
    surface(words, base == "sust", out);
  } else if (base == "mma") {
    if (!small_matrix(words, out)) matrix(words, false, out);
  } else if (base == "wgmma") {
    warp_group_matrix(words, out);
  } else if (base == "tcgen05") {
    out->problem = "tcgen05 belongs to Blackwell and is not supported";
  } else if (base == "st" || base == "red") {
    return asynchronous_store(base, words, out);
  } else if (base == "clusterlaunchcontrol") {
    launch_control(words, out);
  } else if (base == "tensormap") {
    change_of_map(words, out);
  } else if (base == "multimem") {
    return multimem(words, out);
  } else if (base == "wmma" && narrow_wmma(words)) {
    out->problem = "wmma of .s4, .u4 and .b1 is not supported - mma of these is";
  } else if (base == "wmma") {
    if (take(&words, "mma")) {
      matrix(words, true, out);
    } else if (take(&words, "load")) {
      wmma_memory(words, false, out);
    } else if (take(&words, "store")) {
      wmma_memory(words, true, out);
    } else {
      return false;
    }
  } else if (base == "ldmatrix" || base == "stmatrix") {
    shared_matrix(words, base == "stmatrix", out);
  } else if (base == "movmatrix") {
    out->op = Opcode::kMovmatrix;
    out->operands = "Yy";
    out->mod.type = Type::kB32;
    drop(&words, {"sync", "aligned", "m8n8", "trans", "b16"});
    finish(words, out);
  } else if (base == "add" || base == "min" || base == "max") {
    return packed_integers(base, words, out);
  } else if (base == "cvt") {
    return small_float(words, out);
  } else if (base == "cp") {
    if (take(&words, "reduce"))
      bulk_reduction(words, out);
    else
      asynchronous_copy(words, out);
  } else if (base == "mbarrier") {
    mbarrier(words, out);
  } else if (base.size() > 3 && base[0] == 'v' && base != "vote") {
    return video(base, words, out);
  } else {
    return others(base, words, out);
  }
  return true;
}

}  // namespace nearwarp::ptx
