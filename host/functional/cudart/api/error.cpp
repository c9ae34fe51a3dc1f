// Entry points about errors and versions.
#include "host/functional/cudart/error_names.h"
#include "host/functional/cudart/runtime.h"

using namespace nearwarp::cudart;

namespace {
constexpr int kVersion = 13000;  // CUDA 13.0
}

NW_API cudaPeekAtLastError() {
  const Status sticky = the_runtime().sticky;
  return sticky != kSuccess ? sticky : last_error();
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

NW_API cudaRuntimeGetVersion(int* version) {
  return api([&](Runtime&) {
    require(version != nullptr);
    *version = kVersion;
    return kSuccess;
  });
}
NW_API cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
