#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr int kRows = 4096;  // kRows in gemv_mpu.cu for each of kMpuBlocks
constexpr int kChunk = kMpuThreads;

/// A row times x: the sums of the threads, from its block's chunk on, then of halves of them.
float product(const std::vector<float>& a, const std::vector<float>& x, int row) {
  float sums[kChunk] = {};
  const size_t chunks = x.size() / kChunk;
  for (size_t k = 0; k < chunks; ++k) {
    const size_t c = (row % kMpuBlocks + k) % chunks;
    for (int t = 0; t < kChunk; ++t)
      sums[t] += a[(c * kRows + row) * kChunk + t] * x[c * kChunk + t];
  }
  for (int half = kChunk / 2; half > 0; half /= 2) {
    for (int t = 0; t < half; ++t) sums[t] += sums[t + half];
  }
  return sums[0];
}

class GemvMpu final : public Workload {
 public:
  std::string name() const override { return "gemv-mpu"; }
  std::string variant_of() const override { return "gemv"; }
  std::string description() const override {
    return "product of a matrix in chunks of 128 columns and a vector, a block for a row";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "gemv_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int columns = mpu_values(size) / kRows;
    std::vector<float> a(size_t(kRows) * columns), x(columns), expected(kRows);
    for (size_t i = 0; i < a.size(); ++i) a[i] = random_unit(142, i);
    for (int i = 0; i < columns; ++i) x[i] = random_unit(143, i);
    const auto d_a = device.upload(a, "A");
    const auto d_x = device.upload(x, "x");
    const auto d_y = device.allocate(kRows * sizeof(float), "y");
    device.launch(module, "gemv_mpu", {kMpuBlocks}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_a, d_x, d_y, kRows, columns / kChunk));
    if (device.limit_reached()) return skipped_by_limit();
    for (int row = 0; row < kRows; ++row) expected[row] = product(a, x, row);
    return check_bits("y", device.download<float>(d_y, kRows), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_gemv_mpu() { return std::make_unique<GemvMpu>(); }

}  // namespace nearwarp::workloads
