#include "bench/workloads/common/check.h"
#include "bench/workloads/common/first_round.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;  // PolyBench-GPU's
constexpr uint32_t kTile = 32;           // in atax_restructured.cu

/// Rows and columns; a multiple of 32 for the restructured variant's panels.
int side_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return 512;
    case Size::kMedium:
      return 1536;
    case Size::kLarge:
    case Size::kPaper:
      return 4096;  // PolyBench-GPU's NX and NY
  }
  return 0;
}

struct Inputs {
  int n;
  std::vector<float> a, x;
  explicit Inputs(int side) : n(side), a(size_t(side) * side), x(side) {
    for (size_t i = 0; i < a.size(); ++i) a[i] = random_unit(70, i);
    for (int i = 0; i < side; ++i) x[i] = random_unit(71, i);
  }
  /// y in the device's order of additions: from the first round of each warp of 32 sums on.
  std::vector<float> result(bool restructured) const {
    const auto first = [&](int sum) {
      return restructured ? first_round(static_cast<unsigned>(sum / 32), static_cast<unsigned>(n))
                          : 0u;
    };
    std::vector<float> tmp(n, 0.0f), y(n, 0.0f);
    for (int i = 0; i < n; ++i) {
      for (int round = 0, j = static_cast<int>(first(i)); round < n; ++round) {
        tmp[i] += a[size_t(i) * n + j] * x[j];
        j = j + 1 < n ? j + 1 : 0;
      }
    }
    for (int panel = 0; panel < n; panel += 32) {
      for (int round = 0, i = static_cast<int>(first(panel)); round < n; ++round) {
        for (int j = panel; j < panel + 32; ++j) y[j] += a[size_t(i) * n + j] * tmp[i];
        i = i + 1 < n ? i + 1 : 0;
      }
    }
    return y;
  }
};

class Atax final : public Workload {
 public:
  explicit Atax(bool in_order) : in_order_(in_order) {}
  std::string name() const override { return in_order_ ? "atax-in-order" : "atax"; }
  std::string variant_of() const override { return in_order_ ? "atax" : ""; }
  std::string description() const override {
    return in_order_ ? "atax with loads in the order of the source, sums among them"
                     : "a matrix by a vector, its transpose by the result; a thread per row, then "
                       "per column";
  }
  std::string source() const override { return "PolyBench-GPU, ATAX"; }
  std::string ptx_name() const override { return in_order_ ? "atax_in_order.ptx" : "atax.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Inputs inputs(side_of(size));
    const int n = inputs.n;
    const uint64_t vector_bytes = n * sizeof(float);
    const auto d_a = device.upload(inputs.a, "A");
    const auto d_x = device.upload(inputs.x, "x");
    const auto d_y = device.allocate(vector_bytes, "y");
    const auto d_tmp = device.allocate(vector_bytes, "tmp");
    device.fill(d_y, 0, vector_bytes);
    device.fill(d_tmp, 0, vector_bytes);
    device.launch(module, in_order_ ? "atax_rows_in_order" : "atax_rows",
                  blocks_for(n, kBlockThreads), {kBlockThreads}, 0,
                  runtime::KernelArgs(d_a, d_x, d_tmp, n, n));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, in_order_ ? "atax_columns_in_order" : "atax_columns",
                  blocks_for(n, kBlockThreads), {kBlockThreads}, 0,
                  runtime::KernelArgs(d_a, d_tmp, d_y, n, n));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("y", device.download<float>(d_y, n), inputs.result(false));
  }

 private:
  bool in_order_;
};

class AtaxRestructured final : public Workload {
 public:
  std::string name() const override { return "atax-restructured"; }
  std::string variant_of() const override { return "atax"; }
  std::string description() const override {
    return "atax from two copies of the matrix in panels of 32 rows and of 32 columns";
  }
  std::string source() const override { return "PolyBench-GPU, ATAX; Wu et al. (ICS 2020)"; }
  std::string ptx_name() const override { return "atax_restructured.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Inputs inputs(side_of(size));
    const int n = inputs.n;
    const uint64_t vector_bytes = n * sizeof(float), matrix_bytes = vector_bytes * n;
    const auto d_a = device.upload(inputs.a, "A");
    const auto d_x = device.upload(inputs.x, "x");
    const auto d_y = device.allocate(vector_bytes, "y");
    const auto d_tmp = device.allocate(vector_bytes, "tmp");
    const auto d_row_panels = device.allocate(matrix_bytes, "row panels");
    const auto d_column_panels = device.allocate(matrix_bytes, "column panels");
    device.fill(d_y, 0, vector_bytes);
    device.fill(d_tmp, 0, vector_bytes);
    const uint32_t tiles = n / kTile;
    device.launch(module, "atax_row_panels", {tiles, tiles}, {kTile, 8}, 0,
                  runtime::KernelArgs(d_a, d_row_panels, n));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "atax_column_panels", {tiles, tiles}, {kTile, 8}, 0,
                  runtime::KernelArgs(d_a, d_column_panels, n, n));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "atax_panels", blocks_for(n, kBlockThreads), {kBlockThreads}, 0,
                  runtime::KernelArgs(d_row_panels, d_x, d_tmp, n, n));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "atax_panels", blocks_for(n, kBlockThreads), {kBlockThreads}, 0,
                  runtime::KernelArgs(d_column_panels, d_tmp, d_y, n, n));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("y", device.download<float>(d_y, n), inputs.result(true));
  }
};

}  // namespace

std::unique_ptr<Workload> make_atax() { return std::make_unique<Atax>(false); }
std::unique_ptr<Workload> make_atax_in_order() { return std::make_unique<Atax>(true); }
std::unique_ptr<Workload> make_atax_restructured() { return std::make_unique<AtaxRestructured>(); }

}  // namespace nearwarp::workloads
