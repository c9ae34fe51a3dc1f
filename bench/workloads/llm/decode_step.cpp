// A whole step of a small language model: from a token's embedding to the next token.
#include <algorithm>
#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/embedded.h"
#include "bench/workloads/llm/model.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

using namespace llm;

/// In Llama's proportions: a key-value head for four heads, 3.5 times as many in between.
struct Model {
  int layers = 2, hidden, vocabulary, context;
  int heads() const { return hidden / kHead; }
  int kv_heads() const { return std::max(1, heads() / 4); }
  int kv() const { return kv_heads() * kHead; }
  int between() const { return hidden / 2 * 7; }
};
Model model_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {.hidden = 256, .vocabulary = 1024, .context = 256};
    case Size::kMedium:
      return {.hidden = 1024, .vocabulary = 8192, .context = 1024};
    case Size::kLarge:
      return {.hidden = 2048, .vocabulary = 16384, .context = 4096};
    case Size::kPaper:
      return {.hidden = 4096, .vocabulary = 32000, .context = 8192};
  }
  return {};
}

struct Layer {
  std::vector<float> attention_gains, feed_forward_gains;
  std::vector<Half> q, k, v, out, gate, up, down;
  Cache keys, values;  ///< of the tokens before; the last position is this token's
};

Layer random_layer(uint64_t stream, const Model& m) {
  Layer l;
  l.attention_gains.assign(static_cast<size_t>(m.hidden), 1.0f);
  l.feed_forward_gains.assign(static_cast<size_t>(m.hidden), 1.0f);
  l.q = random_matrix(stream, m.hidden, m.hidden);
  l.k = random_matrix(stream + 1, m.kv(), m.hidden);
  l.v = random_matrix(stream + 2, m.kv(), m.hidden);
  l.out = random_matrix(stream + 3, m.hidden, m.hidden);
  l.gate = random_matrix(stream + 4, m.between(), m.hidden);
  l.up = random_matrix(stream + 5, m.between(), m.hidden);
  l.down = random_matrix(stream + 6, m.hidden, m.between());
  l.keys = random_cache(stream + 7, m.kv_heads(), m.context);
  l.values = random_cache(stream + 8, m.kv_heads(), m.context);
  return l;
}

/// Angles of the rotary embedding for a position: base 10,000.
struct Angles {
  std::vector<float> cosines, sines;
};
Angles angles_at(int position) {
  Angles a;
  for (int e = 0; e < kHead / 2; ++e) {
    const double angle = position * std::pow(10000.0, -2.0 * e / kHead);
    a.cosines.push_back(static_cast<float>(std::cos(angle)));
    a.sines.push_back(static_cast<float>(std::sin(angle)));
  }
  return a;
}

// The same on the CPU.

