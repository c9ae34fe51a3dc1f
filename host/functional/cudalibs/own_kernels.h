// Kernels of a library of CUDA's, from PTX that ships with it. Compiled into each of them.
#pragma once

namespace nearwarp::cudalibs {

/// The kernel of that name (cudaKernel_t) in a PTX text, which is loaded when one of its kernels is
/// first wanted; null if the runtime library refuses it. Kernels' names are unique in a library.
void* own_kernel(const char* name, const char* ptx);

}  // namespace nearwarp::cudalibs
