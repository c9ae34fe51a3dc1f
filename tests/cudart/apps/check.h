// Self-checks of the test applications: a condition that does not hold ends the program.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      std::printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

#define CUDA(call)                                                     \
  do {                                                                 \
    const cudaError_t cuda_status = (call);                            \
    if (cuda_status != cudaSuccess) {                                  \
      std::printf("FAILED %s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                  cudaGetErrorName(cuda_status));                      \
      std::exit(1);                                                    \
    }                                                                  \
  } while (0)

/// The call must return this error, which cudaGetLastError() then reports exactly once.
#define FAILS(error, call)                                                           \
  do {                                                                               \
    const cudaError_t cuda_status = (call);                                          \
    if (cuda_status != error) {                                                      \
      std::printf("FAILED %s:%d: %s: %s instead of %s\n", __FILE__, __LINE__, #call, \
                  cudaGetErrorName(cuda_status), #error);                            \
      std::exit(1);                                                                  \
    }                                                                                \
    CHECK(cudaPeekAtLastError() == error);                                           \
    CHECK(cudaGetLastError() == error);                                              \
    CHECK(cudaGetLastError() == cudaSuccess);                                        \
  } while (0)

inline int passed() {
  std::puts("passed");
  return 0;
}
