// PTX of the programs, embedded at build time.
#pragma once

namespace nearwarp::reference::embedded {

extern const char* const alu_ptx;
extern const char* const atomics_ptx;
extern const char* const branch_ptx;
extern const char* const chase_ptx;
extern const char* const constant_ptx;
extern const char* const diverge_ptx;
extern const char* const fma_ptx;
extern const char* const local_ptx;
extern const char* const saxpy_ptx;
extern const char* const shared_ptx;
extern const char* const spmv_ptx;
extern const char* const stencil_ptx;
extern const char* const transpose_ptx;
extern const char* const vecadd_ptx;

}  // namespace nearwarp::reference::embedded
