// A decoded kernel: the interpreter's operations, and descriptions for the executor beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/functional/instructions/codes.h"
#include "host/functional/instructions/decoded.h"
#include "host/functional/ptx/device_calls.h"
#include "host/functional/racecheck/rules.h"

namespace nearwarp::runtime {

/// How a row of the register file is filled before a thread block runs.
struct RowInit {
  enum class Kind : uint8_t {
    kValue,    ///< `value` in all lanes
    kParam,    ///< `bytes` at `value` in the parameter buffer, sign-extended if `is_signed`
    kSpecial,  ///< the special register `special`
  };
  Kind kind = Kind::kValue;
  bool wide = false;  ///< 64-bit lanes
  bool is_signed = false;
  uint8_t bytes = 4;
  ptx::SpecialReg special = ptx::SpecialReg::kTidX;
  uint16_t row = 0;
  uint64_t value = 0;
};

/// A barrier: bar.sync, bar.arrive, bar.red, barrier.cluster, or wgmma.wait_group, at which the
/// four warps of a warpgroup wait for each other.
struct BarrierDesc {
  enum class Kind : uint8_t {
    kSync,
    kArrive,
    kPopc,
    kAnd,
    kOr,
    kClusterArrive,
    kClusterWait,
    kGroup
  };
  Kind kind = Kind::kSync;
  bool orders = false;     ///< kClusterArrive: it has release semantics, not .relaxed
  bool has_count = false;  ///< the number of threads is an operand, in `count_row`
  bool aligned = true;     ///< all threads have to execute the same instruction
  uint16_t id_row = 0;
  uint16_t count_row = 0;    ///< number of threads; kGroup: of groups that may stay pending
  uint16_t predicate = 0;    ///< predicate operand of a reduction
  uint16_t destination = 0;  ///< row (popc) or predicate
  uint32_t instruction = 0;
};

/// A call of a function that the executor provides: vprintf, __assertfail, malloc, free, or one of
/// the CUDA runtime for device code.
struct SystemDesc {
  static constexpr uint32_t kMaxArguments = 10;
  exec::SystemKind kind = exec::SystemKind::kPrintf;
  ptx::DeviceCall call = ptx::DeviceCall::kNone;  ///< the function, for kDevice
  uint32_t num_arguments = 0;
  uint16_t rows[kMaxArguments] = {};
  bool wide[kMaxArguments] = {};  ///< the row has 64-bit lanes
  uint16_t result = exec::kNoRow;
  bool result_wide = false;
  uint32_t instruction = 0;
};

/// The lanes of a warp that must have arrived before a basic block runs.
struct Meeting {
  enum class Who : uint8_t {
    kNobody,
    kAllLanes,
    kMembers,  ///< for each lane, those of the mask in its word of `row`
  };
  Who who = Who::kNobody;
  uint16_t row = 0;
};

struct DecodedKernel {
  const compiler::Kernel* kernel = nullptr;
  std::vector<exec::Op> ops;
  std::vector<exec::BlockInfo> blocks;
  std::vector<Meeting> meetings;  ///< by basic block
  std::vector<exec::MemDesc> memory;
  std::vector<uint32_t> tables;
  std::vector<BarrierDesc> barriers;
  std::vector<SystemDesc> system_calls;
  std::vector<exec::ExtendedDesc> extended;
  std::vector<RowInit> inits;
  /// By memory descriptor, and by kCheckedSync::imm; empty unless the kernel is checked for races.
  std::vector<racecheck::AccessRules> rules;
  std::vector<racecheck::SyncRules> syncs;
  uint32_t num_rows = 0;
  uint32_t num_predicates = 0;
  bool meets_cluster = false;  ///< it has cluster barriers
  bool has_mbarriers = false;
  bool uses_reserved_shared = false;  ///< it reads a %reserved_smem_offset register
};

/// Address of a kernel's symbol in its space (kGlobal, kConst: device address).
using SymbolAddress = std::function<uint64_t(const compiler::Symbol&)>;

/// Decode a kernel. `path` is used in messages. Throws nearwarp::Error naming file, line and
/// statement for anything that the executor does not support. A `checked` kernel tells a
/// racecheck::Checker what it does, and leaves no traces.
DecodedKernel decode(const compiler::Kernel& kernel, const std::string& path,
                     const SymbolAddress& symbol_address, bool checked = false);

}  // namespace nearwarp::runtime
