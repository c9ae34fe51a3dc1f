// Speed of networks: the 8x8 mesh under uniform traffic, router-cycles per second.
#include <benchmark/benchmark.h>

#include "host/timing/noc/network.h"

namespace nearwarp {
namespace {

/// range(0): rate in thousandths of a flit per node and cycle; range(1): flits per packet. Every
/// thread has a network of its own.
void mesh(benchmark::State& state) {
  constexpr uint64_t kWarmup = 3000, kCycles = 1000;
  noc::NocConfig config;
  config.packet_flits = static_cast<uint32_t>(state.range(1));
  noc::Network network(config);
  network.set_rate(static_cast<double>(state.range(0)) / 1000);
  network.run(kWarmup);
  const uint64_t flits = network.totals().received_flits;
  for (auto _ : state) network.run(kCycles);
  const auto cycles = static_cast<double>(network.now() - kWarmup);
  state.counters["router_cycles_per_s"] =
      benchmark::Counter(cycles * network.params().routers, benchmark::Counter::kIsRate);
  state.counters["accepted"] =
      benchmark::Counter(static_cast<double>(network.totals().received_flits - flits) / cycles / 64,
                         benchmark::Counter::kAvgThreads);
}

BENCHMARK(mesh)
    ->ArgsProduct({{50, 200, 400, 1000}, {1, 5}})
    ->ThreadRange(1, 2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nearwarp

BENCHMARK_MAIN();
