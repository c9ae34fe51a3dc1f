// Speed of the memory side: TOM's machine under saturating random reads and under streams.
#include <benchmark/benchmark.h>

#include "tests/memory/memory_system.h"

namespace nearwarp::testing {
namespace {

/// Random or streaming reads from every main SM, as fast as the channels take them.
void run_reads(benchmark::State& state, bool random_lines, uint32_t per_sm) {
  const auto window = static_cast<Tick>(state.range(0));
  uint64_t transactions = 0, ticks = 0;
  for (auto _ : state) {
    state.PauseTiming();
    MemoryConfig config = tom_memory();
    config.hop = window;
    config.link_latency = std::max<Tick>(config.link_latency, window);
    MemorySystem m(config);
    std::mt19937 random(1);
    for (uint32_t i = 0; i < config.sms; ++i) {
      auto p = m.rig.producer(m.sm_out[i], 100);
      for (uint32_t n = 0; n < per_sm; ++n) {
        const uint32_t line = random_lines ? random() % (1u << 24) : n * config.sms + i;
        const uint32_t dst = m.first_slice + m.map.stack_of(line) * config.slices_per_stack +
                             m.map.slice_in_stack(line);
        p->items.push_back({0,
                            make_packet(PacketKind::kRead, static_cast<uint16_t>(i),
                                        static_cast<uint16_t>(dst), 8, n, line),
                            0});
      }
      m.rig.consumer(m.sm_in[i], 100);
    }
    for (const auto c : m.control) m.rig.consumer(c, 112);
    state.ResumeTiming();
    ticks += m.rig.run({window}, 100000000);
    transactions += m.sum(m.slices, [](auto& s) { return s.counters.replies_out; });
  }
  state.counters["transactions_per_s"] =
      benchmark::Counter(static_cast<double>(transactions), benchmark::Counter::kIsRate);
  state.counters["ticks_per_transaction"] =
      static_cast<double>(ticks) / static_cast<double>(transactions);
}
void random_reads(benchmark::State& state) { run_reads(state, true, 2000); }
void streams(benchmark::State& state) { run_reads(state, false, 2000); }

BENCHMARK(random_reads)->Arg(448)->Arg(896)->Arg(1792)->Unit(benchmark::kMillisecond);
BENCHMARK(streams)->Arg(448)->Arg(1792)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nearwarp::testing

BENCHMARK_MAIN();
