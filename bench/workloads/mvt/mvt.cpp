#include "bench/workloads/common/check.h"
#include "bench/workloads/common/first_round.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;  // PolyBench-GPU's
constexpr uint32_t kTile = 32;           // in mvt_restructured.cu

/// Rows and columns; a multiple of 32 for the restructured variant's panels.
int side_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return 512;
    case Size::kMedium:
      return 1536;
    case Size::kLarge:
    case Size::kPaper:
      return 4096;  // PolyBench-GPU's N
  }
  return 0;
}

struct Problem {
  int n;
  std::vector<float> a, x1, x2, y1, y2;
  explicit Problem(int side)
      : n(side), a(size_t(side) * side), x1(side), x2(side), y1(side), y2(side) {
    for (size_t i = 0; i < a.size(); ++i) a[i] = random_unit(72, i);
    for (int i = 0; i < side; ++i) {
      x1[i] = random_unit(73, i);
      x2[i] = random_unit(74, i);
      y1[i] = random_unit(75, i);
      y2[i] = random_unit(76, i);
    }
  }
  /// x1 and x2 afterwards, added to in the device's order: from the first round of each warp on.
  void solve(bool restructured) {
    for (int warp = 0; warp < n / 32; ++warp) {
      const int first = restructured ? static_cast<int>(first_round(warp, n)) : 0;
      for (int i = warp * 32; i < warp * 32 + 32; ++i) {
        for (int round = 0, j = first; round < n; ++round) {
          x1[i] += a[size_t(i) * n + j] * y1[j];
          j = j + 1 < n ? j + 1 : 0;
        }
      }
      for (int round = 0, j = first; round < n; ++round) {
        for (int i = warp * 32; i < warp * 32 + 32; ++i) x2[i] += a[size_t(j) * n + i] * y2[j];
        j = j + 1 < n ? j + 1 : 0;
      }
    }
  }
};

enum class Form { kPlain, kInOrder, kRestructured };

class Mvt final : public Workload {
 public:
  explicit Mvt(Form form) : form_(form), restructured_(form == Form::kRestructured) {}
  std::string name() const override {
    return restructured_ ? "mvt-restructured" : in_order() ? "mvt-in-order" : "mvt";
  }
  std::string variant_of() const override { return form_ == Form::kPlain ? "" : "mvt"; }
  std::string description() const override {
    return restructured_
               ? "mvt from two copies of the matrix in panels of 32 rows and of 32 columns"
           : in_order()
               ? "mvt with loads in the order of the source, sums among them"
               : "a matrix and its transpose by a vector each; a thread per row, then per column";
  }
  std::string source() const override {
    return restructured_ ? "PolyBench-GPU, MVT; Wu et al. (ICS 2020)" : "PolyBench-GPU, MVT";
  }
  std::string ptx_name() const override {
    return restructured_ ? "mvt_restructured.ptx" : in_order() ? "mvt_in_order.ptx" : "mvt.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    Problem problem(side_of(size));
    const int n = problem.n;
    const auto d_a = device.upload(problem.a, "A");
    const auto d_x1 = device.upload(problem.x1, "x1");
    const auto d_x2 = device.upload(problem.x2, "x2");
    const auto d_y1 = device.upload(problem.y1, "y1");
    const auto d_y2 = device.upload(problem.y2, "y2");
    const runtime::Dim3 grid = blocks_for(n, kBlockThreads), block = {kBlockThreads};
    if (restructured_) {
      const auto d_row_panels = device.allocate(problem.a.size() * sizeof(float), "row panels");
      const auto d_column_panels =
          device.allocate(problem.a.size() * sizeof(float), "column panels");
      const uint32_t tiles = n / kTile;
      device.launch(module, "mvt_row_panels", {tiles, tiles}, {kTile, 8}, 0,
                    runtime::KernelArgs(d_a, d_row_panels, n));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "mvt_column_panels", {tiles, tiles}, {kTile, 8}, 0,
                    runtime::KernelArgs(d_a, d_column_panels, n, n));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "mvt_panels", grid, block, 0,
                    runtime::KernelArgs(d_row_panels, d_y1, d_x1, n, n));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "mvt_panels", grid, block, 0,
                    runtime::KernelArgs(d_column_panels, d_y2, d_x2, n, n));
    } else {
      device.launch(module, in_order() ? "mvt_rows_in_order" : "mvt_rows", grid, block, 0,
                    runtime::KernelArgs(d_a, d_x1, d_y1, n));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, in_order() ? "mvt_columns_in_order" : "mvt_columns", grid, block, 0,
                    runtime::KernelArgs(d_a, d_x2, d_y2, n));
    }
    if (device.limit_reached()) return skipped_by_limit();
    problem.solve(restructured_);
    return both(check_bits("x1", device.download<float>(d_x1, n), problem.x1),
                check_bits("x2", device.download<float>(d_x2, n), problem.x2));
  }

 private:
  bool in_order() const { return form_ == Form::kInOrder; }

  Form form_;
  bool restructured_;
};

}  // namespace

std::unique_ptr<Workload> make_mvt() { return std::make_unique<Mvt>(Form::kPlain); }
std::unique_ptr<Workload> make_mvt_in_order() { return std::make_unique<Mvt>(Form::kInOrder); }
std::unique_ptr<Workload> make_mvt_restructured() {
  return std::make_unique<Mvt>(Form::kRestructured);
}

}  // namespace nearwarp::workloads
