// Mnemonics of what works on tiles: copies of tensors, stores that are counted, changes of maps.
#include <algorithm>

#include "host/functional/ptx/details.h"
#include "host/functional/ptx/mnemonic_families.h"

namespace nearwarp::ptx {

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
  const bool gathers = take(words, "tile::gather4"), scatters = take(words, "tile::scatter4");
  d.four_rows = gathers || scatters;
  if (take(words, "im2col::w")) d.along = TensorDetail::Along::kWidth;
  if (take(words, "im2col::w::128")) d.along = TensorDetail::Along::kWidth128;
  const bool wide = d.along != TensorDetail::Along::kAll;
  if (wide) d.im2col = d.has_offsets = true;
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
  const bool to_cluster = take(words, "shared::cluster");
  drop(words, {"global", "shared::cta", "tile"});
  if (take(words, "im2col")) d.im2col = d.has_offsets = true;
  if (take(words, "im2col_no_offs")) d.im2col = true;
  d.multicast = take(words, "multicast::cluster");
  const bool by_barrier = take(words, "mbarrier::complete_tx::bytes"),
             by_group = take(words, "bulk_group");
  if (by_barrier == by_group || by_group != to_global || (d.multicast && !to_cluster) ||
      (reduces && !to_global) || (gathers && to_global) || (scatters && !to_global) ||
      (d.four_rows && (d.dimensions != 2 || d.im2col)) || (d.im2col && d.dimensions < 3) ||
      (wide && to_global)) {
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
  drop(&words, {"shared::cluster", "shared::cta"});
  const bool flushes = !take(&words, "noftz");
  out->mod.cache_hint = take(&words, "L2::cache_hint");
  const std::vector<Type> types = take_types(&words);
  const AtomicOp op = out->mod.atomic;
  const bool halves = types.size() == 1 && size_of(types[0]) == 2, add = op == AtomicOp::kAdd;
  const bool right = types.size() == 1 && flushes == !(halves && add) &&
                     (add ? types[0] != Type::kS64 : halves || !is_float(types[0])) &&
                     (global || (!is_float(types[0]) && (add || size_of(types[0]) == 4)));
  if (by_barrier == by_group || by_group != global || !right) {
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
