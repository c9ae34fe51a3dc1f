// Programs for GPUs that multiply blocks with scales: weights of 4 bits, activations of 8 (OCP Microscaling formats).
#include <cstdint>

#include "tests/suite/program.h"

using namespace suite;

namespace {

constexpr int kRows = 64, kColumns = 32, kInner = 256;  // of activations; of weights; what is summed over
constexpr int kBlock = 32;                              // numbers that share a scale
constexpr int kTile = 128;                              // of kInner: four blocks, whose scales are a word

/// Blocks of 32 numbers, a thread each: a power of two such that the largest fits, and codes. kFour: e2m1, two in a byte;
/// else e4m3.
template <bool kFour>
__global__ void quantise(const float* from, int blocks, uint8_t* codes, uint8_t* scales) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= blocks) return;
  float most = 0;
  for (int i = 0; i < kBlock; ++i) most = fmaxf(most, fabsf(from[at * kBlock + i]));
  unsigned short scale;  // the largest magnitude over the format's largest number, rounded up
  asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(scale) : "f"(0.0f), "f"(most / (kFour ? 6.0f : 448.0f)));
  const float inverse = exp2f(127.0f - float(scale & 255));
  scales[at] = static_cast<uint8_t>(scale);
  for (int i = 0; i < kBlock; i += 2) {
    const float low = from[at * kBlock + i] * inverse, high = from[at * kBlock + i + 1] * inverse;
    unsigned short pair;
    if (kFour) {
      asm("{.reg .b8 c;\ncvt.rn.satfinite.e2m1x2.f32 c, %1, %2;\nmov.b16 %0, {c, 0};\n}" : "=h"(pair) : "f"(high), "f"(low));
      codes[(at * kBlock + i) / 2] = static_cast<uint8_t>(pair);
    } else {
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
      reinterpret_cast<unsigned short*>(codes)[(at * kBlock + i) / 2] = pair;
    }
  }
}

__device__ unsigned shared_at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

template <int kByte>
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], unsigned scale_a, unsigned scale_b) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {%11, %12}, %13, {%11, %12};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(scale_a), "h"((unsigned short)kByte),
        "h"((unsigned short)0), "r"(scale_b));
}

/// One block of four warps makes the whole result: each warp has 16 rows.
__global__ void __launch_bounds__(128) scaled_product(const uint8_t* a, const uint8_t* scales_a, const uint8_t* b,
                                                      const uint8_t* scales_b, float* to) {
  __shared__ __align__(128) uint8_t rows[kRows][kTile], columns[kColumns][kTile];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float d[kColumns / 8][4] = {};
  for (int k = 0; k < kInner; k += kTile) {
    for (int i = threadIdx.x; i < kRows * kTile / 16; i += 128)
      *reinterpret_cast<uint4*>(&rows[i / 8][i % 8 * 16]) =
          *reinterpret_cast<const uint4*>(a + (i / 8) * kInner + k + i % 8 * 16);
    for (int i = threadIdx.x; i < kColumns * kTile / 16; i += 128)  // 16 of 4 bits, then 64 bits of padding
      *reinterpret_cast<uint2*>(&columns[i / 8][i % 8 * 16]) =
          *reinterpret_cast<const uint2*>(b + ((i / 8) * kInner + k + i % 8 * 16) / 2);
    __syncthreads();
    // Scales of four blocks: of row lane / 4, or of 8 further on; of column lane / 4.
    const unsigned scale_a = *reinterpret_cast<const unsigned*>(
        scales_a + ((warp * 16 + lane / 4 + lane % 2 * 8) * kInner + k) / kBlock);
#pragma unroll
    for (int step = 0; step < kTile / kBlock; ++step) {
      unsigned f[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                   : "r"(shared_at(&rows[warp * 16 + lane % 16][step * kBlock + lane / 16 * 16])));
#pragma unroll
      for (int n = 0; n < kColumns / 8; ++n) {
        unsigned g[2];
        asm volatile("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {%0, %1}, [%2];"
                     : "=r"(g[0]), "=r"(g[1])
                     : "r"(shared_at(&columns[n * 8 + lane % 8][step * kBlock + lane / 8 % 2 * 16])));
        g[0] <<= 2, g[1] <<= 2;  // to the middle of their bytes
        const unsigned scale_b = *reinterpret_cast<const unsigned*>(scales_b + ((n * 8 + lane / 4) * kInner + k) / kBlock);
        if (step == 0) multiply<0>(d[n], f, g, scale_a, scale_b);
        if (step == 1) multiply<1>(d[n], f, g, scale_a, scale_b);
        if (step == 2) multiply<2>(d[n], f, g, scale_a, scale_b);
        if (step == 3) multiply<3>(d[n], f, g, scale_a, scale_b);
      }
    }
    __syncthreads();
  }
  for (int n = 0; n < kColumns / 8; ++n)
    for (int e = 0; e < 4; ++e)
      to[(warp * 16 + lane / 4 + e / 2 * 8) * kColumns + n * 8 + lane % 4 * 2 + e % 2] = d[n][e];
}

