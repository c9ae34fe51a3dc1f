// One line of a trace: an instruction that a warp executed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/recording/accel_sim/trace_list.h"

namespace nearwarp::sass {

/// The part of a line that every execution of an instruction has.
struct StaticPart {
  std::string opcode;               ///< with its modifiers
  std::vector<uint8_t> dsts, srcs;  ///< numbers of registers; those that are always zero left out
  uint32_t memory_bytes = 0;        ///< per lane, by the line; 0: it has no addresses
  /// From tracer version 6: uniform registers and predicates, by other_register(); how many of the
  /// sources are vector registers, the zero register too; does a product end its group?
  std::vector<uint32_t> other_dsts, other_srcs;
  uint32_t vector_srcs = 0;
  uint32_t operands = 0;  ///< destinations and sources as the line has them
  bool commits = false;
};

/// A number of a register that is no vector register: 'U' and 'P' as the first letter, or "UP".
/// Uniform ones come first, then predicates, then uniform predicates.
inline constexpr uint32_t kUniformRegisters = 256, kPredicates = 8;
inline constexpr uint32_t kNumOtherRegisters = kUniformRegisters + 2 * kPredicates;

/// The part that differs. `at` is where in the line addresses may begin.
struct DynamicPart {
  uint64_t pc = 0;
  uint32_t mask = 0;      ///< lanes that executed it; 0 if its predicate was false in all
  std::string_view rest;  ///< from the number of destinations on
};

/// A mistake in a line, and what would be right; `what` empty: there is none.
struct LineProblem {
  const char* what = nullptr;
  const char* right = nullptr;
};

/// The front of a line: [tb_x tb_y tb_z warp, before version 3] [source line] pc mask.
LineProblem parse_front(std::string_view line, const KernelHeader& header, DynamicPart* to);
/// The static part at the beginning of `rest`; `length` gets the number of its characters.
LineProblem parse_static(std::string_view rest, uint32_t version, StaticPart* to, size_t* length);
/// The addresses behind the static part of an instruction with memory_bytes != 0 for the lanes of
/// `mask`, in any of the three modes: 0, one per lane; 1, a base and a stride from one active lane
/// to the next; 2, a base and each further active lane's distance from the one before.
/// `behind` gets what follows them.
LineProblem parse_addresses(std::string_view text, uint32_t mask, uint64_t* address,
                            std::string_view* behind = nullptr);

}  // namespace nearwarp::sass
