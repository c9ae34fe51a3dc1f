// The only place (with lanes.h) that knows which compiler reads the models.
#pragma once

#include <cassert>

#if defined(__CUDACC__)
#define NW_HD __host__ __device__
#define NW_INLINE __forceinline__
/// On a GPU a function of its own. Its compiler, left to itself, would put a copy into every
/// caller, and instructions that miss their cache are a GPU's largest cost here (docs/backends.md).
#define NW_APART __noinline__
/// The same where a CPU does better without a call.
#define NW_APART_ON_GPU __noinline__ inline
/// A function of its own everywhere: callers do better with a call, their frames being smaller.
#define NW_CALLED __noinline__ inline
/// Behind the parameters of a lambda.
#define NW_INLINE_LAMBDA
/// Of functions that are rarely called: their code shall not crowd out that of their callers.
#define NW_RARE __noinline__
/// A function of its own everywhere: only some machines need it, but those often.
#define NW_OUT_OF_LINE __noinline__
#else
#define NW_HD
#define NW_INLINE inline __attribute__((always_inline))
#define NW_APART
#define NW_APART_ON_GPU NW_INLINE
#define NW_CALLED inline __attribute__((noinline))
#define NW_INLINE_LAMBDA __attribute__((always_inline))
#define NW_RARE __attribute__((cold, noinline))
#define NW_OUT_OF_LINE __attribute__((noinline))
#endif

/// A contract inside the models; compiled in with NW_DEBUG_ASSERTS.
#if defined(NW_DEBUG_ASSERTS)
#define NW_ASSERT(condition) assert(condition)
#else
#define NW_ASSERT(condition) static_cast<void>(0)
#endif
