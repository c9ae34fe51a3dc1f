// Trains a small GPT-2 in f32 on a GPU, with cuBLAS, and on the CPU beside it, and compares losses and gradients.
//   nvcc -std=c++17 -cudart shared -I. -o train_gpt2 bench/samples/gpt2/train_gpt2.cu -lcublas
//   nearwarp run -- ./train_gpt2 [STEPS [CHECKED [LAYERS CHANNELS SEQUENCES POSITIONS]]]
// The CPU does the first CHECKED steps, or all.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "bench/samples/gpt2/cpu.h"
#include "bench/samples/gpt2/gpu.cuh"

// Sums of f32 in another order: what may differ between the two.
constexpr double kLossBound = 1e-4, kGradientBound = 1e-4;

static unsigned long long state = 1;
static float uniform() {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<float>(state >> 40) * 0x1p-24f;
}

/// GPT-2's beginning: small weights, norms that change nothing.
static std::vector<float> random_parameters(const Shape& s, const Layout& at) {
  std::vector<float> p(at.size);
  for (float& x : p) x = 0.02f * 1.732f * (2 * uniform() - 1);
  const auto fill = [&](size_t first, int n, float value) { std::fill_n(p.begin() + first, n, value); };
  for (const Layout::Layer& l : at.layers) {
    fill(l.norm1_w, s.channels, 1), fill(l.norm1_b, s.channels, 0), fill(l.norm2_w, s.channels, 1);
    fill(l.norm2_b, s.channels, 0), fill(l.qkv_b, 3 * s.channels, 0), fill(l.proj_b, s.channels, 0);
    fill(l.fc_b, 4 * s.channels, 0), fill(l.down_b, s.channels, 0);
  }
  fill(at.norm_w, s.channels, 1), fill(at.norm_b, s.channels, 0);
  return p;
}

/// Words each of which follows from the one before, but for every eighth.
static std::vector<int> random_text(int n, int vocabulary) {
  std::vector<int> text(n);
  for (int i = 1; i < n; ++i)
    text[i] = i % 8 == 0 ? static_cast<int>(uniform() * vocabulary) : (text[i - 1] * 5 + 7) % vocabulary;
  return text;
}

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const int steps = number(1, 4), checked = std::min(steps, number(2, steps));
  Shape shape;
  shape.layers = number(3, shape.layers), shape.channels = number(4, shape.channels);
  shape.batch = number(5, shape.batch), shape.positions = number(6, shape.positions);
  if (steps < 1 || steps > 1000 || checked < 0 || shape.layers < 1 || shape.channels < 4 || shape.channels % 4 != 0 ||
      shape.batch < 1 || shape.positions < 1) {
    std::printf(
        "usage: train_gpt2 [STEPS [CHECKED [LAYERS CHANNELS SEQUENCES POSITIONS]]] - a number of steps from 1 to 1000, "
        "of which the CPU does the first CHECKED beside; channels are a multiple of 4\n");
    return 64;
  }
  const Layout layout(shape);
  const std::vector<float> parameters = random_parameters(shape, layout);
  const std::vector<int> text = random_text(shape.tokens() * steps + 1, shape.vocabulary);
  std::printf("GPT-2 of %d layers, %d channels, %zu parameters; %d x %d tokens a step\n", shape.layers, shape.channels,
              layout.size, shape.batch, shape.positions);
  Cpu cpu;
  Gpu gpu;
  Gpt2<Cpu> reference(cpu, shape, parameters);
  Gpt2<Gpu> model(gpu, shape, parameters);
  double worst = 0, worst_gradient = 0;
  for (int step = 1; step <= steps; ++step) {
    const auto first = text.begin() + (step - 1) * shape.tokens();
    const std::vector<int> tokens(first, first + shape.tokens()), targets(first + 1, first + 1 + shape.tokens());
    const double loss = model.step(tokens, targets);
    if (step > checked) {
      model.update(step);
      std::printf("step %d: loss %.6f\n", step, loss);
      continue;
    }
    const double want = reference.step(tokens, targets);
    if (step == 1) {
      const std::vector<float> a = model.gradients(), b = reference.gradients();
      double largest = 0;
      for (const float g : b) largest = std::fmax(largest, std::fabs(g));
      for (size_t i = 0; i < b.size(); ++i) worst_gradient = std::fmax(worst_gradient, std::fabs(a[i] - b[i]) / largest);
    }
    reference.update(step), model.update(step);
    worst = std::fmax(worst, std::fabs(loss - want));
    std::printf("step %d: loss %.6f, on the CPU %.6f\n", step, loss, want);
  }
  if (checked == 0) return 0;
  std::printf("gradients of the first step differ by at most %.1e of the largest, losses by %.1e\n", worst_gradient, worst);
  const bool right = worst <= kLossBound && worst_gradient <= kGradientBound;
  std::printf("%s\n", right ? "the GPU trains as the CPU does" : "THE GPU DOES NOT TRAIN AS THE CPU DOES");
  return right ? 0 : 1;
}
