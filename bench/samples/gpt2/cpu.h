// The operations on the CPU, written as they are defined.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "bench/samples/gpt2/model.h"

class Cpu {
 public:
  float* allocate(size_t n) {
    memory_.push_back(std::make_unique<float[]>(n));
    return memory_.back().get();
  }
  float* upload(const std::vector<float>& x) {
    float* const p = allocate(x.size());
    std::copy(x.begin(), x.end(), p);
    return p;
  }
  std::vector<float> download(const float* p, size_t n) { return {p, p + n}; }
  void zero(float* p, size_t n) { std::fill_n(p, n, 0.0f); }
  void set_tokens(const std::vector<int>& tokens, const std::vector<int>& targets) {
    tokens_ = tokens, targets_ = targets;
  }

  void embed(float* out, const float* words, const float* places, const Shape& s) {
    for (int t = 0; t < s.tokens(); ++t)
      for (int c = 0; c < s.channels; ++c)
        out[t * s.channels + c] =
            words[tokens_[t] * s.channels + c] + places[t % s.positions * s.channels + c];
  }
  void embed_backward(float* d_words, float* d_places, const float* d, const Shape& s) {
    for (int t = 0; t < s.tokens(); ++t)
      for (int c = 0; c < s.channels; ++c) {
        d_words[tokens_[t] * s.channels + c] += d[t * s.channels + c];
        d_places[t % s.positions * s.channels + c] += d[t * s.channels + c];
      }
  }

  void norm(float* out, float* mean, float* scale, const float* in, const float* w, const float* b,
            int rows, int n) {
    for (int r = 0; r < rows; ++r) {
      double m = 0, v = 0;
      for (int i = 0; i < n; ++i) m += in[r * n + i];
      m /= n;
      for (int i = 0; i < n; ++i) v += (in[r * n + i] - m) * (in[r * n + i] - m);
      mean[r] = float(m), scale[r] = float(1 / std::sqrt(v / n + 1e-5));
      for (int i = 0; i < n; ++i)
        out[r * n + i] = (in[r * n + i] - mean[r]) * scale[r] * w[i] + b[i];
    }
  }
  void norm_backward(float* d_in, float* d_w, float* d_b, const float* d, const float* in,
                     const float* w, const float* mean, const float* scale, int rows, int n) {
    for (int r = 0; r < rows; ++r) {
      double sum = 0, product = 0;
      for (int i = 0; i < n; ++i) {
        const float x = (in[r * n + i] - mean[r]) * scale[r], g = d[r * n + i] * w[i];
        d_w[i] += d[r * n + i] * x, d_b[i] += d[r * n + i];
        sum += g, product += g * x;
      }
      for (int i = 0; i < n; ++i) {
        const float x = (in[r * n + i] - mean[r]) * scale[r];
        d_in[r * n + i] += float(d[r * n + i] * w[i] - sum / n - x * product / n) * scale[r];
      }
    }
  }

  /// out[rows][outs] = in[rows][ins] w[outs][ins] + b
  void matmul(float* out, const float* in, const float* w, const float* b, int rows, int ins,
              int outs) {
    for (int r = 0; r < rows; ++r)
      for (int o = 0; o < outs; ++o) {
        double sum = b != nullptr ? b[o] : 0;
        for (int i = 0; i < ins; ++i) sum += double(in[r * ins + i]) * w[o * ins + i];
        out[r * outs + o] = float(sum);
      }
  }
  void matmul_backward(float* d_in, float* d_w, float* d_b, const float* d, const float* in,
                       const float* w, int rows, int ins, int outs) {
    zero(d_in, size_t(rows) * ins);
    for (int r = 0; r < rows; ++r)
      for (int o = 0; o < outs; ++o) {
        const float g = d[r * outs + o];
        if (d_b != nullptr) d_b[o] += g;
        for (int i = 0; i < ins; ++i)
          d_in[r * ins + i] += g * w[o * ins + i], d_w[o * ins + i] += g * in[r * ins + i];
      }
  }

