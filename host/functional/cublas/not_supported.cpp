#include "host/functional/cudalibs/not_supported.h"

#include "host/functional/cublas/handle.h"

namespace nearwarp::cublas {

void say_not_supported(const char* function, const char* what) {
  cudalibs::say_not_supported(function, what == nullptr ? "" : what, "cuBLAS",
                              "CUBLAS_STATUS_NOT_SUPPORTED");
}

}  // namespace nearwarp::cublas

/// Where entry points end that the library does not implement.
extern "C" int nw_cublas_not_supported(const char* name) {
  nearwarp::cublas::say_not_supported(name);
  return nearwarp::cublas::kNotSupported;
}
