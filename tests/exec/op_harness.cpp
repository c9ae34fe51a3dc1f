// The harness of the operation tests.
#include "tests/exec/op_harness.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <random>

#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::exec_test {

namespace {

constexpr int kThreads = 1500;  // the last warp is partial
constexpr uint64_t kMarker = 0x5a5a5a5a;

const char* const kHead = R"(
.version 9.0
.target sm_75
.address_size 64
)";

/// The three ways a body is executed.
enum class Mode { kPlain, kGuarded, kDivergent };

std::string statements(const std::string& body, Mode mode) {
  if (mode != Mode::kGuarded) return body;
  std::string out;
  size_t at = 0;
  while (at < body.size()) {
    size_t end = body.find(';', at);
    if (end == std::string::npos) break;
    size_t first = body.find_first_not_of(" \n\t", at);
    out += "@%p7 " + body.substr(first, end + 1 - first) + "\n";
    at = end + 1;
  }
  return out;
}

std::string kernel_text(const OpCase& c, Mode mode, const std::string& name) {
  std::string s = ".visible .entry " + name + R"((.param .u64 pa, .param .u64 pb, .param .u64 pc,
  .param .u64 po, .param .u32 pn)
{
.reg .pred %p<9>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %x<32>; .reg .f32 %f<16>;
.reg .f64 %d<16>;
mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mov.u32 %r22, %tid.x;
mad.lo.s32 %r0, %r20, %r21, %r22;
ld.param.u32 %r23, [pn];
setp.ge.u32 %p0, %r0, %r23;
@%p0 bra END;
ld.param.u64 %x20, [pa]; ld.param.u64 %x21, [pb]; ld.param.u64 %x22, [pc]; ld.param.u64 %x23, [po];
mul.wide.u32 %x24, %r0, 8;
add.s64 %x20, %x20, %x24; add.s64 %x21, %x21, %x24; add.s64 %x22, %x22, %x24;
add.s64 %x23, %x23, %x24;
ld.global.u64 %x1, [%x20]; ld.global.u64 %x2, [%x21]; ld.global.u64 %x3, [%x22];
cvt.u32.u64 %r1, %x1; cvt.u32.u64 %r2, %x2; cvt.u32.u64 %r3, %x3;
cvt.u16.u64 %h1, %x1; cvt.u16.u64 %h2, %x2; cvt.u16.u64 %h3, %x3;
mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3;
mov.b64 %d1, %x1; mov.b64 %d2, %x2; mov.b64 %d3, %x3;
mov.u64 %x10, 0x5a5a5a5a; mov.u32 %r10, 0x5a5a5a5a; mov.u16 %h10, 0x5a5a; mov.b32 %f10, %r10;
mov.b64 %d10, %x10;
and.b32 %r24, %r0, 1;
setp.eq.u32 %p7, %r24, 1;
setp.eq.u32 %p8, %r24, 0;
setp.ne.u32 %p1, %r0, %r0;
)";
  if (mode == Mode::kDivergent) s += "@%p8 bra SKIP;\n";
  s += statements(c.body, mode) + "\n";
  if (mode == Mode::kDivergent) s += "SKIP:\n";
  if (c.result == "r10") s += "cvt.u64.u32 %x10, %r10;\n";
  if (c.result == "h10") s += "cvt.u64.u16 %x10, %h10;\n";
  if (c.result == "f10") s += "mov.b32 %r10, %f10; cvt.u64.u32 %x10, %r10;\n";
  if (c.result == "d10") s += "mov.b64 %x10, %d10;\n";
  if (c.result == "p1") s += "selp.u64 %x10, 1, 0, %p1;\n";
  return s + "st.global.u64 [%x23], %x10;\nEND:\nret;\n}\n";
}

