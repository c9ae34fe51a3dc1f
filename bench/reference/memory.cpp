// Host sides of the programs for one part of the memory each: chase, shared, local, atomics.
#include <cstring>
#include <numeric>

#include "bench/reference/host.h"
#include "bench/reference/programs.h"

namespace nearwarp::reference {

bool run_chase(Host& host) {
  const int lines = host.argument(1, 64), steps = host.argument(2, 2048);
  std::vector<uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0u);
  for (int i = lines - 1; i > 0; --i)
    std::swap(order[i], order[host.rnd() % static_cast<uint32_t>(i + 1)]);
  const uint64_t bytes = static_cast<uint64_t>(lines) * 128;
  const auto d = host.device().allocate(bytes);
  std::vector<char> image(bytes, 0);
  for (int i = 0; i < lines; ++i) {
    const uint64_t next = d + uint64_t{order[(i + 1) % lines]} * 128;
    std::memcpy(&image[uint64_t{order[i]} * 128], &next, 8);
  }
  host.device().copy_to_device(d, image.data(), bytes);
  const auto out = host.device_zeros<uint64_t>(1);
  host.launch("_Z5chasePPviS0_", line_of(1), line_of(1), d + uint64_t{order[0]} * 128, steps, out);
  return host.to_host<uint64_t>(out, 1)[0] == d + uint64_t{order[steps % lines]} * 128;
}

bool run_shared(Host& host) {
  const int stride = host.argument(1, 1), steps = host.argument(2, 128), blocks = 15,
            threads = host.argument(3, 256), n = blocks * threads;
  const auto d = host.device_zeros<int>(n);
  host.launch("_Z12shared_chainPiii", line_of(blocks), line_of(threads), d, stride, steps);
  const auto r = host.to_host<int>(d, n);
  bool ok = true;
  for (int i = 0; i < n; ++i) ok &= r[i] == i % 32 * stride;
  return ok;
}

bool run_local(Host& host) {
  const int steps = host.argument(1, 32), blocks = 30, n = blocks * 128;
  const auto d = host.device_zeros<uint32_t>(n);
  host.launch("_Z11local_arrayPji", line_of(blocks), line_of(128), d, steps);
  const auto r = host.to_host<uint32_t>(d, n);
  bool ok = true;
  for (int g = 0; g < n; ++g) {
    uint32_t a[16], x = static_cast<uint32_t>(g % 128);
    for (uint32_t i = 0; i < 16; ++i) a[i] = x + i;
    for (int i = 0; i < steps; ++i) {
      const uint32_t j = (x + static_cast<uint32_t>(i) * 5) & 15;
      x = x * 1664525u + a[j];
      a[(j + 3) & 15] = x;
    }
    ok &= r[g] == x;
  }
  return ok;
}

bool run_atomics(Host& host) {
  const int many = host.argument(1, 0), n = many != 0 ? 32768 : 4096;
  const uint32_t mask = many != 0 ? 65535 : 0;
  const auto c = host.device_zeros<uint32_t>(65536), out = host.device_zeros<uint32_t>(n);
  host.launch("_Z7atomicsPjS_ij", line_of((n + 255) / 256), line_of(256), c, out, n, mask);
  const auto r = host.to_host<uint32_t>(c, 65536);
  const uint64_t sum = std::accumulate(r.begin(), r.end(), uint64_t{0});
  const auto all = static_cast<uint64_t>(n);
  return sum == all && (many != 0 || r[0] == all);
}

}  // namespace nearwarp::reference
