// Host sides of the programs that compute: alu, fma, branch, diverge, constant.
#include "bench/reference/host.h"
#include "bench/reference/programs.h"

namespace nearwarp::reference {
namespace {

/// The value that kernel `kind` of alu computes from x, for the kinds that are checked.
uint32_t alu_step(int kind, uint32_t x, uint32_t step) {
  switch (kind) {
    case 0:
      return x * 3;
    case 1:
      return 4000000000u / (x + 7);
    default:
      return (x + 3) ^ step;
  }
}

}  // namespace

bool run_alu(Host& host) {
  const int kind = host.argument(1, 0), blocks = host.argument(2, 15),
            threads = host.argument(3, 256), steps = host.argument(4, 256), n = blocks * threads;
  const auto d = host.device_zeros<uint32_t>(n);
  const auto grid = line_of(blocks), block = line_of(threads);
  if (kind == 0) host.launch("_Z7int_mulPjji", grid, block, d, 3u, steps);
  if (kind == 1) host.launch("_Z7int_divPjji", grid, block, d, 7u, steps);
  if (kind == 2) host.launch("_Z3sfuPffi", grid, block, d, 1.0f, steps);
  if (kind == 3) host.launch("_Z7int_addPjji", grid, block, d, 3u, steps);
  if (kind == 4) host.launch("_Z8fma_ilp4Pfffi", grid, block, d, 0.5f, 1.0f, steps);
  if (kind == 2 || kind == 4) return true;
  const auto r = host.to_host<uint32_t>(d, n);
  bool ok = true;
  for (int i = 0; i < n; ++i) {
    uint32_t x = static_cast<uint32_t>(i % threads) + (kind < 2 ? 1 : 0);
    for (int s = 0; s < steps; ++s) x = alu_step(kind, x, static_cast<uint32_t>(s));
    ok &= r[i] == x;
  }
  return ok;
}

bool run_fma(Host& host) {
  const int blocks = host.argument(1, 15), threads = host.argument(2, 32),
            steps = host.argument(3, 512), n = blocks * threads;
  const auto d = host.device_zeros<float>(n);
  host.launch("_Z9fma_chainPfffi", line_of(blocks), line_of(threads), d, 0.5f, 1.0f, steps);
  bool ok = true;
  for (const float v : host.to_host<float>(d, n)) ok &= v > 1.99f && v < 2.01f;
  return ok;
}

bool run_branch(Host& host) {
  const int threads = host.argument(1, 32), steps = host.argument(2, 256), blocks = 15,
            n = blocks * threads;
  const auto d = host.device_zeros<float>(n);
  host.launch("_Z8branchesPffi", line_of(blocks), line_of(threads), d, 1.0f, steps);
  bool ok = true;
  for (const float v : host.to_host<float>(d, n)) ok &= v == static_cast<float>(steps);
  return ok;
}

bool run_diverge(Host& host) {
  const int rounds = host.argument(1, 24), blocks = 30, threads = 256, n = blocks * threads;
  const auto d = host.device_zeros<uint32_t>(n);
  host.launch("_Z7divergePji", line_of(blocks), line_of(threads), d, rounds);
  const auto r = host.to_host<uint32_t>(d, n);
  bool ok = true;
  for (int i = threads; i < n; ++i) ok &= r[i] == r[i % threads];
  return ok;
}

bool run_constant(Host& host) {
  const int apart = host.argument(1, 0), steps = host.argument(2, 96), blocks = 45,
            n = blocks * 256;
  std::vector<int> h(1024);
  for (int i = 0; i < 1024; ++i) h[i] = i * 3;
  host.to_symbol("table", h);
  const auto d = host.device_zeros<int>(n);
  host.launch("_Z9constantsPiii", line_of(blocks), line_of(256), d, steps, apart);
  const auto r = host.to_host<int>(d, n);
  bool ok = true;
  for (int i = 0; i < n; ++i) {
    int x = 0;
    for (int s = 0; s < steps; ++s) x += h[((apart != 0 ? i & 31 : 0) + s) & 1023];
    ok &= x == r[i];
  }
  return ok;
}

}  // namespace nearwarp::reference
