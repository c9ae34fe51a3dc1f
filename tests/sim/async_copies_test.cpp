// Do bulk copies, mbarriers and products of warp groups take the time that their units take?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"
#include "tests/runtime/plane_map.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::testing {
namespace {

/// c = a b^T in f16 by blocks of 128 by 128, a producer and two consuming warp groups each.
runtime::Recording gemm(uint32_t m, uint32_t n, uint32_t k, uint64_t limit = 0) {
  runtime::VirtualDevice::Options options;
  options.max_thread_instructions = limit;
  runtime::BreadthDevice d("tile_kernels", options);
  const uint64_t a = d.allocate(uint64_t{m} * k * 2), b = d.allocate(uint64_t{n} * k * 2),
                 c = d.allocate(uint64_t{m} * n * 4);
  const runtime::PlaneMap ma(a, 6, k, m, 64, 128, 3), mb(b, 6, k, n, 64, 128, 3);
  d.launch(d.module, "gemm_f16", {n / 128, m / 128}, {384}, 4 * 2 * 128 * 128,
           runtime::KernelArgs(ma, mb, c, static_cast<int>(n), static_cast<int>(k / 64)));
  return d.take_recording("gemm");
}

report::RunResult run(const runtime::Recording& recording,
                      const std::vector<std::string>& overrides = {},
                      const char* machine = "h100") {
  return sim::replay_on_cpu(recording, config::load_machine(machine, overrides),
                            config::load_policy("baseline"), {});
}

uint64_t counter_of(const report::RunResult& result, const std::string& name) {
  for (const auto& [counter, value] : numbers(result))
    if (counter == name) return static_cast<uint64_t>(value);
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

TEST(AsyncCopies, Explore) {
  for (const uint32_t k : {64u, 256u, 1024u, 4096u}) {
    const runtime::Recording r = gemm(128, 128, k);
    const report::RunResult result = run(r);
    std::printf("k %u recorded %llu\n", k, (unsigned long long)r.warp_instructions);
    for (const auto& [name, value] : numbers(result))
      if (value != 0 && (name.find("sm") != std::string::npos || name.find("cycle") != std::string::npos))
        std::printf("  %s %s\n", name.c_str(), std::to_string(value).c_str());
  }
}

}  // namespace
}  // namespace nearwarp::testing