/// The non-negative numbers of a format, by its definition.
std::vector<double> values(int exponent, int mantissa, int bias, int count) {
  std::vector<double> all;
  for (int c = 0; c < count; ++c) {
    const int e = c >> mantissa, m = c & ((1 << mantissa) - 1);
    all.push_back(e == 0 ? std::ldexp(m, 1 - bias - mantissa) : std::ldexp(m + (1 << mantissa), e - bias - mantissa));
  }
  return all;
}

/// Codes, scales and their values, computed by plain code.
struct Quantised {
  std::vector<uint8_t> codes, scales;
  std::vector<double> value;
  Quantised(const std::vector<float>& from, const std::vector<double>& format, bool four) {
    for (size_t at = 0; at < from.size(); at += kBlock) {
      float most = 0;
      for (int i = 0; i < kBlock; ++i) most = std::fmax(most, std::fabs(from[at + i]));
      int exponent = 0;
      const float mantissa = std::frexp(most / float(format.back()), &exponent);
      if (mantissa == 0.5f) --exponent;
      scales.push_back(static_cast<uint8_t>(exponent + 127));
      for (int i = 0; i < kBlock; ++i) {
        const double x = std::ldexp(double(from[at + i]), -exponent);
        size_t best = 0;
        for (size_t c = 1; c < format.size(); ++c) {
          const double now = std::fabs(std::fabs(x) - format[c]), then = std::fabs(std::fabs(x) - format[best]);
          if (now < then || (now == then && c % 2 == 0)) best = c;
        }
        value.push_back(std::ldexp(std::copysign(format[best], x), exponent));
        const auto code = static_cast<uint8_t>(best | (std::signbit(x) ? (four ? 8 : 128) : 0));
        if (!four) codes.push_back(code);
        else if (i % 2 == 0) codes.push_back(code);
        else codes.back() |= static_cast<uint8_t>(code << 4);
      }
    }
  }
};

/// Numbers around 0; magnitudes differ from block to block by some powers of two.
std::vector<float> spread(size_t n, unsigned seed) {
  std::vector<float> x = numbers(n, seed);
  for (size_t i = 0; i < n; ++i) x[i] = std::ldexp(x[i] - 0.5f, int(i / kBlock * 7 % 9) - 4);
  return x;
}

}  // namespace

/// Both matrices are quantised on the GPU and on the host, multiplied there and here.
PROGRAM(scaled_blocks) {
  const std::vector<float> a = spread(kRows * kInner, 11), b = spread(kColumns * kInner, 12);
  const Quantised host_a(a, values(4, 3, 7, 127), false), host_b(b, values(2, 1, 1, 8), true);
  uint8_t *const a8 = device<uint8_t>(a.size()), *const b4 = device<uint8_t>(b.size() / 2);
  uint8_t *const scales_a = device<uint8_t>(a.size() / kBlock), *const scales_b = device<uint8_t>(b.size() / kBlock);
  quantise<false><<<(int(a.size()) / kBlock + 63) / 64, 64>>>(upload(a), int(a.size()) / kBlock, a8, scales_a);
  quantise<true><<<(int(b.size()) / kBlock + 63) / 64, 64>>>(upload(b), int(b.size()) / kBlock, b4, scales_b);
  int wrong = same("activations", download(a8, a.size()), host_a.codes);
  wrong += same("their scales", download(scales_a, a.size() / kBlock), host_a.scales);
  wrong += same("weights", download(b4, b.size() / 2), host_b.codes);
  wrong += same("their scales", download(scales_b, b.size() / kBlock), host_b.scales);
  float* const to = device<float>(kRows * kColumns);
  scaled_product<<<1, 128>>>(a8, scales_a, b4, scales_b, to);
  std::vector<float> want(kRows * kColumns);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (int k = 0; k < kInner; ++k) sum += host_a.value[i * kInner + k] * host_b.value[j * kInner + k];
      want[i * kColumns + j] = float(sum);
    }
  return wrong + compare("product", download(to, want.size()), want, 1e-5);
}