  void attention(float* out, float* scores, const float* qkv, const Shape& s) {
    const int c = s.channels, n = s.positions, size = c / s.heads;
    const float scale = 1 / std::sqrt(float(size));
    for (int b = 0; b < s.batch; ++b)
      for (int h = 0; h < s.heads; ++h)
        for (int q = 0; q < n; ++q) {
          const float* const own = qkv + (b * n + q) * 3 * c + h * size;
          float* const row = scores + ((b * s.heads + h) * n + q) * n;
          double most = -INFINITY, total = 0;
          for (int k = 0; k <= q; ++k) {
            double sum = 0;
            for (int e = 0; e < size; ++e)
              sum += double(own[e]) * qkv[(b * n + k) * 3 * c + c + h * size + e];
            row[k] = float(sum * scale), most = std::max(most, double(row[k]));
          }
          for (int k = 0; k <= q; ++k) total += std::exp(row[k] - most);
          for (int k = 0; k < n; ++k) row[k] = k <= q ? float(std::exp(row[k] - most) / total) : 0;
          for (int e = 0; e < size; ++e) {
            double sum = 0;
            for (int k = 0; k <= q; ++k)
              sum += double(row[k]) * qkv[(b * n + k) * 3 * c + 2 * c + h * size + e];
            out[(b * n + q) * c + h * size + e] = float(sum);
          }
        }
  }
  void attention_backward(float* d_qkv, float* d_scores, const float* d, const float* scores,
                          const float* qkv, const Shape& s) {
    const int c = s.channels, n = s.positions, size = c / s.heads;
    const float scale = 1 / std::sqrt(float(size));
    zero(d_qkv, size_t(s.tokens()) * 3 * c);
    for (int b = 0; b < s.batch; ++b)
      for (int h = 0; h < s.heads; ++h)
        for (int q = 0; q < n; ++q) {
          const size_t at = size_t((b * s.heads + h) * n + q) * n,
                       own = size_t(b * n + q) * 3 * c + h * size;
          const float* const g = d + (b * n + q) * c + h * size;
          double sum = 0;
          for (int k = 0; k <= q; ++k) {
            const size_t value = size_t(b * n + k) * 3 * c + 2 * c + h * size;
            double product = 0;
            for (int e = 0; e < size; ++e)
              product += double(g[e]) * qkv[value + e], d_qkv[value + e] += scores[at + k] * g[e];
            d_scores[at + k] = float(product), sum += product * scores[at + k];
          }
          for (int k = 0; k <= q; ++k) {
            const size_t key = size_t(b * n + k) * 3 * c + c + h * size;
            const float g_score = float(scores[at + k] * (d_scores[at + k] - sum)) * scale;
            for (int e = 0; e < size; ++e)
              d_qkv[own + e] += g_score * qkv[key + e], d_qkv[key + e] += g_score * qkv[own + e];
          }
        }
  }

  void add(float* out, const float* a, const float* b, int n) {
    for (int i = 0; i < n; ++i) out[i] = a[i] + b[i];
  }
  void gelu(float* out, const float* in, int n) {
    for (int i = 0; i < n; ++i)
      out[i] = 0.5f * in[i] * (1 + std::tanh(kGelu * (in[i] + kCubic * in[i] * in[i] * in[i])));
  }
  void gelu_backward(float* d_in, const float* d, const float* in, int n) {
    for (int i = 0; i < n; ++i) {
      const float x = in[i], t = std::tanh(kGelu * (x + kCubic * x * x * x));
      d_in[i] = d[i] * (0.5f * (1 + t) + 0.5f * x * (1 - t * t) * kGelu * (1 + 3 * kCubic * x * x));
    }
  }
  void loss(float* losses, float* logits, int rows, int n) {
    for (int r = 0; r < rows; ++r) {
      float* const own = logits + r * n;
      const double most = *std::max_element(own, own + n);
      double total = 0;
      for (int i = 0; i < n; ++i) total += std::exp(own[i] - most);
      losses[r] = float(std::log(total) + most - own[targets_[r]]);
      for (int i = 0; i < n; ++i)
        own[i] = float((std::exp(own[i] - most) / total - (i == targets_[r])) / rows);
    }
  }
  void adamw(float* p, const float* g, float* m, float* v, size_t n, int step) {
    const float first = 1 - std::pow(kBeta1, float(step)),
                second = 1 - std::pow(kBeta2, float(step));
    for (size_t i = 0; i < n; ++i) {
      m[i] = kBeta1 * m[i] + (1 - kBeta1) * g[i], v[i] = kBeta2 * v[i] + (1 - kBeta2) * g[i] * g[i];
      p[i] -= kRate * (m[i] / first / (std::sqrt(v[i] / second) + kEpsilon) + kDecay * p[i]);
    }
  }

 private:
  std::vector<std::unique_ptr<float[]>> memory_;
  std::vector<int> tokens_, targets_;
};
