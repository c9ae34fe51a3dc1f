// Parses a line of a trace: an instruction that a warp executed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/recording/accel_sim/trace_list.h"

namespace nearwarp::sass {

/// The part of a line that is the same for every execution of an instruction.
struct StaticPart {
  std::string opcode;               ///< with its modifiers
  std::vector<uint8_t> dsts, srcs;  ///< numbers of vector registers, without the zero register
  uint32_t memory_bytes = 0;        ///< bytes per lane; 0: the line has no addresses
  // Members that traces have from tracer version 6 on:
  std::vector<uint32_t> other_dsts, other_srcs;  ///< other registers, numbered as below
  uint32_t vector_srcs =
      0;                  ///< number of vector registers among the sources, with the zero register
  uint32_t operands = 0;  ///< number of destinations and sources in the line
  bool commits = false;   ///< a warpgroup's matrix product that ends its group
};

/// Registers that are no vector registers have numbers of their own: first uniform registers
/// ("UR"), then predicates ("P"), then uniform predicates ("UP").
inline constexpr uint32_t kUniformRegisters = 256, kPredicates = 8;
inline constexpr uint32_t kNumOtherRegisters = kUniformRegisters + 2 * kPredicates;

/// The part of a line that differs between executions of an instruction.
struct DynamicPart {
  uint64_t pc = 0;
  uint32_t mask = 0;      ///< lanes that executed it; 0 if its predicate was false in all
  std::string_view rest;  ///< the line from its number of destinations on
};

/// A mistake in a line, and what would be right; `what` is null if there is no mistake.
struct LineProblem {
  const char* what = nullptr;
  const char* right = nullptr;
};

/// Parses the front of a line: [tb_x tb_y tb_z warp, before version 3] [source line] pc mask.
LineProblem parse_front(std::string_view line, const KernelHeader& header, DynamicPart* to);
/// Parses the static part at the beginning of `rest`; `length` receives its number of characters.
LineProblem parse_static(std::string_view rest, uint32_t version, StaticPart* to, size_t* length);
/// Parses the addresses behind the static part of an instruction with memory_bytes != 0, into
/// `address` by lane of `mask`. They have one of three modes: 0, one per lane; 1, a base and a
/// stride from one active lane to the next; 2, a base and each further active lane's distance from
/// the one before. `behind` receives the text behind them.
LineProblem parse_addresses(std::string_view text, uint32_t mask, uint64_t* address,
                            std::string_view* behind = nullptr);

}  // namespace nearwarp::sass
