// Levels 2 and 3 with bands, packed, symmetric and triangular matrices, and rotations, as an
// application calls them.
#pragma once

#include <type_traits>

#include "tests/cublas/calls.h"

#define NW_DECLARE(L, T)                                                                          \
  int cublas##L##gbmv_v2(void*, int, int, int, int, int, const T*, const T*, int, const T*, int,  \
                         const T*, T*, int);                                                      \
  int cublas##L##symv_v2(void*, int, int, const T*, const T*, int, const T*, int, const T*, T*,   \
                         int);                                                                    \
  int cublas##L##sbmv_v2(void*, int, int, int, const T*, const T*, int, const T*, int, const T*,  \
                         T*, int);                                                                \
  int cublas##L##spmv_v2(void*, int, int, const T*, const T*, const T*, int, const T*, T*, int);  \
  int cublas##L##trmv_v2(void*, int, int, int, int, const T*, int, T*, int);                      \
  int cublas##L##tbmv_v2(void*, int, int, int, int, int, const T*, int, T*, int);                 \
  int cublas##L##tpmv_v2(void*, int, int, int, int, const T*, T*, int);                           \
  int cublas##L##trsv_v2(void*, int, int, int, int, const T*, int, T*, int);                      \
  int cublas##L##tbsv_v2(void*, int, int, int, int, int, const T*, int, T*, int);                 \
  int cublas##L##tpsv_v2(void*, int, int, int, int, const T*, T*, int);                           \
  int cublas##L##syr_v2(void*, int, int, const T*, const T*, int, T*, int);                       \
  int cublas##L##spr_v2(void*, int, int, const T*, const T*, int, T*);                            \
  int cublas##L##syr2_v2(void*, int, int, const T*, const T*, int, const T*, int, T*, int);       \
  int cublas##L##spr2_v2(void*, int, int, const T*, const T*, int, const T*, int, T*);            \
  int cublas##L##symm_v2(void*, int, int, int, int, const T*, const T*, int, const T*, int,       \
                         const T*, T*, int);                                                      \
  int cublas##L##syrk_v2(void*, int, int, int, int, const T*, const T*, int, const T*, T*, int);  \
  int cublas##L##syr2k_v2(void*, int, int, int, int, const T*, const T*, int, const T*, int,      \
                          const T*, T*, int);                                                     \
  int cublas##L##syrkx(void*, int, int, int, int, const T*, const T*, int, const T*, int,         \
                       const T*, T*, int);                                                        \
  int cublas##L##trmm_v2(void*, int, int, int, int, int, int, const T*, const T*, int, const T*,  \
                         int, T*, int);                                                           \
  int cublas##L##trsm_v2(void*, int, int, int, int, int, int, const T*, const T*, int, T*, int);  \
  int cublas##L##trsmBatched(void*, int, int, int, int, int, int, const T*, const T* const*, int, \
                             T* const*, int, int);                                                \
  int cublas##L##rotg_v2(void*, T*, T*, T*, T*);                                                  \
  int cublas##L##rotm_v2(void*, int, T*, int, T*, int, const T*);                                 \
  int cublas##L##rotmg_v2(void*, T*, T*, T*, const T*, T*);
extern "C" {
NW_DECLARE(S, float)
NW_DECLARE(D, double)
}
#undef NW_DECLARE

// The function of either type.
#define NW_OF(T, name)                      \
  [] {                                      \
    if constexpr (std::is_same_v<T, float>) \
      return cublasS##name;                 \
    else                                    \
      return cublasD##name;                 \
  }()
