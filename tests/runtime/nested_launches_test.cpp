// Do kernels that launch kernels get them run, recorded, and told what is wrong?
#include <gtest/gtest.h>

#include <array>

#include "host/functional/device/virtual_device.h"
#include "host/functional/ptx/device_calls.h"

namespace nearwarp::runtime::nested_launches_test {
namespace {

// The child appends its parameter to a list. The parent launches it by both pairs of functions,
// into the stream %s; `wrong` asks for a block of 2000 threads.
constexpr const char* kPtx = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
  (.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 p, .param .b64 s);
.extern .func (.param .b64 r) cudaGetParameterBuffer (.param .b64 a, .param .b64 n);
.extern .func (.param .b32 r) cudaLaunchDevice (.param .b64 f, .param .b64 p,
  .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);
.extern .func (.param .b32 r) cudaGetLastError ();

.visible .entry child(.param .u64 list, .param .u32 what)
{
  .reg .b64 %l, %a;
  .reg .b32 %n, %w;
  ld.param.u64 %l, [list];
  ld.param.u32 %w, [what];
  atom.global.add.u32 %n, [%l], 1;
  mad.wide.u32 %a, %n, 4, %l;
  st.global.u32 [%a+4], %w;
  ret;
}

.visible .entry parent(.param .u64 list, .param .u64 stream, .param .u32 threads)
{
  .reg .b64 %l, %s, %p, %f;
  .reg .b32 %t, %e;
  .reg .pred %q;
  ld.param.u64 %l, [list];
  ld.param.u64 %s, [stream];
  ld.param.u32 %t, [threads];
  mov.u64 %f, child;
  {
    .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s;
    .param .b64 r;
    st.param.b64 [f], %f;
    st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
    st.param.b32 [b], %t; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
    st.param.b32 [s], 0;
    call (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);
    ld.param.b64 %p, [r];
  }
  setp.eq.u64 %q, %p, 0;
  @%q bra SECOND;
  st.u64 [%p], %l;
  st.u32 [%p+8], 1;
  {
    .param .b64 p; .param .b64 s; .param .b32 r;
    st.param.b64 [p], %p;
    st.param.b64 [s], %s;
    call (r), __cudaCDP2LaunchDeviceV2, (p, s);
  }
SECOND:
  {
    .param .b64 a; .param .b64 n; .param .b64 r;
    st.param.b64 [a], 8;
    st.param.b64 [n], 12;
    call (r), cudaGetParameterBuffer, (a, n);
    ld.param.b64 %p, [r];
  }
  st.u64 [%p], %l;
  st.u32 [%p+8], 2;
  {
    .param .b64 f; .param .b64 p; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12];
    .param .b32 s; .param .b64 t; .param .b32 r;
    st.param.b64 [f], %f;
    st.param.b64 [p], %p;
    st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
    st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
    st.param.b32 [s], 0;
    st.param.b64 [t], 0;
    call (r), cudaLaunchDevice, (f, p, g, b, s, t);
  }
  {
    .param .b32 r;
    call (r), cudaGetLastError, ();
    ld.param.b32 %e, [r];
  }
  st.global.u32 [%l+64], %e;
  ret;
}
)";

struct Fixture {
  VirtualDevice device;
  uint32_t module = device.load_module(
      std::make_shared<compiler::Program>(compiler::compile_ptx(kPtx, "nested.ptx")));
  DevicePtr list = device.upload(std::vector<uint32_t>(32));

  std::vector<uint32_t> launch(uint64_t stream, uint32_t threads = 1) {
    device.fill(list, 0, 32 * 4);
    device.launch(module, "parent", {1}, {1}, 0, KernelArgs(list, stream, threads));
    return device.download<uint32_t>(list, 32);
  }
};

TEST(NestedLaunches, RunAfterTheirLauncherInItsOrder) {
  Fixture f;
  auto list = f.launch(0);
  EXPECT_EQ(std::vector<uint32_t>(list.begin(), list.begin() + 3),
            (std::vector<uint32_t>{2, 1, 2}));
  EXPECT_EQ(list[16], 0u);
  list = f.launch(3);  // the tail comes last
  EXPECT_EQ(std::vector<uint32_t>(list.begin(), list.begin() + 3),
            (std::vector<uint32_t>{2, 2, 1}));
  const Recording r = f.device.take_recording("nested");
  ASSERT_EQ(r.launches.size(), 6u);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(r.kernels[r.launches[i].kernel]->name, i % 3 == 0 ? "parent" : "child") << i;
}

TEST(NestedLaunches, ImpossibleBlocksAndUnknownStreamsAreErrorsOfTheThread) {
  Fixture f;
  auto list = f.launch(0, 2000);
  EXPECT_EQ(list[0], 1u);
  EXPECT_EQ(list[1], 2u);
  EXPECT_EQ(list[16], 9u);  // cudaErrorInvalidConfiguration
  list = f.launch(77);
  EXPECT_EQ(list[0], 1u);
  EXPECT_EQ(list[16], 400u);  // cudaErrorInvalidResourceHandle
}

