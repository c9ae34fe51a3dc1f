// Finds loops in which threads take the elements of an array in turns.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {

/// Definitions and uses of registers, and registers as sums.
class Values {
 public:
  explicit Values(const Kernel& kernel);

  /// A sum of products of special registers (sorted), with coefficients; the empty product is 1.
  using Sum = std::map<std::vector<ptx::SpecialReg>, int64_t>;

  const std::vector<InstrId>& definitions(RegId reg) const { return definitions_[reg]; }
  const std::vector<InstrId>& uses(RegId reg) const { return uses_[reg]; }
  BlockId block_of(InstrId i) const { return block_of_[i]; }
  /// The only definition of a register, if it has one and that is not guarded; else kNone.
  InstrId only(RegId reg) const;
  /// The value of a 32-bit operand as a sum of special registers; nothing if it is no such sum.
  std::optional<Sum> sum_of(const Operand& operand, int depth = 0) const;
  /// An address: a pointer parameter, plus `scale` times register `index`, plus `offset`.
  struct Place {
    std::string parameter;
    RegId index = kNone;  ///< kNone: the array's beginning
    int64_t scale = 0, offset = 0;
    bool operator==(const Place&) const = default;
  };
  /// An instruction's address; nothing if it is no such sum.
  std::optional<Place> place_of(const Address& address) const;
  /// The parameter that a pointer comes from, whatever is added to it; empty if it is not known.
  std::string base_of(RegId reg, int depth = 0) const;

 private:
  std::optional<Place> place_of(RegId reg, int depth) const;

  const Kernel& kernel_;
  std::vector<std::vector<InstrId>> definitions_, uses_;
  std::vector<BlockId> block_of_;
};

/// A loop of the form for (i = thread; i < bound; i += threads).
struct Turns {
  uint32_t loop = kNone;         ///< index into Kernel::loops
  RegId index = kNone;           ///< register of i
  InstrId begin = kNone;         ///< instruction that sets the index
  InstrId step = kNone;          ///< instruction that adds the step to it
  std::vector<InstrId> bounded;  ///< comparisons of the index, in front of the loop and at its end
  Operand bound;
  bool is_signed = false;  ///< are the comparisons signed?
  /// The program's constant for the number of threads of a block; nothing if it uses %ntid.x.
  std::optional<int64_t> block_threads;
};

/// Throw nearwarp::Error about instruction `in`, with "path:line".
[[noreturn]] void refuse(const std::string& path, const Instruction& in, const std::string& what,
                         const std::string& right);

/// The loop over the array of `parameter`. Throws nearwarp::Error if there is none, or several.
Turns find_turns(const Kernel& kernel, const Values& values, const std::string& path,
                 const std::string& parameter, bool of_block);

}  // namespace nearwarp::compiler
