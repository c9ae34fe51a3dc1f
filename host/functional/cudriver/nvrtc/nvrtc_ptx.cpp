// Before NVRTC, which compiles kernels while an application runs: asked for machine code, it gives
// the PTX that it has made that from, because that is what the simulated GPU can load. All else is
// the toolkit's own NVRTC.
#include <dlfcn.h>

#include <cstddef>

namespace {

constexpr int kInternalError = 11;  // nvrtcResult

/// NVRTC's own function; nullptr if NVRTC is not among the program's libraries.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using GetSize = int(void* program, size_t* bytes);
using GetCode = int(void* program, char* code);

/// Calls for PTX, if the program has machine code, else for that, which is an error or nothing.
template <class Function, class To>
int get(const char* of_ptx, const char* of_cubin, void* program, To* to) {
  auto* const cubin_bytes = next<GetSize>("nvrtcGetCUBINSize");
  auto* const ptx = next<Function>(of_ptx);
  auto* const cubin = next<Function>(of_cubin);
  if (cubin_bytes == nullptr || ptx == nullptr || cubin == nullptr) return kInternalError;
  size_t bytes = 0;
  if (cubin_bytes(program, &bytes) != 0 || bytes == 0) return cubin(program, to);
  return ptx(program, to);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int nvrtcGetCUBINSize(void* program,
                                                                        size_t* bytes) {
  return get<GetSize>("nvrtcGetPTXSize", "nvrtcGetCUBINSize", program, bytes);
}
extern "C" __attribute__((visibility("default"))) int nvrtcGetCUBIN(void* program, char* code) {
  return get<GetCode>("nvrtcGetPTX", "nvrtcGetCUBIN", program, code);
}
