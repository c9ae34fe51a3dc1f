// Do bulk copies, mbarriers, products of warp groups and asynchronous loads take the time that their
// units take?
#include <gtest/gtest.h>

#include "tests/runtime/breadth_kernels.h"
#include "tests/runtime/plane_map.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::testing {
namespace {

/// c = a b^T in f16 by blocks of 128 by 128, a producer and two consuming warp groups each.
runtime::Recording gemm(uint32_t m, uint32_t n, uint32_t k, uint64_t limit = 0) {
  runtime::VirtualDevice::Options options;
  options.max_thread_instructions = limit;
  options.execute_beyond_limit = limit != 0;
  runtime::BreadthDevice d("tile_kernels", options);
  const uint64_t a = d.allocate(uint64_t{m} * k * 2), b = d.allocate(uint64_t{n} * k * 2),
                 c = d.allocate(uint64_t{m} * n * 4);
  const runtime::PlaneMap ma(a, 6, k, m, 64, 128, 3), mb(b, 6, k, n, 64, 128, 3);
  d.launch(d.module, "gemm_f16", {n / 128, m / 128}, {384}, 4 * 2 * 128 * 128,
           runtime::KernelArgs(ma, mb, c, static_cast<int>(n), static_cast<int>(k / 64)));
  return d.take_recording("gemm");
}

/// A launch of one block of the kernel k(data, n), of 64 threads, for 9.0.
runtime::Recording one_block(const std::string& body, uint32_t n) {
  runtime::VirtualDevice d;
  const uint32_t module = d.load_module(std::make_shared<const compiler::Program>(
      compiler::compile_ptx(".version 8.6\n.target sm_90a\n.address_size 64\n"
                            ".visible .entry k(.param .u64 data, .param .u32 n) {\n"
                            "  .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<6>;\n"
                            "  .shared .align 128 .b8 tile[65536]; .shared .align 8 .b64 bar;\n"
                            "  ld.param.u64 %rd1, [data];\n  ld.param.u32 %r1, [n];\n"
                            "  mov.u32 %r2, %tid.x;\n  mov.u32 %r3, tile;\n  mov.u32 %r4, bar;\n" +
                                body + "  ret;\n}\n",
                            "test.ptx")));
  const uint64_t data = d.allocate(1 << 20);
  d.launch(module, "k", {1}, {64}, 0, runtime::KernelArgs(data, n));
  return d.take_recording("test");
}

/// One thread fetches n bytes, and all wait for them.
const char* const kFetch = R"(
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra BEGUN;
  mbarrier.init.shared.b64 [%r4], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], %r1;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], %r1, [%r4];
BEGUN:
  bar.sync 0;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
  @!%p2 bra WAIT;
  ld.shared.u32 %r5, [%r3];
)";

report::RunResult run(const runtime::Recording& recording,
                      const std::vector<std::string>& overrides = {}) {
  return sim::replay_on_cpu(recording, config::load_machine("h100", overrides),
                            config::load_policy("baseline"), {});
}

uint64_t counter_of(const report::RunResult& result, const std::string& name) {
  for (const auto& [counter, value] : numbers(result))
    if (counter == name) return static_cast<uint64_t>(value);
  ADD_FAILURE() << "no counter " << name;
  return 0;
}
uint64_t cycles(const report::RunResult& result) { return counter_of(result, "cycles"); }

TEST(AsyncCopies, Explore) {
  for (const auto& [name, value] : numbers(run(gemm(128, 128, 1024))))
    if (value != 0) std::printf("  %s %s\n", name.c_str(), std::to_string(value).c_str());
  for (const uint32_t k : {64u, 256u, 1024u, 4096u}) {
    const runtime::Recording r = gemm(128, 128, k);
    std::printf("k %u recorded %llu cycles %llu\n", k, (unsigned long long)r.warp_instructions,
                (unsigned long long)cycles(run(r)));
  }
  for (const uint32_t n : {128u, 1024u, 8192u, 16384u, 65536u}) {
    const report::RunResult r = run(one_block(kFetch, n));
    std::printf("n %u cycles %llu\n", n, (unsigned long long)cycles(r));
  }
}

}  // namespace
}  // namespace nearwarp::testing
