// The call graph of a module, and the registers that are live across calls.
#pragma once

#include <cstdint>
#include <vector>

#include "host/functional/ptx/module.h"

namespace nearwarp::compiler {

/// The most PTX instructions of a kernel with all calls inlined. In larger kernels, functions that
/// save the most stay calls (the executor can number only 65,535 memory instructions of a kernel).
inline constexpr uint64_t kMaxInlined = 100'000;

/// Device addresses that stand for functions in indirect calls and tables of functions; no memory
/// lies there.
inline constexpr uint64_t kFunctionBase = 0x7f2c'0000'0000;
constexpr uint64_t function_address(uint32_t index) { return kFunctionBase + 16 * (index + 1ull); }

/// The call graph over Module::functions. An indirect call may reach every function whose address
/// is taken and whose parameters and results agree in number, and in size where the size is known.
class CallGraph {
 public:
  explicit CallGraph(const ptx::Module& module);
  /// Functions that the indirect call `call` of `caller` may reach.
  std::vector<uint32_t> candidates(const ptx::Function& caller, const ptx::Call& call) const;
  /// Can the function call itself, directly or through others?
  bool is_recursive(uint32_t function) const { return recursive_[function]; }
  /// Can each of the two call the other?
  bool same_cycle(uint32_t a, uint32_t b) const {
    return recursive_[a] && recursive_[b] && component_[a] == component_[b];
  }
  /// Functions that are called by the kernel `entry` instead of inlined, by number: recursive ones,
  /// then those that save the most, until it has at most `max_instructions` or none is left.
  std::vector<bool> called(uint32_t entry, uint64_t max_instructions) const;

 private:
  const ptx::Module& module_;
  std::vector<uint32_t> taken_;                 // functions whose address is taken
  std::vector<std::vector<uint32_t>> callees_;  // by function, one entry for each call
  std::vector<uint32_t> component_;             // by function; callees have lower or equal numbers
  std::vector<bool> recursive_;
};

/// For each call in `function` (by Instruction::call): the registers that are live after it and
/// that it does not set, as indices into Function::registers.
std::vector<std::vector<uint32_t>> live_across_calls(const ptx::Function& function);

}  // namespace nearwarp::compiler
