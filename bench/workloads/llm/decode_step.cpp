// A whole step of a small language model: from each sequence's last word to its next one.
#include <algorithm>
#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/llm/gemv.h"
#include "bench/workloads/llm/model.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

using namespace llm;

/// In Llama's proportions: a key-value head for four heads, 3.5 times as many in between.
struct Model {
  int hidden, vocabulary, context;
  int layers = 2, batch = 1;
  Format format = Format::kF16;
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
  Weights q, k, v, out, gate, up, down;
  Cache keys, values;  ///< those of the tokens before; the last position is the new token's
};

Layer random_layer(uint64_t stream, const Model& m) {
  Layer l;
  l.q = random_weights(stream, m.format, m.hidden, m.hidden);
  l.k = random_weights(stream + 1, m.format, m.kv(), m.hidden);
  l.v = random_weights(stream + 2, m.format, m.kv(), m.hidden);
  l.out = random_weights(stream + 3, m.format, m.hidden, m.hidden);
  l.gate = random_weights(stream + 4, m.format, m.between(), m.hidden);
  l.up = random_weights(stream + 5, m.format, m.between(), m.hidden);
  l.down = random_weights(stream + 6, m.format, m.hidden, m.between());
  l.keys = random_cache(stream + 7, m.batch, m.kv_heads(), m.context);
  l.values = random_cache(stream + 8, m.batch, m.kv_heads(), m.context);
  return l;
}

std::vector<Half> random_embeddings(const Model& m) {
  std::vector<Half> e(static_cast<size_t>(m.vocabulary) * static_cast<size_t>(m.hidden));
  for (size_t i = 0; i < e.size(); ++i) e[i] = to_half((2 * random_unit(163, i) - 1) * 1.7f);
  return e;
}

// The step on the CPU, to compare with.

void add(std::vector<float>& x, const std::vector<float>& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}
void set_last(Cache& cache, const std::vector<float>& heads) {
  for (int token = 0; token < cache.batch; ++token)
    for (int head = 0; head < cache.heads; ++head)
      for (size_t e = 0; e < kHead; ++e)
        cache.elements[cache.place(token, head, cache.context - 1) + e] =
            to_half(heads[static_cast<size_t>((token * cache.heads + head) * kHead) + e]);
}
void step(std::vector<float>& x, Layer& l, const Model& m, const Angles& angles) {
  const std::vector<float> in = normalised(x, m.hidden);
  std::vector<float> q = product(l.q, in), k = product(l.k, in);
  rotate(q, angles);
  rotate(k, angles);
  set_last(l.keys, k);
  set_last(l.values, product(l.v, in));
  add(x, product(l.out, attention(q, l.keys, l.values, m.context)));
  const std::vector<float> normal = normalised(x, m.hidden);
  std::vector<float> gate = product(l.gate, normal);
  const std::vector<float> up = product(l.up, normal);
  for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
  add(x, product(l.down, gate));
}

