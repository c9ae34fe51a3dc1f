#include "host/functional/cublas/lt/bias_gradient.h"

#include "host/functional/cublas/kernels.h"
#include "host/functional/cublas/kernels/sums_args.h"

namespace nearwarp::cublas {

namespace {

constexpr uint32_t kThreads = 128;  // kernels/sums.cu

const char* kernel_for(DataType from, DataType to) {
  struct Kernel {
    DataType from, to;
    const char* name;
  };
  constexpr Kernel kKernels[] = {{kF32, kF32, "cublas_sums_f32"},
                                 {kF16, kF16, "cublas_sums_f16"},
                                 {kBf16, kBf16, "cublas_sums_bf16"},
                                 {kF16, kF32, "cublas_sums_f16_f32"},
                                 {kBf16, kF32, "cublas_sums_bf16_f32"}};
  for (const Kernel& k : kKernels)
    if (k.from == from && k.to == to) return k.name;
  throw Failure{kNotSupported};
}

}  // namespace

void sum_for_bias(const Product& p, const MatmulDesc& desc, Stream stream) {
  const uint32_t kinds = desc.epilogue & kLtBiasGradients;
  if (kinds == 0) return;
  const GemmArgs& g = p.args;
  SumsArgs args{};
  args.to = const_cast<void*>(desc.bias);
  args.to_stride = desc.bias_stride;
  const auto of = [&](const Matrix& m, int rows, int columns, bool turned) {
    args.from = m.data;
    args.stride = m.stride;
    args.rows = rows;
    args.columns = columns;
    args.down = turned ? m.ld : 1;
    args.across = turned ? 1 : m.ld;
  };
  DataType from = p.c;
  if (kinds == kLtBiasGradient) {
    of(g.d, g.m, g.n, false);
  } else if (kinds == kLtBiasGradientA) {
    of(g.a, g.m, g.k, g.transpose_a != 0);
    from = p.a;
  } else {
    of(g.b, g.n, g.k, g.transpose_b == 0);
    from = p.b;
  }
  if (args.rows == 0 || p.batch == 0) return;
  launch(kernel_for(from, p.c),
         {static_cast<uint32_t>(args.rows), static_cast<uint32_t>(p.batch), 1}, {kThreads, 1, 1},
         args, stream);
}

}  // namespace nearwarp::cublas
