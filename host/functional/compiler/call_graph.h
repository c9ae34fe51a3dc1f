// Which functions of a module may call which, and what they must keep across calls.
#pragma once

#include <cstdint>
#include <vector>

#include "host/functional/ptx/module.h"

namespace nearwarp::compiler {

/// PTX instructions that a kernel may have with every call inlined; beyond, large functions that
/// are called at several places are called (the executor tells 65,535 memory instructions apart).
inline constexpr uint64_t kMaxInlined = 100'000;

/// Device addresses of functions, as indirect calls and tables of functions see them: nothing
/// else lies there.
inline constexpr uint64_t kFunctionBase = 0x7f2c'0000'0000;
constexpr uint64_t function_address(uint32_t index) { return kFunctionBase + 16 * (index + 1ull); }

/// Call graph over Module::functions. An indirect call may reach every function whose address is
/// taken and that has as many parameters and results, of the same sizes where these are known.
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
  /// Functions that the kernel `entry` calls instead of inlining them, so that it has at most
  /// `max_instructions`, if that can be: recursive ones, then those whose copies save the most.
  std::vector<bool> called(uint32_t entry, uint64_t max_instructions) const;

 private:
  const ptx::Module& module_;
  std::vector<uint32_t> taken_;                 // functions whose address is taken
  std::vector<std::vector<uint32_t>> callees_;  // by function; once per place
  std::vector<uint32_t> component_;             // callees of others have lower numbers
  std::vector<bool> recursive_;
};

/// For each call of `function` (by Instruction::call): registers whose value is needed after it
/// and was not set by it, as indices into Function::registers.
std::vector<std::vector<uint32_t>> live_across_calls(const ptx::Function& function);

}  // namespace nearwarp::compiler
