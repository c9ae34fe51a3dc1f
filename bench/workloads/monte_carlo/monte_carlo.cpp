#include <algorithm>
#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kThreads = 256;  // the sample's block, in monte_carlo.cu

struct Shape {
  uint32_t options;  ///< at most kMaxOptions of monte_carlo.cu
  uint32_t paths;    ///< a multiple of kThreads
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {16, 1u << 14};
    case Size::kMedium:
      return {64, 1u << 16};
    case Size::kLarge:
    case Size::kPaper:
      return {256, 1u << 18};  // the sample's
  }
  return {};
}

struct Option {  // as in monte_carlo.cu
  float price, strike, drift, volatility;
};

/// Options with prices, strikes and times to expiry in the sample's ranges; 6 % interest, 10 %
/// volatility.
std::vector<Option> options_of(uint32_t count) {
  std::vector<Option> options(count);
  for (uint32_t i = 0; i < count; ++i) {
    const float years = 1.0f + 4.0f * random_unit(85, i);
    options[i] = {5.0f + 45.0f * random_unit(83, i), 10.0f + 15.0f * random_unit(84, i),
                  (0.06f - 0.5f * 0.1f * 0.1f) * years, 0.1f * std::sqrt(years)};
  }
  return options;
}

class MonteCarlo final : public Workload {
 public:
  explicit MonteCarlo(bool restructured) : restructured_(restructured) {}
  std::string name() const override {
    return restructured_ ? "monte-carlo-restructured" : "monte-carlo";
  }
  std::string variant_of() const override { return restructured_ ? "monte-carlo" : ""; }
  std::string description() const override {
    return restructured_ ? "monte-carlo with consecutive paths for each warp"
                         : "prices of options by Monte Carlo, a block per option";
  }
  std::string source() const override {
    return restructured_ ? "CUDA SDK, MonteCarlo; Wu et al. (ICS 2020)" : "CUDA SDK, MonteCarlo";
  }
  std::string ptx_name() const override {
    return restructured_ ? "monte_carlo_restructured.ptx" : "monte_carlo.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [count, paths] = shape_of(size);
    const std::vector<Option> options = options_of(count);
    std::vector<float> samples(paths);
    for (uint32_t i = 0; i < paths; ++i) samples[i] = random_normal(86, i);
    device.copy_to_device(device.symbol(module, "options"), options.data(),
                          options.size() * sizeof(Option));
    const auto d_samples = device.upload(samples, "samples");
    const auto d_values = device.allocate(count * 2 * sizeof(float), "values");
    device.launch(module, restructured_ ? "monte_carlo_consecutive" : "monte_carlo", {count},
                  {kThreads}, 0, runtime::KernelArgs(d_samples, d_values, paths));
    if (device.limit_reached()) return skipped_by_limit();

    std::vector<float> expected;
    for (const Option& option : options) {
      double sum = 0, squares = 0;
      for (float sample : samples) {
        const double price = option.price * std::exp(option.drift + option.volatility * sample);
        const double pay_off = std::max(price - option.strike, 0.0);
        sum += pay_off;
        squares += pay_off * pay_off;
      }
      expected.push_back(static_cast<float>(sum));
      expected.push_back(static_cast<float>(squares));
    }
    // The device uses ex2.approx and sums in single precision. Options that hardly pay suffer from
    // cancellation.
    return check_close("sums", device.download<float>(d_values, expected.size()), expected, 1e-4,
                       0.01 * paths);
  }

 private:
  bool restructured_;
};

}  // namespace

std::unique_ptr<Workload> make_monte_carlo() { return std::make_unique<MonteCarlo>(false); }
std::unique_ptr<Workload> make_monte_carlo_restructured() {
  return std::make_unique<MonteCarlo>(true);
}

}  // namespace nearwarp::workloads
