// Words that several warps of a device change at the same time: atomics with the order of memory
// that they bring with them, on a GPU and on the CPU that stands for one in tests.
#pragma once

#include <cstdint>

#include "device/core/types.h"

#if defined(__CUDACC__)
#include <cuda/atomic>
#endif

namespace nearwarp::kernels {

// Atomics in the order of what they promise. All are of the scope of the device.

template <class T>
NW_HD NW_INLINE T load_relaxed(const T* p) {
#if defined(__CUDA_ARCH__)
  return cuda::atomic_ref<T, cuda::thread_scope_device>(*const_cast<T*>(p))
      .load(cuda::memory_order_relaxed);
#else
  return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}

/// Adds, and returns what was there before, as all that add.
template <class T>
NW_HD NW_INLINE T add_relaxed(T* p, T value) {
#if defined(__CUDA_ARCH__)
  return cuda::atomic_ref<T, cuda::thread_scope_device>(*p).fetch_add(value,
                                                                      cuda::memory_order_relaxed);
#else
  return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
#endif
}

/// Stores. All that was written before is there for who reads the word, or adds to it, afterwards.
template <class T>
NW_HD NW_INLINE void store_release(T* p, T value) {
#if defined(__CUDA_ARCH__)
  cuda::atomic_ref<T, cuda::thread_scope_device>(*p).store(value, cuda::memory_order_release);
#else
  __atomic_store_n(p, value, __ATOMIC_RELEASE);
#endif
}

/// Adds. All that others wrote before they wrote or added is there; what was written before is
/// there who adds afterwards.
template <class T>
NW_HD NW_INLINE T add_acquire_release(T* p, T value) {
#if defined(__CUDA_ARCH__)
  return cuda::atomic_ref<T, cuda::thread_scope_device>(*p).fetch_add(value,
                                                                      cuda::memory_order_acq_rel);
#else
  return __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL);
#endif
}

}  // namespace nearwarp::kernels
