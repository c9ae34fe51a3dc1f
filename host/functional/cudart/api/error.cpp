// Entry points about errors and versions.
#include "host/functional/cudart/runtime/runtime.h"
#include "host/functional/cudart/status/error_names.h"

using namespace nearwarp::cudart;

namespace {
constexpr int kVersion = 13000;  // CUDA 13.0
}

NW_API cudaPeekAtLastError() {
  Runtime& r = the_runtime();
  const Status status = r.sticky != kSuccess ? r.sticky : last_error();
  if (status != kSuccess) {
    const std::lock_guard lock(r.mutex);
    r.failed_calls.looked_at(thread_state());
  }
  return status;
}

NW_API cudaGetLastError() {
  const Status status = cudaPeekAtLastError();
  last_error() = kSuccess;
  return status;
}

extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorName(int status) {
  return error_name(status);
}
extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorString(int status) {
  return error_text(status);
}

/// Tells the version, also without a device.
NW_API cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return failed(kErrorInvalidValue);
  *version = kVersion;
  return kSuccess;
}
NW_API cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
