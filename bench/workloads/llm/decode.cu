// What a language model does for one more token: products of weight matrices with a vector, attention of one
// query over the keys and values of all tokens before it, and what stands between them.
#include <cuda_fp16.h>

constexpr int kBlock = 256;
constexpr int kHead = 128;   // elements of an attention head: 4 for each lane
constexpr int kWarps = 4;    // of a block of attention
constexpr int kGroup = 128;  // int4 weights that share a scale

__device__ __forceinline__ float lane_sum(float x) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
  return x;
}
__device__ __forceinline__ float2 pair(unsigned bits) {
  return __half22float2(*reinterpret_cast<const __half2*>(&bits));
}

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

/// The same of weights of 4 bits, less 8, times an f16 for each 128 of them: lanes read 4 bytes each.
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

/// y = x over its root mean square, times gains: one block.
extern "C" __global__ void decode_rms_norm(const float* x, const float* gains, float* y, int n) {
  __shared__ float sums[kBlock / 32];
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
/// into the cache [head][position][element].
extern "C" __global__ void decode_rotate_and_append(float* q, const float* k, const float* v, const float* cosines,
                                                    const float* sines, __half* keys, __half* values, int heads,
                                                    int kv_heads, int position, int context) {
  const int i = blockIdx.x * kBlock + threadIdx.x, head = i / (kHead / 2), e = i % (kHead / 2);
  if (head >= heads + kv_heads) return;
  const float c = cosines[e], s = sines[e];
  if (head < heads) {
    float* const own = q + head * kHead;
    const float a = own[e], b = own[e + kHead / 2];
    own[e] = a * c - b * s;
    own[e + kHead / 2] = a * s + b * c;
    return;
  }
  const int kv = head - heads;
  const size_t at = (static_cast<size_t>(kv) * context + position) * kHead;
  const float a = k[kv * kHead + e], b = k[kv * kHead + e + kHead / 2];
  keys[at + e] = __float2half(a * c - b * s);
  keys[at + e + kHead / 2] = __float2half(a * s + b * c);
  values[at + e] = __float2half(v[kv * kHead + e]);
  values[at + e + kHead / 2] = __float2half(v[kv * kHead + e + kHead / 2]);
}

/// Attention of head blockIdx.x over a part of the positions: a warp per position, softmax as it goes along.
/// Out: for each head and part the largest score, the sum of exponentials, and 128 sums of values.
extern "C" __global__ void decode_attention(const float* q, const __half* keys, const __half* values, float* partial,
                                            int heads_per_kv, int positions, int context, float scale) {
  __shared__ float most[kWarps], weight[kWarps], sums[kWarps][kHead];
  const int head = blockIdx.x, part = blockIdx.y, parts = gridDim.y;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int begin = static_cast<int>(static_cast<long long>(positions) * part / parts);
  const int end = static_cast<int>(static_cast<long long>(positions) * (part + 1) / parts);
  const float4 query = reinterpret_cast<const float4*>(q + head * kHead)[lane];
  const size_t first = static_cast<size_t>(head / heads_per_kv) * context * (kHead / 4);
  const uint2* const k = reinterpret_cast<const uint2*>(keys) + first;
  const uint2* const v = reinterpret_cast<const uint2*>(values) + first;
  float m = -INFINITY, l = 0.0f;
  float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int t = begin + warp; t < end; t += kWarps) {
    const uint2 key = k[static_cast<size_t>(t) * (kHead / 4) + lane];
    const float2 k0 = pair(key.x), k1 = pair(key.y);
    const float score = scale * lane_sum(query.x * k0.x + query.y * k0.y + query.z * k1.x + query.w * k1.y);
    const uint2 value = v[static_cast<size_t>(t) * (kHead / 4) + lane];
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
  float* const out = partial + static_cast<size_t>(head * parts + part) * (kHead + 2);
  out[2 + threadIdx.x] = value;
  if (threadIdx.x == 0) out[0] = all, out[1] = total;
}
/// The parts of each head together.
extern "C" __global__ void decode_attention_combine(const float* partial, float* y, int parts) {
  const float* const own = partial + static_cast<size_t>(blockIdx.x) * parts * (kHead + 2);
  float all = -INFINITY, total = 0.0f, value = 0.0f;
  for (int p = 0; p < parts; ++p) all = fmaxf(all, own[p * (kHead + 2)]);
  for (int p = 0; p < parts; ++p) {
    const float share = __expf(own[p * (kHead + 2)] - all);
    total += share * own[p * (kHead + 2) + 1];
    value += share * own[p * (kHead + 2) + 2 + threadIdx.x];
  }
  y[blockIdx.x * kHead + threadIdx.x] = value / total;
}

/// y = silu(gate) * up
extern "C" __global__ void decode_gate(const float* gate, const float* up, float* y, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) y[i] = gate[i] / (1.0f + __expf(-gate[i])) * up[i];
}

/// The place of the largest logit: one block.
extern "C" __global__ void decode_argmax(const float* logits, int* token, int n) {
  __shared__ float values[kBlock];
  __shared__ int places[kBlock];
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
  if (threadIdx.x == 0) *token = places[0];
}
