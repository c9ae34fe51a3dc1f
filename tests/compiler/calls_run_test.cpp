// Do inlined calls compute what the called functions would? They run on the virtual device.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "host/functional/compiler/call_graph.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp {
namespace {

using runtime::KernelArgs;
using runtime::VirtualDevice;

struct Item {
  double weight;
  int32_t count;
  int8_t tag[4];
};

// The functions of tests/ptx/data/calls.cu.
Item grow(Item item, int by) {
  item.weight += by;
  item.count *= 2;
  item.tag[by & 3] = 'x';
  return item;
}
int16_t clip(int8_t a, int16_t b) { return b > a ? b : a; }

std::shared_ptr<const compiler::Program> program_of(const std::string& text) {
  return std::make_shared<compiler::Program>(
      compiler::compile_ptx(".version 9.0\n.target sm_75\n.address_size 64\n" + text, "test.ptx"));
}

TEST(CallsRun, StructuresByValue) {
  VirtualDevice device;
  const uint32_t module = device.load_module(std::make_shared<compiler::Program>(
      compiler::compile_ptx_file(std::string(NW_SOURCE_DIR) + "/tests/ptx/data/calls.ptx")));
  const int n = 5;
  std::vector<Item> items(32);
  std::vector<float> values(64);
  for (int i = 0; i < 32; ++i) {
    items[i] = {1.5 * i, 100 - i, {1, static_cast<int8_t>(8 * i - 128), 3, 4}};
    values[i] = static_cast<float>(i) + 0.5f;
  }
  const auto list = device.upload(items);
  const auto out = device.upload(values);
  device.launch(module, "items", {1, 1, 1}, {32, 1, 1}, 0, KernelArgs(list, out, n));
  const std::vector<Item> result = device.download<Item>(list, 32);
  const std::vector<float> floats = device.download<float>(out, 64);
  const int table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  const float scale[4] = {1.0f, 0.5f, 0.25f, 0.125f};
  for (int i = 0; i < 32; ++i) {
    Item want = grow(items[i], n);
    want.count += clip(want.tag[1], static_cast<int16_t>(n)) + table[1][1] + table[n % 3][0];
    want = grow(want, i);
    EXPECT_EQ(result[i].weight, want.weight) << i;
    EXPECT_EQ(result[i].count, want.count) << i;
    EXPECT_EQ(std::memcmp(result[i].tag, want.tag, 4), 0) << i;
    EXPECT_EQ(floats[i], (i > 2 ? values[i] : 1.0f) * scale[i & 3]) << i;
  }
}

TEST(CallsRun, LocalArraysAndAtomics) {
  VirtualDevice device;
  const uint32_t module = device.load_module(std::make_shared<compiler::Program>(
      compiler::compile_ptx_file(std::string(NW_SOURCE_DIR) + "/tests/ptx/data/calls.ptx")));
  const int n = 50;
  std::vector<int> in(n), want(16, 0);
  for (int i = 0; i < n; ++i) {
    in[i] = i * 7;
    want[in[i] & 15] += 4 * i;  // four threads do the same
  }
  const auto out = device.upload(std::vector<int>(16, 0));
  const auto keys = device.upload(in);
  device.launch(module, "scatter", {2, 1, 1}, {2, 1, 1}, 0, KernelArgs(out, keys, n));
  EXPECT_EQ(device.download<int>(out, 16), want);
}

// Parameters that cannot stay in registers, a guarded call in a divergent warp, a call in a loop.
TEST(CallsRun, DepotsGuardsAndLoops) {
  VirtualDevice device;
  const uint32_t module = device.load_module(program_of(R"(
.func (.param .b32 r) pick(.param .align 8 .b8 s[16], .param .b32 i)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u32 %r1, [i];
  and.b32 %r1, %r1, 3;
  setp.eq.u32 %p1, %r1, 3;
  @%p1 bra LAST;
  mov.b64 %rd1, s;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.param.u32 %r2, [%rd1];
  st.param.b32 [r], %r2;
  ret;
LAST:
  ld.param.u32 %r2, [s+12];
  add.u32 %r2, %r2, 1000;
  st.param.b32 [r], %r2;
  ret;
}
.entry run(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
AGAIN:
  and.b32 %r4, %r3, 1;
  setp.eq.u32 %p1, %r4, 0;
  mov.u32 %r5, 7;
  { .param .align 8 .b8 s[16]; .param .b32 i; .param .b32 r;
    mov.b64 %rd3, {%r1, %r3};
    st.param.b64 [s], %rd3;
    st.param.v2.b32 [s+8], {%r3, %r1};
    st.param.b32 [i], %r3;
    st.param.b32 [r], 5;
    @%p1 call (r), pick, (s, i);
    @%p1 ld.param.b32 %r5, [r]; }
  { .param .align 8 .b8 s[16]; .param .b32 i; .param .b32 r;
    st.param.b64 [s], 17;
    st.param.b64 [s+8], 0x900000000;
    st.param.b32 [i], %r1;
    call (r), pick, (s, i);
    ld.param.b32 %r6, [r]; }
  add.u32 %r2, %r2, %r5;
  add.u32 %r2, %r2, %r6;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, %r1;
  @%p2 bra AGAIN;
  st.global.u32 [%rd1], %r2;
  ret;
}
)"));
  const auto out = device.upload(std::vector<uint32_t>(64, 0));
  device.launch(module, "run", {1, 1, 1}, {64, 1, 1}, 0, KernelArgs(out));
  const auto pick = [](const uint32_t* s, uint32_t i) {
    return (i & 3) == 3 ? s[3] + 1000 : s[i & 3];
  };
  const std::vector<uint32_t> result = device.download<uint32_t>(out, 64);
  for (uint32_t t = 0; t < 64; ++t) {
    uint32_t want = 0, i = 0;
    do {
      const uint32_t first[4] = {t, i, i, t}, second[4] = {17, 0, 0, 9};
      want += (i & 1) == 0 ? pick(first, i) : 7;
      want += pick(second, t);
    } while (++i < t);
    EXPECT_EQ(result[t], want) << t;
  }
}

TEST(CallsRun, SmallTypesKeepTheirSigns) {
  VirtualDevice device;
  const uint32_t module = device.load_module(program_of(R"(
.func (.param .b8 r) half(.param .b8 a, .param .b16 b, .param .b64 c)
{
  .reg .b16 %rs<4>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.s8 %r1, [a];
  ld.param.s16 %r2, [b];
  ld.param.u64 %rd1, [c];
  cvt.u32.u64 %r3, %rd1;
  add.s32 %r1, %r1, %r2;
  add.s32 %r1, %r1, %r3;
  shr.s32 %r1, %r1, 1;
  st.param.b8 [r], %r1;
  ret;
}
.entry run(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %rs<3>;
  .param .b8 a; .param .b16 b; .param .b64 c; .param .b8 r;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd1, %rd1, %rd2;
  mul.lo.u32 %r2, %r1, 77;
  cvt.u16.u32 %rs1, %r2;
  st.param.b8 [a], %rs1;
  mul.lo.u32 %r3, %r1, -3001;
  st.param.b16 [b], %r3;
  st.param.b64 [c], -5;
  call (r), half, (a, b, c);
  ld.param.s8 %r4, [r];
  ld.param.u8 %rd4, [r];
  cvt.u32.u64 %r5, %rd4;
  st.global.v2.u32 [%rd1], {%r4, %r5};
  ret;
}
)"));
  const auto out = device.upload(std::vector<int32_t>(128, 0));
  device.launch(module, "run", {1, 1, 1}, {64, 1, 1}, 0, KernelArgs(out));
  const std::vector<int32_t> result = device.download<int32_t>(out, 128);
  for (int t = 0; t < 64; ++t) {
    const int a = static_cast<int8_t>(t * 77), b = static_cast<int16_t>(t * -3001);
    const int sum = (a + b - 5) >> 1;
    EXPECT_EQ(result[2 * t], static_cast<int8_t>(sum)) << t;
    EXPECT_EQ(result[2 * t + 1], static_cast<uint8_t>(sum)) << t;
  }
}

/// Code for 10.0 and later aligns structures more than their sizes: here 12 and 7 bytes to 16.
TEST(CallsRun, StructuresOfOddSizesGoThroughRecursion) {
  VirtualDevice device;
  const uint32_t module = device.load_module(program_of(R"(
.func (.param .align 16 .b8 r[12]) fold(.param .align 16 .b8 v[12], .param .align 16 .b8 s[7], .param .b32 n)
{
  .reg .b32 %r<9>; .reg .b16 %rs<3>; .reg .pred %p;
  ld.param.v2.u32 {%r1, %r2}, [v];
  ld.param.u32 %r3, [v+8];
  ld.param.u8 %rs1, [s+6];
  ld.param.u16 %rs2, [s+4];
  ld.param.u32 %r4, [n];
  cvt.u32.u16 %r5, %rs1;
  add.s32 %r3, %r3, %r5;
  cvt.u32.u16 %r5, %rs2;
  add.s32 %r2, %r2, %r5;
  setp.eq.s32 %p, %r4, 0;
  @%p bra done;
  add.s32 %r1, %r1, %r4;
  sub.s32 %r4, %r4, 1;
  {
    .param .align 16 .b8 a[12]; .param .align 16 .b8 b[7]; .param .b32 c; .param .align 16 .b8 d[12];
    st.param.v2.b32 [a], {%r1, %r2};
    st.param.b32 [a+8], %r3;
    st.param.b16 [b+4], %rs2;
    st.param.b8 [b+6], %rs1;
    st.param.b32 [c], %r4;
    call (d), fold, (a, b, c);
    ld.param.v2.b32 {%r1, %r2}, [d];
    ld.param.b32 %r3, [d+8];
  }
done:
  st.param.v2.b32 [r], {%r1, %r2};
  st.param.b32 [r+8], %r3;
  ret;
}
.entry run(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<4>;
  .param .align 16 .b8 a[12]; .param .align 16 .b8 b[7]; .param .b32 c; .param .align 16 .b8 d[12];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 12;
  add.s64 %rd1, %rd1, %rd2;
  st.param.v2.b32 [a], {10, 20};
  st.param.b32 [a+8], 30;
  st.param.b16 [b+4], 300;
  st.param.b8 [b+6], 7;
  and.b32 %r2, %r1, 7;
  st.param.b32 [c], %r2;
  call (d), fold, (a, b, c);
  ld.param.v2.b32 {%r3, %r4}, [d];
  ld.param.b32 %r5, [d+8];
  st.global.u32 [%rd1], %r3;
  st.global.u32 [%rd1+4], %r4;
  st.global.u32 [%rd1+8], %r5;
  ret;
}
)"));
  const auto out = device.upload(std::vector<int32_t>(96, 0));
  device.launch(module, "run", {1, 1, 1}, {32, 1, 1}, 0, KernelArgs(out));
  const std::vector<int32_t> result = device.download<int32_t>(out, 96);
  for (int t = 0; t < 32; ++t) {
    const int n = t & 7;
    EXPECT_EQ(result[3 * t], 10 + n * (n + 1) / 2) << t;
    EXPECT_EQ(result[3 * t + 1], 20 + 300 * (n + 1)) << t;
    EXPECT_EQ(result[3 * t + 2], 30 + 7 * (n + 1)) << t;
  }
}

// step() of an element; level n calls level n-1 eight times: 8^5 copies of step() when inlined.
uint32_t step(uint32_t x) { return (x & 1) != 0 ? x * 3 + 1 : x / 2 + 12345; }
uint32_t steps(uint32_t x, int level) {
  if (level == 0) return step(x);
  for (int i = 0; i < 8; ++i) x = steps(x, level - 1) + static_cast<uint32_t>(i);
  return x;
}

std::string tower_of_calls(int levels) {
  std::string text = R"(
.func (.param .b32 r) f0(.param .b32 x)
{
  .reg .b32 %r<5>; .reg .pred %p<2>;
  ld.param.b32 %r1, [x];
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra EVEN;
  mad.lo.u32 %r3, %r1, 3, 1;
  st.param.b32 [r], %r3;
  ret;
EVEN:
  shr.u32 %r3, %r1, 1;
  add.u32 %r3, %r3, 12345;
  st.param.b32 [r], %r3;
  ret;
}
)";
  for (int level = 1; level <= levels; ++level) {
    text += ".func (.param .b32 r) f" + std::to_string(level) +
            "(.param .b32 x)\n{ .reg .b32 %r<2>;\n ld.param.b32 %r1, [x];\n";
    for (int i = 0; i < 8; ++i)
      text += " { .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call (out), f" +
              std::to_string(level - 1) +
              ", (in); ld.param.b32 %r1, [out]; }\n add.u32 %r1, %r1, " + std::to_string(i) + ";\n";
    text += " st.param.b32 [r], %r1;\n ret;\n}\n";
  }
  const std::string top = "f" + std::to_string(levels);
  return text + R"(
.entry k(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  .param .b32 in; .param .b32 result;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 11;
  @%p1 bra FEW;
  st.param.b32 [in], %r1;
  call (result), )" +
         top + R"(, (in);
  ld.param.b32 %r2, [result];
  bra TOGETHER;
FEW:
  add.u32 %r3, %r1, 1000;
  st.param.b32 [in], %r3;
  call (result), )" +
         top + R"(, (in);
  ld.param.b32 %r2, [result];
TOGETHER:
  activemask.b32 %r4;
  mul.wide.u32 %rd2, %r1, 8;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  st.global.u32 [%rd3+4], %r4;
  ret;
}
)";
}

TEST(CallsRun, FunctionsWithTooManyCopiesAreCalled) {
  for (const int levels : {2, 5}) {  // inlined; called
    VirtualDevice device;
    const auto program = program_of(tower_of_calls(levels));
    const compiler::Kernel& k = *program->find("k");
    ASSERT_EQ(k.unsupported, "");
    EXPECT_EQ(k.local_bytes == 0, levels == 2);  // called functions have a stack
    EXPECT_LE(k.instructions.size(), 2 * compiler::kMaxInlined);
    const auto out = device.upload(std::vector<uint32_t>(64, 0));
    device.launch(device.load_module(program), "k", {1, 1, 1}, {32, 1, 1}, 0, KernelArgs(out));
    const auto got = device.download<uint32_t>(out, 64);
    for (uint32_t i = 0; i < 32; ++i) {
      EXPECT_EQ(got[2 * i], steps(i < 11 ? i + 1000 : i, levels)) << levels << " " << i;
      EXPECT_EQ(got[2 * i + 1], 0xffffffffu) << levels << " " << i;  // all lanes met again
    }
  }
}

}  // namespace
}  // namespace nearwarp
