// Complex numbers as cuComplex has them, in kernels.
#pragma once

namespace nearwarp::cudalibs {

template <class T>
struct Complex {
  T re, im;
  Complex() = default;
  __device__ Complex(T real, T imaginary = 0) : re(real), im(imaginary) {}
};
template <class T>
__device__ Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
__device__ Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
__device__ bool operator==(Complex<T> a, Complex<T> b) {
  return a.re == b.re && a.im == b.im;
}
template <class T>
__device__ Complex<T> conjugate(Complex<T> x, bool wanted) {
  return {x.re, wanted ? -x.im : x.im};
}

}  // namespace nearwarp::cudalibs
