// A feed-forward layer of experts: routing, then products with the weights of the chosen ones.
#include <algorithm>
#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/llm/gemv.h"
#include "bench/workloads/llm/model.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

using namespace llm;

struct Shape {
  int hidden, between, experts, chosen;
};
Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {256, 896, 8, 2};
    case Size::kMedium:
      return {1024, 3584, 8, 2};  // Mixtral's proportions
    case Size::kLarge:
      return {2048, 1408, 32, 4};
    case Size::kPaper:
      return {2048, 1408, 64, 6};  // DeepSeekMoE 16B
  }
  return {};
}

/// Each token's experts and their shares.
struct Routes {
  std::vector<int32_t> ids;
  std::vector<float> shares;
};
Routes routes_of(const std::vector<float>& scores, const Shape& s) {
  Routes r;
  for (auto own = scores.begin(); own != scores.end(); own += s.experts) {
    std::vector<float> left(own, own + s.experts);
    std::vector<double> weights;
    for (int c = 0; c < s.chosen; ++c) {
      const auto most = std::max_element(left.begin(), left.end());
      r.ids.push_back(static_cast<int32_t>(most - left.begin()));
      weights.push_back(*most);
      *most = -INFINITY;
    }
    double total = 0;
    for (double& w : weights)
      total += w = std::exp(w - double{own[r.ids[r.ids.size() - weights.size()]]});
    for (const double w : weights) r.shares.push_back(static_cast<float>(w / total));
  }
  return r;
}

class DecodeExperts final : public Workload {
 public:
  explicit DecodeExperts(std::string name, const Values& values = {})
      : name_(std::move(name)), batch_(values.number("batch", 1)) {}
  std::string name() const override { return name_; }
  std::string description() const override {
    return "a feed-forward layer of experts: routing, products with the weights of the chosen";
  }
  std::string source() const override { return "LLM inference (Mixtral, DeepSeekMoE)"; }
  std::string ptx_name() const override { return "experts.ptx"; }
  std::vector<Parameter> parameters() const override { return {batch_parameter()}; }
  std::unique_ptr<Workload> with(std::string name, Values values) const override {
    return std::make_unique<DecodeExperts>(std::move(name), values);
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Shape s = shape_of(size);
    const auto batch = static_cast<uint32_t>(batch_);
    const std::vector<float> x = random_vector(190, batch_ * s.hidden);
    const Weights router = random_weights(191, Format::kF16, s.experts, s.hidden);
    const Weights gate = random_weights(192, Format::kF16, s.experts * s.between, s.hidden);
    const Weights up = random_weights(193, Format::kF16, s.experts * s.between, s.hidden);
    const Weights down = random_weights(194, Format::kF16, s.experts * s.hidden, s.between);
    const size_t places = static_cast<size_t>(batch_) * static_cast<size_t>(s.chosen);
    const auto d_x = device.upload(x, "x");
    const auto d_ids = device.allocate(places * sizeof(int32_t), "experts");
    const auto d_shares = device.allocate(places * sizeof(float), "shares");
    const auto d_hidden =
        device.allocate(places * static_cast<size_t>(s.between) * sizeof(float), "hidden");
    const auto d_y = device.allocate(x.size() * sizeof(float), "y");
    const auto d_router = device.upload(router.bytes, "router");
    const auto d_gate = device.upload(gate.bytes, "gates"), d_up = device.upload(up.bytes, "ups");
    const auto d_down = device.upload(down.bytes, "downs");

    const auto rows = [](int n) { return blocks_for(uint64_t(n) * kLanes, kBlock).x; };
    device.launch(
        module, "experts_route", {batch, 1, 1}, {kBlock}, 0,
        runtime::KernelArgs(d_router, d_x, d_ids, d_shares, s.hidden, s.experts, s.chosen));
    device.launch(
        module, "experts_up", {rows(s.between), static_cast<uint32_t>(places), 1}, {kBlock}, 0,
        runtime::KernelArgs(d_gate, d_up, d_ids, d_x, d_hidden, s.between, s.hidden, s.chosen));
    device.launch(
        module, "experts_down", {rows(s.hidden), batch, 1}, {kBlock}, 0,
        runtime::KernelArgs(d_down, d_ids, d_shares, d_hidden, d_y, s.hidden, s.between, s.chosen));
    if (device.limit_reached()) return skipped_by_limit();

    const Routes routes = routes_of(product(router, x), s);
    return both(check_equal("experts", device.download<int32_t>(d_ids, places), routes.ids),
                check_close("y", device.download<float>(d_y, x.size()),
                            reference(x, routes, s, gate, up, down), 1e-3, 1.0));
  }

 private:
  static std::vector<float> reference(const std::vector<float>& x, const Routes& routes,
                                      const Shape& s, const Weights& gate, const Weights& up,
                                      const Weights& down) {
    std::vector<float> y(x.size());
    std::vector<float> row(static_cast<size_t>(std::max(s.hidden, s.between)));
    const auto times = [&](const Weights& w, int at, const float* v) {
      row_of(w, at, row.data());
      double sum = 0;
      for (int i = 0; i < w.columns; ++i) sum += double{row[static_cast<size_t>(i)]} * v[i];
      return sum;
    };
    for (size_t place = 0; place < routes.ids.size(); ++place) {
      const size_t token = place / static_cast<size_t>(s.chosen) * static_cast<size_t>(s.hidden);
      const int expert = routes.ids[place];
      std::vector<float> hidden;
      for (int r = 0; r < s.between; ++r) {
        const double g = times(gate, expert * s.between + r, &x[token]);
        const double u = times(up, expert * s.between + r, &x[token]);
        hidden.push_back(static_cast<float>(g / (1 + std::exp(-g)) * u));
      }
      for (int r = 0; r < s.hidden; ++r)
        y[token + static_cast<size_t>(r)] += static_cast<float>(
            routes.shares[place] * times(down, expert * s.hidden + r, hidden.data()));
    }
    return y;
  }

  std::string name_;
  int batch_;
};

}  // namespace

std::unique_ptr<Workload> make_decode_experts() {
  return std::make_unique<DecodeExperts>("decode-experts");
}

}  // namespace nearwarp::workloads