std::vector<float> normalised(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += double{v} * v;
  const double scale = 1 / std::sqrt(sum / static_cast<double>(x.size()) + 1e-5);
  std::vector<float> y;
  for (const float v : x) y.push_back(static_cast<float>(v * scale));
  return y;
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
void add(std::vector<float>& x, const std::vector<float>& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}
void set_last(Cache& cache, const std::vector<float>& heads) {
  for (int head = 0; head < cache.heads; ++head)
    for (int e = 0; e < kHead; ++e)
      cache
          .elements[static_cast<size_t>(cache.at(head, cache.context - 1) - cache.elements.data()) +
                    static_cast<size_t>(e)] = to_half(heads[static_cast<size_t>(head * kHead + e)]);
}
void step(std::vector<float>& x, Layer l, const Model& m, const Angles& angles) {
  const std::vector<float> in = normalised(x);
  std::vector<float> q = product(l.q, in, m.hidden), k = product(l.k, in, m.kv());
  rotate(q, angles);
  rotate(k, angles);
  set_last(l.keys, k);
  set_last(l.values, product(l.v, in, m.kv()));
  add(x, product(l.out, attention(q, l.keys, l.values, m.context), m.hidden));
  const std::vector<float> normal = normalised(x);
  std::vector<float> gate = product(l.gate, normal, m.between());
  const std::vector<float> up = product(l.up, normal, m.between());
  for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
  add(x, product(l.down, gate, m.hidden));
}

/// The kernels of decode.cu on a device.
class Device {
 public:
  Device(runtime::VirtualDevice& device, uint32_t module, const Model& m)
      : device_(device), module_(module), m_(m) {
    const auto floats = [&](int n, const char* label) {
      return device.allocate(static_cast<uint64_t>(n) * sizeof(float), label);
    };
    x_ = floats(m.hidden, "x");
    normal_ = floats(std::max(m.hidden, m.between()), "normalised");
    q_ = floats(m.hidden, "queries");
    k_ = floats(m.kv(), "new keys");
    v_ = floats(m.kv(), "new values");
    gate_ = floats(m.between(), "gate");
    up_ = floats(m.between(), "up");
    parts_ = floats(m.heads() * parts_of(m.context) * (kHead + 2), "parts");
    attended_ = floats(m.hidden, "attended");
    const Angles angles = angles_at(m.context - 1);
    cosines_ = device.upload(angles.cosines, "cosines");
    sines_ = device.upload(angles.sines, "sines");
  }

  void set(const std::vector<float>& x) {
    device_.copy_to_device(x_, x.data(), x.size() * sizeof(float));
  }

  void step(const Layer& l) {
    const auto weights = [&](const std::vector<Half>& w, const char* label) {
      return device_.upload(w, label);
    };
    const auto keys = device_.upload(l.keys.elements, "keys");
    const auto values = device_.upload(l.values.elements, "values");
    normalise(device_.upload(l.attention_gains, "gains"));
    multiply(weights(l.q, "Q"), normal_, q_, m_.hidden, m_.hidden);
    multiply(weights(l.k, "K"), normal_, k_, m_.kv(), m_.hidden);
    multiply(weights(l.v, "V"), normal_, v_, m_.kv(), m_.hidden);
    launch("decode_rotate_and_append",
           blocks_for(static_cast<uint64_t>(m_.heads() + m_.kv_heads()) * kHead / 2, kBlock),
           kBlock,
           runtime::KernelArgs(q_, k_, v_, cosines_, sines_, keys, values, m_.heads(),
                               m_.kv_heads(), m_.context - 1, m_.context));
    const int parts = parts_of(m_.context);
    launch("decode_attention", {static_cast<uint32_t>(m_.heads()), static_cast<uint32_t>(parts), 1},
           kAttentionBlock,
           runtime::KernelArgs(q_, keys, values, parts_, m_.heads() / m_.kv_heads(), m_.context,
                               m_.context, 1 / std::sqrt(float{kHead})));
    launch("decode_attention_combine", {static_cast<uint32_t>(m_.heads()), 1, 1}, kAttentionBlock,
           runtime::KernelArgs(parts_, attended_, parts));
    multiply(weights(l.out, "O"), attended_, x_, m_.hidden, m_.hidden, x_);
    normalise(device_.upload(l.feed_forward_gains, "gains"));
    multiply(weights(l.gate, "gate"), normal_, gate_, m_.between(), m_.hidden);
    multiply(weights(l.up, "up"), normal_, up_, m_.between(), m_.hidden);
    launch("decode_gate", blocks_for(static_cast<uint64_t>(m_.between()), kBlock), kBlock,
           runtime::KernelArgs(gate_, up_, normal_, m_.between()));
    multiply(weights(l.down, "down"), normal_, x_, m_.hidden, m_.between(), x_);
  }

  /// Of the normalised x.
  runtime::DevicePtr logits(const std::vector<Half>& w) {
    const auto y = device_.allocate(static_cast<uint64_t>(m_.vocabulary) * sizeof(float), "logits");
    normalise(device_.upload(std::vector<float>(static_cast<size_t>(m_.hidden), 1.0f), "gains"));
    multiply(device_.upload(w, "vocabulary"), normal_, y, m_.vocabulary, m_.hidden);
    return y;
  }
  runtime::DevicePtr largest(runtime::DevicePtr logits) {
    const auto token = device_.allocate(sizeof(int32_t), "token");
    launch("decode_argmax", {1, 1, 1}, kBlock, runtime::KernelArgs(logits, token, m_.vocabulary));
    return token;
  }

 private:
  void launch(const char* kernel, runtime::Dim3 grid, uint32_t block,
              const runtime::KernelArgs& args) {
    device_.launch(module_, kernel, grid, {block}, 0, args);
  }
  void multiply(runtime::DevicePtr w, runtime::DevicePtr x, runtime::DevicePtr y, int rows,
                int columns, runtime::DevicePtr residual = {}) {
    launch("decode_gemv", blocks_for(static_cast<uint64_t>(rows) * kLanes, kBlock), kBlock,
           runtime::KernelArgs(w, x, residual, y, rows, columns));
  }
  void normalise(runtime::DevicePtr gains) {
    launch("decode_rms_norm", {1, 1, 1}, kBlock,
           runtime::KernelArgs(x_, gains, normal_, m_.hidden));
  }

  runtime::VirtualDevice& device_;
  uint32_t module_;
  const Model& m_;
  runtime::DevicePtr x_, normal_, q_, k_, v_, gate_, up_, parts_, attended_, cosines_, sines_;
};

class DecodeStep final : public Workload {
 public:
  std::string name() const override { return "decode-step"; }
  std::string description() const override {
    return "one token through a language model of two layers: all products, attention, argmax";
  }
  std::string source() const override { return kSource; }
  std::string ptx() const override { return embedded::decode_ptx; }
  std::string ptx_name() const override { return "decode.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Model m = model_of(size);
    std::vector<float> x = random_vector(170, m.hidden);
    std::vector<Layer> layers;
    for (int i = 0; i < m.layers; ++i)
      layers.push_back(random_layer(171 + 10 * static_cast<uint64_t>(i), m));
    const std::vector<Half> vocabulary = random_matrix(169, m.vocabulary, m.hidden);

    Device on_device(device, module, m);
    on_device.set(x);
    for (const Layer& l : layers) on_device.step(l);
    const auto d_logits = on_device.logits(vocabulary);
    const auto d_token = on_device.largest(d_logits);
    if (device.limit_reached()) return skipped_by_limit();

    for (const Layer& l : layers) step(x, l, m, angles_at(m.context - 1));
    const std::vector<float> logits = product(vocabulary, normalised(x), m.vocabulary);
    const std::vector<float> found = device.download<float>(d_logits, logits.size());
    const auto best = std::max_element(found.begin(), found.end());
    return both(check_close("logits", found, logits, 2e-3, 1.0),
                check_equal("token", device.download<int32_t>(d_token, 1),
                            {static_cast<int32_t>(best - found.begin())}));
  }
};

}  // namespace

std::unique_ptr<Workload> make_decode_step() { return std::make_unique<DecodeStep>(); }

}  // namespace nearwarp::workloads
