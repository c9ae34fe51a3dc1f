// A small GPT-2: its parameters, and a training step by operations of either a CPU or a GPU.
#pragma once

#include <cstddef>
#include <vector>

struct Shape {
  int batch = 2, positions = 32, channels = 64, heads = 4, layers = 2, vocabulary = 128;
  int tokens() const { return batch * positions; }
};

/// Offsets of the tensors in the array of parameters (and in that of gradients).
struct Layout {
  struct Layer {
    size_t norm1_w, norm1_b, qkv_w, qkv_b, proj_w, proj_b, norm2_w, norm2_b, fc_w, fc_b, down_w,
        down_b;
  };
  size_t words, places, norm_w, norm_b, size = 0;
  std::vector<Layer> layers;
  explicit Layout(const Shape& s) : layers(s.layers) {
    const size_t c = s.channels;
    const auto take = [&](size_t n) { return size += n, size - n; };
    words = take(s.vocabulary * c), places = take(s.positions * c);
    for (Layer& l : layers) {
      l = {take(c), take(c), take(3 * c * c), take(3 * c), take(c * c),     take(c),
           take(c), take(c), take(4 * c * c), take(4 * c), take(4 * c * c), take(c)};
    }
    norm_w = take(c), norm_b = take(c);
  }
};

/// Ops has allocate(n) (zeros), upload, download, and the operations below, each with a backward
/// one. Gradients of parameters are added up; gradients of inputs are written, except for the
/// norms', which are added to the residual stream's.
template <class Ops>
class Gpt2 {
 public:
  Gpt2(Ops& ops, const Shape& shape, const std::vector<float>& parameters)
      : ops_(ops),
        s_(shape),
        at_(shape),
        p_(ops.upload(parameters)),
        g_(ops.allocate(at_.size)),
        m_(ops.allocate(at_.size)),
        v_(ops.allocate(at_.size)) {
    const size_t t = s_.tokens(), c = s_.channels;
    stream_.resize(2 * s_.layers + 1);
    for (float*& x : stream_) x = ops.allocate(t * c);
    for (int l = 0; l < s_.layers; ++l)
      layers_.push_back({norm(), ops.allocate(3 * t * c),
                         ops.allocate(size_t(s_.heads) * t * s_.positions), ops.allocate(t * c),
                         norm(), ops.allocate(4 * t * c), ops.allocate(4 * t * c)});
    last_ = norm();
    logits_ = ops.allocate(t * s_.vocabulary), losses_ = ops.allocate(t);
    d_stream_ = ops.allocate(t * c), d_norm_ = ops.allocate(t * c),
    d_attended_ = ops.allocate(t * c);
    d_wide_ = ops.allocate(4 * t * c), d_wider_ = ops.allocate(4 * t * c),
    d_qkv_ = ops.allocate(3 * t * c);
    d_scores_ = ops.allocate(size_t(s_.heads) * t * s_.positions);
    scratch_ = ops.allocate(t * c);
  }

  /// The mean loss of predicting `targets`; gradients stay for update().
  double step(const std::vector<int>& tokens, const std::vector<int>& targets) {
    const int t = s_.tokens(), c = s_.channels;
    ops_.set_tokens(tokens, targets);
    ops_.zero(g_, at_.size);
    forward(t, c);
    const std::vector<float> losses = ops_.download(losses_, t);
    double sum = 0;
    for (const float loss : losses) sum += loss;
    backward(t, c);
    return sum / t;
  }
  std::vector<float> gradients() { return ops_.download(g_, at_.size); }
  void update(int step) { ops_.adamw(p_, g_, m_, v_, at_.size, step); }

 private:
  struct Norm {
    float *out, *mean, *scale;
  };
  struct Layer {
    Norm norm1;
    float *qkv, *scores, *attended;
    Norm norm2;
    float *wide, *active;
  };
  Norm norm() {
    return {ops_.allocate(size_t(s_.tokens()) * s_.channels), ops_.allocate(s_.tokens()),
            ops_.allocate(s_.tokens())};
  }

