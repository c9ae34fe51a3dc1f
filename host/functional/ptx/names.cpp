// Names of types, spaces and special registers.
#include <algorithm>
#include <array>
#include <utility>

#include "host/functional/ptx/mnemonic.h"

namespace nearwarp::ptx {
namespace {

constexpr std::array<std::pair<std::string_view, Type>, 20> kTypes = {{
    {"pred", Type::kPred}, {"b8", Type::kB8},         {"b16", Type::kB16}, {"b32", Type::kB32},
    {"b64", Type::kB64},   {"b128", Type::kB128},     {"u8", Type::kU8},   {"u16", Type::kU16},
    {"u32", Type::kU32},   {"u64", Type::kU64},       {"s8", Type::kS8},   {"s16", Type::kS16},
    {"s32", Type::kS32},   {"s64", Type::kS64},       {"f16", Type::kF16}, {"f16x2", Type::kF16x2},
    {"bf16", Type::kBF16}, {"bf16x2", Type::kBF16x2}, {"f32", Type::kF32}, {"f64", Type::kF64},
}};

// In the order of SpecialReg.
constexpr std::array<std::string_view, 54> kSpecials = {
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%envreg1",
    "%envreg2",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%is_explicit_cluster",
    "%zero",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%reserved_smem_offset_0",
    "%reserved_smem_offset_1",
};

// Registers with other names, by their beginning.
constexpr std::array<std::pair<std::string_view, SpecialReg>, 2> kOtherNames = {{
    {"%aggr_smem_size", SpecialReg::kTotalSmemSize},
    {"%envreg", SpecialReg::kZero},
}};

constexpr std::array<std::string_view, 4> kUnsupportedSpecials = {
    "%pm",
    "%current_graph_exec",
    "%tid",
    "%ctaid",
};

}  // namespace

Type type_by_name(std::string_view name) {
  for (const auto& [text, type] : kTypes) {
    if (text == name) return type;
  }
  return Type::kNone;
}

std::string_view name_of(Type type) {
  for (const auto& [text, candidate] : kTypes) {
    if (candidate == type) return text;
  }
  return {};
}

std::string_view name_of(Space space) {
  switch (space) {
    case Space::kGlobal:
      return "global";
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kConst:
      return "const";
    case Space::kParam:
      return "param";
    case Space::kNone:
    case Space::kGeneric:
      break;
  }
  return {};
}

bool special_by_name(std::string_view name, SpecialReg* reg) {
  const auto it = std::find(kSpecials.begin(), kSpecials.end(), name);
  if (it == kSpecials.end()) {
    for (const auto& [prefix, meaning] : kOtherNames) {
      if (!name.starts_with(prefix)) continue;
      *reg = meaning;
      return true;
    }
    return false;
  }
  *reg = static_cast<SpecialReg>(it - kSpecials.begin());
  return true;
}

bool is_unsupported_special(std::string_view name) {
  return std::any_of(kUnsupportedSpecials.begin(), kUnsupportedSpecials.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string_view name_of(SpecialReg reg) { return kSpecials[static_cast<size_t>(reg)]; }

Type type_of(SpecialReg reg) {
  switch (reg) {
    case SpecialReg::kGridid:
    case SpecialReg::kClock64:
    case SpecialReg::kGlobaltimer:
      return Type::kU64;
    default:
      return Type::kU32;
  }
}

}  // namespace nearwarp::ptx
