#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr int kHidden = 16;  // units of the hidden layer; also in backprop.cu
constexpr int kColumns = kHidden + 1;
constexpr float kRate = 0.3f, kMomentum = 0.3f;  // Rodinia's
constexpr float kTarget = 0.1f;                  // of the one output unit

int inputs(Size size) {
  switch (size) {
    case Size::kSmall:
      return 8192;
    case Size::kMedium:
      return 65536;  // Rodinia's default
    case Size::kLarge:
      return 1 << 20;
    case Size::kPaper:
      return 1 << 21;
  }
  return 0;
}

struct Network {
  int num_inputs = 0;
  std::vector<float> input, weights, previous;  ///< input[0] is the bias
  std::vector<float> output_weights;
};

Network make_network(int num_inputs) {
  Network net;
  net.num_inputs = num_inputs;
  net.input.resize(num_inputs + 1);
  for (int i = 0; i <= num_inputs; ++i) net.input[i] = i == 0 ? 1.0f : random_unit(64, i);
  net.weights.resize(net.input.size() * kColumns);
  // Scaled so that the sum over all inputs stays where the sigmoid is not flat.
  const float scale = 1.0f / std::sqrt(static_cast<float>(num_inputs));
  for (size_t i = 0; i < net.weights.size(); ++i)
    net.weights[i] = scale * (random_unit(65, i) - 0.5f);
  net.previous.assign(net.weights.size(), 0.0f);
  net.output_weights.resize(kColumns);
  for (int h = 0; h < kColumns; ++h) net.output_weights[h] = random_unit(66, h) - 0.5f;
  return net;
}

float squash(float x) { return 1.0f / (1.0f + std::exp(-x)); }

/// The host's part between the kernels: hidden and output layer, errors of the hidden units.
std::vector<float> hidden_delta(const Network& net, const std::vector<float>& partial) {
  std::vector<float> hidden(kColumns, 1.0f), delta(kColumns, 0.0f);
  float sum = net.output_weights[0];
  for (int h = 1; h < kColumns; ++h) {
    float activation = net.weights[h];  // the bias
    for (size_t b = 0; b < partial.size() / kHidden; ++b)
      activation += partial[b * kHidden + h - 1];
    hidden[h] = squash(activation);
    sum += net.output_weights[h] * hidden[h];
  }
  const float out = squash(sum);
  const float out_delta = out * (1.0f - out) * (kTarget - out);
  for (int h = 1; h < kColumns; ++h)
    delta[h] = hidden[h] * (1.0f - hidden[h]) * out_delta * net.output_weights[h];
  return delta;
}

/// The forward kernel's sums: a tree over the kHidden inputs of each block.
std::vector<float> forward_reference(const Network& net) {
  std::vector<float> partial(net.num_inputs);
  for (int block = 0; block < net.num_inputs / kHidden; ++block) {
    for (int h = 0; h < kHidden; ++h) {
      float products[kHidden];
      for (int i = 0; i < kHidden; ++i) {
        const size_t row = size_t(block) * kHidden + i + 1;
        products[i] = net.weights[row * kColumns + h + 1] * net.input[row];
      }
      for (int stride = 1; stride < kHidden; stride *= 2) {
        for (int i = 0; i < kHidden; i += 2 * stride) products[i] += products[i + stride];
      }
      partial[size_t(block) * kHidden + h] = products[0];
    }
  }
  return partial;
}

void adjust_reference(Network& net, const std::vector<float>& delta) {
  for (int row = 0; row <= net.num_inputs; ++row) {
    for (int h = 1; h < kColumns; ++h) {
      const size_t i = size_t(row) * kColumns + h;
      const float change = kRate * delta[h] * net.input[row] + kMomentum * net.previous[i];
      net.weights[i] += change;
      net.previous[i] = change;
    }
  }
}

