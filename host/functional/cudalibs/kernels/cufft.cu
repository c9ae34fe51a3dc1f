// Discrete Fourier transforms: passes after Stockham, of radices 2, 3, 4, 5 and any other factor, in compact arrays;
// transforms of any length as convolutions, after Bluestein; and copies between these and an application's arrays.
#include "host/functional/cudalibs/kernels/cufft_args.h"

using namespace nearwarp::cufft;

namespace {

template <class T>
struct Complex {
  T re, im;
};
template <class T>
__device__ Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
__device__ Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
__device__ Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
__device__ Complex<T> operator*(T a, Complex<T> b) {
  return {a * b.re, a * b.im};
}
/// a times i, or -i with a negative sign.
template <class T>
__device__ Complex<T> turned(Complex<T> a, int sign) {
  return sign < 0 ? Complex<T>{a.im, -a.re} : Complex<T>{-a.im, a.re};
}

__device__ void sine_cosine(float x, float* s, float* c) { sincospif(x, s, c); }
__device__ void sine_cosine(double x, double* s, double* c) { sincospi(x, s, c); }

/// exp(sign * 2 pi i * k / n), for k below n.
template <class T>
__device__ Complex<T> root(long long k, long long n, int sign) {
  Complex<T> w;
  sine_cosine(T(2) * T(k) / T(n), &w.im, &w.re);
  if (sign < 0) w.im = -w.im;
  return w;
}

/// f(i) for all of n elements.
template <class F>
__device__ void each(long long n, F&& f) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += (long long)gridDim.x * blockDim.x)
    f(i);
}

template <class T>
__device__ void butterfly2(Complex<T>* x) {
  const Complex<T> a = x[0], b = x[1];
  x[0] = a + b;
  x[1] = a - b;
}
template <class T>
__device__ void butterfly3(Complex<T>* x, int sign) {
  const T sine = T(0.86602540378443864676);
  const Complex<T> sum = x[1] + x[2], difference = turned(sine * (x[1] - x[2]), sign);
  const Complex<T> middle = x[0] - T(0.5) * sum;
  x[0] = x[0] + sum;
  x[1] = middle + difference;
  x[2] = middle - difference;
}
template <class T>
__device__ void butterfly4(Complex<T>* x, int sign) {
  const Complex<T> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3];
  const Complex<T> d = turned(x[1] - x[3], sign);
  x[0] = a + c;
  x[1] = b + d;
  x[2] = a - c;
  x[3] = b - d;
}
template <class T>
__device__ void butterfly5(Complex<T>* x, int sign) {
  const T c1 = T(0.30901699437494742410), c2 = T(-0.80901699437494742410);
  const T s1 = T(0.95105651629515357212), s2 = T(0.58778525229247312917);
  const Complex<T> a = x[1] + x[4], b = x[2] + x[3], c = x[1] - x[4], d = x[2] - x[3];
  const Complex<T> e = x[0] + c1 * a + c2 * b, f = x[0] + c2 * a + c1 * b;
  const Complex<T> g = turned(s1 * c + s2 * d, sign), h = turned(s2 * c - s1 * d, sign);
  x[0] = x[0] + a + b;
  x[1] = e + g;
  x[2] = f + h;
  x[3] = f - h;
  x[4] = e - g;
}

/// A thread makes the kRadix results of one butterfly.
template <class T, int kRadix>
__device__ void pass(const PassArgs& p) {
  const auto* from = static_cast<const Complex<T>*>(p.from);
  auto* to = static_cast<Complex<T>*>(p.to);
  const long long count = p.length / kRadix;
  each(p.outer * count * p.inner, [&](long long thread) {
    const long long inner = thread % p.inner, line = thread / p.inner;
    const long long j = line % count, outer = line / count, k = j % p.done;
    const long long base = outer * p.length * p.inner + inner;
    Complex<T> x[kRadix];
#pragma unroll
    for (int q = 0; q < kRadix; ++q) {
      x[q] = from[base + (j + q * count) * p.inner];
      if (q != 0 && k != 0) x[q] = x[q] * root<T>(q * k, p.done * kRadix, p.sign);
    }
    if (kRadix == 2) butterfly2(x);
    if (kRadix == 3) butterfly3(x, p.sign);
    if (kRadix == 4) butterfly4(x, p.sign);
    if (kRadix == 5) butterfly5(x, p.sign);
#pragma unroll
    for (int q = 0; q < kRadix; ++q)
      to[base + ((j - k) * kRadix + k + q * p.done) * p.inner] = x[q];
  });
}

