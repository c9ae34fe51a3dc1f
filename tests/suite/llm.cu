// Kernels of language models in the forms that common implementations have.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>

#include "tests/suite/program.h"

using namespace suite;

__device__ float warp_sum(float x) {
  for (int o = 16; o > 0; o /= 2) x += __shfl_xor_sync(~0u, x, o);
  return x;
}
__device__ float warp_max(float x) {
  for (int o = 16; o > 0; o /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, o));
  return x;
}

/// Softmax with a warp per row: maximum and sum in one pass.
__global__ void online_softmax(const float* in, float* out, int rows, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float most = -INFINITY, sum = 0;
  for (int i = lane; i < n; i += 32) {
    const float x = in[row * n + i], larger = fmaxf(most, x);
    sum = sum * expf(most - larger) + expf(x - larger), most = larger;
  }
  const float all = warp_max(most), total = warp_sum(sum * expf(most - all));
  for (int i = lane; i < n; i += 32) out[row * n + i] = expf(in[row * n + i] - all) / total;
}
PROGRAM(softmax) {
  const int rows = 37, n = 300;
  std::vector<float> in = numbers(rows * n, 20), want(in.size());
  for (float& x : in) x = 20 * x - 10;
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::exp(double(in[r * n + i]));
    for (int i = 0; i < n; ++i) want[r * n + i] = float(std::exp(double(in[r * n + i])) / sum);
  }
  float* const d = device<float>(in.size());
  online_softmax<<<10, 128>>>(upload(in), d, rows, n);
  return compare("probabilities", download(d, in.size()), want, 1e-6);
}

__global__ void layer_norm(const float* x, const float* w, const float* b, float* y, float* mean, float* rstd, int n) {
  __shared__ float parts[2][8];
  const float* const own = x + blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += own[i], squares += own[i] * own[i];
  sum = warp_sum(sum), squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) parts[0][threadIdx.x / 32] = sum, parts[1][threadIdx.x / 32] = squares;
  __syncthreads();
  sum = squares = 0;
  for (int i = 0; i < blockDim.x / 32; ++i) sum += parts[0][i], squares += parts[1][i];
  const float m = sum / n, s = rsqrtf(squares / n - m * m + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = (own[i] - m) * s * w[i] + b[i];
  if (threadIdx.x == 0) mean[blockIdx.x] = m, rstd[blockIdx.x] = s;
}
PROGRAM(layernorm) {
  const int rows = 16, n = 384;
  const std::vector<float> x = numbers(rows * n, 21), w = numbers(n, 22), b = numbers(n, 23);
  std::vector<float> want(x.size());
  for (int r = 0; r < rows; ++r) {
    double m = 0, v = 0;
    for (int i = 0; i < n; ++i) m += x[r * n + i] / double(n);
    for (int i = 0; i < n; ++i) v += (x[r * n + i] - m) * (x[r * n + i] - m) / n;
    for (int i = 0; i < n; ++i) want[r * n + i] = float((x[r * n + i] - m) / std::sqrt(v + 1e-5) * w[i] + b[i]);
  }
  float *y = device<float>(x.size()), *mean = device<float>(rows), *rstd = device<float>(rows);
  layer_norm<<<rows, 256>>>(upload(x), upload(w), upload(b), y, mean, rstd, n);
  return compare("normalised", download(y, x.size()), want, 1e-4);
}

/// RMS norm, then the rotary embedding of pairs (i, i + n / 2), in f16.
__global__ void rms_rope(const __half* x, __half* y, int n, int position) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += __half2float(x[i]) * __half2float(x[i]);
  const float scale = rsqrtf(warp_sum(sum) / n + 1e-5f);
  for (int i = threadIdx.x; i < n / 2; i += 32) {
    float s, c;
    sincosf(position * powf(10000.0f, -2.0f * i / n), &s, &c);
    const float a = scale * __half2float(x[i]), b = scale * __half2float(x[i + n / 2]);
    y[i] = __float2half(a * c - b * s), y[i + n / 2] = __float2half(a * s + b * c);
  }
}
PROGRAM(rms_rope) {
  const int n = 128, position = 77;
  std::vector<__half> x;
  std::vector<float> want(n);
  double squares = 0;
  for (const float v : numbers(n, 24)) x.push_back(__float2half(v - 0.5f)), squares += std::pow(__half2float(x.back()), 2);
  const double scale = 1 / std::sqrt(squares / n + 1e-5);
  for (int i = 0; i < n / 2; ++i) {
    const double angle = position * std::pow(10000.0, -2.0 * i / n), a = scale * __half2float(x[i]), b = scale * __half2float(x[i + n / 2]);
    want[i] = float(a * std::cos(angle) - b * std::sin(angle)), want[i + n / 2] = float(a * std::sin(angle) + b * std::cos(angle));
  }
  __half* const d = device<__half>(n);
  rms_rope<<<1, 32>>>(upload(x), d, n, position);
  std::vector<float> y;
  for (const __half v : download(d, n)) y.push_back(__half2float(v));
  return compare("rotated", y, want, 2e-3);
}