/// The kernels of decode.cu on a device.
class Device {
 public:
  Device(runtime::VirtualDevice& device, uint32_t module, const Model& m)
      : device_(device), module_(module), m_(m), batch_(static_cast<uint32_t>(m.batch)) {
    const auto floats = [&](int n, const char* label) {
      return device.allocate(static_cast<uint64_t>(n) * batch_ * sizeof(float), label);
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
    gains_ = device.upload(std::vector<float>(static_cast<size_t>(m.hidden), 1.0f), "gains");
    const Angles angles = angles_at(m.context - 1);
    cosines_ = device.upload(angles.cosines, "cosines");
    sines_ = device.upload(angles.sines, "sines");
  }

  void embed(const std::vector<Half>& embeddings, const std::vector<int32_t>& words) {
    const runtime::Dim3 blocks = blocks_for(static_cast<uint64_t>(m_.hidden), kBlock);
    launch("decode_embed", {blocks.x, batch_, 1}, kBlock,
           runtime::KernelArgs(device_.upload(embeddings, "embeddings"),
                               device_.upload(words, "words"), x_, m_.hidden));
  }

  void step(const Layer& l) {
    const auto keys = device_.upload(l.keys.elements, "keys");
    const auto values = device_.upload(l.values.elements, "values");
    normalise();
    multiply(l.q, "Q", normal_, q_);
    multiply(l.k, "K", normal_, k_);
    multiply(l.v, "V", normal_, v_);
    const runtime::Dim3 halves =
        blocks_for(static_cast<uint64_t>(m_.heads() + m_.kv_heads()) * kHead / 2, kBlock);
    launch("decode_rotate_and_append", {halves.x, batch_, 1}, kBlock,
           runtime::KernelArgs(q_, k_, v_, cosines_, sines_, keys, values, m_.heads(),
                               m_.kv_heads(), m_.context - 1, m_.context));
    const int parts = parts_of(m_.context);
    const auto heads = static_cast<uint32_t>(m_.heads());
    launch("decode_attention", {heads, static_cast<uint32_t>(parts), batch_}, kAttentionBlock,
           runtime::KernelArgs(q_, keys, values, parts_, m_.heads() / m_.kv_heads(), m_.context,
                               m_.context, 1 / std::sqrt(float{kHead})));
    launch("decode_attention_combine", {heads, batch_, 1}, kAttentionBlock,
           runtime::KernelArgs(parts_, attended_, parts));
    multiply(l.out, "O", attended_, x_, x_);
    normalise();
    multiply(l.gate, "gate", normal_, gate_);
    multiply(l.up, "up", normal_, up_);
    const int between = m_.between() * m_.batch;
    launch("decode_gate", blocks_for(static_cast<uint64_t>(between), kBlock), kBlock,
           runtime::KernelArgs(gate_, up_, normal_, between));
    multiply(l.down, "down", normal_, x_, x_);
  }

  /// The logits of the normalised x.
  runtime::DevicePtr logits(const Weights& w) {
    const auto y =
        device_.allocate(static_cast<uint64_t>(m_.vocabulary) * batch_ * sizeof(float), "logits");
    normalise();
    multiply(w, "vocabulary", normal_, y);
    return y;
  }
  runtime::DevicePtr largest(runtime::DevicePtr logits) {
    const auto token = device_.allocate(batch_ * sizeof(int32_t), "token");
    launch("decode_argmax", {batch_, 1, 1}, kBlock,
           runtime::KernelArgs(logits, token, m_.vocabulary));
    return token;
  }

 private:
  void launch(const char* kernel, runtime::Dim3 grid, uint32_t block,
              const runtime::KernelArgs& args) {
    device_.launch(module_, kernel, grid, {block}, 0, args);
  }
  void multiply(const Weights& w, const char* label, runtime::DevicePtr x, runtime::DevicePtr y,
                runtime::DevicePtr residual = {}) {
    launch_gemv(device_, module_, upload(device_, w, label), x, residual, y, m_.batch);
  }
  void normalise() {
    launch("decode_rms_norm", {batch_, 1, 1}, kBlock,
           runtime::KernelArgs(x_, gains_, normal_, m_.hidden));
  }

  runtime::VirtualDevice& device_;
  uint32_t module_;
  const Model& m_;
  uint32_t batch_;
  runtime::DevicePtr x_, normal_, q_, k_, v_, gate_, up_, parts_, attended_, gains_, cosines_,
      sines_;
};

class DecodeStep final : public Workload {
 public:
  explicit DecodeStep(std::string name, Values values = {})
      : name_(std::move(name)), values_(std::move(values)) {}
  std::string name() const override { return name_; }
  std::string description() const override {
    return "one token through a language model of two layers: all products, attention, argmax";
  }
  std::string source() const override { return kSource; }
  std::string ptx_name() const override { return "decode.ptx"; }
  std::vector<Parameter> parameters() const override {
    return {batch_parameter(),
            context_parameter(),
            {"layers", "of the model", 1, 4, {}},
            {"weights", "their format", 0, 0, format_names()}};
  }
  std::unique_ptr<Workload> with(std::string name, Values values) const override {
    return std::make_unique<DecodeStep>(std::move(name), std::move(values));
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    Model m = model_of(size);
    m.batch = values_.number("batch", 1);
    m.context = values_.number("context", m.context);
    m.layers = values_.number("layers", m.layers);
    m.format = format_named(values_.word("weights", "f16"));
    const std::vector<Half> embeddings = random_embeddings(m);
    std::vector<int32_t> words;
    for (int i = 0; i < m.batch; ++i)
      words.push_back(static_cast<int32_t>(
          random_below(170, static_cast<uint64_t>(i), static_cast<uint32_t>(m.vocabulary))));
    const Weights vocabulary = random_weights(169, m.format, m.vocabulary, m.hidden);

    Device on_device(device, module, m);
    on_device.embed(embeddings, words);
    for (int i = 0; i < m.layers; ++i) on_device.step(layer(i, m));
    const auto d_logits = on_device.logits(vocabulary);
    const auto d_token = on_device.largest(d_logits);
    if (device.limit_reached()) return skipped_by_limit();

    std::vector<float> x;
    for (const int32_t word : words)
      for (int i = 0; i < m.hidden; ++i)
        x.push_back(from_half(embeddings[static_cast<size_t>(word * m.hidden + i)]));
    for (int i = 0; i < m.layers; ++i) {
      Layer l = layer(i, m);
      step(x, l, m, angles_at(m.context - 1));
    }
    const std::vector<float> logits = product(vocabulary, normalised(x, m.hidden));
    const std::vector<float> found = device.download<float>(d_logits, logits.size());
    std::vector<int32_t> largest;
    for (auto own = found.begin(); own != found.end(); own += m.vocabulary)
      largest.push_back(static_cast<int32_t>(std::max_element(own, own + m.vocabulary) - own));
    return both(check_close("logits", found, logits, 2e-3, 1.0),
                check_equal("token", device.download<int32_t>(d_token, largest.size()), largest));
  }

 private:
  static Layer layer(int number, const Model& m) {
    return random_layer(171 + 10 * static_cast<uint64_t>(number), m);
  }

  std::string name_;
  Values values_;
};

}  // namespace

std::unique_ptr<Workload> make_decode_step() { return std::make_unique<DecodeStep>("decode-step"); }

}  // namespace nearwarp::workloads