/// Any other factor: a thread makes one result.
template <class T>
__device__ void any_pass(const PassArgs& p) {
  const auto* from = static_cast<const Complex<T>*>(p.from);
  auto* to = static_cast<Complex<T>*>(p.to);
  const long long count = p.length / p.radix, span = p.done * p.radix;
  each(p.outer * p.length * p.inner, [&](long long thread) {
    const long long inner = thread % p.inner, line = thread / p.inner;
    const long long j = line % count, rest = line / count, q = rest % p.radix;
    const long long outer = rest / p.radix, k = j % p.done;
    const long long base = outer * p.length * p.inner + inner;
    Complex<T> sum = {0, 0};
    for (long long m = 0, turn = 0; m < p.radix; ++m) {  // turn: m * (k + q * done), of `span`
      sum = sum + from[base + (j + m * count) * p.inner] * root<T>(turn, span, p.sign);
      turn += k + q * p.done;
      if (turn >= span) turn -= span;
    }
    to[base + ((j - k) * p.radix + k + q * p.done) * p.inner] = sum;
  });
}

/// exp(sign * pi i * j^2 / length).
template <class T>
__device__ Complex<T> chirp(long long j, const ChirpArgs& c, int sign) {
  const auto square = (unsigned long long)j * (unsigned long long)j;
  const Complex<double> w =
      root<double>((long long)(square % (2ull * c.length)), 2 * c.length, sign);
  return {T(w.re), T(w.im)};
}
/// Where line `line` begins in `lines`.
__device__ long long line_begin(const ChirpArgs& c, long long line) {
  return line / c.inner * c.length * c.inner + line % c.inner;
}
template <class T>
__device__ void chirp_in(const ChirpArgs& c) {
  const auto* from = static_cast<const Complex<T>*>(c.lines);
  auto* to = static_cast<Complex<T>*>(c.padded);
  each(c.outer * c.inner * c.extent, [&](long long i) {
    const long long j = i % c.extent, line = i / c.extent;
    to[i] = j < c.length ? from[line_begin(c, line) + j * c.inner] * chirp<T>(j, c, c.sign)
                         : Complex<T>{T(0), T(0)};
  });
}
/// The other factor of the convolution: from 0 on it is the same in both directions.
template <class T>
__device__ void chirp_filter(const ChirpArgs& c) {
  auto* to = static_cast<Complex<T>*>(c.filter);
  each(c.extent, [&](long long i) {
    const long long j = i < c.length ? i : c.extent - i;
    to[i] = j < c.length ? chirp<T>(j, c, -c.sign) : Complex<T>{T(0), T(0)};
  });
}
template <class T>
__device__ void chirp_multiply(const ChirpArgs& c) {
  auto* padded = static_cast<Complex<T>*>(c.padded);
  const auto* filter = static_cast<const Complex<T>*>(c.filter);
  each(c.outer * c.inner * c.extent,
       [&](long long i) { padded[i] = padded[i] * filter[i % c.extent]; });
}
template <class T>
__device__ void chirp_out(const ChirpArgs& c) {
  const auto* from = static_cast<const Complex<T>*>(c.padded);
  auto* to = static_cast<Complex<T>*>(c.lines);
  each(c.outer * c.inner * c.length, [&](long long i) {
    const long long k = i % c.length, line = i / c.length;
    to[line_begin(c, line) + k * c.inner] =
        (T(1) / T(c.extent)) * (from[line * c.extent + k] * chirp<T>(k, c, c.sign));
  });
}