TEST(NestedLaunches, NamesOfCalls) {
  EXPECT_EQ(ptx::device_call("__cudaCDP2LaunchDeviceV2_ptsz"), ptx::DeviceCall::kLaunchDeviceV2);
  EXPECT_EQ(ptx::device_call("cudaMalloc"), ptx::DeviceCall::kMalloc);
  EXPECT_EQ(ptx::device_call("cudaGraphLaunch"), ptx::DeviceCall::kNone);
  EXPECT_EQ(ptx::device_call("LaunchDevice"), ptx::DeviceCall::kNone);
}

TEST(NestedLaunches, WaitingForThemIsRefused) {
  VirtualDevice device;
  const uint32_t module = device.load_module(std::make_shared<compiler::Program>(
      compiler::compile_ptx(".version 8.0\n.target sm_80\n.address_size 64\n"
                            ".extern .func (.param .b32 r) cudaDeviceSynchronize ();\n"
                            ".visible .entry k() { { .param .b32 r;\n"
                            "call (r), cudaDeviceSynchronize, (); } ret; }\n",
                            "sync.ptx")));
  try {
    device.launch(module, "k", {1}, {1}, 0, KernelArgs());
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cudaStreamTailLaunch"), std::string::npos)
        << error.what();
  }
}

/// A kernel that fills a box by cudaMemset3DAsync(), whose sizes are its parameters.
struct Filling {
  VirtualDevice device;
  uint32_t module =
      device.load_module(std::make_shared<compiler::Program>(compiler::compile_ptx(R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) cudaMemset3DAsync (.param .align 8 .b8 p[32], .param .b32 v,
  .param .align 8 .b8 e[24], .param .b64 s);
.visible .entry k(.param .u64 to, .param .u64 pitch, .param .u64 rows, .param .u64 width,
                  .param .u64 height, .param .u64 depth, .param .u64 status)
{
  .reg .b64 %a<7>;
  .reg .b32 %e;
  ld.param.u64 %a0, [to]; ld.param.u64 %a1, [pitch]; ld.param.u64 %a2, [rows];
  ld.param.u64 %a3, [width]; ld.param.u64 %a4, [height]; ld.param.u64 %a5, [depth];
  ld.param.u64 %a6, [status];
  {
    .param .align 8 .b8 p[32]; .param .b32 v; .param .align 8 .b8 e[24]; .param .b64 s;
    .param .b32 r;
    st.param.b64 [p], %a0; st.param.b64 [p+8], %a1; st.param.b64 [p+16], %a1;
    st.param.b64 [p+24], %a2; st.param.b32 [v], 7;
    st.param.b64 [e], %a3; st.param.b64 [e+8], %a4; st.param.b64 [e+16], %a5;
    st.param.b64 [s], 0;
    call (r), cudaMemset3DAsync, (p, v, e, s);
    ld.param.b32 %e, [r];
  }
  st.global.u32 [%a6], %e;
  ret;
}
)",
                                                                                   "fill.ptx")));
  DevicePtr memory = device.upload(std::vector<uint8_t>(64)),
            status = device.upload(std::vector<uint32_t>(1));

  void fill(uint64_t pitch, uint64_t rows, uint64_t width, uint64_t height, uint64_t depth) {
    device.launch(module, "k", {1}, {1}, 0,
                  KernelArgs(memory, pitch, rows, width, height, depth, status));
  }
};

constexpr uint64_t kEndless = uint64_t{1} << 40;

TEST(NestedLaunches, AFillOfSlicesInOnePlaceEnds) {
  Filling f;
  f.fill(8, 0, 2, 3, kEndless);
  const auto bytes = f.device.download<uint8_t>(f.memory, 64);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(bytes[i], i < 24 && i % 8 < 2 ? 7 : 0) << i;
}

TEST(NestedLaunches, AFillOfSlicesThatOverlapHasAllOfTheirRows) {
  Filling f;
  f.fill(8, 2, 1, 3, 3);  // rows 0 to 2, 2 to 4, 4 to 6
  const auto bytes = f.device.download<uint8_t>(f.memory, 64);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(bytes[i], i < 56 && i % 8 == 0 ? 7 : 0) << i;
}

TEST(NestedLaunches, AFillBeyondMemoryIsSeenBeforeItBegins) {
  for (const auto& [rows, height, depth] : {std::array{uint64_t{1}, kEndless, uint64_t{1}},
                                            {uint64_t{4}, uint64_t{3}, kEndless},
                                            {kEndless, uint64_t{3}, kEndless / 2}}) {
    Filling f;
    EXPECT_THROW(f.fill(8, rows, 1, height, depth), Error) << rows;
  }
  Filling f;
  f.fill(kEndless, kEndless, 1, 1, 2);  // bytes of a slice that have no number
  EXPECT_EQ(f.device.download<uint32_t>(f.status, 1)[0], 1u);  // cudaErrorInvalidValue
}

}  // namespace
}  // namespace nearwarp::runtime::nested_launches_test
