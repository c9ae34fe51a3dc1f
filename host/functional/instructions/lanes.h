// Loops over the 32 lanes of rows, which all arithmetic handlers use.
//
// Destinations may be the same row as a source of the same width (lanes are independent), never a
// partial overlap; hence the `ivdep` pragmas. Masked forms compute every lane and blend, which is
// why no operation here may trap.
#pragma once

#include <cstdint>
#include <type_traits>

#include "host/functional/instructions/decoded.h"

namespace nearwarp::exec {

template <class T>
NW_HD NW_INLINE T* row(uint8_t* rows, uint16_t index) {
  return reinterpret_cast<T*>(rows + size_t{index} * kRowBytes);
}

template <class T>
using LaneBits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// A table of 1 << lane with elements as wide as T. Loops that shift by the lane instead are not
/// vectorised.
template <class T>
struct LaneBit {
  alignas(32) LaneBits<T> at[kLanes];
  constexpr LaneBit() : at{} {
    for (uint32_t i = 0; i < kLanes; ++i) at[i] = LaneBits<T>{1} << i;
  }
};
template <class T>
inline constexpr LaneBit<T> kLaneBit;

/// Is `lane` in `mask`? For loops over lanes as wide as T.
template <class T>
NW_HD NW_INLINE bool lane_in(uint32_t mask, uint32_t lane) {
  return (mask & kLaneBit<T>.at[lane]) != 0;
}

template <class D, class A, class F>
NW_HD NW_INLINE void unary(uint8_t* rows, const Op& op, F f) {
  D* d = row<D>(rows, op.d);
  const A* a = row<A>(rows, op.a);
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i) d[i] = f(a[i]);
}
template <class D, class A, class F>
NW_HD NW_INLINE void unary_masked(uint8_t* rows, const Op& op, uint32_t mask, F f) {
  D* d = row<D>(rows, op.d);
  const A* a = row<A>(rows, op.a);
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i) {
    const D v = f(a[i]);
    d[i] = lane_in<D>(mask, i) ? v : d[i];
  }
}

template <class D, class A, class B, class F>
NW_HD NW_INLINE void binary(uint8_t* rows, const Op& op, F f) {
  D* d = row<D>(rows, op.d);
  const A* a = row<A>(rows, op.a);
  const B* b = row<B>(rows, op.b);
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i) d[i] = f(a[i], b[i]);
}
template <class D, class A, class B, class F>
NW_HD NW_INLINE void binary_masked(uint8_t* rows, const Op& op, uint32_t mask, F f) {
  D* d = row<D>(rows, op.d);
  const A* a = row<A>(rows, op.a);
  const B* b = row<B>(rows, op.b);
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i) {
    const D v = f(a[i], b[i]);
    d[i] = lane_in<D>(mask, i) ? v : d[i];
  }
}

template <class D, class A, class B, class C, class F>
NW_HD NW_INLINE void ternary(uint8_t* rows, const Op& op, F f) {
  D* d = row<D>(rows, op.d);
  const A* a = row<A>(rows, op.a);
  const B* b = row<B>(rows, op.b);
  const C* c = row<C>(rows, op.c);
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i) d[i] = f(a[i], b[i], c[i]);
}
template <class D, class A, class B, class C, class F>
NW_HD NW_INLINE void ternary_masked(uint8_t* rows, const Op& op, uint32_t mask, F f) {
  D* d = row<D>(rows, op.d);
  const A* a = row<A>(rows, op.a);
  const B* b = row<B>(rows, op.b);
  const C* c = row<C>(rows, op.c);
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i) {
    const D v = f(a[i], b[i], c[i]);
    d[i] = lane_in<D>(mask, i) ? v : d[i];
  }
}

template <class T>
NW_HD NW_INLINE void select(uint8_t* rows, const Op& op, uint32_t mask, uint32_t condition) {
  T* d = row<T>(rows, op.d);
  const T* a = row<T>(rows, op.a);
  const T* b = row<T>(rows, op.b);
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i) {
    const T v = lane_in<T>(condition, i) ? a[i] : b[i];
    d[i] = lane_in<T>(mask, i) ? v : d[i];
  }
}

/// The lanes for which f holds, as a mask.
template <class A, class F>
NW_HD NW_INLINE uint32_t compare(uint8_t* rows, const Op& op, F f) {
  const A* a = row<A>(rows, op.a);
  const A* b = row<A>(rows, op.b);
  LaneBits<A> m = 0;
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i)
    m |= (LaneBits<A>{0} - LaneBits<A>{f(a[i], b[i])}) & kLaneBit<A>.at[i];
  return static_cast<uint32_t>(m);
}

/// Calls f(lane) for every lane of `mask`, in ascending order.
template <class F>
NW_HD NW_INLINE void for_each_lane(uint32_t mask, F f) {
  while (mask != 0) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(mask));
    mask &= mask - 1;
    f(lane);
  }
}

}  // namespace nearwarp::exec
