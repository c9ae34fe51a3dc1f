// Uses that pieces of code make of shared memory: may an offloaded warp take the array along, as an
// accumulator that is merged when it returns, or as a table that it only reads?
//
// Source: Y. Wu et al., "Tuning Applications for Efficient GPU Offloading to In-Memory Processing",
// ICS 2020, section 3.6. There, the developer says so; here, the code may prove it, too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tuning/shared/annotations.h"

namespace nearwarp::compiler {

/// Does no thread ask for its place in y or z? Then its blocks are most likely of one dimension,
/// for analyses without launches.
bool reads_x_alone(const Kernel& kernel);

/// Which shared arrays may go along.
struct SharedModel {
  bool on = false;      ///< false: code that accesses shared memory stays at home
  bool proves = false;  ///< annotated arrays, and those of which the code says enough
  std::vector<SharedAnnotation> annotations;
  uint32_t capacity = 0;  ///< bytes of a stack SM's shared memory
  /// Lanes of a warp follow one another in x, in one row: thread blocks of one dimension, or of
  /// whole warps in x. Without it a whole array goes along, where else a warp's part of it would.
  bool flat_blocks = false;
};

/// Why no array can go along with a piece.
enum class SharedRefusal : uint8_t {
  kFits,
  kUnknown,  ///< which array, or how many bytes of it
  kSeveral,  ///< more than one array
  kPattern,  ///< neither only read nor only added to
  kFull,     ///< larger than a stack SM's shared memory
};

/// The use that a piece of code makes of shared memory.
struct SharedUse {
  SharedKind kind = SharedKind::kNone;
  uint32_t symbol = kNone;  ///< the array: index into Kernel::symbols
  uint32_t bytes = 0;       ///< that go along
  bool annotated = false;
  SharedRefusal refusal = SharedRefusal::kFits;
  InstrId instruction = kNone;  ///< that a refusal is about
};

/// The shared arrays of a kernel, and every access to them.
class SharedArrays {
 public:
  SharedArrays(const Kernel& kernel, const SharedModel& model);

  /// Is this an access that some piece may hold? Without SharedModel::on none is.
  bool admits(InstrId instruction) const {
    return !accesses_.empty() && accesses_.contains(instruction);
  }
  /// The use by instructions [first_of(b), ..] of `blocks`: all of a block, but those of `entry`
  /// in front of `first`.
  SharedUse use_of(const std::vector<BlockId>& blocks, BlockId entry, InstrId first) const;

 private:
  /// A value as a sum of values that all lanes of a warp agree on, by the instructions that compute
  /// them, and of something between two bounds; modulo 2^32, as addresses are computed.
  struct Range {
    std::map<InstrId, int64_t> uniform;
    int64_t low = 0, high = 0;
  };
  struct Access {
    uint32_t symbol = kNone;  ///< kNone: not known
    uint32_t bytes = 0;       ///< of a lane
  };
  /// The instructions of a piece, for questions about its registers.
  struct Scope {
    std::vector<bool> blocks;
    BlockId entry = kNone;
    InstrId first = 0;
  };

  void find_accesses();
  /// Symbols that the value of a register may come from.
  void origins(RegId reg, std::vector<bool>& seen, std::vector<uint32_t>& symbols) const;
  bool is_inside(const Scope& scope, InstrId i) const;
  /// The only instruction, an unguarded one, whose value of `reg` instruction `at` may read; kNone
  /// if there is no such.
  InstrId definition(RegId reg, InstrId at) const;
  InstrId find_definition(RegId reg, InstrId at) const;
  // Facts of a register or operand as instruction `at` reads it:
  /// Bits in which lanes of a warp may differ.
  uint64_t varying(RegId reg, InstrId at, int depth) const;
  uint64_t varying(const Operand& operand, InstrId at, int depth) const;
  /// Is it the same whenever a piece comes there?
  bool is_fixed(const Scope& scope, RegId reg, InstrId at, int depth) const;
  std::optional<Range> range_of(const Scope& scope, RegId reg, InstrId at, int depth) const;
  std::optional<Range> range_of(const Scope& scope, const Operand& operand, InstrId at,
                                int depth) const;
  /// Bytes of the array that one warp may touch.
  uint32_t footprint(const Scope& scope, const std::vector<InstrId>& accesses) const;
  /// Do the accesses only add to the array, with one operation? Else the first that does not.
  std::optional<InstrId> not_accumulating(const std::vector<InstrId>& accesses) const;
  /// The store that ends load, operation, store of one place, if `load` begins such; and the
  /// operation, as an atomic one.
  struct Update {
    InstrId store = kNone;
    ptx::AtomicOp op = ptx::AtomicOp::kNone;
  };
  std::optional<Update> update_at(InstrId load) const;
  const SharedAnnotation* annotation_of(uint32_t symbol) const;

  const Kernel* kernel_;
  const SharedModel* model_;
  std::map<InstrId, Access> accesses_;
  std::vector<std::vector<InstrId>> definitions_;               ///< by register
  std::vector<std::vector<InstrId>> uses_;                      ///< by register
  std::vector<BlockId> block_of_;                               ///< by instruction
  mutable std::map<std::pair<RegId, InstrId>, InstrId> found_;  ///< definition() has been asked
};

}  // namespace nearwarp::compiler
