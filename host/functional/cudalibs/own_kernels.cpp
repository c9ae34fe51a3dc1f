#include "host/functional/cudalibs/own_kernels.h"

#include <mutex>
#include <string>
#include <unordered_map>

#include "host/functional/cudalibs/runtime_calls.h"

namespace nearwarp::cudalibs {
namespace {

struct Loaded {
  std::mutex mutex;
  std::unordered_map<const char*, void*> libraries;  ///< by text
  std::unordered_map<std::string, void*> kernels;
};

/// Never destroyed: applications may call when the library's objects would be gone.
Loaded& loaded() {
  static Loaded* const all = new Loaded;
  return *all;
}

}  // namespace

void* own_kernel(const char* name, const char* ptx) {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  void*& kernel = all.kernels[name];
  if (kernel != nullptr) return kernel;
  void*& library = all.libraries[ptx];
  if (library == nullptr &&
      cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0) != 0)
    return nullptr;
  return cudaLibraryGetKernel(&kernel, library, name) == 0 ? kernel : nullptr;
}

}  // namespace nearwarp::cudalibs
