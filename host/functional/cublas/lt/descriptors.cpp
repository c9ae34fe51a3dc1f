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
    case 7:  // between planes of complex numbers
      return value.is_none<int64_t>();
    case 8:  // batches other than by strides
      return value.is_none<uint32_t>();
    default:
      throw Failure{kInvalidValue};
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
    case 14:  // a stride between factors
    case 17:  // places of scales, and of largest elements
    case 18:
    case 19:
    case 20:
    case 21:
    case 23:
    case 24:
    case 36:
    case 38:  // emulation
      return value.is_none<uint64_t>();
    case 31:  // kinds of scales
    case 32:
    case 33:
    case 34:
    case 35:
    case 37:
      return value.is_none<uint32_t>();
    default:
      throw Failure{kInvalidValue};
  }
}

void access(MatmulPreference& preference, int attribute, const Attribute& value) {
  switch (attribute) {  // cublasLtMatmulPreferenceAttributes_t
    case 0:
      return value.is(preference.search_mode);
    case 1:
      return value.is(preference.workspace_bytes);
    case 3:
      return value.is(preference.reduction_schemes);
    case 5:
    case 6:
    case 7:
    case 8:
      return value.is(preference.alignment_bytes[attribute - 5]);
    case 9:
      return value.is(preference.waves);
    case 12:
      return value.is(preference.implementations);
    default:
      throw Failure{kInvalidValue};
  }
}

}  // namespace nearwarp::cublas
