// Attention of one query of each sequence over the keys and values of all tokens before it.
#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/llm/model.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

using namespace llm;

constexpr int kHeads = 32, kKvHeads = 8;  // Llama 3 8B

int context_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return 512;
    case Size::kMedium:
      return 4096;
    case Size::kLarge:
      return 16384;
    case Size::kPaper:
      return 32768;
  }
  return 0;
}

/// The pages of all sequences, in an order as if they had been given out as sequences grew.
std::vector<int32_t> random_pages(int pages) {
  std::vector<int32_t> table(static_cast<size_t>(pages));
  for (int i = 0; i < pages; ++i) table[static_cast<size_t>(i)] = i;
  for (size_t i = table.size(); i > 1; --i)
    std::swap(table[i - 1], table[random_below(168, i, static_cast<uint32_t>(i))]);
  return table;
}

/// The cache's elements as [page][head][position][element].
std::vector<Half> in_pages(const Cache& c, const std::vector<int32_t>& table) {
  const int per_sequence = (c.context + kPage - 1) / kPage;
  const size_t block = size_t{kPage} * kHead, page = block * static_cast<size_t>(c.heads);
  std::vector<Half> elements(table.size() * page);
  for (int token = 0; token < c.batch; ++token) {
    for (int head = 0; head < c.heads; ++head) {
      for (int t = 0; t < c.context; ++t) {
        const auto at = static_cast<size_t>(table[size_t(token * per_sequence + t / kPage)]);
        std::copy_n(&c.elements[c.place(token, head, t)], kHead,
                    &elements[at * page + static_cast<size_t>(head) * block +
                              static_cast<size_t>(t % kPage) * kHead]);
      }
    }
  }
  return elements;
}

class DecodeAttention final : public Workload {
 public:
  explicit DecodeAttention(std::string name, const Values& values = {})
      : name_(std::move(name)),
        batch_(values.number("batch", 1)),
        context_(values.number("context", 0)),
        per_kv_(values.number("queries", kHeads / kKvHeads)),
        paged_(values.word("cache", "contiguous") == "pages") {}
  std::string name() const override { return name_; }
  std::string description() const override {
    return "attention of one token over a cache of keys and values in f16, grouped queries";
  }
  std::string source() const override { return kSource; }
  std::string ptx_name() const override { return "decode.ptx"; }
  std::vector<Parameter> parameters() const override {
    return {batch_parameter(),
            context_parameter(),
            {"queries", "heads of queries for one of keys and values", 0, 0, {"1", "4", "8", "32"}},
            {"cache", "how it lies in memory", 0, 0, {"contiguous", "pages"}}};
  }
  std::unique_ptr<Workload> with(std::string name, Values values) const override {
    return std::make_unique<DecodeAttention>(std::move(name), values);
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int context = context_ == 0 ? context_of(size) : context_, parts = parts_of(context);
    const int kv_heads = kHeads / per_kv_;
    const auto batch = static_cast<uint32_t>(batch_);
    const std::vector<float> q = random_vector(165, batch_ * kHeads * kHead);
    const Cache keys = random_cache(166, batch_, kv_heads, context);
    const Cache values = random_cache(167, batch_, kv_heads, context);
    const auto d_q = device.upload(q, "query");
    const auto d_parts = device.allocate(
        static_cast<uint64_t>(batch_ * kHeads * parts) * (kHead + 2) * sizeof(float), "parts");
    const auto d_y = device.allocate(q.size() * sizeof(float), "y");
    const runtime::Dim3 grid = {uint32_t{kHeads}, static_cast<uint32_t>(parts), batch};
    const float scale = 1 / std::sqrt(float{kHead});
    if (paged_) {
      const std::vector<int32_t> table = random_pages(batch_ * ((context + kPage - 1) / kPage));
      const auto d_keys = device.upload(in_pages(keys, table), "keys");
      const auto d_values = device.upload(in_pages(values, table), "values");
      const auto d_table = device.upload(table, "pages");
      device.launch(module, "decode_attention_paged", grid, {kAttentionBlock}, 0,
                    runtime::KernelArgs(d_q, d_keys, d_values, d_table, d_parts, per_kv_, context,
                                        context, scale));
    } else {
      const auto d_keys = device.upload(keys.elements, "keys");
      const auto d_values = device.upload(values.elements, "values");
      device.launch(
          module, "decode_attention", grid, {kAttentionBlock}, 0,
          runtime::KernelArgs(d_q, d_keys, d_values, d_parts, per_kv_, context, context, scale));
    }
    device.launch(module, "decode_attention_combine", {uint32_t{kHeads}, batch, 1},
                  {kAttentionBlock}, 0, runtime::KernelArgs(d_parts, d_y, parts));
    if (device.limit_reached()) return skipped_by_limit();
    return check_close("y", device.download<float>(d_y, q.size()),
                       attention(q, keys, values, context), 1e-3, 0.1);
  }

 private:
  std::string name_;
  int batch_, context_, per_kv_;
  bool paged_;
};

}  // namespace

std::unique_ptr<Workload> make_decode_attention() {
  return std::make_unique<DecodeAttention>("decode-attention");
}

}  // namespace nearwarp::workloads
