#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/first_round.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

// Constants of the kernels' sources; a block of the tiled kernel has kTileM rows of C.
constexpr uint32_t kTileN = 16, kTileK = 8, kTileM = kTileN * kTileK;
constexpr float kAlpha = 1.0f, kBeta = 0.0f;  // Parboil's

struct Shape {
  int m, n, k;  // multiples of kTileM, kTileN, kTileK
};

/// `small` and `paper` are Parboil's small and medium inputs.
Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {128, 160, 96};
    case Size::kMedium:
      return {256, 528, 248};
    case Size::kLarge:
      return {512, 528, 496};
    case Size::kPaper:
      return {1024, 1056, 992};
  }
  return {};
}

enum class Kind { kBase, kTiled, kRestructured };

/// The index of the first summand of an element of C.
int first_of(Kind kind, const Shape& s, int row, int column) {
  if (kind != Kind::kRestructured) return 0;
  const unsigned blocks = s.m / kTileN, warps_of_block = kTileN * kTileN / 32;
  const unsigned warp =
      (column / kTileN * blocks + row / kTileN) * warps_of_block + column % kTileN / 2;
  return static_cast<int>(first_round(warp, s.k));
}

class Sgemm final : public Workload {
 public:
  explicit Sgemm(Kind kind) : kind_(kind) {}
  std::string name() const override {
    return kind_ == Kind::kBase    ? "sgemm"
           : kind_ == Kind::kTiled ? "sgemm-tiled"
                                   : "sgemm-restructured";
  }
  std::string variant_of() const override { return kind_ == Kind::kBase ? "" : "sgemm"; }
  std::string description() const override {
    if (kind_ == Kind::kTiled)
      return "sgemm with 16 results in registers and a factor in shared memory";
    return kind_ == Kind::kBase
               ? "product of matrices, a thread per element, all from global memory"
               : "sgemm with both factors in panels of 16";
  }
  std::string source() const override {
    if (kind_ == Kind::kTiled) return "Parboil, sgemm (optimised)";
    return kind_ == Kind::kBase ? "Parboil, sgemm (base)"
                                : "Parboil, sgemm (base); Wu et al. (ICS 2020)";
  }
  std::string ptx_name() const override {
    return kind_ == Kind::kRestructured ? "sgemm_restructured.ptx" : "sgemm.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Shape shape = shape_of(size);
    const auto [m, n, k] = shape;
    std::vector<float> a(size_t(m) * k), b(size_t(n) * k);
    for (size_t i = 0; i < a.size(); ++i) a[i] = random_unit(90, i);
    for (size_t i = 0; i < b.size(); ++i) b[i] = random_unit(91, i);
    const size_t elements = size_t(m) * n;
    const auto d_a = device.upload(a, "A"), d_b = device.upload(b, "B");
    const auto d_c = device.allocate(elements * sizeof(float), "C");
    device.fill(d_c, 0, elements * sizeof(float));
    const auto blocks = [](int count, uint32_t of) { return static_cast<uint32_t>(count) / of; };
    const runtime::Dim3 base_grid = {blocks(m, kTileN), blocks(n, kTileN)};
    if (kind_ != Kind::kRestructured) {
      const bool base = kind_ == Kind::kBase;
      device.launch(module, base ? "sgemm" : "sgemm_tiled",
                    base ? base_grid : runtime::Dim3{blocks(m, kTileM), blocks(n, kTileN)},
                    {kTileN, base ? kTileN : kTileK}, 0,
                    runtime::KernelArgs(d_a, d_b, d_c, m, n, k, kAlpha, kBeta));
    } else {
      const auto panels_of = [&](runtime::DevicePtr matrix, int rows, const char* label) {
        const auto panels = device.allocate(uint64_t(rows) * k * sizeof(float), label);
        device.launch(module, "sgemm_panels", {blocks_for(rows, 32).x, blocks_for(k, 8).x}, {32, 8},
                      0, runtime::KernelArgs(matrix, panels, rows, k));
        return panels;
      };
      const auto d_a_panels = panels_of(d_a, m, "panels of A");
      if (device.limit_reached()) return skipped_by_limit();
      const auto d_b_panels = panels_of(d_b, n, "panels of B");
      if (device.limit_reached()) return skipped_by_limit();
      device.launch(module, "sgemm_from_panels", base_grid, {kTileN, kTileN}, 0,
                    runtime::KernelArgs(d_a_panels, d_b_panels, d_c, m, k, kAlpha, kBeta));
    }
    if (device.limit_reached()) return skipped_by_limit();
    std::vector<float> expected(elements);
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < m; ++row) {
        float sum = 0.0f;
        for (int round = 0, i = first_of(kind_, shape, row, column); round < k; ++round) {
          sum = std::fma(a[row + size_t(i) * m], b[column + size_t(i) * n], sum);
          i = i + 1 < k ? i + 1 : 0;
        }
        expected[row + size_t(column) * m] = 0.0f * kBeta + kAlpha * sum;
      }
    }
    return check_bits("C", device.download<float>(d_c, elements), expected);
  }

 private:
  Kind kind_;
};

}  // namespace

std::unique_ptr<Workload> make_sgemm() { return std::make_unique<Sgemm>(Kind::kBase); }
std::unique_ptr<Workload> make_sgemm_tiled() { return std::make_unique<Sgemm>(Kind::kTiled); }
std::unique_ptr<Workload> make_sgemm_restructured() {
  return std::make_unique<Sgemm>(Kind::kRestructured);
}

}  // namespace nearwarp::workloads