class Backprop final : public Workload {
 public:
  std::string name() const override { return "backprop"; }
  std::string description() const override {
    return "one training step of a neural network: forward sums in shared memory, then weights";
  }
  std::string source() const override { return "Rodinia, backprop"; }
  std::string ptx_name() const override { return "backprop.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    Network net = make_network(inputs(size));
    const auto blocks = static_cast<uint32_t>(net.num_inputs / kHidden);
    const runtime::Dim3 block = {kHidden, kHidden};
    const auto d_input = device.upload(net.input, "input");
    const auto d_weights = device.upload(net.weights, "weights");
    const auto d_previous = device.upload(net.previous, "previous changes");
    const auto d_partial = device.allocate(net.num_inputs * sizeof(float), "partial sums");
    device.launch(module, "backprop_forward", {blocks}, block, 0,
                  runtime::KernelArgs(d_input, d_weights, d_partial));
    if (device.limit_reached()) return skipped_by_limit();
    const auto partial = device.download<float>(d_partial, net.num_inputs);
    const auto d_delta = device.upload(hidden_delta(net, partial), "hidden delta");
    device.launch(module, "backprop_adjust", {blocks}, block, 0,
                  runtime::KernelArgs(d_input, d_delta, d_weights, d_previous, kRate, kMomentum));
    if (device.limit_reached()) return skipped_by_limit();

    const std::vector<float> expected = forward_reference(net);
    adjust_reference(net, hidden_delta(net, expected));
    return both(
        check_bits("partial sums", partial, expected),
        check_bits("weights", device.download<float>(d_weights, net.weights.size()), net.weights));
  }
};

/// As the original's forward kernel leaves the weights: products of a block, summed as far as the
/// tree came at each place.
std::vector<float> overwritten_reference(const Network& net) {
  std::vector<float> weights = net.weights;
  for (int block = 0; block < net.num_inputs / kHidden; ++block) {
    const auto at = [&](int i, int h) -> float& {
      return weights[(size_t(block) * kHidden + i + 1) * kColumns + h + 1];
    };
    for (int h = 0; h < kHidden; ++h) {
      for (int i = 0; i < kHidden; ++i) at(i, h) *= net.input[size_t(block) * kHidden + i + 1];
      for (int stride = 1; stride < kHidden; stride *= 2) {
        for (int i = 0; i < kHidden; i += 2 * stride) at(i, h) += at(i + stride, h);
      }
    }
  }
  return weights;
}

class BackpropOriginal final : public Workload {
 public:
  std::string name() const override { return "backprop-original"; }
  std::string variant_of() const override { return "backprop"; }
  std::string description() const override {
    return "backprop with the original's accesses: sums written over the weights, values read anew";
  }
  std::string source() const override { return "Rodinia, backprop"; }
  std::string ptx_name() const override { return "backprop_original.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    Network net = make_network(size == Size::kSmall ? 8192 : 65536);
    const runtime::Dim3 grid = {1, static_cast<uint32_t>(net.num_inputs / kHidden)};
    const runtime::Dim3 block = {kHidden, kHidden};
    const auto d_input = device.upload(net.input, "input");
    const auto d_weights = device.upload(net.weights, "weights");
    const auto d_partial = device.allocate(net.num_inputs * sizeof(float), "partial sums");
    device.launch(module, "backprop_original_forward", grid, block, 0,
                  runtime::KernelArgs(d_input, d_weights, d_partial, kHidden));
    if (device.limit_reached()) return skipped_by_limit();
    const auto partial = device.download<float>(d_partial, net.num_inputs);
    const auto overwritten = device.download<float>(d_weights, net.weights.size());
    const auto d_delta = device.upload(hidden_delta(net, partial), "hidden delta");
    const auto d_previous = device.upload(net.previous, "previous changes");
    device.copy_to_device(d_weights, net.weights.data(), net.weights.size() * sizeof(float));
    device.launch(
        module, "backprop_original_adjust", grid, block, 0,
        runtime::KernelArgs(d_delta, kHidden, d_input, d_weights, d_previous, kRate, kMomentum));
    if (device.limit_reached()) return skipped_by_limit();

    const std::vector<float> expected = forward_reference(net);
    const CheckResult forward =
        both(check_bits("partial sums", partial, expected),
             check_bits("products", overwritten, overwritten_reference(net)));
    adjust_reference(net, hidden_delta(net, expected));
    return both(
        forward,
        check_bits("weights", device.download<float>(d_weights, net.weights.size()), net.weights));
  }
};

}  // namespace

std::unique_ptr<Workload> make_backprop() { return std::make_unique<Backprop>(); }
std::unique_ptr<Workload> make_backprop_original() { return std::make_unique<BackpropOriginal>(); }

}  // namespace nearwarp::workloads
