#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/libor/reference.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 64;  // as in the original benchmark
constexpr uint64_t kNormalStream = 30;
constexpr float kInitialRate = 0.05f;
constexpr int kMaxCheckedPaths = 4096;

struct Shape {
  int num_rates;
  int num_paths;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {20, 1024};
    case Size::kMedium:
      return {40, 2048};
    case Size::kLarge:
      return {80, 16'384};  // eight warps per SM on the machine of TOM
    case Size::kPaper:
      return {80, 24'576};  // a fourth of the original's 96,000 passes the limit
  }
  return {};
}

class Libor final : public Workload {
 public:
  std::string name() const override { return "libor"; }
  std::string description() const override {
    return "LIBOR market model Monte Carlo: swaption values, then values with adjoint derivatives";
  }
  std::string source() const override {
    return "GPGPU-Sim, LIB (Giles); Figure 4 of TOM (Hsieh et al., ISCA 2016)";
  }
  std::string ptx_name() const override { return "libor.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [num_rates, paths] = shape_of(size);
    const LiborModel model = libor_model(num_rates);
    std::vector<float> normals(size_t(model.num_fixings) * paths);
    for (size_t i = 0; i < normals.size(); ++i) normals[i] = random_normal(kNormalStream, i);
    const std::vector<float> curve(num_rates, kInitialRate);
    const int options = static_cast<int>(model.maturities.size());

    const auto to_symbol = [&](const char* symbol, const auto& values) {
      device.copy_to_device(device.symbol(module, symbol), values.data(),
                            values.size() * sizeof(values[0]));
    };
    to_symbol("libor_lambda", model.lambda);
    to_symbol("libor_swaprates", model.swaprates);
    to_symbol("libor_maturities", model.maturities);
    const uint64_t per_rate = uint64_t(paths) * sizeof(float);
    const auto d_curve = device.upload(curve, "initial curve");
    const auto d_normals = device.upload(normals, "normals");
    const auto d_rates = device.allocate(num_rates * per_rate, "L");
    const auto d_adjoint = device.allocate(num_rates * per_rate, "L_b");
    const auto d_trajectory =
        device.allocate((model.num_fixings + 1) * num_rates * per_rate, "trajectory");
    const auto d_value = device.allocate(per_rate, "value");
    const auto d_value_b = device.allocate(per_rate, "value of the adjoint run");

    const runtime::Dim3 grid = blocks_for(paths, kBlockThreads), block{kBlockThreads};
    const runtime::KernelArgs reset(d_rates, d_curve, num_rates, paths);
    device.launch(module, "libor_reset", grid, block, 0, reset);
    device.launch(module, "libor_value", grid, block, 0,
                  runtime::KernelArgs(d_rates, d_normals, d_value, model.delta, model.sqrt_delta,
                                      num_rates, model.num_fixings, options, paths));
    if (device.limit_reached()) return skipped_by_limit();
    device.launch(module, "libor_reset", grid, block, 0, reset);
    device.launch(
        module, "libor_adjoint", grid, block, 0,
        runtime::KernelArgs(d_rates, d_trajectory, d_normals, d_adjoint, d_value_b, model.delta,
                            model.sqrt_delta, num_rates, model.num_fixings, options, paths));
    if (device.limit_reached()) return skipped_by_limit();
    return check(model, curve, normals, paths, device.download<float>(d_value, paths),
                 device.download<float>(d_value_b, paths),
                 device.download<float>(d_adjoint, size_t(num_rates) * paths));
  }

 private:
  /// Only the exponential can differ from the reference: `ex2.approx` is specified to two units in
  /// the last place (2^-22 relative). A path multiplies at most 40 of them and the drift feeds back
  /// weakly, so 1e-4 leaves a margin; values near zero are compared on the scale of one swaption.
  static CheckResult check(const LiborModel& model, const std::vector<float>& curve,
                           const std::vector<float>& normals, int paths,
                           const std::vector<float>& value, const std::vector<float>& value_b,
                           const std::vector<float>& adjoint) {
    constexpr double kTolerance = 1e-4;
    const int step = std::max(1, paths / kMaxCheckedPaths);
    std::vector<float> got_value, got_value_b, got_adjoint, want_value, want_adjoint;
    std::vector<float> shocks(model.num_fixings);
    for (int p = 0; p < paths; p += step) {
      for (int n = 0; n < model.num_fixings; ++n) shocks[n] = normals[size_t(n) * paths + p];
      const LiborPath<float> expected = libor_adjoint<float>(model, curve, shocks);
      got_value.push_back(value[p]);
      got_value_b.push_back(value_b[p]);
      want_value.push_back(expected.value);
      for (int i = 0; i < model.num_rates; ++i) {
        got_adjoint.push_back(adjoint[size_t(i) * paths + p]);
        want_adjoint.push_back(expected.adjoint[i]);
      }
    }
    return both(
        both(check_close("value", got_value, want_value, kTolerance, 1.0),
             check_close("value of the adjoint run", got_value_b, want_value, kTolerance, 1.0)),
        check_close("derivatives", got_adjoint, want_adjoint, kTolerance, 10.0));
  }
};

}  // namespace

std::unique_ptr<Workload> make_libor() { return std::make_unique<Libor>(); }

}  // namespace nearwarp::workloads
