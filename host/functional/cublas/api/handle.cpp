// Entry points for handles and their settings.
#include "host/functional/cublas/handle.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "host/functional/cublas/api/entry.h"
#include "host/functional/cublas/status_names.h"

using namespace nearwarp::cublas;

namespace {

constexpr int kMajor = 13, kMinor = 0, kPatch = 0;  // version of the interface

}  // namespace

NW_CUBLAS cublasCreate_v2(Handle** handle) {
  return call("cublasCreate", [&] {
    require(handle != nullptr);
    *handle = new Handle;
  });
}
NW_CUBLAS cublasDestroy_v2(Handle* handle) {
  return call("cublasDestroy", handle, [&] { delete handle; });
}
NW_CUBLAS cublasGetVersion_v2(Handle*, int* version) {
  return call("cublasGetVersion", [&] {
    require(version != nullptr);
    *version = kMajor * 10000 + kMinor * 100 + kPatch;
  });
}
NW_CUBLAS cublasGetProperty(int property, int* value) {
  return call("cublasGetProperty", [&] {
    require(value != nullptr && property >= 0 && property <= 2);
    const int values[] = {kMajor, kMinor, kPatch};
    *value = values[property];
  });
}
extern "C" __attribute__((visibility("default"))) size_t cublasGetCudartVersion() {
  return kMajor * 1000;
}
extern "C" __attribute__((visibility("default"))) const char* cublasGetStatusName(Status status) {
  return status_name(status);
}
extern "C" __attribute__((visibility("default"))) const char* cublasGetStatusString(Status status) {
  return status_text(status);
}

NW_CUBLAS cublasSetStream_v2(Handle* handle, Stream stream) {
  return call("cublasSetStream", handle, [&] {
    handle->stream = stream;
    handle->workspace = nullptr;  // as NVIDIA's: each stream begins with the library's own
    handle->workspace_bytes = 0;
  });
}
NW_CUBLAS cublasGetStream_v2(Handle* handle, Stream* stream) {
  return call("cublasGetStream", handle, [&] {
    require(stream != nullptr);
    *stream = handle->stream;
  });
}
/// Sets memory for products in place; without it they allocate memory in their stream.
NW_CUBLAS cublasSetWorkspace_v2(Handle* handle, void* workspace, size_t bytes) {
  return call("cublasSetWorkspace", handle, [&] {
    constexpr uintptr_t kAlignment = 256;
    require(reinterpret_cast<uintptr_t>(workspace) % kAlignment == 0);
    handle->workspace = workspace;
    handle->workspace_bytes = workspace == nullptr ? 0 : bytes;
  });
}

/// The entry points of a handle's setting, which is between 0 and `most`.
#define NW_SETTING(Name, field, most)                     \
  NW_CUBLAS cublasSet##Name(Handle* handle, int value) {  \
    return call("cublasSet" #Name, handle, [&] {          \
      require(value >= 0 && value <= (most));             \
      handle->field = value;                              \
    });                                                   \
  }                                                       \
  NW_CUBLAS cublasGet##Name(Handle* handle, int* value) { \
    return call("cublasGet" #Name, handle, [&] {          \
      require(value != nullptr);                          \
      *value = handle->field;                             \
    });                                                   \
  }
NW_SETTING(PointerMode_v2, pointer_mode, 1)
NW_SETTING(AtomicsMode, atomics_mode, 1)
NW_SETTING(SmCountTarget, sm_count_target, 1 << 16)

/// `value` is a mode of cublasMath_t, maybe with the flag that forbids sums of lower precision than
/// the result's.
NW_CUBLAS cublasSetMathMode(Handle* handle, int value) {
  return call("cublasSetMathMode", handle, [&] {
    constexpr int kNoLowerSums = 16, kModes[] = {0, 1, 2, 3, 4, 8};
    require(std::ranges::find(kModes, value & ~kNoLowerSums) != std::end(kModes));
    handle->math_mode = value;
  });
}
NW_CUBLAS cublasGetMathMode(Handle* handle, int* value) {
  return call("cublasGetMathMode", handle, [&] {
    require(value != nullptr);
    *value = handle->math_mode;
  });
}

/// The logger's settings are accepted, but nothing is logged.
NW_CUBLAS cublasLoggerConfigure(int, int, int, const char*) { return kSuccess; }
NW_CUBLAS cublasSetLoggerCallback(void*) { return kSuccess; }
NW_CUBLAS cublasGetLoggerCallback(void** callback) {
  return call("cublasGetLoggerCallback", [&] {
    require(callback != nullptr);
    *callback = nullptr;
  });
}
