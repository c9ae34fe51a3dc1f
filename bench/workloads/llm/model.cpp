#include "bench/workloads/llm/model.h"

#include <algorithm>
#include <cmath>

#include "bench/workloads/common/random.h"

namespace nearwarp::workloads::llm {

namespace {

constexpr int kPositionsPerPart = 256;

}  // namespace

std::vector<Half> random_matrix(uint64_t stream, int rows, int columns) {
  std::vector<Half> w(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  // Uniform in (-a, a) with a variance of one over the columns.
  const float a = std::sqrt(3.0f / static_cast<float>(columns));
  for (size_t i = 0; i < w.size(); ++i) w[i] = to_half((2 * random_unit(stream, i) - 1) * a);
  return w;
}

std::vector<float> random_vector(uint64_t stream, int n) {
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = random_normal(stream, i);
  return x;
}

std::vector<float> product(const std::vector<Half>& w, const std::vector<float>& x, int rows) {
  std::vector<float> y(static_cast<size_t>(rows));
  for (size_t row = 0; row < y.size(); ++row) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += double{from_half(w[row * x.size() + i])} * x[i];
    y[row] = static_cast<float>(sum);
  }
  return y;
}

Cache random_cache(uint64_t stream, int heads, int context) {
  Cache c{heads, context, {}};
  c.elements.resize(static_cast<size_t>(heads) * static_cast<size_t>(context) * kHead);
  for (size_t i = 0; i < c.elements.size(); ++i)
    c.elements[i] = to_half(2 * random_unit(stream, i) - 1);
  return c;
}

std::vector<float> attention(const std::vector<float>& q, const Cache& keys, const Cache& values,
                             int positions) {
  const int heads = static_cast<int>(q.size()) / kHead, per_kv = heads / keys.heads;
  const double scale = 1 / std::sqrt(double{kHead});
  std::vector<float> y(q.size());
  std::vector<double> scores(static_cast<size_t>(positions));
  for (int head = 0; head < heads; ++head) {
    double most = -INFINITY, total = 0, sums[kHead] = {};
    for (int t = 0; t < positions; ++t) {
      double sum = 0;
      for (int e = 0; e < kHead; ++e)
        sum += double{q[static_cast<size_t>(head * kHead + e)]} *
               from_half(keys.at(head / per_kv, t)[e]);
      most = std::max(most, scores[static_cast<size_t>(t)] = sum * scale);
    }
    for (int t = 0; t < positions; ++t) {
      const double weight = std::exp(scores[static_cast<size_t>(t)] - most);
      total += weight;
      for (int e = 0; e < kHead; ++e) sums[e] += weight * from_half(values.at(head / per_kv, t)[e]);
    }
    for (int e = 0; e < kHead; ++e)
      y[static_cast<size_t>(head * kHead + e)] = static_cast<float>(sums[e] / total);
  }
  return y;
}

int parts_of(int positions) {
  return std::max(1, (positions + kPositionsPerPart - 1) / kPositionsPerPart);
}

}  // namespace nearwarp::workloads::llm