/// Causal attention in one pass over keys and values: a warp per query, two elements of 64 for each lane.
__global__ void causal_attention(const float* q, const float* k, const float* v, float* out, int t) {
  const int query = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (query >= t) return;
  const float2 own = reinterpret_cast<const float2*>(q + query * 64)[lane];
  float most = -INFINITY, total = 0;
  float2 sum = {0, 0};
  for (int j = 0; j <= query; ++j) {
    const float2 key = reinterpret_cast<const float2*>(k + j * 64)[lane], value = reinterpret_cast<const float2*>(v + j * 64)[lane];
    const float score = warp_sum(own.x * key.x + own.y * key.y) / 8, larger = fmaxf(most, score);
    const float old = __expf(most - larger), now = __expf(score - larger);
    total = total * old + now, sum.x = sum.x * old + now * value.x, sum.y = sum.y * old + now * value.y, most = larger;
  }
  reinterpret_cast<float2*>(out + query * 64)[lane] = {sum.x / total, sum.y / total};
}
PROGRAM(attention) {
  const int t = 50;
  const std::vector<float> q = numbers(t * 64, 25), k = numbers(t * 64, 26), v = numbers(t * 64, 27);
  std::vector<float> want(t * 64);
  for (int i = 0; i < t; ++i) {
    std::vector<double> w(i + 1);
    double total = 0;
    for (int j = 0; j <= i; ++j) {
      for (int e = 0; e < 64; ++e) w[j] += q[i * 64 + e] * double(k[j * 64 + e]) / 8;
      total += w[j] = std::exp(w[j]);
    }
    for (int j = 0; j <= i; ++j)
      for (int e = 0; e < 64; ++e) want[i * 64 + e] += float(w[j] / total * v[j * 64 + e]);
  }
  float* const d = device<float>(want.size());
  causal_attention<<<13, 128>>>(upload(q), upload(k), upload(v), d, t);
  return compare("attended", download(d, want.size()), want, 1e-5);
}

__global__ void gelu_residual(const __nv_bfloat162* x, const __nv_bfloat162* r, __nv_bfloat162* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 v = __bfloat1622float2(x[i]);
  v.x = 0.5f * v.x * (1 + tanhf(0.7978845608f * (v.x + 0.044715f * v.x * v.x * v.x)));
  v.y = 0.5f * v.y * (1 + tanhf(0.7978845608f * (v.y + 0.044715f * v.y * v.y * v.y)));
  y[i] = __hadd2(__float22bfloat162_rn(v), r[i]);
}
PROGRAM(gelu) {
  const int n = 1000;
  const std::vector<float> a = numbers(2 * n, 28), b = numbers(2 * n, 29);
  std::vector<__nv_bfloat162> x(n), r(n);
  std::vector<float> want, y;
  for (int i = 0; i < n; ++i) {
    x[i] = __floats2bfloat162_rn(6 * a[2 * i] - 3, 6 * a[2 * i + 1] - 3), r[i] = __floats2bfloat162_rn(b[2 * i], b[2 * i + 1]);
    const float2 v = __bfloat1622float2(x[i]), own = __bfloat1622float2(r[i]);
    for (const auto& [e, add] : {std::pair{v.x, own.x}, std::pair{v.y, own.y}})
      want.push_back(float(0.5 * e * (1 + std::tanh(0.7978845608 * (e + 0.044715 * e * e * e)))) + add);
  }
  __nv_bfloat162* const d = device<__nv_bfloat162>(n);
  gelu_residual<<<8, 128>>>(upload(x), upload(r), d, n);
  for (const __nv_bfloat162 v : download(d, n)) y.push_back(__low2float(v)), y.push_back(__high2float(v));
  return compare("activated", y, want, 1e-2);
}

