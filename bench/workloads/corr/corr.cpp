#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/first_round.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

// PolyBench-GPU's blocks.
constexpr uint32_t kColumnThreads = 256;
constexpr runtime::Dim3 kCentreBlock = {32, 8};

struct Shape {
  int rows, columns;
};

/// The work grows with rows * columns^2. Columns are a multiple of 32 for the panels.
Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {8, 256};
    case Size::kMedium:
      return {32, 512};
    case Size::kLarge:
      return {64, 1024};
    case Size::kPaper:
      return {48, 2048};  // PolyBench-GPU's M; of its 2048 rows, what can be simulated
  }
  return {};
}

struct Problem {
  int rows, columns;
  std::vector<float> data;  ///< neighbouring columns have a part in common
  explicit Problem(Shape shape)
      : rows(shape.rows), columns(shape.columns), data(size_t(shape.rows) * shape.columns) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        data[size_t(i) * columns + j] =
            random_unit(77, size_t(i) * columns + j) + random_unit(78, size_t(i) * columns + j / 8);
      }
    }
  }

  void centre() {
    for (int j = 0; j < columns; ++j) {
      const auto n = static_cast<float>(rows);
      float mean = 0.0f, squares = 0.0f;
      for (int i = 0; i < rows; ++i) mean += data[size_t(i) * columns + j];
      mean /= n;
      for (int i = 0; i < rows; ++i) {
        const float d = data[size_t(i) * columns + j] - mean;
        squares += d * d;
      }
      const float root = std::sqrt(squares / n);
      const float deviation = root > 0.005f ? root : 1.0f;
      for (int i = 0; i < rows; ++i) {
        float& value = data[size_t(i) * columns + j];
        value = (value - mean) / (std::sqrt(n) * deviation);
      }
    }
  }

  /// The matrix of correlations of centred data, added up from `first(j1)` on.
  template <class First>
  std::vector<float> correlations(First first) const {
    std::vector<float> matrix(size_t(columns) * columns, 1.0f);
    for (int j1 = 0; j1 < columns; ++j1) {
      std::vector<float> sums(columns, 0.0f);
      for (int round = 0, i = first(j1); round < rows; ++round) {
        const float* row = &data[size_t(i) * columns];
        for (int j2 = j1 + 1; j2 < columns; ++j2) sums[j2] += row[j1] * row[j2];
        i = i + 1 < rows ? i + 1 : 0;
      }
      for (int j2 = j1 + 1; j2 < columns; ++j2)
        matrix[size_t(j1) * columns + j2] = matrix[size_t(j2) * columns + j1] = sums[j2];
    }
    return matrix;
  }
};

class Corr final : public Workload {
 public:
  explicit Corr(bool restructured) : restructured_(restructured) {}
  std::string name() const override { return restructured_ ? "corr-restructured" : "corr"; }
  std::string variant_of() const override { return restructured_ ? "corr" : ""; }
  std::string description() const override {
    return restructured_ ? "corr with centred data and sums in panels of 32 columns"
                         : "correlations of all pairs of a matrix's columns, a thread per column";
  }
  std::string source() const override {
    return restructured_ ? "PolyBench-GPU, CORR; Wu et al. (ICS 2020)" : "PolyBench-GPU, CORR";
  }
  std::string ptx_name() const override {
    return restructured_ ? "corr_restructured.ptx" : "corr.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    Problem problem(shape_of(size));
    const int rows = problem.rows, columns = problem.columns;
    const uint64_t data_bytes = problem.data.size() * sizeof(float);
    const uint64_t matrix_bytes = uint64_t(columns) * columns * sizeof(float);
    const auto d_data = device.upload(problem.data, "data");
    const auto d_mean = device.allocate(columns * sizeof(float), "mean");
    const auto d_deviation = device.allocate(columns * sizeof(float), "deviation");
    const auto d_matrix = device.allocate(matrix_bytes, "matrix");
    const runtime::Dim3 by_column = blocks_for(columns, kColumnThreads);
    const auto tiles = [columns](int height) {
      return runtime::Dim3{blocks_for(columns, kCentreBlock.x).x,
                           blocks_for(height, kCentreBlock.y).x};
    };
    device.launch(module, "corr_mean", by_column, {kColumnThreads}, 0,
                  runtime::KernelArgs(d_data, d_mean, rows, columns));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "corr_deviation", by_column, {kColumnThreads}, 0,
                  runtime::KernelArgs(d_data, d_mean, d_deviation, rows, columns));
    if (device.limit_reached()) return skipped_by_limit();
    if (restructured_) {
      const auto d_panels = device.allocate(data_bytes, "panels");
      const auto d_sums = device.allocate(matrix_bytes, "sums");
      device.launch(module, "corr_panels", tiles(rows), kCentreBlock, 0,
                    runtime::KernelArgs(d_data, d_panels, d_mean, d_deviation, rows, columns));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "corr_correlate_panels", by_column, {kColumnThreads}, 0,
                    runtime::KernelArgs(d_panels, d_sums, rows, columns));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "corr_matrix", tiles(columns), kCentreBlock, 0,
                    runtime::KernelArgs(d_sums, d_matrix, columns));
    } else {
      device.launch(module, "corr_centre", tiles(rows), kCentreBlock, 0,
                    runtime::KernelArgs(d_data, d_mean, d_deviation, rows, columns));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "corr_correlate", by_column, {kColumnThreads}, 0,
                    runtime::KernelArgs(d_data, d_matrix, rows, columns));
    }
    if (device.limit_reached()) return skipped_by_limit();
    problem.centre();
    const std::vector<float> expected = problem.correlations(
        [&](int j1) { return restructured_ ? static_cast<int>(first_round(j1 / 32, rows)) : 0; });
    return check_bits("correlations", device.download<float>(d_matrix, expected.size()), expected);
  }

 private:
  bool restructured_;
};

}  // namespace

std::unique_ptr<Workload> make_corr() { return std::make_unique<Corr>(false); }
std::unique_ptr<Workload> make_corr_restructured() { return std::make_unique<Corr>(true); }

}  // namespace nearwarp::workloads
