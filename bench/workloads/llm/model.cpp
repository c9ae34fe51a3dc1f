#include "bench/workloads/llm/model.h"

#include <algorithm>
#include <cmath>

#include "bench/workloads/common/random.h"

namespace nearwarp::workloads::llm {

namespace {

constexpr int kPositionsPerPart = 256;

}  // namespace

Parameter batch_parameter() {
  return {"batch", "sequences that get a token at the same time", 1, 64, {}};
}
Parameter context_parameter() {
  return {"context", "positions in the cache, the new token's last", 128, 32768, {}};
}

std::vector<float> random_vector(uint64_t stream, int n) {
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = random_normal(stream, i);
  return x;
}

Cache random_cache(uint64_t stream, int batch, int heads, int context) {
  Cache c{batch, heads, context, {}};
  c.elements.resize(c.place(batch, 0, 0));
  for (size_t i = 0; i < c.elements.size(); ++i)
    c.elements[i] = to_half(2 * random_unit(stream, i) - 1);
  return c;
}

std::vector<float> attention(const std::vector<float>& q, const Cache& keys, const Cache& values,
                             int positions) {
  const int heads = static_cast<int>(q.size()) / kHead / keys.batch, per_kv = heads / keys.heads;
  const double scale = 1 / std::sqrt(double{kHead});
  std::vector<float> y(q.size());
  std::vector<double> scores(static_cast<size_t>(positions));
  for (int each = 0; each < heads * keys.batch; ++each) {
    const int token = each / heads, kv = each % heads / per_kv;
    const float* const own = &q[static_cast<size_t>(each * kHead)];
    double most = -INFINITY, total = 0, sums[kHead] = {};
    for (int t = 0; t < positions; ++t) {
      const Half* const key = &keys.elements[keys.place(token, kv, t)];
      double sum = 0;
      for (int e = 0; e < kHead; ++e) sum += double{own[e]} * from_half(key[e]);
      most = std::max(most, scores[static_cast<size_t>(t)] = sum * scale);
    }
    for (int t = 0; t < positions; ++t) {
      const Half* const value = &values.elements[values.place(token, kv, t)];
      const double weight = std::exp(scores[static_cast<size_t>(t)] - most);
      total += weight;
      for (int e = 0; e < kHead; ++e) sums[e] += weight * from_half(value[e]);
    }
    for (int e = 0; e < kHead; ++e)
      y[static_cast<size_t>(each * kHead + e)] = static_cast<float>(sums[e] / total);
  }
  return y;
}

std::vector<float> normalised(const std::vector<float>& x, int n) {
  std::vector<float> y(x.size());
  for (size_t first = 0; first < x.size(); first += static_cast<size_t>(n)) {
    double sum = 0;
    for (size_t i = first; i < first + static_cast<size_t>(n); ++i) sum += double{x[i]} * x[i];
    const double scale = 1 / std::sqrt(sum / n + 1e-5);
    for (size_t i = first; i < first + static_cast<size_t>(n); ++i)
      y[i] = static_cast<float>(x[i] * scale);
  }
  return y;
}

Angles angles_at(int position) {
  Angles a;
  for (int e = 0; e < kHead / 2; ++e) {
    const double angle = position * std::pow(10000.0, -2.0 * e / kHead);
    a.cosines.push_back(static_cast<float>(std::cos(angle)));
    a.sines.push_back(static_cast<float>(std::sin(angle)));
  }
  return a;
}

void rotate(std::vector<float>& heads, const Angles& angles) {
  for (size_t head = 0; head < heads.size(); head += kHead) {
    for (size_t e = 0; e < kHead / 2; ++e) {
      const float a = heads[head + e], b = heads[head + e + kHead / 2];
      heads[head + e] = a * angles.cosines[e] - b * angles.sines[e];
      heads[head + e + kHead / 2] = a * angles.sines[e] + b * angles.cosines[e];
    }
  }
}

int parts_of(int positions) {
  return std::max(1, (positions + kPositionsPerPart - 1) / kPositionsPerPart);
}

}  // namespace nearwarp::workloads::llm
