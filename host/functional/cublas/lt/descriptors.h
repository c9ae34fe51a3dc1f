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

/// Kept: the one algorithm fits every preference. Defaults are cuBLASLt's.
struct MatmulPreference {
  uint32_t search_mode = 0, reduction_schemes = 7;
  uint64_t workspace_bytes = 0, implementations = ~uint64_t{0};
  uint32_t alignment_bytes[4] = {256, 256, 256, 256};  // of A, B, C, D
  float waves = 0;
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

/// Reads or writes one attribute, or tells its size: where it is read, `written` becomes the bytes
/// that were read, or of a buffer of no bytes those that it needs.
class Attribute {
 public:
  static Attribute get(void* to, size_t bytes, size_t* written) {
    return {to, bytes, written, false};
  }
  static Attribute set(const void* from, size_t bytes) {
    return {const_cast<void*>(from), bytes, nullptr, true};
  }

  /// Takes it from the application or gives it to it.
  template <class T>
  void is(T& value) const {
    if (!set_ && bytes_ == 0) {
      require(written_ != nullptr);
      *written_ = sizeof(T);
      return;
    }
    require(buffer_ != nullptr && bytes_ == sizeof(T));
    if (set_) {
      std::memcpy(&value, buffer_, sizeof(T));
      return;
    }
    std::memcpy(buffer_, &value, sizeof(T));
    if (written_ != nullptr) *written_ = sizeof(T);
  }
  /// For what the library has only without: it is 0, and nothing else can be set.
  template <class T>
  void is_none() const {
    T value = 0;
    is(value);
    require(value == 0, kNotSupported);
  }

 private:
  Attribute(void* buffer, size_t bytes, size_t* written, bool set)
      : buffer_(buffer), bytes_(bytes), written_(written), set_(set) {}
  void* buffer_;
  size_t bytes_;
  size_t* written_;
  bool set_;
};

void access(MatrixLayout& layout, int attribute, const Attribute& value);
void access(MatmulDesc& desc, int attribute, const Attribute& value);
void access(MatmulPreference& preference, int attribute, const Attribute& value);

}  // namespace nearwarp::cublas
