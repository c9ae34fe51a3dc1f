// cublasLt's descriptors: memory of the application's that it does not look into.
#pragma once

#include <cstring>

#include "host/functional/cublas/handle.h"

namespace nearwarp::cublas {

enum Order : int { kColumns = 0, kRows = 1 };

/// cublasLtEpilogue_t
enum LtEpilogue : uint32_t {
  kLtDefault = 1,
  kLtRelu = 2,
  kLtBias = 4,
  kLtReluGradient = 8,
  kLtBiasGradient = 16,
  kLtGelu = 32,
  kLtGeluGradient = 64,
  kLtAux = 128,
  kLtBiasGradientA = 256,
  kLtBiasGradientB = 512,
};

inline constexpr uint32_t kLtBiasGradients = kLtBiasGradient | kLtBiasGradientA | kLtBiasGradientB;

struct MatrixLayout {
  uint32_t type = kF32;
  int32_t order = kColumns;
  uint64_t rows = 0, columns = 0;
  int64_t ld = 0, batch_stride = 0;
  int32_t batch = 1;
  int32_t reserved = 0;
};
static_assert(sizeof(MatrixLayout) <= 8 * sizeof(uint64_t));

struct MatmulDesc {
  int32_t compute = kCompute32F, scale = kF32;
  int32_t pointer_mode = kHostPointers;
  int32_t transpose_a = kNone, transpose_b = kNone, transpose_c = kNone;
  uint32_t epilogue = kLtDefault;
  int32_t bias_type = -1, aux_type = -1;
  int32_t fill_mode = 2;  // CUBLAS_FILL_MODE_FULL
  const void* bias = nullptr;
  void* aux = nullptr;
  int64_t bias_stride = 0, aux_ld = 0, aux_stride = 0;
  int32_t sm_count_target = 0;
  int8_t fast_accumulation = 0;
  int8_t reserved[3] = {};
};
static_assert(sizeof(MatmulDesc) <= 32 * sizeof(uint64_t));

struct MatmulPreference {
  uint64_t workspace_bytes = 0;
};
static_assert(sizeof(MatmulPreference) <= 8 * sizeof(uint64_t));

/// cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t: there is one algorithm for each
/// product, which wants no workspace.
struct MatmulAlgo {
  uint64_t data[8] = {};
};
struct MatmulHeuristic {
  MatmulAlgo algo;
  size_t workspace_bytes = 0;
  Status state = kSuccess;
  float waves = 1;
  int32_t reserved[4] = {};
};

/// Reads or writes one attribute.
class Attribute {
 public:
  Attribute(void* buffer, size_t bytes, bool set) : buffer_(buffer), bytes_(bytes), set_(set) {}
  /// Takes it from the application or gives it to it.
  template <class T>
  void is(T& value) const {
    require(buffer_ != nullptr && bytes_ == sizeof(T));
    if (set_) {
      std::memcpy(&value, buffer_, sizeof(T));
    } else {
      std::memcpy(buffer_, &value, sizeof(T));
    }
  }

 private:
  void* buffer_;
  size_t bytes_;
  bool set_;
};

void access(MatrixLayout& layout, int attribute, const Attribute& value);
void access(MatmulDesc& desc, int attribute, const Attribute& value);

}  // namespace nearwarp::cublas
