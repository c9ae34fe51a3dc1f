#include "host/functional/cublas/lt/descriptors.h"

namespace nearwarp::cublas {

void access(MatrixLayout& layout, int attribute, const Attribute& value) {
  switch (attribute) {  // cublasLtMatrixLayoutAttribute_t
    case 0:
      return value.is(layout.type);
    case 1:
      return value.is(layout.order);
    case 2:
      return value.is(layout.rows);
    case 3:
      return value.is(layout.columns);
    case 4:
      return value.is(layout.ld);
    case 5:
      return value.is(layout.batch);
    case 6:
      return value.is(layout.batch_stride);
    default:
      throw Failure{kNotSupported};
  }
}

void access(MatmulDesc& desc, int attribute, const Attribute& value) {
  switch (attribute) {  // cublasLtMatmulDescAttributes_t
    case 0:
      return value.is(desc.compute);
    case 1:
      return value.is(desc.scale);
    case 2:
      return value.is(desc.pointer_mode);
    case 3:
      return value.is(desc.transpose_a);
    case 4:
      return value.is(desc.transpose_b);
    case 5:
      return value.is(desc.transpose_c);
    case 6:
      return value.is(desc.fill_mode);
    case 7:
      return value.is(desc.epilogue);
    case 8:
      return value.is(desc.bias);
    case 10:
      return value.is(desc.bias_stride);
    case 11:
      return value.is(desc.aux);
    case 12:
      return value.is(desc.aux_ld);
    case 13:
      return value.is(desc.aux_stride);
    case 15:
      return value.is(desc.sm_count_target);
    case 22:
      return value.is(desc.aux_type);
    case 25:
      return value.is(desc.fast_accumulation);
    case 26:
      return value.is(desc.bias_type);
    default:
      throw Failure{kNotSupported};  // scales of FP8
  }
}

}  // namespace nearwarp::cublas
