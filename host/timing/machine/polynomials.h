// Polynomials over GF(2) by which addresses are hashed.
#pragma once

#include <cstdint>

namespace nearwarp::sim {

/// A primitive polynomial of a degree from 1 to 8, bit i its term x^i; those of degree 4, 5 and 6
/// are GPGPU-Sim's. Source: Peterson's table.
constexpr uint32_t primitive_polynomial(uint32_t degree) {
  constexpr uint32_t kPolynomials[] = {0b11,     0b111,     0b1011,     0b10011,
                                       0b100101, 0b1000011, 0b10000011, 0b100011101};
  return kPolynomials[degree - 1];
}

}  // namespace nearwarp::sim