/// Where element `at` of all transforms lies in the application's array; its indices in `k`.
__device__ long long place(const CopyArgs& c, long long at, long long* k, long long* batch) {
  k[2] = at % c.n[2];
  at /= c.n[2];
  k[1] = at % c.n[1];
  at /= c.n[1];
  k[0] = at % c.n[0];
  *batch = at / c.n[0];
  return *batch * c.distance + k[0] * c.stride[0] + k[1] * c.stride[1] + k[2] * c.stride[2];
}

enum Kind { kComplex, kReal, kHalf };

/// Into compact arrays. Of kHalf an array has the first n[2] / 2 + 1 elements of each line: the others are the
/// conjugates of those at the opposite indices.
template <class T, Kind kind>
__device__ void gather(const CopyArgs& c) {
  auto* to = static_cast<Complex<T>*>(c.compact);
  each(c.batch * c.n[0] * c.n[1] * c.n[2], [&](long long i) {
    long long k[3], batch;
    long long at = place(c, i, k, &batch);
    if (kind == kReal) {
      to[i] = {static_cast<const T*>(c.array)[at], T(0)};
      return;
    }
    const bool mirrored = kind == kHalf && k[2] > c.n[2] / 2;
    if (mirrored) {
      at = batch * c.distance;
      for (int d = 0; d < 3; ++d) at += (k[d] == 0 ? 0 : c.n[d] - k[d]) * c.stride[d];
    }
    Complex<T> x = static_cast<const Complex<T>*>(c.array)[at];
    if (mirrored) x.im = -x.im;
    to[i] = x;
  });
}
/// And back.
template <class T, Kind kind>
__device__ void scatter(const CopyArgs& c) {
  const auto* from = static_cast<const Complex<T>*>(c.compact);
  each(c.batch * c.n[0] * c.n[1] * c.n[2], [&](long long i) {
    long long k[3], batch;
    const long long at = place(c, i, k, &batch);
    if (kind == kReal)
      static_cast<T*>(c.array)[at] = from[i].re;
    else if (kind == kComplex || k[2] <= c.n[2] / 2)
      static_cast<Complex<T>*>(c.array)[at] = from[i];
  });
}

}  // namespace

#define NW_KERNELS(T, suffix)                                                              \
  extern "C" __global__ void cufft_radix2_##suffix(PassArgs p) { pass<T, 2>(p); }          \
  extern "C" __global__ void cufft_radix3_##suffix(PassArgs p) { pass<T, 3>(p); }          \
  extern "C" __global__ void cufft_radix4_##suffix(PassArgs p) { pass<T, 4>(p); }          \
  extern "C" __global__ void cufft_radix5_##suffix(PassArgs p) { pass<T, 5>(p); }          \
  extern "C" __global__ void cufft_any_radix_##suffix(PassArgs p) { any_pass<T>(p); }      \
  extern "C" __global__ void cufft_chirp_in_##suffix(ChirpArgs c) { chirp_in<T>(c); }              \
  extern "C" __global__ void cufft_chirp_filter_##suffix(ChirpArgs c) { chirp_filter<T>(c); }      \
  extern "C" __global__ void cufft_chirp_multiply_##suffix(ChirpArgs c) { chirp_multiply<T>(c); }  \
  extern "C" __global__ void cufft_chirp_out_##suffix(ChirpArgs c) { chirp_out<T>(c); }            \
  extern "C" __global__ void cufft_gather_complex_##suffix(CopyArgs c) { gather<T, kComplex>(c); } \
  extern "C" __global__ void cufft_gather_real_##suffix(CopyArgs c) { gather<T, kReal>(c); }       \
  extern "C" __global__ void cufft_gather_half_##suffix(CopyArgs c) { gather<T, kHalf>(c); }       \
  extern "C" __global__ void cufft_scatter_complex_##suffix(CopyArgs c) { scatter<T, kComplex>(c); } \
  extern "C" __global__ void cufft_scatter_real_##suffix(CopyArgs c) { scatter<T, kReal>(c); }     \
  extern "C" __global__ void cufft_scatter_half_##suffix(CopyArgs c) { scatter<T, kHalf>(c); }
NW_KERNELS(float, f32)
NW_KERNELS(double, f64)
