// Mnemonics of conversions of floating point of 8, 6 and 4 bits, to tf32, by random bits, of those
// that are limited to finite halves, and of pairs of integers.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/functional/ptx/convert_details.h"
#include "host/functional/ptx/details.h"
#include "host/functional/ptx/mnemonic_families.h"

namespace nearwarp::ptx {
namespace {

// cvt.rs{.relu}{.satfinite}.{f16x2,bf16x2}.f32 d, a, b, bits;
// cvt.rs{.relu}.satfinite.{e4m3x4,...}.f32 d, {a, b, e, f}, bits
void random_rounding(WordList words, Mnemonic* out) {
  static constexpr std::pair<std::string_view, SmallFloat> kFormats[] = {
      {"e4m3x4", SmallFloat::kE4M3}, {"e5m2x4", SmallFloat::kE5M2}, {"e2m3x4", SmallFloat::kE2M3},
      {"e3m2x4", SmallFloat::kE3M2}, {"e2m1x4", SmallFloat::kE2M1}, {"f16x2", SmallFloat::kHalf},
      {"bf16x2", SmallFloat::kHalf}};
  SmallFloatDetail detail;
  out->op = Opcode::kCvt;
  out->mod.rounding = Rounding::kRs;
  drop(&words, {"rs"});
  out->mod.relu = take(&words, "relu");
  out->mod.saturate = take(&words, "satfinite");
  for (const auto& [name, format] : kFormats)
    if (detail.format == SmallFloat::kNone && take(&words, name)) {
      detail.format = format;
      detail.bf16 = name == "bf16x2";
    }
  const bool halves = detail.format == SmallFloat::kHalf;
  if (detail.format == SmallFloat::kNone || !take(&words, "f32") ||
      (!halves && !out->mod.saturate)) {
    out->problem = "this form of cvt.rs is not supported";
    return;
  }
  out->mod.type = detail.format == SmallFloat::kE2M1 ? Type::kB16 : Type::kB32;
  out->mod.src_type = Type::kF32;
  out->mod.detail = detail.pack();
  out->operands = halves ? "Dssu" : "Dyu";
  finish(words, out);
}

// cvt.rn{.relu}.satfinite.{f16,bf16,f16x2,bf16x2}.f32; false if it is something else.
bool finite_halves(WordList words, Mnemonic* out) {
  if (!take(&words, "satfinite") || words.empty() || words.back() != "f32") return false;
  std::string text = "cvt";
  for (const std::string_view word : words) text.append(".").append(word);
  const Mnemonic plain = decode_mnemonic(text);
  const Type type = plain.mod.type;
  if (type != Type::kF16 && type != Type::kBF16 && type != Type::kF16x2 && type != Type::kBF16x2)
    return false;
  *out = plain;
  out->mod.mode = static_cast<uint8_t>(CvtMode::kLimited);
  return true;
}

// cvt.pack.sat.{u16,s16}.s32 d, a, b; cvt.pack.sat.{u8,s8,u4,s4,u2,s2}.s32.b32 d, a, b, c
void packed_conversion(WordList words, Mnemonic* out) {
  static constexpr std::pair<std::string_view, PackDetail> kKinds[] = {
      {"u16", {16, false}}, {"s16", {16, true}}, {"u8", {8, false}}, {"s8", {8, true}},
      {"u4", {4, false}},   {"s4", {4, true}},   {"u2", {2, false}}, {"s2", {2, true}}};
  out->op = Opcode::kCvt;
  out->mod.mode = static_cast<uint8_t>(CvtMode::kPack);
  out->mod.type = Type::kB32;
  out->mod.src_type = Type::kS32;
  drop(&words, {"pack"});
  const auto* const kind = words.size() < 2
                               ? std::end(kKinds)
                               : std::find_if(std::begin(kKinds), std::end(kKinds),
                                              [&](const auto& k) { return k.first == words[1]; });
  if (kind == std::end(kKinds) || !take(&words, "sat") || !take(&words, kind->first) ||
      !take(&words, "s32") || (kind->second.bits < 16 && !take(&words, "b32"))) {
    out->problem = "this form of cvt.pack is not supported";
    return;
  }
  out->mod.detail = kind->second.pack();
  out->operands = kind->second.bits < 16 ? "Dssu" : "Dss";
  finish(words, out);
}

}  // namespace

// cvt of pairs of 8-bit floating-point numbers, and to tf32.
bool small_float(WordList words, Mnemonic* out) {
  if (std::find(words.begin(), words.end(), "rs") != words.end()) {
    random_rounding(words, out);
    return true;
  }
  if (!words.empty() && words.front() == "pack") {
    packed_conversion(words, out);
    return true;
  }
  static constexpr std::pair<std::string_view, SmallFloat> kFormats[] = {
      {"e4m3x2", SmallFloat::kE4M3},  {"e5m2x2", SmallFloat::kE5M2}, {"tf32", SmallFloat::kTF32},
      {"e2m3x2", SmallFloat::kE2M3},  {"e3m2x2", SmallFloat::kE3M2}, {"e2m1x2", SmallFloat::kE2M1},
      {"ue8m0x2", SmallFloat::kUE8M0}};
  const auto found = std::find_if(std::begin(kFormats), std::end(kFormats), [&](const auto& f) {
    return std::find(words.begin(), words.end(), f.first) != words.end();
  });
  if (found == std::end(kFormats)) return finite_halves(words, out);
  SmallFloatDetail detail;
  detail.format = found->second;
  const bool tf32 = detail.format == SmallFloat::kTF32;
  detail.widens = !tf32 && words.back() == found->first;
  take(&words, found->first);
  out->op = Opcode::kCvt;
  out->mod.relu = take(&words, "relu");
  out->mod.saturate = take(&words, "satfinite");
  const bool scale = detail.format == SmallFloat::kUE8M0;
  if (tf32 && take(&words, "rna")) {
    out->mod.rounding = Rounding::kRna;
  } else if ((tf32 || scale) && take(&words, "rz")) {
    out->mod.rounding = Rounding::kRz;
  } else if (scale && take(&words, "rp")) {
    out->mod.rounding = Rounding::kRp;
  } else if (take(&words, "rn")) {
    out->mod.rounding = Rounding::kRn;
  } else {
    out->problem = "the rounding is missing";
  }
  const std::vector<Type> types = take_types(&words);
  detail.bf16 = types.size() == 1 && types[0] == Type::kBF16x2;
  const bool halves = detail.bf16 ? scale : types.size() == 1 && types[0] == Type::kF16x2 && !scale;
  const bool single = types.size() == 1 && types[0] == Type::kF32;
  if (!(detail.widens ? halves : tf32 ? single : halves || single))
    out->problem = "the other type must be .f32 or .f16x2";
  if (!tf32 && !scale && detail.widens == out->mod.saturate)
    out->problem = ".satfinite is for conversions to 8 bits";
  const Type pair = detail.format == SmallFloat::kE2M1 ? Type::kB8 : Type::kB16;
  const Type wide = detail.bf16 ? Type::kBF16x2 : Type::kF16x2;
  out->mod.type = tf32 ? Type::kB32 : detail.widens ? wide : pair;
  out->mod.src_type = detail.widens ? pair : single ? Type::kF32 : wide;
  out->operands = single && !tf32 ? "Dss" : "Ds";
  out->mod.detail = detail.pack();
  finish(words, out);
  return true;
}

}  // namespace nearwarp::ptx
