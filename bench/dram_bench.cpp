// Speed of a memory channel by itself: requests and memory cycles per second.
//
// DDR3-1600K as in tests/validation/dram_reference.csv, on one core.
#include <benchmark/benchmark.h>

#include "host/config/config.h"
#include "host/timing/dram/channel_run.h"

namespace nearwarp::dram {
namespace {

constexpr uint32_t kSaturated = 0;

void run(benchmark::State& state, TrafficPattern pattern, uint32_t outstanding,
         uint32_t writes_of_three) {
  const config::DramConfig standard = config::load_dram("ddr3-1600k");
  Traffic traffic;
  traffic.pattern = pattern;
  traffic.writes_num = writes_of_three;
  traffic.writes_den = 3;
  if (outstanding != kSaturated) {
    traffic.pacing = TrafficPacing::kWindow;
    traffic.outstanding = outstanding;
  }
  uint64_t cycles = 0, requests = 0;
  for (auto _ : state) {
    const RunResult result = run_channel(standard, traffic, RunOptions{});
    cycles += result.simulated_cycles;
    requests += result.simulated_requests;
  }
  state.counters["requests_per_s"] =
      benchmark::Counter(static_cast<double>(requests), benchmark::Counter::kIsRate);
  state.counters["memory_cycles_per_s"] =
      benchmark::Counter(static_cast<double>(cycles), benchmark::Counter::kIsRate);
}

void stream(benchmark::State& state) { run(state, TrafficPattern::kStrided, kSaturated, 0); }
void random(benchmark::State& state) { run(state, TrafficPattern::kRandom, kSaturated, 0); }
void mix(benchmark::State& state) { run(state, TrafficPattern::kStrided, kSaturated, 1); }
void random_window_8(benchmark::State& state) { run(state, TrafficPattern::kRandom, 8, 0); }

BENCHMARK(stream)->Unit(benchmark::kMillisecond);
BENCHMARK(random)->Unit(benchmark::kMillisecond);
BENCHMARK(mix)->Unit(benchmark::kMillisecond);
BENCHMARK(random_window_8)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nearwarp::dram

BENCHMARK_MAIN();
