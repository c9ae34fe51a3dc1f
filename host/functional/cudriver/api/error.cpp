// Entry points about errors, and what the runtime's statuses are called here.
#include <cstring>

#include "host/functional/cudriver/driver.h"
#include "host/functional/cudriver/error_names.h"

namespace nearwarp::cudriver {

Status driver_status(Status status) {
  switch (status) {
    case kErrorInvalidConfiguration:
    case kErrorInvalidPitchValue:
    case kErrorInvalidChannelDescriptor:
    case kErrorInvalidMemcpyDirection:
    case kErrorInvalidFilterSetting:
    case kErrorInvalidNormSetting:
      return kErrorInvalidValue;
    case kErrorInvalidSymbol:
      return kErrorSymbolNotFound;
    case kErrorInvalidDeviceFunction:
      return kErrorInvalidResourceHandle;
    default:
      return error_name(status) != nullptr ? status : kErrorUnknown;
  }
}

NW_CU cuGetErrorName(int status, const char** name) {
  if (name == nullptr) return kErrorInvalidValue;
  *name = error_name(status);
  return *name != nullptr ? kSuccess : kErrorInvalidValue;
}
NW_CU cuGetErrorString(int status, const char** text) {
  if (text == nullptr) return kErrorInvalidValue;
  *text = error_name(status);
  if (*text == nullptr) return kErrorInvalidValue;
  // Where the runtime has no text it gives its own name.
  const char* const described = cudaGetErrorString(status);
  if (std::strncmp(described, "cuda", 4) != 0 && std::strncmp(described, "unrec", 5) != 0)
    *text = described;
  return kSuccess;
}

}  // namespace nearwarp::cudriver
