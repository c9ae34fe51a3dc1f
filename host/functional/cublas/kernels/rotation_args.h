// Rotations of level 1: how they are found, on the host or the device, and what their kernels get.
#pragma once

#include <math.h>

#ifdef __CUDACC__
#define NW_ROTATION __host__ __device__
#else
#define NW_ROTATION
#endif

namespace nearwarp::cublas {

/// Where the numbers of a rotation are, on the device: a, b, c, s of rotg; d1, d2, x1, y1 and the
/// five parameters of rotmg.
struct RotationArgs {
  void* numbers[5];
  int modified;
};

/// (x, y) = H (x, y) for each element, by rotmg's parameters: values, or where they are on the
/// device.
struct ModifiedArgs {
  long long n;
  void *x, *y;
  long long x_increment, y_increment;
  double values[5];
  const void* at;  ///< null: `values`
};

/// The rotation that turns (a, b) to (r, 0); a becomes r, b the number that stands for both cosine
/// and sine.
template <class T>
NW_ROTATION void find_rotation(T* a, T* b, T* cosine, T* sine) {
  const T size_a = *a < 0 ? -*a : *a, size_b = *b < 0 ? -*b : *b;
  const T scale = size_a + size_b;
  if (scale == T(0)) {
    *cosine = 1;
    *sine = *a = *b = 0;
    return;
  }
  const T x = *a / scale, y = *b / scale;
  T r = scale * sqrt(x * x + y * y);
  if ((size_a > size_b ? *a : *b) < 0) r = -r;
  *cosine = *a / r;
  *sine = *b / r;
  *b = size_a > size_b ? *sine : *cosine != T(0) ? 1 / *cosine : T(1);
  *a = r;
}

/// The modified rotation that takes y out of (x sqrt(d1), y sqrt(d2)), whose matrix keeps clear of
/// very large and very small numbers (Lawson, Hanson, Kincaid, Krogh 1979); `p`: its form, h11,
/// h21, h12, h22.
template <class T>
NW_ROTATION void find_modified_rotation(T* d1, T* d2, T* x1, T y1, T* p) {
  constexpr T kScale = 4096, kMost = kScale * kScale, kLeast = 1 / kMost;
  const auto size = [](T v) { return v < 0 ? -v : v; };
  // No scale makes more of 0 or less of infinity.
  const auto extreme = [&](T v) {
    return v != 0 && isfinite(v) && (size(v) <= kLeast || size(v) >= kMost);
  };
  T form, h11 = 0, h21 = 0, h12 = 0, h22 = 0;
  const auto zero = [&] {
    form = -1;
    h11 = h21 = h12 = h22 = 0;
    *d1 = *d2 = *x1 = 0;
  };
  // Written out in full where scales change it.
  const auto full = [&] {
    if (form == 0) h11 = h22 = 1;
    if (form == 1) h21 = -1, h12 = 1;
    form = -1;
  };
  const T p2 = *d2 * y1;
  if (*d1 < 0) {
    zero();
  } else if (p2 == 0) {
    p[0] = -2;
    return;
  } else {
    const T p1 = *d1 * *x1, q2 = p2 * y1, q1 = p1 * *x1;
    if (size(q1) > size(q2)) {
      h21 = -y1 / *x1;
      h12 = p2 / p1;
      const T u = 1 - h12 * h21;
      form = 0;
      if (u > 0) {
        *d1 /= u;
        *d2 /= u;
        *x1 *= u;
      } else {
        zero();
      }
    } else if (*d2 < 0) {  // as q2 is, unless it became 0
      zero();
    } else {
      form = 1;
      h11 = p1 / p2;
      h22 = *x1 / y1;
      const T u = 1 + h11 * h22, old = *d2 / u;
      *d2 = *d1 / u;
      *d1 = old;
      *x1 = y1 * u;
    }
    while (extreme(*d1)) {
      const bool small = size(*d1) <= kLeast;
      full();
      *d1 *= small ? kMost : kLeast;
      const T by = small ? 1 / kScale : kScale;
      *x1 *= by;
      h11 *= by;
      h12 *= by;
    }
    while (extreme(*d2)) {
      const bool small = size(*d2) <= kLeast;
      full();
      *d2 *= small ? kMost : kLeast;
      const T by = small ? 1 / kScale : kScale;
      h21 *= by;
      h22 *= by;
    }
  }
  p[0] = form;
  if (form < 0) p[1] = h11, p[2] = h21, p[3] = h12, p[4] = h22;
  if (form == 0) p[2] = h21, p[3] = h12;
  if (form == 1) p[1] = h11, p[4] = h22;
}

}  // namespace nearwarp::cublas
