// The kernels between the products of a decoding step: embeddings, norms, rotary embedding,
// sampling.
#include <algorithm>
#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/llm/model.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

using namespace llm;

constexpr int kMost = 40;  ///< words that a next one is drawn from
constexpr float kTemperature = 0.8f;
constexpr int kPosition = 100, kContext = 128;

struct Shape {
  int hidden, vocabulary;
};
Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {1024, 8192};
    case Size::kMedium:
      return {4096, 32000};
    case Size::kLarge:
      return {4096, 128256};  // Llama 3 8B
    case Size::kPaper:
      return {8192, 128256};  // Llama 3 70B
  }
  return {};
}

/// Is each word one of the most likely, and the one in whose share of the probability the number
/// drawn lies, to within what sums in f32 may be off?
CheckResult check_words(const std::vector<int32_t>& words, const std::vector<float>& logits,
                        const std::vector<float>& drawn, int n) {
  for (size_t token = 0; token < words.size(); ++token) {
    const float* const own = &logits[token * static_cast<size_t>(n)];
    std::vector<float> sorted(own, own + n);
    std::nth_element(sorted.begin(), sorted.begin() + kMost - 1, sorted.end(), std::greater<>());
    const float least = sorted[kMost - 1], high = *std::max_element(own, own + n);
    double before = 0, share = 0, all = 0;
    for (int i = 0; i < n; ++i) {
      if (own[i] < least) continue;
      const double weight = std::exp((double{own[i]} - high) / kTemperature);
      if (i < words[token]) before += weight;
      if (i == words[token]) share = weight;
      all += weight;
    }
    const double place = drawn[token] * all, slack = 1e-4 * all;
    if (share == 0 || place < before - slack || place > before + share + slack)
      return {false, false,
              "word of token " + std::to_string(token) + ": " + std::to_string(words[token])};
  }
  return {true, false, std::to_string(words.size()) + " words drawn"};
}

class DecodeBetween final : public Workload {
 public:
  explicit DecodeBetween(std::string name, const Values& values = {})
      : name_(std::move(name)),
        batch_(values.number("batch", 8)),
        part_(values.word("part", "all")) {}
  std::string name() const override { return name_; }
  std::string description() const override {
    return "what stands between a step's products: embeddings, RMS norm, rotary embedding, "
           "sampling";
  }
  std::string source() const override { return kSource; }
  std::string ptx_name() const override { return "decode.ptx"; }
  std::vector<Parameter> parameters() const override {
    return {batch_parameter(),
            {"part", "what runs", 0, 0, {"all", "embedding", "norm", "rotary", "sampling"}}};
  }
  std::unique_ptr<Workload> with(std::string name, Values values) const override {
    return std::make_unique<DecodeBetween>(std::move(name), values);
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Run run{device, module, shape_of(size), batch_};
    CheckResult result{true, false, ""};
    for (const auto& [part, check] :
         {std::pair{"embedding", &Run::embedding}, std::pair{"norm", &Run::norm},
          std::pair{"rotary", &Run::rotary}, std::pair{"sampling", &Run::sampling}}) {
      if (part_ != "all" && part_ != part) continue;
      const CheckResult one = (run.*check)();
      if (device.limit_reached()) return skipped_by_limit();
      result = result.detail.empty() ? one : both(result, one);
    }
    return result;
  }

 private:
  struct Run {
    runtime::VirtualDevice& device;
    uint32_t module;
    Shape s;
    int batch;

    size_t elements() const { return static_cast<size_t>(batch) * static_cast<size_t>(s.hidden); }
    uint32_t tokens() const { return static_cast<uint32_t>(batch); }

    CheckResult embedding() const {
      std::vector<Half> table(static_cast<size_t>(s.vocabulary) * static_cast<size_t>(s.hidden));
      for (size_t i = 0; i < table.size(); ++i) table[i] = to_half(2 * random_unit(195, i) - 1);
      std::vector<int32_t> words;
      for (uint32_t i = 0; i < tokens(); ++i)
        words.push_back(
            static_cast<int32_t>(random_below(196, i, static_cast<uint32_t>(s.vocabulary))));
      const auto d_x = device.allocate(elements() * sizeof(float), "x");
      device.launch(module, "decode_embed", {blocks_for(uint64_t(s.hidden), kBlock).x, tokens(), 1},
                    {kBlock}, 0,
                    runtime::KernelArgs(device.upload(table, "embeddings"),
                                        device.upload(words, "words"), d_x, s.hidden));
      std::vector<float> x;
      for (const int32_t word : words)
        for (int i = 0; i < s.hidden; ++i)
          x.push_back(from_half(
              table[static_cast<size_t>(word) * static_cast<size_t>(s.hidden) + size_t(i)]));
      return check_bits("embeddings", device.download<float>(d_x, x.size()), x);
    }

