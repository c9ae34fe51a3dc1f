// Random inputs of the decoding programs, and their mathematics on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/workloads/llm/half.h"
#include "bench/workloads/llm/weights.h"
#include "bench/workloads/parameters.h"

namespace nearwarp::workloads::llm {

inline constexpr uint32_t kBlock = 256, kAttentionBlock = 128;  // in decode.cu
inline constexpr int kHead = 128, kLanes = 32, kTokens = 8, kPage = 16;
inline constexpr const char* kSource = "LLM inference, as llama2.c and FlashDecoding have it";

/// Parameters that the programs share.
Parameter batch_parameter();
Parameter context_parameter();

/// Nearly normal numbers.
std::vector<float> random_vector(uint64_t stream, int n);

/// Keys or values of all heads and sequences of a batch, [token][head][position][element], in f16.
struct Cache {
  int batch = 1, heads = 0, context = 0;
  std::vector<Half> elements;
  size_t place(int token, int head, int position) const {
    return ((static_cast<size_t>(token) * static_cast<size_t>(heads) + static_cast<size_t>(head)) *
                static_cast<size_t>(context) +
            static_cast<size_t>(position)) *
           kHead;
  }
};
Cache random_cache(uint64_t stream, int batch, int heads, int context);

/// Attention of the heads of each token's q over the first `positions` of its sequence.
std::vector<float> attention(const std::vector<float>& q, const Cache& keys, const Cache& values,
                             int positions);

/// Each token's n numbers over their root mean square.
std::vector<float> normalised(const std::vector<float>& x, int n);

/// Angles of the rotary embedding for a position: base 10,000.
struct Angles {
  std::vector<float> cosines, sines;
};
Angles angles_at(int position);
/// The rotary embedding of all heads, in place.
void rotate(std::vector<float>& heads, const Angles& angles);

/// Parts of the positions that a head's attention is divided into.
int parts_of(int positions);

}  // namespace nearwarp::workloads::llm
