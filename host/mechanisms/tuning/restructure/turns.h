// Loops in which threads take elements in turns.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {

/// Definitions and uses of registers, and what registers are sums of.
class Values {
 public:
  explicit Values(const Kernel& kernel);

  /// Products of special registers (sorted) and how often each is taken; the empty one is a number.
  using Sum = std::map<std::vector<ptx::SpecialReg>, int64_t>;

  const std::vector<InstrId>& definitions(RegId reg) const { return definitions_[reg]; }
  const std::vector<InstrId>& uses(RegId reg) const { return uses_[reg]; }
  BlockId block_of(InstrId i) const { return block_of_[i]; }
  /// The only definition of a register, unguarded; kNone.
  InstrId only(RegId reg) const;
  /// A register of 32 bits out of special ones and numbers.
  std::optional<Sum> sum_of(const Operand& operand, int depth = 0) const;
  /// A pointer: the parameter that it comes from, and the rest as `scale` times `index`, plus
  /// `offset`. Nothing if it is no such sum.
  struct Place {
    std::string parameter;
    RegId index = kNone;  ///< kNone: the array's beginning
    int64_t scale = 0, offset = 0;
    bool operator==(const Place&) const = default;
  };
  std::optional<Place> place_of(const Address& address) const;
  /// The parameter that a pointer comes from, whatever is added to it; empty: not known.
  std::string base_of(RegId reg, int depth = 0) const;

 private:
  std::optional<Place> place_of(RegId reg, int depth) const;

  const Kernel& kernel_;
  std::vector<std::vector<InstrId>> definitions_, uses_;
  std::vector<BlockId> block_of_;
};

/// for (i = thread; i < bound; i += threads).
struct Turns {
  uint32_t loop = kNone;  ///< index into Kernel::loops
  RegId index = kNone;
  InstrId begin = kNone;         ///< sets the index
  InstrId step = kNone;          ///< adds to it
  std::vector<InstrId> bounded;  ///< compare it with the bound, in front of the loop and at its end
  Operand bound;
  bool is_signed = false;
  /// Threads of a block: %ntid.x, or the number that the program says they are.
  std::optional<int64_t> block_threads;
};

/// Where `in` stands, "path:line", and what is wrong, for errors.
[[noreturn]] void refuse(const std::string& path, const Instruction& in, const std::string& what,
                         const std::string& right);

/// The loop over the array of `parameter`. Throws nearwarp::Error where there is none such, or
/// several.
Turns find_turns(const Kernel& kernel, const Values& values, const std::string& path,
                 const std::string& parameter, bool of_block);

}  // namespace nearwarp::compiler
