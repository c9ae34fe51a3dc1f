// Do functions that are not inlined compute what C++ computes: recursion, pointers, virtual ones?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"

namespace nearwarp::runtime {
namespace {

int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

struct Wide {
  double a;
  int b;
  short c[3];
};

Wide fold(Wide w, int depth, int* total) {
  const int local[4] = {depth, w.b, w.c[0], 7};
  if (depth > 0) {
    Wide half = w;
    half.b += local[depth & 3];
    const Wide r = fold(half, depth - 1, total);
    w.a += r.a * 0.5 + local[(depth + 1) & 3];
    w.b = r.b;
    w.c[depth % 3] =
        static_cast<short>(w.c[depth % 3] + static_cast<short>(r.c[0] + local[depth & 3]));
  }
  *total += w.b;
  return w;
}

TEST(Calls, Recursion) {
  BreadthDevice d("calls");
  constexpr int n = 100;
  const DevicePtr fib = d.allocate(n * 4), parity = d.allocate(n * 4),
                  wide = d.allocate(n * sizeof(Wide)), totals = d.allocate(n * 4);
  d.launch(d.module, "_Z9recursionPiS_P4WideS_i", {2}, {64}, 0,
           KernelArgs(fib, parity, wide, totals, n));
  const auto f = d.download<int>(fib, n), p = d.download<int>(parity, n),
             t = d.download<int>(totals, n);
  const auto w = d.download<Wide>(wide, n);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(f[i], fibonacci(i % 11)) << i;
    EXPECT_EQ(p[i], i % 2 == 0) << i;
    int total = 0;
    const Wide want = fold({i * 0.25, i, {1, 2, 3}}, i % 7, &total);
    EXPECT_EQ(w[i].a, want.a) << i;
    EXPECT_EQ(w[i].b, want.b) << i;
    for (int k = 0; k < 3; ++k) EXPECT_EQ(w[i].c[k], want.c[k]) << i << " " << k;
    EXPECT_EQ(t[i], total) << i;
  }
  validate(d.take_recording(""));
}

TEST(Calls, TablesOfFunctions) {
  BreadthDevice d("calls");
  constexpr int n = 90;
  std::vector<int> which(n);
  for (int i = 0; i < n; ++i) which[i] = i * 7 % 13;
  const DevicePtr in = d.upload(which), out = d.allocate(n * 4);
  d.launch(d.module, "pointers", {1}, {96}, 0, KernelArgs(out, in, n));
  const auto got = d.download<int>(out, n);
  for (int i = 0; i < n; ++i) {
    const int a = which[i] % 3 == 0 ? i + 5 : (which[i] % 3 == 1 ? i - 5 : i * 5);
    const int b = which[i] % 2 == 0 ? i - 3 : i * 3;
    const int c = which[i] % 2 ? i + 2 : i * 2;
    EXPECT_EQ(got[i], a + 1000 * b + 1000000 * c) << i;
  }
  validate(d.take_recording(""));
}

TEST(Calls, AnAddressThatIsNoFunctionTraps) {
  BreadthDevice d("calls");
  const DevicePtr out = d.allocate(4);
  try {
    d.launch(d.module, "bad_pointer", {1}, {1}, 0, KernelArgs(out, uint64_t{0x1234}));
    FAIL() << "no trap";
  } catch (const DeviceFault& fault) {
    EXPECT_EQ(fault.kind(), DeviceFault::Kind::kTrap);
  }
}

TEST(Calls, VirtualFunctionsThatCallThemselves) {
  BreadthDevice d("calls");
  const DevicePtr out = d.allocate(64 * 4);
  const int c = 5;
  d.launch(d.module, "virtual_functions", {1}, {64}, 0, KernelArgs(out, c));
  const auto got = d.download<int>(out, 64);
  for (int x = 0; x < 64; ++x) {
    const int sum = x + c;
    EXPECT_EQ(got[x], sum * x + (x % 2 ? sum : x * sum)) << x;
  }
  validate(d.take_recording(""));
}

TEST(Calls, ModulesAreLinked) {
  const char* a = R"(.version 8.0
.target sm_75
.address_size 64
.extern .global .u32 counter;
.global .u32 hidden = 5;
.extern .func (.param .b32 r) twice (.param .b32 x);
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  .param .b32 p; .param .b32 q;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [counter];
  ld.global.u32 %r2, [hidden];
  add.u32 %r1, %r1, %r2;
  st.param.b32 [p], %r1;
  call (q), twice, (p);
  ld.param.b32 %r3, [q];
  st.global.u32 [%rd1], %r3;
  ret;
}
)";
  const char* b = R"(.version 8.0
.target sm_75
.address_size 64
.visible .global .u32 counter = 100;
.global .u32 hidden = 7;
.visible .func (.param .b32 r) twice (.param .b32 x) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [x];
  ld.global.u32 %r2, [hidden];
  mad.lo.u32 %r3, %r1, 2, %r2;
  st.param.b32 [r], %r3;
  ret;
}
)";
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::link_ptx({{a, "a.ptx"}, {b, "b.ptx"}})));
  const DevicePtr out = d.allocate(4);
  d.launch(module, "k", {1}, {1}, 0, KernelArgs(out));
  EXPECT_EQ(d.download<uint32_t>(out, 1)[0], 2u * 105 + 7);
  EXPECT_THROW(compiler::link_ptx({{b, "b.ptx"}, {b, "c.ptx"}}), Error);
}

}  // namespace
}  // namespace nearwarp::runtime
