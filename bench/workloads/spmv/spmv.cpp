#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;
// A mesh whose numbering is local, as those of Parboil's matrices: 12 to 36 entries in a row,
// one in each of so many stretches of 32 columns around the diagonal. Dubcova3 has 25 on average.
constexpr int kLeast = 12, kMost = 36, kStretch = 32;

struct Shape {
  int rows, products;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {11'948, 1};  // bcsstk18, Parboil's medium, as to rows
    case Size::kMedium:
      return {65'536, 4};
    case Size::kLarge:
      return {146'689, 10};
    case Size::kPaper:
      return {146'689, 50};  // Dubcova3, Parboil's large, with its number of repetitions
  }
  return {};
}

struct Matrix {
  std::vector<int32_t> row_start{0}, columns;
  std::vector<float> values;
};

Matrix make_matrix(int rows) {
  Matrix m;
  for (int row = 0; row < rows; ++row) {
    const int entries = kLeast + static_cast<int>(random_below(120, row, kMost - kLeast + 1));
    const int first =
        std::clamp(row - entries / 2 * kStretch, 0, std::max(0, rows - entries * kStretch));
    for (int e = 0; e < entries; ++e) {
      const uint64_t number = m.columns.size();
      m.columns.push_back(std::min(
          rows - 1, first + e * kStretch + static_cast<int>(random_below(121, number, kStretch))));
      m.values.push_back(random_unit(122, number) - 0.5f);
    }
    m.row_start.push_back(static_cast<int32_t>(m.columns.size()));
  }
  return m;
}

class Spmv final : public Workload {
 public:
  std::string name() const override { return "spmv"; }
  std::string description() const override {
    return "sparse matrix in compressed rows times vector, a thread per row";
  }
  std::string source() const override { return "Parboil, spmv, with compressed rows"; }
  std::string ptx_name() const override { return "spmv.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [rows, products] = shape_of(size);
    const Matrix m = make_matrix(rows);
    std::vector<float> x(rows), expected(rows);
    for (int i = 0; i < rows; ++i) x[i] = random_unit(123, i);
    const auto row_start = device.upload(m.row_start, "row_start");
    const auto columns = device.upload(m.columns, "columns");
    const auto values = device.upload(m.values, "values");
    const auto d_x = device.upload(x, "x");
    const auto d_y = device.allocate(rows * sizeof(float), "y");
    for (int i = 0; i < products; ++i) {
      device.launch(module, "spmv", blocks_for(rows, kBlockThreads), {kBlockThreads}, 0,
                    runtime::KernelArgs(row_start, columns, values, d_x, d_y, rows));
      if (device.limit_reached()) return skipped_by_limit();
    }
    for (int row = 0; row < rows; ++row) {
      float sum = 0.0f;
      for (int e = m.row_start[row]; e < m.row_start[row + 1]; ++e)
        sum += m.values[e] * x[m.columns[e]];
      expected[row] = sum;
    }
    return check_bits("y", device.download<float>(d_y, rows), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_spmv() { return std::make_unique<Spmv>(); }

}  // namespace nearwarp::workloads