    CheckResult norm() const {
      const std::vector<float> x = random_vector(197, batch * s.hidden);
      const std::vector<float> gains = random_vector(198, s.hidden);
      const auto d_y = device.allocate(elements() * sizeof(float), "y");
      device.launch(
          module, "decode_rms_norm", {tokens(), 1, 1}, {kBlock}, 0,
          runtime::KernelArgs(device.upload(x, "x"), device.upload(gains, "gains"), d_y, s.hidden));
      std::vector<float> y = normalised(x, s.hidden);
      for (size_t i = 0; i < y.size(); ++i) y[i] *= gains[i % gains.size()];
      return check_close("norm", device.download<float>(d_y, y.size()), y, 1e-5, 1.0);
    }

    CheckResult rotary() const {
      const int heads = s.hidden / kHead, kv_heads = std::max(1, heads / 4);
      const size_t kv = static_cast<size_t>(batch) * static_cast<size_t>(kv_heads) * kHead;
      std::vector<float> q = random_vector(199, batch * s.hidden);
      std::vector<float> k = random_vector(200, static_cast<int>(kv));
      const std::vector<float> v = random_vector(201, static_cast<int>(kv));
      const Angles angles = angles_at(kPosition);
      const auto d_q = device.upload(q, "queries");
      const uint64_t cache = kv * kContext * sizeof(Half);
      const auto d_keys = device.allocate(cache, "keys"),
                 d_values = device.allocate(cache, "values");
      const uint64_t pairs = static_cast<uint64_t>(heads + kv_heads) * kHead / 2;
      device.launch(
          module, "decode_rotate_and_append", {blocks_for(pairs, kBlock).x, tokens(), 1}, {kBlock},
          0,
          runtime::KernelArgs(d_q, device.upload(k, "new keys"), device.upload(v, "new values"),
                              device.upload(angles.cosines, "cosines"),
                              device.upload(angles.sines, "sines"), d_keys, d_values, heads,
                              kv_heads, kPosition, kContext));
      rotate(q, angles);
      rotate(k, angles);
      const auto appended = [&](runtime::DevicePtr from) {
        const std::vector<Half> all = device.download<Half>(from, kv * kContext);
        std::vector<float> at_position;
        for (size_t head = 0; head < kv / kHead; ++head)
          for (size_t e = 0; e < kHead; ++e)
            at_position.push_back(from_half(all[(head * kContext + kPosition) * kHead + e]));
        return at_position;
      };
      return both(check_close("queries", device.download<float>(d_q, q.size()), q, 1e-5, 1.0),
                  both(check_close("keys", appended(d_keys), k, 1e-3, 1.0),
                       check_close("values", appended(d_values), v, 1e-3, 1.0)));
    }

    CheckResult sampling() const {
      std::vector<float> logits = random_vector(202, batch * s.vocabulary), drawn;
      for (uint32_t i = 0; i < tokens(); ++i) drawn.push_back(random_unit(203, i));
      const auto d_word = device.allocate(tokens() * sizeof(int32_t), "word");
      device.launch(
          module, "decode_sample", {tokens(), 1, 1}, {kBlock}, 0,
          runtime::KernelArgs(device.upload(logits, "logits"), device.upload(drawn, "drawn"),
                              d_word, s.vocabulary, kMost, kTemperature));
      return check_words(device.download<int32_t>(d_word, tokens()), logits, drawn, s.vocabulary);
    }
  };

  std::string name_;
  int batch_;
  std::string part_;
};

}  // namespace

std::unique_ptr<Workload> make_decode_between() {
  return std::make_unique<DecodeBetween>("decode-between");
}

}  // namespace nearwarp::workloads
