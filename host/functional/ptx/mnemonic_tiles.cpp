// Mnemonics of what works on tiles: copies of tensors, products of a warp group, and products of
// numbers that registers have no types for.
#include <algorithm>
#include <array>
#include <optional>

#include "host/functional/ptx/details.h"
#include "host/functional/ptx/mnemonic_families.h"

namespace nearwarp::ptx {
namespace {

using Result = WarpMatrixDetail::Result;

constexpr std::pair<std::string_view, Factor> kFactors[] = {
    {"f16", Factor::kF16},   {"bf16", Factor::kBF16}, {"tf32", Factor::kTF32},
    {"e4m3", Factor::kE4M3}, {"e5m2", Factor::kE5M2}, {"u8", Factor::kU8},
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
bool is_small_float(Factor f) { return f >= Factor::kE4M3 && f <= Factor::kE2M1; }

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

/// Shapes of mma that kWarpMma has, by the width of factors and whether a is sparse.
bool mma_shape(const WarpMatrixDetail& d) {
  const uint32_t bits = bits_of(d.a);
  if (d.m == 8 && d.n == 8 && d.k == 4) return d.a == Factor::kF16 && !d.sparse;
  if (d.n != 8) return false;
  // A row of a has 128 or 256 bits; sparse ones twice as many, half of which are there.
  const uint32_t row = d.k * bits / (d.sparse ? 2 : 1);
  if (d.m == 8) return !d.sparse && row == 128 && bits <= 8;
  if (d.sparse && bits == 1) return false;
  return d.m == 16 && (row == 128 || row == 256);
}

}  // namespace

bool small_matrix(WordList words, Mnemonic* out) {
  const auto has = [&](std::string_view w) {
    return std::find(words.begin(), words.end(), w) != words.end();
  };
  const bool sparse = has("sp") || has("sp::ordered_metadata");
  const bool small = has("e4m3") || has("e5m2") || has("s4") || has("u4") || has("b1");
  const bool quads = has("m8n8k4") && !has("f64");
  for (const std::string_view word : words)
    if (word == "block_scale" || word.starts_with("kind::") || word.starts_with("scale_vec")) {
      out->op = Opcode::kWarpMma;
      out->problem = "mma with scaled blocks (." + std::string(word) +
                     ") belongs to Blackwell and is not supported";
      return true;
    }
  if (!sparse && !small && !quads) return false;
  WarpMatrixDetail d;
  out->op = Opcode::kWarpMma;
  d.sparse = sparse;
  drop(&words, {"sync", "aligned", "sp", "sp::ordered_metadata", "popc"});
  d.exclusive_or = take(&words, "xor");
  drop(&words, {"and"});
  d.saturate = take(&words, "satfinite");
  std::vector<bool> columns;
  std::erase_if(words, [&](std::string_view word) {
    if (word == "row" || word == "col") columns.push_back(word == "col");
    return word == "row" || word == "col";
  });
  const bool shape = take_shape(&words, &d);
  Formats formats;
  if (!shape || columns.size() != 2 || !formats.parse(&words, 4, &d, &out->mod.type) ||
      !formats_fit(d) || !mma_shape(d) || (!quads && (columns[0] || !columns[1]))) {
    out->problem = "this form of mma is not supported";
    return true;
  }
  d.a_column = quads && columns[0];
  d.b_column = quads && columns[1];
  out->mod.src_type = register_type(d.a);
  out->mod.detail = d.pack();
  out->operands = sparse ? "Yyyyyu" : "Yyyy";
  finish(words, out);
  return true;
}

// wgmma.mma_async{.sp}.sync.aligned.shape.dtype.atype.btype, wgmma.fence, commit_group, wait_group
void warp_group_matrix(WordList words, Mnemonic* out) {
  drop(&words, {"sync", "aligned"});
  if (take(&words, "fence")) {
    out->op = Opcode::kNop;  // registers and memory are as they are
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
    if (take(&words, "sp")) {
      out->problem = "wgmma with a sparse factor is not supported";
      return;
    }
    WarpMatrixDetail d;
    d.saturate = take(&words, "satfinite");
    drop(&words, {"and", "popc"});
    const bool shape = take_shape(&words, &d);
    Formats formats;
    const bool right = shape && formats.parse(&words, 3, &d, &out->mod.type) && formats_fit(d) &&
                       d.of_group() && d.k * bits_of(d.a) == 256 && bits_of(d.a) != 4 &&
                       // Products of integers have fewer widths.
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

// Reads the words behind cp.async.bulk.tensor, cp.reduce.async.bulk.tensor: dimensions, spaces in
// the order destination, source, and how the box is found.
bool tensor_copy(WordList* words, bool reduces, Mnemonic* out) {
  TensorDetail d;
  for (uint8_t n = 1; n <= 5; ++n) {
    const char name[] = {static_cast<char>('0' + n), 'd', '\0'};
    if (take(words, std::string_view(name, 2))) d.dimensions = n;
  }
  if (d.dimensions == 0) {
    out->problem = "the number of the tensor's dimensions is missing";
    return false;
  }
  for (const std::string_view word : *words)
    if (word.starts_with("tile::") || word.starts_with("im2col::") ||
        word.starts_with("cta_group")) {
      out->problem = "." + std::string(word) + " belongs to Blackwell and is not supported";
      return false;
    }
  const auto first = [&](std::initializer_list<std::string_view> names) {
    return std::find_if(words->begin(), words->end(),
                        [&](std::string_view w) {
                          return std::find(names.begin(), names.end(), w) != names.end();
                        }) -
           words->begin();
  };
  const bool to_global = first({"global"}) < first({"shared::cluster", "shared::cta"});
  drop(words, {"global", "shared::cluster", "shared::cta", "tile"});
  if (take(words, "im2col")) d.im2col = d.has_offsets = true;
  if (take(words, "im2col_no_offs")) d.im2col = true;
  d.multicast = take(words, "multicast::cluster");
  const bool by_barrier = take(words, "mbarrier::complete_tx::bytes"),
             by_group = take(words, "bulk_group");
  if (by_barrier == by_group || by_group != to_global || (to_global && d.multicast) ||
      (reduces && !to_global)) {
    out->problem = "this form of cp.async.bulk.tensor is not supported";
    return false;
  }
  if (to_global) d.has_offsets = false;
  out->op = Opcode::kCpAsync;
  out->mod.space = Space::kShared;
  out->mod.type = Type::kB32;
  out->mod.cache_hint = take(words, "L2::cache_hint");
  out->mod.mode = static_cast<uint8_t>(reduces     ? BulkCopy::kTensorReduce
                                       : to_global ? BulkCopy::kTensorStore
                                                   : BulkCopy::kTensorLoad);
  out->mod.detail = d.pack();
  out->operands = to_global ? "XA?h" : "AXA?y?u?h";
  return true;
}

namespace {

bool take_operation(WordList* words, Modifiers* m) {
  static constexpr std::pair<std::string_view, AtomicOp> kOps[] = {
      {"add", AtomicOp::kAdd}, {"min", AtomicOp::kMin}, {"max", AtomicOp::kMax},
      {"inc", AtomicOp::kInc}, {"dec", AtomicOp::kDec}, {"and", AtomicOp::kAnd},
      {"or", AtomicOp::kOr},   {"xor", AtomicOp::kXor}};
  for (const auto& [name, op] : kOps)
    if (take(words, name)) {
      m->atomic = op;
      return true;
    }
  return false;
}

}  // namespace

// cp.reduce.async.bulk{.tensor}: combines what it copies with what is there.
void bulk_reduction(WordList words, Mnemonic* out) {
  out->op = Opcode::kCpAsync;
  if (!take(&words, "async") || !take(&words, "bulk")) {
    out->problem = "the instruction is not supported";
    return;
  }
  if (!take_operation(&words, &out->mod)) {
    out->problem = "the operation is missing";
    return;
  }
  if (take(&words, "tensor")) {
    const AtomicOp op = out->mod.atomic;
    if (!tensor_copy(&words, true, out)) return;
    out->mod.atomic = op;
    finish(words, out);
    return;
  }
  const bool by_barrier = take(&words, "mbarrier::complete_tx::bytes"),
             by_group = take(&words, "bulk_group"), global = take(&words, "global");
  drop(&words, {"shared::cluster", "shared::cta", "noftz"});
  out->mod.cache_hint = take(&words, "L2::cache_hint");
  const std::vector<Type> types = take_types(&words);
  if (by_barrier == by_group || by_group != global || types.size() != 1) {
    out->problem = "this form of cp.reduce.async.bulk is not supported";
    return;
  }
  out->mod.type = types[0];
  out->mod.mode = static_cast<uint8_t>(global ? BulkCopy::kReduceGlobal : BulkCopy::kReduceCluster);
  out->operands = global ? "AAu?h" : "AAuA?h";
  finish(words, out);
}

// st.async, red.async: a store or an atomic operation in the shared memory of a block of the
// cluster, whose bytes an mbarrier there counts.
bool asynchronous_store(std::string_view base, WordList words, Mnemonic* out) {
  if (!take(&words, "async")) return false;
  out->op = Opcode::kCpAsync;
  out->operands = "AyA";
  const bool counted = take(&words, "mbarrier::complete_tx::bytes");
  drop(&words, {"weak", "relaxed", "cluster", "shared::cluster"});
  if (base == "red" && !take_operation(&words, &out->mod))
    out->problem = "the operation is missing";
  out->mod.vector = 1;
  if (base == "st" && take(&words, "v2")) out->mod.vector = 2;
  if (base == "st" && take(&words, "v4")) out->mod.vector = 4;
  const std::vector<Type> types = take_types(&words);
  if (!counted || types.size() != 1 || (size_of(types[0]) != 4 && size_of(types[0]) != 8)) {
    out->problem = "this form of " + std::string(base) + ".async is not supported";
    return true;
  }
  out->mod.type = types[0];
  out->mod.space = Space::kShared;
  out->mod.mode = static_cast<uint8_t>(BulkCopy::kWord);
  finish(words, out);
  return true;
}

// multimem: all of the one device's memory is its own, so that the sum over devices is what is
// there.
bool multimem(WordList words, Mnemonic* out) {
  const bool load = take(&words, "ld_reduce"), store = !load && take(&words, "st");
  if (!load && !store && !take(&words, "red")) return false;
  std::string text = load ? "ld" : store ? "st" : "red";
  std::string type, operation;
  drop(&words, {"acc::f32", "acc::f16", "async"});
  Modifiers ignored;
  for (const std::string_view word : words) {
    WordList one = {word};
    if (load && take_operation(&one, &ignored)) continue;  // of one value
    std::string_view name = word;
    if (!load && !store) {
      text.append(".").append(word);
      continue;
    }
    if (word == "f16" || word == "bf16") name = "b16";
    if (word == "f16x2" || word == "bf16x2" || word.starts_with("e4m3") || word.starts_with("e5m2"))
      name = "b32";
    text.append(".").append(name);
  }
  *out = decode_mnemonic(text);
  return true;
}

// clusterlaunchcontrol.try_cancel: no launch of a cluster is ever cancelled, which a program has to
// reckon with; so query_cancel always says that none was.
void launch_control(WordList words, Mnemonic* out) {
  if (take(&words, "try_cancel")) {
    drop(&words, {"async", "shared::cta", "mbarrier::complete_tx::bytes", "multicast::cluster::all",
                  "b128"});
    out->op = Opcode::kCpAsync;
    out->mod.mode = static_cast<uint8_t>(BulkCopy::kNoCancellation);
    out->mod.space = Space::kShared;
    out->mod.type = Type::kB64;
    out->operands = "AA";
  } else if (take(&words, "query_cancel")) {
    out->op = Opcode::kMapa;
    out->mod.mode = 2;
    const bool canceled = take(&words, "is_canceled");
    drop(&words, {"pred", "b128", "b32", "get_first_ctaid", "get_first_ctaid::x",
                  "get_first_ctaid::y", "get_first_ctaid::z", "v4"});
    out->mod.type = canceled ? Type::kPred : Type::kB32;
    out->operands = "Yy";
  } else {
    out->problem = "this form of clusterlaunchcontrol is not supported";
  }
  finish(words, out);
}

// tensormap.replace.tile.field.space.b1024.type [map]{, ordinal}, value; tensormap.cp_fenceproxy
// [to], [from], bytes
void change_of_map(WordList words, Mnemonic* out) {
  static constexpr std::pair<std::string_view, MapField> kFields[] = {
      {"global_address", MapField::kAddress},
      {"rank", MapField::kRank},
      {"box_dim", MapField::kBox},
      {"global_dim", MapField::kSize},
      {"global_stride", MapField::kStride},
      {"element_stride", MapField::kStep},
      {"elemtype", MapField::kType},
      {"interleave_layout", MapField::kInterleave},
      {"swizzle_mode", MapField::kSwizzle},
      {"fill_mode", MapField::kFill}};
  out->op = Opcode::kCpAsync;
  out->mod.type = Type::kB32;
  take_space(&words, &out->mod);
  if (take(&words, "cp_fenceproxy")) {
    take_space(&words, &out->mod);
    drop(&words, {"tensormap::generic", "release", "gpu", "cta", "cluster", "sys", "sync",
                  "aligned", "shared::cta", "global"});
    out->mod.space = Space::kShared;
    out->mod.mode = static_cast<uint8_t>(BulkCopy::kMap);
    out->operands = "AAu";
    finish(words, out);
    return;
  }
  const auto* field = std::find_if(std::begin(kFields), std::end(kFields),
                                   [&](const auto& f) { return take(&words, f.first); });
  if (!take(&words, "replace") || !take(&words, "tile") || field == std::end(kFields)) {
    out->problem = "this form of tensormap is not supported";
    return;
  }
  drop(&words, {"b1024", "b32", "b64"});
  out->mod.mode = static_cast<uint8_t>(BulkCopy::kMapField);
  out->mod.detail = static_cast<uint32_t>(field->second);
  out->operands = "Au?u";
  finish(words, out);
}

}  // namespace nearwarp::ptx