  void forward(int t, int c) {
    ops_.embed(stream_[0], p_ + at_.words, p_ + at_.places, s_);
    for (int i = 0; i < s_.layers; ++i) {
      Layer& l = layers_[i];
      const Layout::Layer& w = at_.layers[i];
      float *const in = stream_[2 * i], *const middle = stream_[2 * i + 1],
                   *const out = stream_[2 * i + 2];
      ops_.norm(l.norm1.out, l.norm1.mean, l.norm1.scale, in, p_ + w.norm1_w, p_ + w.norm1_b, t, c);
      ops_.matmul(l.qkv, l.norm1.out, p_ + w.qkv_w, p_ + w.qkv_b, t, c, 3 * c);
      ops_.attention(l.attended, l.scores, l.qkv, s_);
      ops_.matmul(scratch_, l.attended, p_ + w.proj_w, p_ + w.proj_b, t, c, c);
      ops_.add(middle, in, scratch_, t * c);
      ops_.norm(l.norm2.out, l.norm2.mean, l.norm2.scale, middle, p_ + w.norm2_w, p_ + w.norm2_b, t,
                c);
      ops_.matmul(l.wide, l.norm2.out, p_ + w.fc_w, p_ + w.fc_b, t, c, 4 * c);
      ops_.gelu(l.active, l.wide, 4 * t * c);
      ops_.matmul(scratch_, l.active, p_ + w.down_w, p_ + w.down_b, t, 4 * c, c);
      ops_.add(out, middle, scratch_, t * c);
    }
    ops_.norm(last_.out, last_.mean, last_.scale, stream_.back(), p_ + at_.norm_w, p_ + at_.norm_b,
              t, c);
    ops_.matmul(logits_, last_.out, p_ + at_.words, nullptr, t, c, s_.vocabulary);
    ops_.loss(losses_, logits_, t, s_.vocabulary);  // logits become their gradients
  }

  void backward(int t, int c) {
    ops_.matmul_backward(d_norm_, g_ + at_.words, nullptr, logits_, last_.out, p_ + at_.words, t, c,
                         s_.vocabulary);
    ops_.zero(d_stream_, size_t(t) * c);
    norm_backward(last_, stream_.back(), at_.norm_w, at_.norm_b, t, c);
    for (int i = s_.layers; i-- > 0;) {
      Layer& l = layers_[i];
      const Layout::Layer& w = at_.layers[i];
      ops_.matmul_backward(d_wide_, g_ + w.down_w, g_ + w.down_b, d_stream_, l.active,
                           p_ + w.down_w, t, 4 * c, c);
      ops_.gelu_backward(d_wider_, d_wide_, l.wide, 4 * t * c);
      ops_.matmul_backward(d_norm_, g_ + w.fc_w, g_ + w.fc_b, d_wider_, l.norm2.out, p_ + w.fc_w, t,
                           c, 4 * c);
      norm_backward(l.norm2, stream_[2 * i + 1], w.norm2_w, w.norm2_b, t, c);
      ops_.matmul_backward(d_attended_, g_ + w.proj_w, g_ + w.proj_b, d_stream_, l.attended,
                           p_ + w.proj_w, t, c, c);
      ops_.attention_backward(d_qkv_, d_scores_, d_attended_, l.scores, l.qkv, s_);
      ops_.matmul_backward(d_norm_, g_ + w.qkv_w, g_ + w.qkv_b, d_qkv_, l.norm1.out, p_ + w.qkv_w,
                           t, c, 3 * c);
      norm_backward(l.norm1, stream_[2 * i], w.norm1_w, w.norm1_b, t, c);
    }
    ops_.embed_backward(g_ + at_.words, g_ + at_.places, d_stream_, s_);
  }
  void norm_backward(const Norm& n, const float* in, size_t w, size_t b, int t, int c) {
    ops_.norm_backward(d_stream_, g_ + w, g_ + b, d_norm_, in, p_ + w, n.mean, n.scale, t, c);
  }

  Ops& ops_;
  Shape s_;
  Layout at_;
  float *p_, *g_, *m_, *v_;
  std::vector<float*> stream_;  ///< the residual stream, before, in and after each layer
  std::vector<Layer> layers_;
  Norm last_;
  float *logits_, *losses_, *d_stream_, *d_norm_, *d_attended_, *d_wide_, *d_wider_, *d_qkv_,
      *d_scores_, *scratch_;
};

constexpr float kRate = 1e-3f, kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f, kDecay = 0.01f;
constexpr float kGelu = 0.7978845608f, kCubic = 0.044715f;
