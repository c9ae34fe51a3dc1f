// Runs one PTX statement (or a few) on many operands, alone, guarded and in divergent code, and
// compares with a host function.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nearwarp::exec_test {

/// Operands arrive as 64-bit patterns a, b, c in the registers
///   %x1..%x3 (.b64), %r1..%r3 (.b32, their low halves), %h1..%h3 (.b16), %f1..%f3, %d1..%d3;
/// the result is expected in the register that `result` names: x10, r10, h10, f10, d10 or p1.
struct OpCase {
  std::string name;
  std::string result;
  std::string body;
  std::function<uint64_t(uint64_t, uint64_t, uint64_t)> reference;
  /// Which operands are drawn: 'i' integers, 'f' floats in the low half, 'd' doubles, 's' small
  /// numbers (shift amounts); one letter per operand.
  std::string draw = "iii";
  /// Relative error allowed for floating-point results; 0: bit for bit (any NaN equals any other).
  double tolerance = 0;
  double absolute = 0;
};

/// Check all cases; failures are reported through GoogleTest.
void check_cases(const std::vector<OpCase>& cases);

}  // namespace nearwarp::exec_test