uint64_t draw(char kind, std::mt19937_64& random) {
  static const uint64_t kIntegers[] = {0,
                                       1,
                                       2,
                                       31,
                                       32,
                                       33,
                                       63,
                                       64,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x7fff,
                                       0x8000,
                                       0xffff,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       0x100000000,
                                       0x7fffffffffffffff,
                                       0x8000000000000000,
                                       0xffffffffffffffff,
                                       0xffffffff80000000};
  static const float kFloats[] = {0.0f,
                                  -0.0f,
                                  1.0f,
                                  -1.0f,
                                  0.5f,
                                  1.5f,
                                  2.5f,
                                  -2.5f,
                                  1e-40f,
                                  -1e-40f,
                                  1e38f,
                                  -3e38f,
                                  INFINITY,
                                  -INFINITY,
                                  NAN,
                                  0x1p-126f,
                                  0x1.fffffep-127f,
                                  2147483648.0f,
                                  4294967296.0f,
                                  3e9f,
                                  -2147483648.0f,
                                  0x1p63f,
                                  0x1p64f,
                                  127.5f,
                                  255.5f,
                                  65504.0f,
                                  65520.0f};
  static const double kDoubles[] = {0.0,
                                    -0.0,
                                    1.0,
                                    -1.0,
                                    0.5,
                                    1.5,
                                    2.5,
                                    1e-310,
                                    -1e-310,
                                    1e308,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    2147483647.5,
                                    -2147483648.5,
                                    1e19,
                                    0x1p63,
                                    -0x1p63,
                                    0x1p64,
                                    1e-45,
                                    3.4028235677973366e38,
                                    1.0000000596046448,
                                    1e-40};
  const uint64_t r = random();
  switch (kind) {
    case 's':
      return random() % 80;
    case 'm':
      return random() & 0xffff;
    case 'f': {
      if (r % 5 == 0) return std::bit_cast<uint32_t>(kFloats[random() % std::size(kFloats)]);
      if (r % 5 == 1) return random() & 0xffffffff;
      return std::bit_cast<uint32_t>(
          std::ldexp(static_cast<float>(static_cast<int64_t>(random()) >> 32) * 0x1p-31f,
                     static_cast<int>(random() % 40) - 20));
    }
    case 'd':
      if (r % 5 == 0) return std::bit_cast<uint64_t>(kDoubles[random() % std::size(kDoubles)]);
      if (r % 5 == 1) return random();
      return std::bit_cast<uint64_t>(
          std::ldexp(static_cast<double>(static_cast<int64_t>(random())) * 0x1p-63,
                     static_cast<int>(random() % 60) - 30));
    default:
      if (r % 3 == 0) return kIntegers[random() % std::size(kIntegers)];
      if (r % 3 == 1) return random() >> (random() % 64);
      return random();
  }
}

bool is_nan(const std::string& result, uint64_t v) {
  if (result == "f10") return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(v)));
  return result == "d10" && std::isnan(std::bit_cast<double>(v));
}
double value(const std::string& result, uint64_t v) {
  return result == "f10" ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(v)))
                         : std::bit_cast<double>(v);
}

bool agree(const OpCase& c, uint64_t got, uint64_t want) {
  if (got == want) return true;
  if (is_nan(c.result, got) && is_nan(c.result, want)) return true;
  if (c.tolerance == 0 && c.absolute == 0) return false;
  const double g = value(c.result, got), w = value(c.result, want);
  return std::fabs(g - w) <= std::fabs(w) * c.tolerance + c.absolute;
}

uint64_t mask_of(const std::string& result) {
  switch (result[0]) {
    case 'h':
      return 0xffff;
    case 'r':
    case 'f':
      return 0xffffffff;
    case 'p':
      return 1;
    default:
      return ~uint64_t{0};
  }
}

}  // namespace

void check_cases(const std::vector<OpCase>& cases) {
  static const char* const kModes[] = {"plain", "guarded", "divergent"};
  std::string text = kHead;
  for (size_t i = 0; i < cases.size(); ++i)
    for (int m = 0; m < 3; ++m)
      text += kernel_text(cases[i], static_cast<Mode>(m), "k" + std::to_string(i) + kModes[m]);
  runtime::VirtualDevice device;
  const uint32_t module = device.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text, "ops.ptx")));
  const runtime::DevicePtr po = device.allocate(kThreads * 8);
  for (size_t i = 0; i < cases.size(); ++i) {
    const OpCase& c = cases[i];
    std::mt19937_64 random(i + 1);
    std::vector<uint64_t> operand[3];
    runtime::DevicePtr pointer[3];
    for (int k = 0; k < 3; ++k) {
      for (int t = 0; t < kThreads; ++t)
        operand[k].push_back(draw(
            static_cast<size_t>(k) < c.draw.size() ? c.draw[static_cast<size_t>(k)] : 'i', random));
      pointer[k] = device.upload(operand[k]);
    }
    for (int m = 0; m < 3; ++m) {
      const std::string kernel = "k" + std::to_string(i) + kModes[m];
      try {
        device.launch(module, kernel, {(kThreads + 127) / 128}, {128}, 0,
                      runtime::KernelArgs(pointer[0], pointer[1], pointer[2], po, kThreads));
      } catch (const Error& e) {
        ADD_FAILURE() << c.name << ": " << e.what();
        break;
      }
      const auto out = device.download<uint64_t>(po, kThreads);
      int bad = 0;
      for (int t = 0; t < kThreads && bad < 3; ++t) {
        const size_t n = static_cast<size_t>(t);
        const bool runs = m == 0 || (t & 1) == 1;
        const uint64_t idle = c.result == "p1" ? 0 : (kMarker & mask_of(c.result));
        const uint64_t want =
            runs ? c.reference(operand[0][n], operand[1][n], operand[2][n]) & mask_of(c.result)
                 : idle;
        if (agree(c, out[n], want)) continue;
        ++bad;
        ADD_FAILURE() << c.name << " (" << kModes[m] << ", thread " << t << std::hex << "): of 0x"
                      << operand[0][n] << ", 0x" << operand[1][n] << ", 0x" << operand[2][n]
                      << " is 0x" << out[n] << ", not 0x" << want;
      }
    }
    for (const runtime::DevicePtr p : pointer) device.free(p);
  }
  runtime::validate(device.take_recording("ops"));
}

}  // namespace nearwarp::exec_test
