// The operations on a GPU: products by cuBLAS, the others by kernels.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/samples/gpt2/model.h"

inline void must(bool right, const char* call, const char* what) {
  if (right) return;
  std::printf("%s: %s\n", call, what);
  std::exit(2);
}
#define CUDA(call)                                                               \
  do {                                                                           \
    const cudaError_t status = (call);                                           \
    must(status == cudaSuccess, #call, cudaGetErrorString(status));              \
  } while (0)
#define CUBLAS(call)                                                             \
  do {                                                                           \
    const cublasStatus_t status = (call);                                        \
    must(status == CUBLAS_STATUS_SUCCESS, #call, cublasGetStatusString(status)); \
  } while (0)

__device__ inline float warp_sum(float x) {
  for (int o = 16; o > 0; o /= 2) x += __shfl_xor_sync(~0u, x, o);
  return x;
}
__device__ inline float warp_max(float x) {
  for (int o = 16; o > 0; o /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, o));
  return x;
}
/// The row of a thread in kernels with a warp per row.
__device__ inline int own_row() { return (blockIdx.x * blockDim.x + threadIdx.x) / 32; }
__device__ inline int own_place() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void embed_kernel(float* out, const float* words, const float* places, const int* tokens, Shape s) {
  const int i = own_place(), t = i / s.channels, c = i % s.channels;
  if (t < s.batch * s.positions) out[i] = words[tokens[t] * s.channels + c] + places[t % s.positions * s.channels + c];
}
/// A thread per channel, so that the order of additions is fixed.
__global__ void embed_backward_kernel(float* d_words, float* d_places, const float* d, const int* tokens, Shape s) {
  const int c = own_place();
  if (c >= s.channels) return;
  for (int t = 0; t < s.batch * s.positions; ++t) {
    d_words[tokens[t] * s.channels + c] += d[t * s.channels + c];
    d_places[t % s.positions * s.channels + c] += d[t * s.channels + c];
  }
}
__global__ void norm_kernel(float* out, float* mean, float* scale, const float* in, const float* w, const float* b,
                            int rows, int n) {
  const int r = own_row(), lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0, squares = 0;
  for (int i = lane; i < n; i += 32) sum += in[r * n + i];
  const float m = warp_sum(sum) / n;
  for (int i = lane; i < n; i += 32) squares += (in[r * n + i] - m) * (in[r * n + i] - m);
  const float s = rsqrtf(warp_sum(squares) / n + 1e-5f);
  for (int i = lane; i < n; i += 32) out[r * n + i] = (in[r * n + i] - m) * s * w[i] + b[i];
  if (lane == 0) mean[r] = m, scale[r] = s;
}
__global__ void norm_backward_kernel(float* d_in, const float* d, const float* in, const float* w, const float* mean,
                                     const float* scale, int rows, int n) {
  const int r = own_row(), lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0, product = 0;
  for (int i = lane; i < n; i += 32) {
    const float g = d[r * n + i] * w[i];
    sum += g, product += g * (in[r * n + i] - mean[r]) * scale[r];
  }
  sum = warp_sum(sum) / n, product = warp_sum(product) / n;
  for (int i = lane; i < n; i += 32) {
    const float x = (in[r * n + i] - mean[r]) * scale[r];
    d_in[r * n + i] += (d[r * n + i] * w[i] - sum - x * product) * scale[r];
  }
}
__global__ void norm_parameters_kernel(float* d_w, float* d_b, const float* d, const float* in, const float* mean,
                                       const float* scale, int rows, int n) {
  const int i = own_place();
  if (i >= n) return;
  float w = 0, b = 0;
  for (int r = 0; r < rows; ++r) w += d[r * n + i] * (in[r * n + i] - mean[r]) * scale[r], b += d[r * n + i];
  d_w[i] += w, d_b[i] += b;
}
__global__ void add_bias_kernel(float* out, const float* b, int rows, int n) {
  const int i = own_place();
  if (i < rows * n) out[i] += b[i % n];
}
__global__ void bias_backward_kernel(float* d_b, const float* d, int rows, int n) {
  const int i = own_place();
  if (i >= n) return;
  float sum = 0;
  for (int r = 0; r < rows; ++r) sum += d[r * n + i];
  d_b[i] += sum;
}
/// A warp per row of scores: those of later positions become 0.
__global__ void causal_softmax_kernel(float* scores, int rows, int n, float scale) {
  const int r = own_row(), lane = threadIdx.x % 32, q = r % n;
  if (r >= rows) return;
  float* const own = scores + r * n;
  float most = -INFINITY, sum = 0;
  for (int k = lane; k <= q; k += 32) most = fmaxf(most, own[k] * scale);
  most = warp_max(most);
  for (int k = lane; k <= q; k += 32) sum += expf(own[k] * scale - most);
  sum = warp_sum(sum);
  for (int k = lane; k < n; k += 32) own[k] = k <= q ? expf(own[k] * scale - most) / sum : 0;
}
__global__ void softmax_backward_kernel(float* d_scores, const float* scores, int rows, int n, float scale) {
  const int r = own_row(), lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (int k = lane; k < n; k += 32) sum += scores[r * n + k] * d_scores[r * n + k];
  sum = warp_sum(sum);
  for (int k = lane; k < n; k += 32) d_scores[r * n + k] = scores[r * n + k] * (d_scores[r * n + k] - sum) * scale;
}
__global__ void add_kernel(float* out, const float* a, const float* b, int n) {
  const int i = own_place();
  if (i < n) out[i] = a[i] + b[i];
}
__global__ void gelu_kernel(float* out, const float* in, int n) {
  const int i = own_place();
  if (i < n) out[i] = 0.5f * in[i] * (1 + tanhf(kGelu * (in[i] + kCubic * in[i] * in[i] * in[i])));
}
__global__ void gelu_backward_kernel(float* d_in, const float* d, const float* in, int n) {
  const int i = own_place();
  if (i >= n) return;
  const float x = in[i], t = tanhf(kGelu * (x + kCubic * x * x * x));
  d_in[i] = d[i] * (0.5f * (1 + t) + 0.5f * x * (1 - t * t) * kGelu * (1 + 3 * kCubic * x * x));
}
__global__ void loss_kernel(float* losses, float* logits, const int* targets, int rows, int n) {
  const int r = own_row(), lane = threadIdx.x % 32;
  if (r >= rows) return;
  float* const own = logits + r * n;
  const float wanted = own[targets[r]];
  float most = -INFINITY, sum = 0;
  for (int i = lane; i < n; i += 32) most = fmaxf(most, own[i]);
  most = warp_max(most);
  for (int i = lane; i < n; i += 32) sum += expf(own[i] - most);
  sum = warp_sum(sum);
  __syncwarp();
  for (int i = lane; i < n; i += 32) own[i] = (expf(own[i] - most) / sum - (i == targets[r] ? 1 : 0)) / rows;
  if (lane == 0) losses[r] = logf(sum) + most - wanted;
}
__global__ void adamw_kernel(float* p, const float* g, float* m, float* v, size_t n, float first, float second) {
  const size_t i = own_place();
  if (i >= n) return;
  m[i] = kBeta1 * m[i] + (1 - kBeta1) * g[i], v[i] = kBeta2 * v[i] + (1 - kBeta2) * g[i] * g[i];
  p[i] -= kRate * (m[i] / first / (sqrtf(v[i] / second) + kEpsilon) + kDecay * p[i]);
}

class Gpu {
 public:
  Gpu() { CUBLAS(cublasCreate(&handle_)); }
  ~Gpu() { cublasDestroy(handle_); }

  float* allocate(size_t n) {
    float* p = nullptr;
    CUDA(cudaMalloc(&p, n * sizeof(float)));
    zero(p, n);
    return p;
  }
  float* upload(const std::vector<float>& x) {
    float* const p = allocate(x.size());
    CUDA(cudaMemcpy(p, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    return p;
  }
  std::vector<float> download(const float* p, size_t n) {
    std::vector<float> x(n);
    CUDA(cudaMemcpy(x.data(), p, n * sizeof(float), cudaMemcpyDeviceToHost));
    return x;
  }
  void zero(float* p, size_t n) { CUDA(cudaMemset(p, 0, n * sizeof(float))); }
  void set_tokens(const std::vector<int>& tokens, const std::vector<int>& targets) {
    const size_t bytes = tokens.size() * sizeof(int);
    if (tokens_ == nullptr) {
      CUDA(cudaMalloc(&tokens_, bytes));
      CUDA(cudaMalloc(&targets_, bytes));
    }
    CUDA(cudaMemcpy(tokens_, tokens.data(), bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(targets_, targets.data(), bytes, cudaMemcpyHostToDevice));
  }

  void embed(float* out, const float* words, const float* places, const Shape& s) {
    embed_kernel<<<blocks(s.tokens() * s.channels), 128>>>(out, words, places, tokens_, s);
  }
  void embed_backward(float* d_words, float* d_places, const float* d, const Shape& s) {
    embed_backward_kernel<<<blocks(s.channels), 128>>>(d_words, d_places, d, tokens_, s);
  }
  void norm(float* out, float* mean, float* scale, const float* in, const float* w, const float* b, int rows, int n) {
    norm_kernel<<<blocks(32 * rows), 128>>>(out, mean, scale, in, w, b, rows, n);
  }
  void norm_backward(float* d_in, float* d_w, float* d_b, const float* d, const float* in, const float* w,
                     const float* mean, const float* scale, int rows, int n) {
    norm_backward_kernel<<<blocks(32 * rows), 128>>>(d_in, d, in, w, mean, scale, rows, n);
    norm_parameters_kernel<<<blocks(n), 128>>>(d_w, d_b, d, in, mean, scale, rows, n);
  }
  // cuBLAS has matrices by columns: what is [rows][n] here is an n x rows matrix there.
  void matmul(float* out, const float* in, const float* w, const float* b, int rows, int ins, int outs) {
    gemm(CUBLAS_OP_T, CUBLAS_OP_N, outs, rows, ins, w, ins, in, ins, 0, out, outs);
    if (b != nullptr) add_bias_kernel<<<blocks(rows * outs), 128>>>(out, b, rows, outs);
  }
  void matmul_backward(float* d_in, float* d_w, float* d_b, const float* d, const float* in, const float* w, int rows,
                       int ins, int outs) {
    gemm(CUBLAS_OP_N, CUBLAS_OP_N, ins, rows, outs, w, ins, d, outs, 0, d_in, ins);
    gemm(CUBLAS_OP_N, CUBLAS_OP_T, ins, outs, rows, in, ins, d, outs, 1, d_w, ins);
    if (d_b != nullptr) bias_backward_kernel<<<blocks(outs), 128>>>(d_b, d, rows, outs);
  }
  void attention(float* out, float* scores, const float* qkv, const Shape& s) {
    const int c = s.channels, n = s.positions, size = c / s.heads;
    for (int b = 0; b < s.batch; ++b) {
      const float* const q = qkv + size_t(b) * n * 3 * c;
      float* const own = scores + size_t(b) * s.heads * n * n;
      heads(CUBLAS_OP_T, CUBLAS_OP_N, n, n, size, q + c, 3 * c, size, q, 3 * c, size, own, n, n * n, s.heads);
    }
    causal_softmax_kernel<<<blocks(32 * s.heads * s.tokens()), 128>>>(scores, s.heads * s.tokens(), n,
                                                                      1 / std::sqrt(float(size)));
    for (int b = 0; b < s.batch; ++b)
      heads(CUBLAS_OP_N, CUBLAS_OP_N, size, n, n, qkv + size_t(b) * n * 3 * c + 2 * c, 3 * c, size,
            scores + size_t(b) * s.heads * n * n, n, n * n, out + size_t(b) * n * c, c, size, s.heads);
  }
  void attention_backward(float* d_qkv, float* d_scores, const float* d, const float* scores, const float* qkv,
                          const Shape& s) {
    const int c = s.channels, n = s.positions, size = c / s.heads;
    const auto each = [&](auto&& of_sequence) {
      for (int b = 0; b < s.batch; ++b)
        of_sequence(size_t(b) * n * 3 * c, size_t(b) * s.heads * n * n, size_t(b) * n * c);
    };
    each([&](size_t q, size_t score, size_t out) {
      heads(CUBLAS_OP_N, CUBLAS_OP_T, size, n, n, d + out, c, size, scores + score, n, n * n, d_qkv + q + 2 * c, 3 * c,
            size, s.heads);
      heads(CUBLAS_OP_T, CUBLAS_OP_N, n, n, size, qkv + q + 2 * c, 3 * c, size, d + out, c, size, d_scores + score, n,
            n * n, s.heads);
    });
    softmax_backward_kernel<<<blocks(32 * s.heads * s.tokens()), 128>>>(d_scores, scores, s.heads * s.tokens(), n,
                                                                        1 / std::sqrt(float(size)));
    each([&](size_t q, size_t score, size_t) {
      heads(CUBLAS_OP_N, CUBLAS_OP_N, size, n, n, qkv + q + c, 3 * c, size, d_scores + score, n, n * n, d_qkv + q,
            3 * c, size, s.heads);
      heads(CUBLAS_OP_N, CUBLAS_OP_T, size, n, n, qkv + q, 3 * c, size, d_scores + score, n, n * n, d_qkv + q + c,
            3 * c, size, s.heads);
    });
  }
  void add(float* out, const float* a, const float* b, int n) { add_kernel<<<blocks(n), 128>>>(out, a, b, n); }
  void gelu(float* out, const float* in, int n) { gelu_kernel<<<blocks(n), 128>>>(out, in, n); }
  void gelu_backward(float* d_in, const float* d, const float* in, int n) {
    gelu_backward_kernel<<<blocks(n), 128>>>(d_in, d, in, n);
  }
  void loss(float* losses, float* logits, int rows, int n) {
    loss_kernel<<<blocks(32 * rows), 128>>>(losses, logits, targets_, rows, n);
  }
  void adamw(float* p, const float* g, float* m, float* v, size_t n, int step) {
    adamw_kernel<<<blocks(int(n)), 128>>>(p, g, m, v, n, 1 - std::pow(kBeta1, float(step)),
                                          1 - std::pow(kBeta2, float(step)));
    CUDA(cudaGetLastError());
  }

 private:
  static int blocks(int threads) { return (threads + 127) / 128; }
  void gemm(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const float* a, int lda, const float* b,
            int ldb, float beta, float* c, int ldc) {
    const float one = 1;
    CUBLAS(cublasSgemm(handle_, ta, tb, m, n, k, &one, a, lda, b, ldb, &beta, c, ldc));
  }
  void heads(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const float* a, int lda, int next_a,
             const float* b, int ldb, int next_b, float* c, int ldc, int next_c, int count) {
    const float one = 1, zero = 0;
    CUBLAS(cublasSgemmStridedBatched(handle_, ta, tb, m, n, k, &one, a, lda, next_a, b, ldb, next_b, &zero, c, ldc,
                                     next_c, count));
  }

  cublasHandle_t handle_;
  int *tokens_ = nullptr, *targets_ = nullptr;
};
