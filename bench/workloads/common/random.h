// Counter-based random numbers: value number i of a stream, the same on every machine.
#pragma once

#include <cstdint>

namespace nearwarp::workloads {

/// Stafford's mix 13 of a Weyl sequence, as in SplitMix64 (Steele et al., OOPSLA 2014).
constexpr uint64_t random_bits(uint64_t stream, uint64_t index) {
  uint64_t x = (stream + 1) * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Uniform in [0, bound); the bias of bound / 2^32 does not matter for generated inputs.
constexpr uint32_t random_below(uint64_t stream, uint64_t index, uint32_t bound) {
  return static_cast<uint32_t>((random_bits(stream, index) >> 32) * bound >> 32);
}

/// Uniform in [0, 1), a multiple of 2^-24.
constexpr float random_unit(uint64_t stream, uint64_t index) {
  return static_cast<float>(random_bits(stream, index) >> 40) * 0x1p-24f;
}

/// Nearly normal with mean 0 and variance 1: the sum of twelve uniforms (Irwin-Hall). All steps are
/// exact in double, so no machine's math library shows in the inputs.
constexpr float random_normal(uint64_t stream, uint64_t index) {
  double sum = -6.0;
  for (uint64_t i = 0; i < 12; ++i)
    sum += static_cast<double>(random_bits(stream, index * 12 + i) >> 40) * 0x1p-24;
  return static_cast<float>(sum);
}

}  // namespace nearwarp::workloads
