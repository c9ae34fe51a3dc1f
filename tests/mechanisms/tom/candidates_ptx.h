// Small kernels for the tests of the candidate selection.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tom/pass/candidates.h"

namespace nearwarp::compiler {

/// A kernel `k` of two pointers and three integers (loaded into %rd1, %rd2, %r1, %r2, %r3), then
/// `body`. Registers %r1-%r39, %rd1-%rd19, %f1-%f39, %p1-%p9 are declared.
inline Kernel kernel_of(const std::string& body) {
  const std::string text = R"(.version 8.0
.target sm_75
.address_size 64
.shared .align 4 .b8 tile[1024];
.const .align 4 .b8 table[256];
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 p2, .param .u32 p3, .param .u32 p4)
{
  .reg .pred %p<10>;
  .reg .b32 %r<40>;
  .reg .b64 %rd<20>;
  .reg .f32 %f<40>;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.param.u32 %r1, [p2];
  ld.param.u32 %r2, [p3];
  ld.param.u32 %r3, [p4];
)" + body + "\n}\n";
  return *compile_ptx(text, "test.ptx").find("k");
}

inline SelectionResult analyze(const Kernel& kernel,
                               Granularity granularity = Granularity::kRegion) {
  OffloadModel model;
  model.granularity = granularity;
  return analyze_offloading(kernel, model);
}

inline std::vector<std::string> names(const Kernel& kernel, const std::vector<RegId>& registers) {
  std::vector<std::string> result;
  for (RegId reg : registers) result.push_back(kernel.registers[reg].name);
  std::sort(result.begin(), result.end());
  return result;
}

using Names = std::vector<std::string>;

/// The number of iterations that a condition computes from values of registers.
inline int64_t iterations_of(const Kernel& kernel, const OffloadCondition& condition,
                             const std::map<std::string, int64_t>& values) {
  int64_t product = 1;
  for (const TripCount& factor : condition.factors) {
    int64_t sum = factor.constant;
    for (const LinearTerm& term : factor.terms)
      sum += term.coefficient * values.at(kernel.registers[term.reg].name);
    const int64_t step =
        factor.step_reg == kNone ? factor.step : values.at(kernel.registers[factor.step_reg].name);
    const int64_t whole = sum > 0 ? (sum + step - 1) / step : 0;
    product *= std::max<int64_t>(1, whole + factor.extra);
  }
  return product;
}

/// The reasons against the block or loop with this header.
inline std::vector<RefusalReason> reasons(const SelectionResult& result, CandidateKind kind) {
  std::vector<RefusalReason> list;
  for (const Refusal& r : result.refusals) {
    if (r.kind == kind) list.push_back(r.reason);
  }
  return list;
}

inline bool refused_for(const SelectionResult& result, CandidateKind kind, RefusalReason reason) {
  const auto list = reasons(result, kind);
  return std::find(list.begin(), list.end(), reason) != list.end();
}

}  // namespace nearwarp::compiler
