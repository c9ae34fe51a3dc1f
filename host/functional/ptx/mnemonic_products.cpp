// Mnemonics of products of matrices: by a warp group, and by a warp of numbers that registers have
// no types for, of sparse factors, and of blocks with scales.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "host/functional/ptx/details.h"
#include "host/functional/ptx/mnemonic_families.h"

namespace nearwarp::ptx {
namespace {

using Result = WarpMatrixDetail::Result;

constexpr std::pair<std::string_view, Factor> kFactors[] = {
    {"f16", Factor::kF16},   {"bf16", Factor::kBF16}, {"tf32", Factor::kTF32},
    {"e4m3", Factor::kE4M3}, {"e5m2", Factor::kE5M2}, {"e2m3", Factor::kE2M3},
    {"e3m2", Factor::kE3M2}, {"e2m1", Factor::kE2M1}, {"u8", Factor::kU8},
    {"s8", Factor::kS8},     {"u4", Factor::kU4},     {"s4", Factor::kS4},
    {"b1", Factor::kB1}};

std::optional<Factor> factor_of(std::string_view word) {
  for (const auto& [name, factor] : kFactors)
    if (name == word) return factor;
  return {};
}

/// "m16n8k32" into a detail that has no other shapes than PTX's.
bool parse_shape(std::string_view word, uint32_t (&shape)[3]) {
  static constexpr char kLetters[] = {'m', 'n', 'k'};
  for (int i = 0; i < 3; ++i) {
    if (word.empty() || word[0] != kLetters[i]) return false;
    word.remove_prefix(1);
    size_t digits = 0;
    shape[i] = 0;
    while (digits < word.size() && digits < 3 && word[digits] >= '0' && word[digits] <= '9')
      shape[i] = shape[i] * 10 + static_cast<uint32_t>(word[digits++] - '0');
    if (digits == 0) return false;
    word.remove_prefix(digits);
  }
  return word.empty();
}

bool take_shape(WordList* words, WarpMatrixDetail* d) {
  for (auto it = words->begin(); it != words->end(); ++it) {
    uint32_t shape[3];
    if (!parse_shape(*it, shape)) continue;
    const auto [m, n, k] = shape;
    if ((m != 8 && m != 16 && m != 64) || n % 8 != 0 || n == 0 || n > 256 || k < 4 || k > 256 ||
        (k & (k - 1)) != 0)
      return false;
    d->m = static_cast<uint8_t>(m);
    d->n = static_cast<uint16_t>(n);
    d->k = static_cast<uint16_t>(k);
    words->erase(it);
    return true;
  }
  return false;
}

/// Types in their order: of the result, of a, of b, and (mma) of c.
struct Formats {
  std::vector<std::string_view> words;
  bool parse(WordList* list, size_t count, WarpMatrixDetail* d, Type* result) {
    std::erase_if(*list, [&](std::string_view w) {
      const bool format = factor_of(w) || w == "f32" || w == "s32";
      if (format) words.push_back(w);
      return format;
    });
    if (words.size() != count) return false;
    *result = words[0] == "f32" ? Type::kF32 : words[0] == "s32" ? Type::kS32 : Type::kF16;
    if (*result == Type::kF16 && words[0] != "f16") return false;
    d->result = *result == Type::kF32   ? Result::kF32
                : *result == Type::kS32 ? Result::kS32
                                        : Result::kF16;
    const auto a = factor_of(words[1]), b = factor_of(words[2]);
    if (!a || !b || (count == 4 && words[3] != words[0])) return false;
    d->a = *a;
    d->b = *b;
    return true;
  }
};

bool is_integer(Factor f) { return f >= Factor::kU8; }
bool is_small_float(Factor f) { return f >= Factor::kE4M3 && f <= Factor::kPackedE2M1; }

/// Do the formats go together, with this result?
bool formats_fit(const WarpMatrixDetail& d) {
  if (is_integer(d.a))
    return d.result == Result::kS32 && bits_of(d.a) == bits_of(d.b) && is_integer(d.b);
  if (is_small_float(d.a)) return is_small_float(d.b) && d.result != Result::kS32;
  return d.a == d.b &&
         (d.result == Result::kF32 || (d.a == Factor::kF16 && d.result == Result::kF16));
}

/// Type of the registers that hold a.
Type register_type(Factor f) {
  switch (f) {
    case Factor::kF16:
      return Type::kF16;
    case Factor::kBF16:
      return Type::kBF16;
    case Factor::kTF32:
      return Type::kB32;
    case Factor::kU8:
    case Factor::kU4:
    case Factor::kB1:
      return Type::kU8;
    default:
      return Type::kS8;
  }
}

/// The operands of a `.kind` of mma. Source: PTX ISA 9.0, mma and mma.sp, as ptxas 13.0 has them.
struct MmaKind {
  std::string_view name;
  bool packed;  ///< factors of 4 bits without a byte of their own; else any of 8, 6 and 4 bits
  struct Scales {
    uint8_t count;
    bool ue4m3;
  };
  std::array<Scales, 2> scales;  ///< 0: none
  bool has_default;              ///< `.scale_vec` may be left out, and is the first then
};
constexpr MmaKind kKinds[] = {{"kind::f8f6f4", false, {{{0, false}, {0, false}}}, true},
                              {"kind::mxf8f6f4", false, {{{1, false}, {0, false}}}, true},
                              {"kind::mxf4", true, {{{2, false}, {0, false}}}, true},
                              {"kind::mxf4nvf4", true, {{{2, false}, {4, true}}}, false}};

/// Takes `.kind`, `.block_scale` and what belongs to it; why not, if they do not go together.
std::string take_kind(WordList* words, WarpMatrixDetail* d, const MmaKind** kind) {
  *kind = nullptr;
  for (const MmaKind& k : kKinds)
    if (take(words, k.name)) *kind = &k;
  const bool scaled = take(words, "block_scale");
  uint8_t count = 0;
  for (const auto& [name, n] :
       {std::pair{"scale_vec::1X", 1}, {"scale_vec::2X", 2}, {"scale_vec::4X", 4}})
    if (take(words, name)) count = static_cast<uint8_t>(n);
  const bool ue4m3 = take(words, "ue4m3"), ue8m0 = take(words, "ue8m0");
  const bool any = scaled || count != 0 || ue4m3 || ue8m0;
  if (*kind == nullptr) return any ? "mma with scaled blocks wants a .kind that is supported" : "";
  const std::string name = "." + std::string((*kind)->name);
  const auto& known = (*kind)->scales;
  if (known[0].count == 0) return any ? name + " has no scales" : "";
  if (!scaled || ue4m3 == ue8m0) return name + " wants .block_scale and one type of scales";
  if (count == 0 && (*kind)->has_default) count = known[0].count;
  for (const MmaKind::Scales& s : known)
    if (count != 0 && s.count == count && s.ue4m3 == ue4m3) {
      d->scales = count;
      d->scales_ue4m3 = ue4m3;
      return "";
    }
  return name + " does not have scales of this number and type";
}

/// Shapes of mma that kWarpMma has, by the width of factors and whether a is sparse.
/// `ordered`: its sparse factors' places are in ascending order.
bool mma_shape(const WarpMatrixDetail& d, bool of_kind, bool ordered) {
  const uint32_t bits = bits_of(d.a);
  if (d.m == 8 && d.n == 8 && d.k == 4) return d.a == Factor::kF16 && !d.sparse && !of_kind;
  if (d.n != 8) return false;
  // A row of a has 128 or 256 bits; sparse ones twice as many, half of which are there.
  const uint32_t row = d.stored_k() * bits;
  if (of_kind) return d.m == 16 && (row == 256 || (row == 128 && d.scales == 0 && !d.sparse));
  if (d.sparse && bits == 8 && !is_integer(d.a))
    return d.m == 16 && row == 256 && (d.result == Result::kF32 || ordered);
  if (d.m == 8) return !d.sparse && row == 128 && is_integer(d.a);
  if (d.sparse && bits == 1) return false;
  return d.m == 16 && (row == 128 || row == 256);
}

/// Takes 6 and 4 bits of floating point to what their `.kind` makes of them; false if they cannot
/// be.
bool factors_of_kind(const MmaKind* kind, WarpMatrixDetail* d) {
  const auto sized = [](Factor f) {
    return f == Factor::kE2M3 || f == Factor::kE3M2 || f == Factor::kE2M1;
  };
  if (kind == nullptr) return !sized(d->a) && !sized(d->b);
  if (!is_small_float(d->a) || !is_small_float(d->b)) return false;
  if (d->scales != 0 && d->result != Result::kF32) return false;
  if (!kind->packed) return true;
  if (d->a != Factor::kE2M1 || d->b != Factor::kE2M1) return false;
  d->a = d->b = Factor::kPackedE2M1;
  return true;
}

}  // namespace

bool small_matrix(WordList words, Mnemonic* out) {
  const auto has = [&](std::string_view w) {
    return std::find(words.begin(), words.end(), w) != words.end();
  };
  const bool ordered = has("sp::ordered_metadata"), sparse = has("sp") || ordered;
  bool small = has("block_scale");
  for (const std::string_view word : words) {
    const std::optional<Factor> f = factor_of(word);
    small = small || word.starts_with("kind::") ||
            (f && (is_small_float(*f) || bits_of(*f) == 4 || *f == Factor::kB1));
  }
  const bool quads = has("m8n8k4") && !has("f64");
  if (!sparse && !small && !quads) return false;
  WarpMatrixDetail d;
  out->op = Opcode::kWarpMma;
  d.sparse = sparse;
  const MmaKind* kind = nullptr;
  out->problem = take_kind(&words, &d, &kind);
  if (!out->problem.empty()) return true;
  drop(&words, {"sync", "aligned", "sp", "sp::ordered_metadata"});
  d.exclusive_or = take(&words, "xor");
  const bool of_bits = (take(&words, "and") || d.exclusive_or) && take(&words, "popc");
  d.saturate = take(&words, "satfinite");
  std::vector<bool> columns;
  std::erase_if(words, [&](std::string_view word) {
    if (word == "row" || word == "col") columns.push_back(word == "col");
    return word == "row" || word == "col";
  });
  const bool shape = take_shape(&words, &d);
  Formats formats;
  if (quads && has("f32") && std::count(words.begin(), words.end(), "f32") == 1) {
    out->problem = "a matrix c of another type than d is not supported";
    return true;
  }
  if (!shape || columns.size() != 2 || !formats.parse(&words, 4, &d, &out->mod.type) ||
      !formats_fit(d) || !factors_of_kind(kind, &d) || !mma_shape(d, kind != nullptr, ordered) ||
      (d.a == Factor::kB1 && (!of_bits || d.saturate)) || (!quads && (columns[0] || !columns[1])) ||
      (kind != nullptr && sparse && !ordered)) {
    out->problem = "this form of mma is not supported";
    return true;
  }
  if (d.a != Factor::kB1 && (of_bits || d.exclusive_or)) {
    out->problem =
        "PTX defines .and.popc and .xor.popc for .b1 alone, though ptxas takes them of .s4 and .u4";
    return true;
  }
  d.a_column = quads && columns[0];
  d.b_column = quads && columns[1];
  out->mod.src_type = register_type(d.a);
  out->mod.detail = d.pack();
  out->operands = d.scales == 0 ? (sparse ? "Yyyyyu" : "Yyyy") : sparse ? "Yyyyyuyyyy" : "Yyyyyyyy";
  finish(words, out);
  return true;
}

// wgmma.mma_async{.sp}.sync.aligned.shape.dtype.atype.btype, wgmma.fence, commit_group, wait_group
void warp_group_matrix(WordList words, Mnemonic* out) {
  drop(&words, {"sync", "aligned"});
  if (take(&words, "fence")) {
    out->op = Opcode::kNop;  // registers and memory are as they are
    out->mod.mode = 1;       // the race detector looks for it
    out->operands = "";
  } else if (take(&words, "commit_group")) {
    out->op = Opcode::kWgmmaCommit;
    out->operands = "";
  } else if (take(&words, "wait_group")) {
    out->op = Opcode::kWgmmaWait;
    out->operands = "u";
  } else if (take(&words, "mma_async")) {
    out->op = Opcode::kWarpMma;
    out->operands = "Yyyyyyyy";
    WarpMatrixDetail d;
    d.sparse = take(&words, "sp");
    d.saturate = take(&words, "satfinite");
    drop(&words, {"and", "popc"});
    const bool shape = take_shape(&words, &d);
    Formats formats;
    const bool right = shape && formats.parse(&words, 3, &d, &out->mod.type) && formats_fit(d) &&
                       factors_of_kind(nullptr, &d) && d.of_group() &&
                       d.stored_k() * bits_of(d.a) == 256 && bits_of(d.a) != 4 &&
                       !(d.a == Factor::kB1 && (d.sparse || d.saturate)) &&
                       // Integers have fewer widths.
                       (!is_integer(d.a) || d.n == 8 || d.n == 24 || d.n % 16 == 0);
    if (!right) {
      out->problem = "this form of wgmma is not supported";
      return;
    }
    out->mod.src_type = register_type(d.a);
    out->mod.detail = d.pack();
  } else {
    out->problem = "this wgmma instruction is not supported";
    return;
  }
  finish(words, out);
}

}  // namespace nearwarp::ptx
