// What the decoding programs have in common: random weights, and the mathematics on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/workloads/llm/half.h"

namespace nearwarp::workloads::llm {

inline constexpr uint32_t kBlock = 256, kAttentionBlock = 128;  // in decode.cu
inline constexpr int kHead = 128, kGroup = 128, kLanes = 32;
inline constexpr const char* kSource = "LLM inference, as llama2.c and FlashDecoding have it";

/// A matrix by rows in f16, of numbers about 0 whose rows' products with others of size 1 have
/// size 1.
std::vector<Half> random_matrix(uint64_t stream, int rows, int columns);
/// Nearly normal numbers.
std::vector<float> random_vector(uint64_t stream, int n);

/// W x
std::vector<float> product(const std::vector<Half>& w, const std::vector<float>& x, int rows);

/// Keys or values of all heads, [head][position][element], in f16.
struct Cache {
  int heads = 0, context = 0;
  std::vector<Half> elements;
  const Half* at(int head, int position) const {
    return &elements[(static_cast<size_t>(head) * static_cast<size_t>(context) +
                      static_cast<size_t>(position)) *
                     kHead];
  }
};
Cache random_cache(uint64_t stream, int heads, int context);

/// Attention of the heads of q over the first `positions` of a cache.
std::vector<float> attention(const std::vector<float>& q, const Cache& keys, const Cache& values,
                             int positions);

/// Parts of the positions that a head's attention is divided into.
int parts_of(int positions);

}  // namespace nearwarp::workloads::llm
