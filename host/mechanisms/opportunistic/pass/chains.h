// Offload chains: short sequences of global loads, arithmetic and perhaps a store that can be
// executed where their data is.
//
// Source: A. Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA 2019 (OC),
// sections 4.1 and 4.2, table 1, and section 5 on multiply-add.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::opportunistic {

/// The answer to a chain (OC, table 1, last row).
enum class Response : uint8_t {
  kAck,     ///< it has been stored
  kData,    ///< a word for each thread
  kBitmap,  ///< a bit for each thread
};

/// A chain; all of its instructions are in one basic block.
///
/// Pattern 4, `c = f(a, c)` with one load in the table, is read as arithmetic on `a` alone: the
/// packet (OC, figure 5) has room for an immediate, not for a register of all threads.
struct Chain {
  uint8_t pattern = 0;  ///< 1 to 9 of OC's table 1
  compiler::BlockId block = 0;
  std::vector<compiler::InstrId> instructions;  ///< in the order of the text
  /// Other instructions between its first and its last: those that come before it, and those that
  /// come after it, each in the order of the text.
  std::vector<compiler::InstrId> hoisted, sunk;
  std::vector<compiler::InstrId> loads;  ///< one or two, in the order of the text
  std::vector<compiler::InstrId> alu;    ///< up to two
  compiler::InstrId store = compiler::kNone;
  Response response = Response::kAck;
  bool splits_fma = false;  ///< its arithmetic is the product of a multiply-add; the sum stays
};

/// A global load that no chain has.
struct Refused {
  compiler::InstrId at = 0;
  std::string reason;
};

struct Chains {
  std::vector<Chain> chains;     ///< in the order of their first instructions
  std::vector<Refused> refused;  ///< in the order of the instructions
};

/// The chains of a kernel. No two share an instruction, and none needs an access to memory to pass
/// another one.
Chains find_chains(const compiler::Kernel& kernel);

/// The chains of a kernel as text, ending with a line feed.
std::string format_chains(const compiler::Kernel& kernel);

}  // namespace nearwarp::opportunistic
