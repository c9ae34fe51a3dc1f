// Work of a language model for one more token of each sequence of a batch: products of weight matrices with
// vectors, attention of one query over the keys and values of all tokens before it, and what stands between them.
// Grids have the batch's sequences in their last dimension that is used.
#include <cuda_fp16.h>

#include "bench/workloads/llm/weights.cuh"

constexpr int kBlock = 256;
constexpr int kHead = 128;   // elements of an attention head: 4 for each lane
constexpr int kWarps = 4;    // of a block of attention
constexpr int kPage = 16;    // positions of a page of a cache in pages


/// y = W x (+ residual), W in f16 by rows: a warp per row, whose lanes read 16 bytes each.
extern "C" __global__ void decode_gemv(const uint4* w, const float* x, const float* residual, float* y, int rows,
                                       int columns) {
  const int row = (blockIdx.x * kBlock + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const uint4* const weights = w + static_cast<size_t>(row) * (columns / 8);
  float sum = 0.0f;
  for (int i = lane; i < columns / 8; i += 32) {
    const uint4 q = weights[i];
    const float4 a = reinterpret_cast<const float4*>(x)[2 * i], b = reinterpret_cast<const float4*>(x)[2 * i + 1];
    const float2 p0 = pair(q.x), p1 = pair(q.y), p2 = pair(q.z), p3 = pair(q.w);
    sum += p0.x * a.x + p0.y * a.y + p1.x * a.z + p1.y * a.w;
    sum += p2.x * b.x + p2.y * b.y + p3.x * b.z + p3.y * b.w;
  }
  sum = lane_sum(sum);
  if (lane == 0) y[row] = residual != nullptr ? residual[row] + sum : sum;
}

/// y = W x with weights of 4 bits, less 8, times an f16 for each 128 of them: lanes read 4 bytes each.
extern "C" __global__ void decode_gemv_int4(const unsigned* w, const __half* scales, const float* x, float* y,
                                            int rows, int columns) {
  const int row = (blockIdx.x * kBlock + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const unsigned* const weights = w + static_cast<size_t>(row) * (columns / 8);
  const __half* const scale = scales + static_cast<size_t>(row) * (columns / kGroup);
  float sum = 0.0f;
  for (int i = lane; i < columns / 8; i += 32) {
    const unsigned q = weights[i];
    float values[8];
    reinterpret_cast<float4*>(values)[0] = reinterpret_cast<const float4*>(x)[2 * i];
    reinterpret_cast<float4*>(values)[1] = reinterpret_cast<const float4*>(x)[2 * i + 1];
    float part = 0.0f;
#pragma unroll
    for (int e = 0; e < 8; ++e) part += static_cast<float>(static_cast<int>(q >> (4 * e) & 15) - 8) * values[e];
    sum += __half2float(scale[i / (kGroup / 8)]) * part;
  }
  sum = lane_sum(sum);
  if (lane == 0) y[row] = sum;
}

/// y[token] = W x[token] (+ residual[token]) for up to kTokens tokens of a batch, whose groups are blockIdx.y: each
/// weight is read once for all of a group.
template <class Weights>
__device__ __forceinline__ void gemv_of_group(const Weights w, const float* x, const float* residual, float* y,
                                              int rows, int columns, int batch) {
  const int row = (blockIdx.x * kBlock + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const int first = blockIdx.y * kTokens, tokens = min(kTokens, batch - first);
  float sums[kTokens] = {};
#pragma unroll 1
  for (int i = lane; i < columns / 8; i += 32) {
    float weights[8];
    w.eight(row, i, columns, weights);
#pragma unroll
    for (int t = 0; t < kTokens; ++t) {
      if (t >= tokens) break;
      const float4* const at = reinterpret_cast<const float4*>(x + static_cast<size_t>(first + t) * columns) + 2 * i;
      const float4 a = at[0], b = at[1];
      sums[t] += weights[0] * a.x + weights[1] * a.y + weights[2] * a.z + weights[3] * a.w;
      sums[t] += weights[4] * b.x + weights[5] * b.y + weights[6] * b.z + weights[7] * b.w;
    }
  }
#pragma unroll
  for (int t = 0; t < kTokens; ++t) {
    if (t >= tokens) break;
    const float sum = lane_sum(sums[t]);
    const size_t at = static_cast<size_t>(first + t) * rows + row;
    if (lane == 0) y[at] = residual != nullptr ? residual[at] + sum : sum;
  }
}
#define DECODE_GEMV_OF_GROUP(name, Weights)                                                                      \
  extern "C" __global__ void decode_gemv_##name(const void* w, const __half* scales, const float* x,             \
                                                const float* residual, float* y, int rows, int columns,          \
                                                int batch) {                                                     \
    gemv_of_group(Weights{w, scales}, x, residual, y, rows, columns, batch);                                     \
  }
DECODE_GEMV_OF_GROUP(f16_batch, F16)
DECODE_GEMV_OF_GROUP(bf16_batch, Bf16)
DECODE_GEMV_OF_GROUP(int8_batch, Int8)
DECODE_GEMV_OF_GROUP(int4_batch, Int4)
DECODE_GEMV_OF_GROUP(fp8_batch, Fp8)

/// x[token] = the embedding of its word, in f16.
extern "C" __global__ void decode_embed(const __half* embeddings, const int* words, float* x, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x, token = blockIdx.y;
  if (i < n) x[token * n + i] = __half2float(embeddings[static_cast<size_t>(words[token]) * n + i]);
}

/// y = x over its root mean square, times gains: a block for each token.
extern "C" __global__ void decode_rms_norm(const float* x, const float* gains, float* y, int n) {
  __shared__ float sums[kBlock / 32];
  x += static_cast<size_t>(blockIdx.x) * n;
  y += static_cast<size_t>(blockIdx.x) * n;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += kBlock) sum += x[i] * x[i];
  sum = lane_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float all = 0.0f;
  for (int i = 0; i < kBlock / 32; ++i) all += sums[i];
  const float scale = rsqrtf(all / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += kBlock) y[i] = x[i] * scale * gains[i];
}

/// Rotary embedding of the heads of queries and keys by the angles of a position, and the new keys and values
/// into the cache [token][head][position][element].
extern "C" __global__ void decode_rotate_and_append(float* q, const float* k, const float* v, const float* cosines,
                                                    const float* sines, __half* keys, __half* values, int heads,
                                                    int kv_heads, int position, int context) {
  const int i = blockIdx.x * kBlock + threadIdx.x, head = i / (kHead / 2), e = i % (kHead / 2);
  if (head >= heads + kv_heads) return;
  const size_t token = blockIdx.y;
  q += token * heads * kHead;
  k += token * kv_heads * kHead;
  v += token * kv_heads * kHead;
  const float c = cosines[e], s = sines[e];
  if (head < heads) {
    float* const own = q + head * kHead;
    const float a = own[e], b = own[e + kHead / 2];
    own[e] = a * c - b * s;
    own[e + kHead / 2] = a * s + b * c;
    return;
  }
  const int kv = head - heads;
  const size_t at = ((token * kv_heads + kv) * context + position) * kHead;
  const float a = k[kv * kHead + e], b = k[kv * kHead + e + kHead / 2];
  keys[at + e] = __float2half(a * c - b * s);
  keys[at + e + kHead / 2] = __float2half(a * s + b * c);
  values[at + e] = __float2half(v[kv * kHead + e]);
  values[at + e + kHead / 2] = __float2half(v[kv * kHead + e + kHead / 2]);
}

/// Where keys and values are: [token][head][position][element], four elements in a place.
struct Contiguous {
  size_t first;
  __device__ Contiguous(size_t token, int kv, int kv_heads, int context, const int*)
      : first((token * kv_heads + kv) * context * (kHead / 4)) {}
  __device__ size_t place(int t) const { return first + static_cast<size_t>(t) * (kHead / 4); }
};
/// In pages of 16 positions, [page][head][position][element]; a table has the pages of each token's sequence.
struct Paged {
  const int* table;
  int kv, kv_heads;
  __device__ Paged(size_t token, int kv, int kv_heads, int context, const int* table)
      : table(table + token * ((context + kPage - 1) / kPage)), kv(kv), kv_heads(kv_heads) {}
  __device__ size_t place(int t) const {
    return ((static_cast<size_t>(table[t / kPage]) * kv_heads + kv) * kPage + t % kPage) * (kHead / 4);
  }
};

/// Attention of head blockIdx.x over a part of the positions: a warp per position, softmax as it goes along.
/// Out: for each head and part the largest score, the sum of exponentials, and 128 sums of values.
template <class Cache>
__device__ __forceinline__ void attention_of_part(const float* q, const __half* keys, const __half* values,
                                                  const int* table, float* partial, int heads_per_kv, int positions,
                                                  int context, float scale) {
  __shared__ float most[kWarps], weight[kWarps], sums[kWarps][kHead];
  const int head = blockIdx.x, part = blockIdx.y, parts = gridDim.y, heads = gridDim.x;
  q += static_cast<size_t>(blockIdx.z) * heads * kHead;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int begin = static_cast<int>(static_cast<long long>(positions) * part / parts);
  const int end = static_cast<int>(static_cast<long long>(positions) * (part + 1) / parts);
  const float4 query = reinterpret_cast<const float4*>(q + head * kHead)[lane];
  const Cache cache(blockIdx.z, head / heads_per_kv, heads / heads_per_kv, context, table);
  const uint2* const k = reinterpret_cast<const uint2*>(keys);
  const uint2* const v = reinterpret_cast<const uint2*>(values);
  float m = -INFINITY, l = 0.0f;
  float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int t = begin + warp; t < end; t += kWarps) {
    const size_t place = cache.place(t) + lane;
    const uint2 key = k[place];
    const float2 k0 = pair(key.x), k1 = pair(key.y);
    const float score = scale * lane_sum(query.x * k0.x + query.y * k0.y + query.z * k1.x + query.w * k1.y);
    const uint2 value = v[place];
    const float2 v0 = pair(value.x), v1 = pair(value.y);
    const float larger = fmaxf(m, score), old = __expf(m - larger), own = __expf(score - larger);
    sum.x = sum.x * old + own * v0.x;
    sum.y = sum.y * old + own * v0.y;
    sum.z = sum.z * old + own * v1.x;
    sum.w = sum.w * old + own * v1.y;
    l = l * old + own;
    m = larger;
  }
  if (lane == 0) most[warp] = m, weight[warp] = l;
  reinterpret_cast<float4*>(sums[warp])[lane] = sum;
  __syncthreads();
  float all = -INFINITY, total = 0.0f, value = 0.0f;
  for (int w = 0; w < kWarps; ++w) all = fmaxf(all, most[w]);
  for (int w = 0; w < kWarps; ++w) {
    const float share = most[w] == -INFINITY ? 0.0f : __expf(most[w] - all);
    total += share * weight[w];
    value += share * sums[w][threadIdx.x];
  }
  float* const out = partial + ((static_cast<size_t>(blockIdx.z) * heads + head) * parts + part) * (kHead + 2);
  out[2 + threadIdx.x] = value;
  if (threadIdx.x == 0) out[0] = all, out[1] = total;
}
extern "C" __global__ void decode_attention(const float* q, const __half* keys, const __half* values, float* partial,
                                            int heads_per_kv, int positions, int context, float scale) {
  attention_of_part<Contiguous>(q, keys, values, nullptr, partial, heads_per_kv, positions, context, scale);
}
extern "C" __global__ void decode_attention_paged(const float* q, const __half* keys, const __half* values,
                                                  const int* table, float* partial, int heads_per_kv, int positions,
                                                  int context, float scale) {
  attention_of_part<Paged>(q, keys, values, table, partial, heads_per_kv, positions, context, scale);
}
/// The parts of each head together.
extern "C" __global__ void decode_attention_combine(const float* partial, float* y, int parts) {
  const size_t head = static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const float* const own = partial + head * parts * (kHead + 2);
  float all = -INFINITY, total = 0.0f, value = 0.0f;
  for (int p = 0; p < parts; ++p) all = fmaxf(all, own[p * (kHead + 2)]);
  for (int p = 0; p < parts; ++p) {
    const float share = __expf(own[p * (kHead + 2)] - all);
    total += share * own[p * (kHead + 2) + 1];
    value += share * own[p * (kHead + 2) + 2 + threadIdx.x];
  }
  y[head * kHead + threadIdx.x] = value / total;
}

