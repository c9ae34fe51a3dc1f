// The only place (with lanes.h) that knows which compiler reads the models.
#pragma once

#include <cassert>

// Where a function's code lies. Left to itself a GPU's compiler puts a copy of it into every
// caller, and instructions that miss their cache are a GPU's largest cost (docs/backends.md): what
// several places call, or one rarely, is marked.
//   NW_INLINE        in its callers: accessors, and steps that one place takes.
//   NW_APART         a function of its own on a GPU; a CPU's compiler chooses.
//   NW_APART_ON_GPU  the same, but in its callers on a CPU, where that was measured to be better.
//   NW_CALLED        a function of its own everywhere: its callers' frames are smaller for it.
//   NW_RARE          the same, and on a CPU away from the code of its callers.
// NW_CHOOSE_INLINING (the models under the address sanitizer) leaves NW_INLINE to a CPU's compiler:
// every copy of a function has its checks, which compilers take long for.
#if defined(__CUDACC__)
#define NW_HD __host__ __device__
#define NW_INLINE __forceinline__
#define NW_APART __noinline__
#define NW_APART_ON_GPU __noinline__ inline
#define NW_CALLED __noinline__ inline
#define NW_RARE __noinline__
/// Behind the parameters of a lambda: as NW_INLINE.
#define NW_INLINE_LAMBDA
#else
#define NW_HD
#define NW_APART
#define NW_APART_ON_GPU NW_INLINE
#define NW_CALLED inline __attribute__((noinline))
#define NW_RARE __attribute__((cold, noinline))
#if defined(NW_CHOOSE_INLINING)
#define NW_INLINE inline
#define NW_INLINE_LAMBDA
#else
#define NW_INLINE inline __attribute__((always_inline))
#define NW_INLINE_LAMBDA __attribute__((always_inline))
#endif
#endif

/// A contract inside the models; compiled in with NW_DEBUG_ASSERTS.
#if defined(NW_DEBUG_ASSERTS)
#define NW_ASSERT(condition) assert(condition)
#else
#define NW_ASSERT(condition) static_cast<void>(0)
#endif
