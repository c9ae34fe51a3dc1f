#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

int elements(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 19;
    case Size::kMedium:
      return 1 << 22;
    case Size::kLarge:
      return 1 << 25;
    case Size::kPaper:
      return 1 << 26;
  }
  return 0;
}

class Gather final : public Workload {
 public:
  std::string name() const override { return "gather"; }
  std::string description() const override {
    return "out[i] = table[index[i]] with random indices; a cache line per lane";
  }
  std::string source() const override { return "synthetic"; }
  std::string ptx_name() const override { return "gather.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = elements(size);
    std::vector<int32_t> table(n), index(n), expected(n);
    for (int i = 0; i < n; ++i) {
      table[i] = static_cast<int32_t>(random_bits(3, i) >> 33);
      index[i] = static_cast<int32_t>(random_below(4, i, n));
    }
    for (int i = 0; i < n; ++i) expected[i] = table[index[i]];
    const auto d_table = device.upload(table, "table");
    const auto d_index = device.upload(index, "index");
    const auto d_out = device.allocate(n * sizeof(int32_t), "out");
    device.launch(module, "gather", blocks_for(n, 256), {256}, 0,
                  runtime::KernelArgs(d_table, d_index, d_out, n));
    if (device.limit_reached()) return skipped_by_limit();
    return check_equal("out", device.download<int32_t>(d_out, n), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_gather() { return std::make_unique<Gather>(); }

}  // namespace nearwarp::workloads