/// y = silu(gate) * up
extern "C" __global__ void decode_gate(const float* gate, const float* up, float* y, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) y[i] = gate[i] / (1.0f + __expf(-gate[i])) * up[i];
}

/// The place of the largest logit: a block for each token.
extern "C" __global__ void decode_argmax(const float* logits, int* token, int n) {
  __shared__ float values[kBlock];
  __shared__ int places[kBlock];
  logits += static_cast<size_t>(blockIdx.x) * n;
  float best = -INFINITY;
  int place = 0;
  for (int i = threadIdx.x; i < n; i += kBlock)
    if (logits[i] > best) best = logits[i], place = i;
  values[threadIdx.x] = best;
  places[threadIdx.x] = place;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const float other = values[threadIdx.x + half];
      const bool better = other > values[threadIdx.x] ||
                          (other == values[threadIdx.x] && places[threadIdx.x + half] < places[threadIdx.x]);
      if (better) values[threadIdx.x] = other, places[threadIdx.x] = places[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) token[blockIdx.x] = places[0];
}

/// An unsigned integer for a float, so that integers have the order of the floats.
__device__ __forceinline__ unsigned key_of(float x) {
  const unsigned bits = __float_as_uint(x);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/// A word drawn from the `most` likely ones (those with equal logits, too) by a number in [0, 1): a block for each
/// token. The least of their logits is found a byte after the other, then all of them are added up in their order.
extern "C" __global__ void decode_sample(const float* logits, const float* drawn, int* token, int n, int most,
                                         float temperature) {
  __shared__ unsigned counts[256], prefix, left;
  __shared__ float sums[kBlock], largest[kBlock / 32];
  logits += static_cast<size_t>(blockIdx.x) * n;
  if (threadIdx.x == 0) prefix = 0, left = most;
  float high = -INFINITY;
  for (int i = threadIdx.x; i < n; i += kBlock) high = fmaxf(high, logits[i]);
  for (int d = 16; d > 0; d /= 2) high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, d));
  if (threadIdx.x % 32 == 0) largest[threadIdx.x / 32] = high;
  for (int shift = 24; shift >= 0; shift -= 8) {
    counts[threadIdx.x] = 0;
    __syncthreads();
    const unsigned above = shift == 24 ? 0 : 0xffffffffu << (shift + 8), fixed = prefix;
    for (int i = threadIdx.x; i < n; i += kBlock) {
      const unsigned key = key_of(logits[i]);
      if ((key & above) == fixed) atomicAdd(&counts[key >> shift & 255], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int byte = 255;
      while (byte > 0 && counts[byte] < left) left -= counts[byte--];
      prefix |= static_cast<unsigned>(byte) << shift;
    }
    __syncthreads();
  }
  for (int w = 0; w < kBlock / 32; ++w) high = fmaxf(high, largest[w]);
  const unsigned least = prefix;
  const int begin = static_cast<int>(static_cast<long long>(n) * threadIdx.x / kBlock);
  const int end = static_cast<int>(static_cast<long long>(n) * (threadIdx.x + 1) / kBlock);
  float sum = 0.0f;
  for (int i = begin; i < end; ++i)
    if (key_of(logits[i]) >= least) sum += __expf((logits[i] - high) / temperature);
  sums[threadIdx.x] = sum;
  __syncthreads();
  float before = 0.0f, all = 0.0f;
  for (int i = 0; i < kBlock; ++i) {
    if (i == threadIdx.x) before = all;
    all += sums[i];
  }
  const float place = drawn[blockIdx.x] * all;
  if (!(before <= place && place < before + sum)) return;
  int word = -1;
  for (int i = begin; i < end; ++i) {
    if (key_of(logits[i]) < least) continue;
    if (word >= 0 && before > place) break;
    word = i;
    before += __expf((logits[i] - high) / temperature);
  }
  token[blockIdx.x] = word;
}
