// Names and texts of status codes, in cuBLAS's own words, since programs print them.
#pragma once

#include "host/functional/cublas/abi.h"

namespace nearwarp::cublas {

inline const char* status_name(Status status) {
  switch (status) {
    case kSuccess:
      return "CUBLAS_STATUS_SUCCESS";
    case kNotInitialized:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case kAllocFailed:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case kInvalidValue:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case kArchMismatch:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case kMappingError:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case kExecutionFailed:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case kInternalError:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case kNotSupported:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case kLicenseError:
      return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "unrecognized status";
}
inline const char* status_text(Status status) {
  switch (status) {
    case kSuccess:
      return "success";
    case kNotInitialized:
      return "the library was not initialized";
    case kAllocFailed:
      return "the resource allocation failed";
    case kInvalidValue:
      return "an unsupported value or parameter was passed to the function";
    case kArchMismatch:
      return "the function requires an architectural feature absent from the device";
    case kMappingError:
      return "an access to GPU memory space failed";
    case kExecutionFailed:
      return "the function failed to launch on the GPU";
    case kInternalError:
      return "an internal operation failed";
    case kNotSupported:
      return "the requested functionality is not supported";
    case kLicenseError:
      return "the license check failed";
  }
  return "unrecognized status";
}

}  // namespace nearwarp::cublas
