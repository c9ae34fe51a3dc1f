// Entry points that find the driver's entry points. `nearwarp run` tells where its library lies;
// otherwise there are none.
#include <dlfcn.h>

#include <cstdlib>

#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr unsigned kRuntimeVersion = 13000;  // of CUDA that this runtime is of
constexpr int kNotFound = 1;

using GetProcAddress = int (*)(const char*, void**, int, uint64_t, int*);

/// nullptr if there is no such library.
GetProcAddress driver() {
  static const GetProcAddress get = []() -> GetProcAddress {
    const char* const path = std::getenv(kDriverVariable);
    void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    // Programs that ask the runtime for functions need not initialise the driver.
    const auto initialize = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
    if (initialize == nullptr || initialize(0) != kSuccess) return nullptr;
    return reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  }();
  return get;
}

}  // namespace

NW_API cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                        unsigned long long flags, int* found) {
  const Status status = api([&](Runtime&) {
    require(symbol != nullptr && function != nullptr);
    return kSuccess;
  });
  if (status != kSuccess) return status;
  *function = nullptr;
  int result = kNotFound;
  if (driver() != nullptr) {  // not under the lock: it calls this library
    const int problem = driver()(symbol, function, static_cast<int>(version), flags, &result);
    if (problem != kSuccess) return failed(static_cast<Status>(problem));
  }
  if (found != nullptr) *found = result;
  if (*function == nullptr && found == nullptr) return failed(kErrorSymbolNotFound);
  return kSuccess;
}
NW_API cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                               int* found) {
  const OuterCall outer;
  return cudaGetDriverEntryPointByVersion(symbol, function, kRuntimeVersion, flags, found);
}
