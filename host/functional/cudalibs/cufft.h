// Plans of Fourier transforms and their execution.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "host/functional/cudalibs/kernels.h"

namespace nearwarp::cufft {

/// cufftResult
enum Status : int {
  kSuccess = 0,
  kInvalidPlan = 1,
  kAllocFailed = 2,
  kInvalidType = 3,
  kInvalidValue = 4,
  kInternalError = 5,
  kExecFailed = 6,
  kInvalidSize = 8,
  kNotSupported = 0x10,
};

/// cufftType
enum Type : int { kR2C = 0x2a, kC2R = 0x2c, kC2C = 0x29, kD2Z = 0x6a, kZ2D = 0x6c, kZ2Z = 0x69 };

/// Ends a call with a status.
struct Failure {
  Status status;
};
inline void require(bool holds, Status otherwise = kInvalidValue) {
  if (!holds) throw Failure{otherwise};
}

/// The layout of an array in cufftPlanMany(); it is compact if `embed` is empty.
struct Layout {
  std::vector<int64_t> embed;
  int64_t stride = 1, distance = 0;
};

class Plan {
 public:
  cudalibs::Stream stream = nullptr;
  bool allocates = true;  ///< the plan allocates its work area; else the application does
  std::map<int, long long> properties;  ///< properties set by the application, without effect

  /// Makes the plan, once. Throws Failure for impossible parameters.
  void make(const std::vector<int64_t>& n, const Layout& in, const Layout& out, int type,
            int64_t batch);
  bool is_made() const { return batch_ != 0; }
  int type() const { return type_; }
  size_t work_bytes() const { return 2 * compact_bytes_ + convolution_bytes_; }
  void set_work(void* work) { given_ = work; }
  /// Executes the plan; `sign` is that of the exponent. Throws Failure, Problem.
  void execute(const void* in, void* out, int sign);

 private:
  struct Side {
    int64_t stride[3] = {}, distance = 0;
  };
  static Side side_of(const std::vector<int64_t>& n, const Layout& layout, bool halved,
                      bool padded);
  size_t element_bytes() const;
  int64_t lines_of(int axis) const { return batch_ * n_[0] * n_[1] * n_[2] / n_[axis]; }
  void transform(void** from, void** to, int sign) const;
  /// Transforms lines of `length` elements, one pass for each factor of the length. The result is
  /// in `from`.
  void passes(void** from, void** to, int64_t length, int64_t inner, int64_t outer, int sign) const;
  void convolve(void* lines, int axis, int64_t inner, int sign) const;

  int type_ = 0;
  int64_t n_[3] = {}, batch_ = 0;
  Side in_, out_, padded_in_, padded_out_;
  size_t compact_bytes_ = 0, convolution_bytes_ = 0;
  void* convolution_ = nullptr;  ///< the convolution's part of the work area
  cudalibs::Memory own_;
  void* given_ = nullptr;
};

}  // namespace nearwarp::cufft
