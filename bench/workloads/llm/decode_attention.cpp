// Attention of one token's query over the keys and values of all tokens before it.
#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/embedded.h"
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

class DecodeAttention final : public Workload {
 public:
  std::string name() const override { return "decode-attention"; }
  std::string description() const override {
    return "attention of one token over a cache of keys and values in f16, grouped queries";
  }
  std::string source() const override { return kSource; }
  std::string ptx() const override { return embedded::decode_ptx; }
  std::string ptx_name() const override { return "decode.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int context = context_of(size), parts = parts_of(context);
    const std::vector<float> q = random_vector(165, kHeads * kHead);
    const Cache keys = random_cache(166, kKvHeads, context);
    const Cache values = random_cache(167, kKvHeads, context);
    const auto d_q = device.upload(q, "query");
    const auto d_keys = device.upload(keys.elements, "keys");
    const auto d_values = device.upload(values.elements, "values");
    const auto d_parts = device.allocate(
        static_cast<uint64_t>(kHeads * parts) * (kHead + 2) * sizeof(float), "parts");
    const auto d_y = device.allocate(q.size() * sizeof(float), "y");
    device.launch(module, "decode_attention",
                  {static_cast<uint32_t>(kHeads), static_cast<uint32_t>(parts), 1},
                  {kAttentionBlock}, 0,
                  runtime::KernelArgs(d_q, d_keys, d_values, d_parts, kHeads / kKvHeads, context,
                                      context, 1 / std::sqrt(float{kHead})));
    device.launch(module, "decode_attention_combine", {static_cast<uint32_t>(kHeads), 1, 1},
                  {kAttentionBlock}, 0, runtime::KernelArgs(d_parts, d_y, parts));
    if (device.limit_reached()) return skipped_by_limit();
    return check_close("y", device.download<float>(d_y, q.size()),
                       attention(q, keys, values, context), 1e-3, 0.1);
  }
};

}  // namespace

std::unique_ptr<Workload> make_decode_attention() { return std::make_unique<DecodeAttention>(); }

}  // namespace nearwarp::workloads
