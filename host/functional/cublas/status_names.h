// Names of the codes that calls return.
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
  return "unknown";
}
inline const char* status_text(Status status) {
  switch (status) {
    case kSuccess:
      return "success";
    case kNotInitialized:
      return "there is no handle, or no device";
    case kAllocFailed:
      return "no memory";
    case kInvalidValue:
      return "an argument is wrong";
    case kArchMismatch:
      return "the device cannot do this";
    case kMappingError:
      return "memory cannot be reached";
    case kExecutionFailed:
      return "a kernel could not be launched";
    case kInternalError:
      return "an error inside the library";
    case kNotSupported:
      return "not supported";
    case kLicenseError:
      return "no license";
  }
  return "unknown";
}

}  // namespace nearwarp::cublas
