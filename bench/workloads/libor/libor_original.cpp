// GPGPU-Sim's LIB as it is launched: 4096 paths in 64 blocks of 64 threads, 80 rates, 40 fixings.
// The smaller sizes have fewer rates.
#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/libor/reference.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlocks = 64, kBlockThreads = 64;
constexpr int kPaths = 4096;
constexpr float kShock = 0.3f, kInitialRate = 0.05f;  // also in libor_original.cu

int rates(Size size) {
  switch (size) {
    case Size::kSmall:
      return 14;
    case Size::kMedium:
      return 36;
    default:
      return 80;
  }
}

/// The model with the swaptions of the original, as long as the part of the rates after the last
/// fixing allows.
LiborModel original_model(int num_rates) {
  LiborModel model = libor_model(num_rates);
  const int tail = model.num_rates - model.num_fixings;
  constexpr int kFortieths[] = {4, 8, 20, 28, 40};
  for (size_t k = 0; k < model.maturities.size(); ++k)
    model.maturities[k] = std::max(1, tail * kFortieths[k / 3] / 40);
  return model;
}

class LiborOriginal final : public Workload {
 public:
  std::string name() const override { return "libor-original"; }
  std::string variant_of() const override { return "libor"; }
  std::string description() const override {
    return "libor with the original's storage and launch: local arrays, 4096 paths, 64 blocks of "
           "64";
  }
  std::string source() const override { return "GPGPU-Sim, LIB (Giles)"; }
  std::string ptx_name() const override { return "libor_original.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const LiborModel model = original_model(rates(size));
    const auto to_symbol = [&](const char* symbol, const void* values, size_t bytes) {
      device.copy_to_device(device.symbol(module, symbol), values, bytes);
    };
    const auto options = static_cast<int32_t>(model.maturities.size());
    to_symbol("libor_num_rates", &model.num_rates, sizeof(int32_t));
    to_symbol("libor_num_fixings", &model.num_fixings, sizeof(int32_t));
    to_symbol("libor_num_options", &options, sizeof(int32_t));
    to_symbol("libor_maturities", model.maturities.data(), options * sizeof(int32_t));
    to_symbol("libor_delta", &model.delta, sizeof(float));
    to_symbol("libor_swaprates", model.swaprates.data(), options * sizeof(float));
    to_symbol("libor_lambda", model.lambda.data(), model.lambda.size() * sizeof(float));

    const auto d_value = device.allocate(kPaths * sizeof(float), "value");
    const auto d_adjoint = device.allocate(kPaths * sizeof(float), "derivative");
    device.launch(module, "libor_original_value", {kBlocks}, {kBlockThreads}, 0,
                  runtime::KernelArgs(d_value, kPaths));
    if (device.limit_reached()) return skipped_by_limit();
    const auto value = device.download<float>(d_value, kPaths);
    device.launch(module, "libor_original_adjoint", {kBlocks}, {kBlockThreads}, 0,
                  runtime::KernelArgs(d_value, d_adjoint, kPaths));
    if (device.limit_reached()) return skipped_by_limit();

    const LiborPath<float> path =
        libor_adjoint<float>(model, std::vector<float>(model.num_rates, kInitialRate),
                             std::vector<float>(model.num_fixings, kShock));
    const std::vector<float> want_value(kPaths, path.value);
    const std::vector<float> want_adjoint(kPaths, path.adjoint.back());
    constexpr double kTolerance = 1e-4;  // as in libor.cpp
    return both(
        both(check_close("value", value, want_value, kTolerance, 1.0),
             check_close("value of the adjoint run", device.download<float>(d_value, kPaths),
                         want_value, kTolerance, 1.0)),
        check_close("derivative", device.download<float>(d_adjoint, kPaths), want_adjoint,
                    kTolerance, 10.0));
  }
};

}  // namespace

std::unique_ptr<Workload> make_libor_original() { return std::make_unique<LiborOriginal>(); }

}  // namespace nearwarp::workloads
