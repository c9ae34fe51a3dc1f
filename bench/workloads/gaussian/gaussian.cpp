#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kFactorThreads = 512, kRowThreads = 4;  // Rodinia's blocks: 512, and 4 x 4

int side_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return 64;
    case Size::kMedium:
      return 160;
    case Size::kLarge:
      return 288;
    case Size::kPaper:
      return 1024;  // Rodinia's larger one
  }
  return 0;
}

/// The elimination on the CPU: the same operations in the same order as the kernels'.
void eliminate(int side, std::vector<float>& matrix, std::vector<float>& right) {
  for (int at = 0; at < side - 1; ++at) {
    for (int row = at + 1; row < side; ++row) {
      const float factor = matrix[row * side + at] / matrix[at * side + at];
      for (int column = at; column < side; ++column)
        matrix[row * side + column] -= factor * matrix[at * side + column];
      right[row] -= factor * right[at];
    }
  }
}

/// Solution of a system in triangular form.
std::vector<float> substitute(int side, const std::vector<float>& matrix,
                              const std::vector<float>& right) {
  std::vector<float> x(side);
  for (int row = side - 1; row >= 0; --row) {
    float rest = right[row];
    for (int column = row + 1; column < side; ++column)
      rest -= matrix[row * side + column] * x[column];
    x[row] = rest / matrix[row * side + row];
  }
  return x;
}

class Gaussian final : public Workload {
 public:
  std::string name() const override { return "gaussian"; }
  std::string description() const override {
    return "Gaussian elimination, two launches per column, blocks of 4 x 4";
  }
  std::string source() const override { return "Rodinia, gaussian"; }
  std::string ptx_name() const override { return "gaussian.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int side = side_of(size);
    // The solution is known; the diagonal outweighs its row, so that no pivots are needed.
    std::vector<float> matrix(size_t(side) * side), right(side, 0.0f), solution(side);
    for (int i = 0; i < side; ++i) solution[i] = 1.0f + random_unit(116, i);
    for (int row = 0; row < side; ++row) {
      for (int column = 0; column < side; ++column) {
        float& element = matrix[size_t(row) * side + column];
        element = random_unit(115, uint64_t(row) * side + column) +
                  (row == column ? static_cast<float>(side) : 0.0f);
        right[row] += element * solution[column];
      }
    }
    const auto d_matrix = device.upload(matrix, "matrix"), d_right = device.upload(right, "right");
    const auto d_factors = device.upload(std::vector<float>(size_t(side) * side, 0.0f), "factors");
    const uint32_t blocks = blocks_for(side, kRowThreads).x;
    for (int at = 0; at < side - 1; ++at) {
      device.launch(module, "gaussian_factors", blocks_for(side, kFactorThreads), {kFactorThreads},
                    0, runtime::KernelArgs(d_matrix, d_factors, side, at));
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "gaussian_rows", {blocks, blocks}, {kRowThreads, kRowThreads}, 0,
                    runtime::KernelArgs(d_matrix, d_right, d_factors, side, at));
      if (device.limit_reached()) return skipped_by_limit();
    }
    const auto eliminated = device.download<float>(d_matrix, matrix.size());
    const auto reduced = device.download<float>(d_right, side);
    eliminate(side, matrix, right);
    return both(
        both(check_bits("matrix", eliminated, matrix), check_bits("right", reduced, right)),
        check_close("solution", substitute(side, eliminated, reduced), solution, 1e-4, 1.0));
  }
};

}  // namespace

std::unique_ptr<Workload> make_gaussian() { return std::make_unique<Gaussian>(); }

}  // namespace nearwarp::workloads
