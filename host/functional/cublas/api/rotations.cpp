// Rotations of level 1, in f32 and f64: finding them, and those in the modified form.
#include <algorithm>

#include "host/functional/cublas/api/entry.h"
#include "host/functional/cublas/kernels.h"
#include "host/functional/cublas/kernels/rotation_args.h"

using namespace nearwarp::cublas;

namespace {

constexpr int64_t kThreads = 256, kMostBlocks = 1 << 20;  // kernels/rotations.cu

void find_on_device(const Handle& h, const char* kernel, const RotationArgs& args) {
  launch(kernel, {1, 1, 1}, {1, 1, 1}, args, h.stream);
}

template <class T>
T* first_of(T* x, int64_t n, int64_t increment) {
  return increment < 0 ? x - (n - 1) * increment : x;
}

template <class T>
void rotate(const Handle& h, const char* kernel, int64_t n, T* x, int64_t incx, T* y, int64_t incy,
            const T* parameters) {
  require(parameters != nullptr);
  if (n <= 0) return;
  ModifiedArgs args{};
  args.n = n;
  args.x = first_of(x, n, incx);
  args.y = first_of(y, n, incy);
  args.x_increment = incx;
  args.y_increment = incy;
  if (h.pointer_mode == kDevicePointers) {
    args.at = parameters;
  } else {
    std::copy_n(parameters, 5, args.values);
  }
  const auto blocks = static_cast<uint32_t>(std::min((n + kThreads - 1) / kThreads, kMostBlocks));
  launch(kernel, {blocks, 1, 1}, {static_cast<uint32_t>(kThreads), 1, 1}, args, h.stream);
}

}  // namespace

/// `v2` is what names end in.
#define NW_FIND(L, T, suffix, v2)                                                              \
  NW_CUBLAS cublas##L##rotg##v2(Handle* h, T* a, T* b, T* c, T* s) {                           \
    return call("cublas" #L "rotg", h, [&] {                                                   \
      require(a != nullptr && b != nullptr && c != nullptr && s != nullptr);                   \
      if (h->pointer_mode == kHostPointers) return find_rotation(a, b, c, s);                  \
      find_on_device(*h, "cublas_rotg_" suffix, {{a, b, c, s, nullptr}, 0});                   \
    });                                                                                        \
  }                                                                                            \
  NW_CUBLAS cublas##L##rotmg##v2(Handle* h, T* d1, T* d2, T* x1, const T* y1, T* parameters) { \
    return call("cublas" #L "rotmg", h, [&] {                                                  \
      require(d1 != nullptr && d2 != nullptr && x1 != nullptr && y1 != nullptr);               \
      require(parameters != nullptr);                                                          \
      if (h->pointer_mode == kHostPointers)                                                    \
        return find_modified_rotation(d1, d2, x1, *y1, parameters);                            \
      find_on_device(*h, "cublas_rotg_" suffix,                                                \
                     {{d1, d2, x1, const_cast<T*>(y1), parameters}, 1});                       \
    });                                                                                        \
  }
NW_FIND(S, float, "f32", _v2)
NW_FIND(D, double, "f64", _v2)

#define NW_ROTATE(L, T, suffix, I, v2)                                                             \
  NW_CUBLAS cublas##L##rotm##v2(Handle* h, I n, T* x, I incx, T* y, I incy, const T* parameters) { \
    return call("cublas" #L "rotm", h,                                                             \
                [&] { rotate(*h, "cublas_rotm_" suffix, n, x, incx, y, incy, parameters); });      \
  }
NW_ROTATE(S, float, "f32", int, _v2)
NW_ROTATE(S, float, "f32", int64_t, _v2_64)
NW_ROTATE(D, double, "f64", int, _v2)
NW_ROTATE(D, double, "f64", int64_t, _v2_64)
