// Self-checks of the test applications that use the driver API.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <cstdlib>

#ifndef CHECK
#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      std::printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)
#endif

inline const char* name_of(CUresult status) {
  const char* name = "?";
  cuGetErrorName(status, &name);
  return name;
}

/// The call ends with this status.
#define CU_GIVES(expected, call)                                                     \
  do {                                                                               \
    const CUresult cu_status = (call);                                               \
    if (cu_status != expected) {                                                     \
      std::printf("FAILED %s:%d: %s: %s instead of %s\n", __FILE__, __LINE__, #call, \
                  name_of(cu_status), name_of(expected));                            \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)
#define CU(call) CU_GIVES(CUDA_SUCCESS, call)
