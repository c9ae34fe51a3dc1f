// The library's kernels: PTX that is loaded at first use and launched like an application's.
#pragma once

#include "host/functional/cublas/runtime_calls.h"

namespace nearwarp::cublas {

/// Launch kernel `name`, whose one parameter is `args`. Throws Failure.
void launch(const char* name, Dim grid, Dim block, void* args, Stream stream);
template <class Args>
void launch(const char* name, Dim grid, Dim block, const Args& args, Stream stream) {
  Args copy = args;
  launch(name, grid, block, static_cast<void*>(&copy), stream);
}

/// Has the device matrix instructions for bf16 and tf32 (compute capability 8.0 and later)?
bool multiplies_bf16_and_tf32();

}  // namespace nearwarp::cublas
