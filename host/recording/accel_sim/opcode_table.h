// SASS opcodes and what the timing model distinguishes of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "host/functional/ptx/types.h"

namespace nearwarp::sass {

/// The kinds of operations in which reports count opcodes.
enum class OpcodeClass : uint8_t {
  kInteger,
  kFp32,
  kFp16,
  kFp64,
  kTensor,   ///< matrix operations of a warp
  kSpecial,  ///< reciprocals, roots, sines, ...
  kConvert,
  kMove,
  kWarp,     ///< shuffles, votes
  kUniform,  ///< the datapath that computes once for a warp
  kConstant,
  kGlobal,
  kShared,
  kLocal,
  kGeneric,
  kTexture,  ///< textures and surfaces
  kBulkCopy,
  kBarrier,
  kFence,
  kBranch,
  kControl,
  kAsync,  ///< barriers of asynchronous copies, of matrix instructions and of clusters
  kUnknown,
};
inline constexpr uint32_t kNumOpcodeClasses = 23;
std::string_view class_name(OpcodeClass c);

/// A row of the table.
struct OpcodeInfo {
  std::string_view name;  ///< without modifiers
  OpcodeClass opcode_class = OpcodeClass::kUnknown;
  /// The PTX operation whose port, latency and energy it has
  /// (host/timing/program/instruction_class.cpp).
  ptx::Opcode op = ptx::Opcode::kAdd;
  ptx::Type type = ptx::Type::kB32;
};

/// The row of an opcode without its modifiers; nullptr if the table has none.
const OpcodeInfo* find_opcode(std::string_view name);

/// True for global, shared, local and generic accesses, whose addresses traces have.
bool is_memory(OpcodeClass c);

}  // namespace nearwarp::sass