/// Weights of four bits less 8, a scale for each 32 of them: a warp per row.
__global__ void gemv_int4(const unsigned* w, const __half* scales, const float* x, float* y, int columns) {
  const int row = blockIdx.x, lane = threadIdx.x;
  float sum = 0;
  for (int i = lane; i < columns / 8; i += 32) {
    const unsigned q = w[row * (columns / 8) + i];
    float part = 0;
#pragma unroll
    for (int e = 0; e < 8; ++e) part += float(int(q >> 4 * e & 15) - 8) * x[8 * i + e];
    sum += __half2float(scales[row * (columns / 32) + i / 4]) * part;
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}
PROGRAM(gemv_int4) {
  const int rows = 40, columns = 512;
  const std::vector<float> x = numbers(columns, 30), bits = numbers(rows * columns, 31), s = numbers(rows * columns / 32, 32);
  std::vector<unsigned> w(rows * columns / 8);
  std::vector<__half> scales;
  std::vector<float> want(rows);
  for (const float v : s) scales.push_back(__float2half(v));
  for (int i = 0; i < rows * columns; ++i) {
    const int q = int(bits[i] * 16);
    w[i / 8] |= unsigned(q) << i % 8 * 4;
    want[i / columns] += __half2float(scales[i / 32]) * float(q - 8) * x[i % columns];
  }
  float* const y = device<float>(rows);
  gemv_int4<<<rows, 32>>>(upload(w), upload(scales), upload(x), y, columns);
  return compare("rows", download(y, rows), want, 1e-4);
}

__global__ void to_fp8(const float* x, __nv_fp8_e4m3* y, float* back, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __nv_fp8_e4m3(x[i]), back[i] = float(y[i]);
}
PROGRAM(fp8) {
  const std::vector<float> x = {0, 1, -1.0625f, 0.3f, 448, 500, 0.001953125f, -0.0009f, 17.5f, 240.1f};
  const std::vector<float> want = {0, 1, -1, 0.3125f, 448, 448, 0.001953125f, -0.0f, 18, 240};
  float* const back = device<float>(x.size());
  to_fp8<<<1, 32>>>(upload(x), device<__nv_fp8_e4m3>(x.size()), back, int(x.size()));
  return same("rounded to e4m3", download(back, x.size()), want);
}

/// Losses and their gradients with respect to the logits, a block per token.
__global__ void cross_entropy(const float* logits, const int* targets, float* losses, float* gradients, int n) {
  const float* const own = logits + blockIdx.x * n;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, own[i]);
  most = warp_max(most);
  for (int i = threadIdx.x; i < n; i += 32) sum += expf(own[i] - most);
  sum = warp_sum(sum);
  for (int i = threadIdx.x; i < n; i += 32)
    gradients[blockIdx.x * n + i] = expf(own[i] - most) / sum - (i == targets[blockIdx.x] ? 1.0f : 0.0f);
  if (threadIdx.x == 0) losses[blockIdx.x] = logf(sum) + most - own[targets[blockIdx.x]];
}
PROGRAM(cross_entropy) {
  const int tokens = 12, n = 200;
  const std::vector<float> logits = numbers(tokens * n, 33);
  std::vector<int> targets;
  std::vector<float> want;
  for (int t = 0; t < tokens; ++t) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::exp(double(logits[t * n + i]));
    targets.push_back(t * 17 % n), want.push_back(float(std::log(sum) - logits[t * n + targets[t]]));
  }
  float *losses = device<float>(tokens), *gradients = device<float>(tokens * n);
  cross_entropy<<<tokens, 32>>>(upload(logits), upload(targets), losses, gradients, n);
  double all = 0;
  for (const float g : download(gradients, tokens * n)) all += g;
  std::printf("gradients add up to %.3f\n", std::fabs(all) < 5e-4 ? 0.0 : all);
  return compare("losses", download(losses, tokens), want, 1e-5);
}

/// C = A B of matrices of halves by tensor cores, sums in f32: a warp for a tile of 16 x 16.
__global__ void wmma_gemm(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(fa, a + blockIdx.y * 16 * n + k, n);
    load_matrix_sync(fb, b + blockIdx.x * 16 * n + k, n);
    mma_sync(sum, fa, fb, sum);
  }
  store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, mem_row_major);
}
PROGRAM(tensor_cores) {
  const int n = 64;
  std::vector<__half> a, b;
  std::vector<float> want(n * n);
  for (const float v : numbers(n * n, 34)) a.push_back(__float2half(v));
  for (const float v : numbers(n * n, 35)) b.push_back(__float2half(v - 0.5f));
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x)
      for (int k = 0; k < n; ++k) want[y * n + x] += __half2float(a[y * n + k]) * __half2float(b[x * n + k]);
  float* const c = device<float>(n * n);
  wmma_gemm<<<dim3(n / 16, n / 16), 32>>>(upload(a), upload(b), c, n);
  return compare("product", download(c, n * n), want, 1e-5);
}

/// The largest k of n numbers, by k rounds of a warp; places of equal ones in their order.
__global__ void top_k(const float* x, int* places, int n, int k) {
  extern __shared__ float left[];
  for (int i = threadIdx.x; i < n; i += 32) left[i] = x[i];
  for (int round = 0; round < k; ++round) {
    __syncwarp();
    float best = -INFINITY;
    int place = n;
    for (int i = threadIdx.x; i < n; i += 32)
      if (left[i] > best) best = left[i], place = i;
    for (int o = 16; o > 0; o /= 2) {
      const float other = __shfl_xor_sync(~0u, best, o);
      const int where = __shfl_xor_sync(~0u, place, o);
      if (other > best || (other == best && where < place)) best = other, place = where;
    }
    if (threadIdx.x == 0) places[round] = place, left[place] = -INFINITY;
  }
}
PROGRAM(top_k) {
  const std::vector<float> x = numbers(1000, 36);
  std::vector<int> want(x.size()), places;
  for (size_t i = 0; i < want.size(); ++i) want[i] = int(i);
  for (int r = 0; r < 8; ++r)
    for (size_t i = r + 1; i < want.size(); ++i)
      if (x[want[i]] > x[want[r]]) std::swap(want[i], want[r]);
  want.resize(8);
  int* const d = device<int>(8);
  top_k<<<1, 32, 1000 * sizeof(float)>>>(upload(x), d, 1000, 8);
  for (const int p : places = download(d, 8)) std::printf("%d ", p);
  std::printf("\n");
  return same("places", places, want);
}
