#include <numeric>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlock = 256;
constexpr int kBlockElements = 512;

int elements(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 19;
    case Size::kMedium:
      return 1 << 22;
    case Size::kLarge:
      return 1 << 25;
    case Size::kPaper:
      return 1 << 18;  // its first launch fills 56 SMs of 1536 threads, as in the streams
  }
  return 0;
}

/// `hybrid`: the first halving in global memory, all others in shared memory.
class ReductionGlobal final : public Workload {
 public:
  explicit ReductionGlobal(bool hybrid) : hybrid_(hybrid) {}

  std::string name() const override { return hybrid_ ? "reduction-hybrid" : "reduction-global"; }
  std::string description() const override {
    return hybrid_ ? "sum of an array, first by halves in global memory, then in shared memory"
                   : "sum of an array by halves in global memory";
  }
  std::string source() const override { return "Pattnaik et al., ISCA 2019, after SHOC"; }
  std::string ptx_name() const override { return "reduction_global.ptx"; }
  bool other_input() const override { return hybrid_; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = elements(size);
    std::vector<int32_t> values(n);
    for (int i = 0; i < n; ++i) values[i] = static_cast<int32_t>(random_below(1, i, 100));
    auto data = device.upload(values, "data");
    auto sums = device.allocate(n / kBlockElements * sizeof(int32_t), "sums");
    int left = n;
    const int last = hybrid_ ? n / 2 : 1;
    for (; left > last && !device.limit_reached(); left /= 2)
      device.launch(module, "add_halves", blocks_for(left / 2, kBlock), {kBlock}, 0,
                    runtime::KernelArgs(data, left / 2));
    for (; left > 1 && !device.limit_reached();
         left = (left + kBlockElements - 1) / kBlockElements) {
      device.launch(module, "sum_blocks", blocks_for(left, kBlockElements), {kBlock}, 0,
                    runtime::KernelArgs(data, sums, left));
      std::swap(data, sums);
    }
    if (device.limit_reached()) return skipped_by_limit();
    return check_equal("sum", device.download<int32_t>(data, 1),
                       {std::accumulate(values.begin(), values.end(), 0)});
  }

 private:
  bool hybrid_;
};

}  // namespace

std::unique_ptr<Workload> make_reduction_global() {
  return std::make_unique<ReductionGlobal>(false);
}
std::unique_ptr<Workload> make_reduction_hybrid() {
  return std::make_unique<ReductionGlobal>(true);
}

}  // namespace nearwarp::workloads
