#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

// The sample's launch; kWarps and kMergeThreads in hist.cu.
constexpr uint32_t kBlocks = 240, kWarps = 6, kBins = 256, kMergeThreads = 256;

uint32_t num_words(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1u << 18;
    case Size::kMedium:
      return 1u << 21;
    case Size::kLarge:
    case Size::kPaper:
      return 1u << 24;  // the sample's 64 MB
  }
  return 0;
}

class Hist final : public Workload {
 public:
  explicit Hist(bool restructured) : restructured_(restructured) {}
  std::string name() const override { return restructured_ ? "hist-restructured" : "hist"; }
  std::string variant_of() const override { return restructured_ ? "hist" : ""; }
  std::string description() const override {
    return restructured_ ? "hist with consecutive words for each warp, begun in different rounds"
                         : "histogram of bytes, counters of each warp in shared memory";
  }
  std::string source() const override {
    return restructured_ ? "CUDA SDK, histogram256; Wu et al. (ICS 2020)"
                         : "CUDA SDK, histogram256";
  }
  std::string ptx_name() const override {
    return restructured_ ? "hist_restructured.ptx" : "hist.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const uint32_t count = num_words(size);
    std::vector<uint32_t> words(count);
    std::vector<int32_t> expected(kBins, 0);
    for (uint32_t i = 0; i < count; ++i) {
      words[i] = static_cast<uint32_t>(random_bits(79, i) >> 32);
      for (int byte = 0; byte < 4; ++byte) ++expected[words[i] >> 8 * byte & 0xff];
    }
    const auto d_words = device.upload(words, "words");
    const auto d_partial = device.allocate(kBlocks * kBins * sizeof(uint32_t), "partial");
    const auto d_histogram = device.allocate(kBins * sizeof(uint32_t), "histogram");
    const uint32_t words_of_round = kBlocks * kWarps * 32;
    if (restructured_) {
      device.launch(module, "hist_count_consecutive", {kBlocks}, {kWarps * 32}, 0,
                    runtime::KernelArgs(d_words, d_partial, count,
                                        (count + words_of_round - 1) / words_of_round));
    } else {
      device.launch(module, "hist_count", {kBlocks}, {kWarps * 32}, 0,
                    runtime::KernelArgs(d_words, d_partial, count));
    }
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "hist_merge", {kBins}, {kMergeThreads}, 0,
                  runtime::KernelArgs(d_partial, d_histogram, static_cast<int>(kBlocks)));
    if (device.limit_reached()) return skipped_by_limit();
    return check_equal("histogram", device.download<int32_t>(d_histogram, kBins), expected);
  }

 private:
  bool restructured_;
};

}  // namespace

std::unique_ptr<Workload> make_hist() { return std::make_unique<Hist>(false); }
std::unique_ptr<Workload> make_hist_restructured() { return std::make_unique<Hist>(true); }

}  // namespace nearwarp::workloads
