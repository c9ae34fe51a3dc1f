#include "host/functional/cublas/gemm.h"

#include <algorithm>
#include <cstring>

#include "host/functional/cublas/batches.h"
#include "host/functional/cublas/handle.h"
#include "host/functional/cublas/kernels.h"

namespace nearwarp::cublas {

namespace {

constexpr uint32_t kTile = 64, kThreads = 128;  // kernels/gemm_tile.cuh

bool is_16f(ComputeType t) { return t == kCompute16F || t == kCompute16FPedantic; }
bool is_32f(ComputeType t) {
  return t == kCompute32F || t == kCompute32FPedantic || t == kCompute32FFast16F ||
         t == kCompute32FFast16Bf || t == kCompute32FFastTf32;
}

/// Sums of f16 are made in f32 under every compute type. Operands of f32 are rounded to tf32 where
/// that is allowed, and not where only rounding to f16 or bf16 is.
const char* kernel_for(const Product& p) {
  const auto of = [&](DataType a, DataType c) { return p.a == a && p.b == a && p.c == c; };
  if (is_32f(p.compute) || is_16f(p.compute)) {
    if (of(kF16, kF16)) return "cublas_gemm_f16";
  }
  if (is_32f(p.compute)) {
    const bool matrices = (of(kBf16, kBf16) || of(kBf16, kF32)) && multiplies_bf16_and_tf32();
    if (of(kF32, kF32))
      return p.compute == kCompute32FFastTf32 && multiplies_bf16_and_tf32() ? "cublas_gemm_tf32"
                                                                            : "cublas_gemm_f32";
    if (of(kF16, kF32)) return "cublas_gemm_f16_f32";
    if (of(kBf16, kBf16)) return matrices ? "cublas_gemm_bf16" : "cublas_gemm_bf16_fma";
    if (of(kBf16, kF32)) return matrices ? "cublas_gemm_bf16_f32" : "cublas_gemm_bf16_f32_fma";
    if (of(kS8, kF32)) return "cublas_gemm_s8_f32";
  }
  if ((p.compute == kCompute64F || p.compute == kCompute64FPedantic) && of(kF64, kF64))
    return "cublas_gemm_f64";
  if ((p.compute == kCompute32I || p.compute == kCompute32IPedantic) && of(kS8, kS32))
    return "cublas_gemm_s8_s32";
  throw Failure{kNotSupported};
}

float float_of_half(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h >> 15) << 31, exponent = h >> 10 & 31;
  const uint32_t fraction = h & 1023;
  if (exponent == 0) {
    const float small = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -small : small;
  }
  const uint32_t bits =
      sign | (exponent == 31 ? 255u << 23 : (exponent + 112) << 23) | fraction << 13;
  float f;
  std::memcpy(&f, &bits, sizeof(f));
  return f;
}

template <class T>
T read(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

uint32_t tiles(int n) { return (static_cast<uint32_t>(n) + kTile - 1) / kTile; }

size_t bytes_of(DataType t) {
  switch (t) {
    case kF64:
      return 8;
    case kF32:
    case kS32:
      return 4;
    case kF16:
    case kBf16:
      return 2;
    case kS8:
      return 1;
    default:
      break;
  }
  throw Failure{kNotSupported};
}

void check_sizes(const GemmArgs& g) {
  require(g.m >= 0 && g.n >= 0 && g.k >= 0);
  const auto rows = [](int transpose, int n, int t) { return std::max(1, transpose != 0 ? t : n); };
  require(g.a.ld >= rows(g.transpose_a, g.m, g.k));
  require(g.b.ld >= rows(g.transpose_b, g.k, g.n));
  require(g.c.ld >= std::max(1, g.m) && g.d.ld >= std::max(1, g.m));
}

}  // namespace

DataType scale_type(ComputeType compute, DataType c) {
  switch (compute) {
    case kCompute16F:
    case kCompute16FPedantic:
      return kF16;
    case kCompute64F:
    case kCompute64FPedantic:
      return kF64;
    case kCompute32I:
    case kCompute32IPedantic:
      return c == kS32 ? kS32 : kF32;
    default:
      return kF32;
  }
}

Scalar scalar_at(const void* at, DataType type, int pointer_mode) {
  require(at != nullptr);
  Scalar s{};
  s.is_half = type == kF16 ? 1 : 0;
  if (pointer_mode == kDevicePointers) {
    s.at = at;
    return s;
  }
  switch (type) {
    case kF16:
      s.value = float_of_half(read<uint16_t>(at));
      break;
    case kF64:
      s.value = read<double>(at);
      break;
    case kS32:
      s.value = read<int32_t>(at);
      break;
    default:
      s.value = read<float>(at);
      break;
  }
  return s;
}

void check(const Product& product) {
  check_sizes(product.args);
  require(product.batch >= 0);
  kernel_for(product);
}

void multiply(const Product& product, Stream stream) {
  const GemmArgs& g = product.args;
  check_sizes(g);
  require(product.batch >= 0);
  if (g.m == 0 || g.n == 0 || product.batch == 0) return;
  const char* const kernel = kernel_for(product);
  GemmArgs args = g;
  if (g.alpha.at == nullptr && g.alpha.value == 0) args.k = 0;  // A and B are not read
  require(args.epilogue == 0 || product.batch <= kMostItems, kNotSupported);
  in_parts(product.batch, kMostItems, [&](int64_t first, int64_t items) {
    args.a = items_from(g.a, first, bytes_of(product.a));
    args.b = items_from(g.b, first, bytes_of(product.b));
    args.c = items_from(g.c, first, bytes_of(product.c));
    args.d = items_from(g.d, first, bytes_of(product.c));
    launch(kernel, {tiles(g.m), tiles(g.n), static_cast<uint32_t>(items)}, {kThreads, 1, 1}, args,
           stream);
  });
}

}  // namespace nearwarp::cublas
