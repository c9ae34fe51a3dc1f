// Entry points that load code, and find kernels and variables in it. A module and a library are the
// same: what cudaLibraryLoadData() loads.
#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

Status load(void** module, const void* image, unsigned num_options, int* options, void** values) {
  return call([&] {
    return cudaLibraryLoadData(module, image, options, values, num_options, nullptr, nullptr, 0);
  });
}

Status get_global(DevicePtr* address_out, size_t* bytes, void* module, const char* name) {
  return call([&] {
    void* start = nullptr;
    check(cudaLibraryGetGlobal(&start, bytes, module, name));
    if (address_out != nullptr) *address_out = address(start);
    return kSuccess;
  });
}

}  // namespace

NW_CU cuModuleLoadData(void** module, const void* image) {
  return load(module, image, 0, nullptr, nullptr);
}
NW_CU cuModuleLoadDataEx(void** module, const void* image, unsigned num_options, int* options,
                         void** values) {
  return load(module, image, num_options, options, values);
}
NW_CU cuModuleLoadFatBinary(void** module, const void* image) {
  return load(module, image, 0, nullptr, nullptr);
}
NW_CU cuModuleLoad(void** module, const char* path) {
  return call([&] {
    return cudaLibraryLoadFromFile(module, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
  });
}
NW_CU cuModuleUnload(void* module) { return forward(cudaLibraryUnload, module); }
NW_CU cuModuleGetLoadingMode(int* mode) {
  return call(Needs::kInitialization, [&] {
    constexpr int kEager = 1;
    require(mode != nullptr);
    *mode = kEager;
    return kSuccess;
  });
}
NW_CU cuModuleGetFunction(void** function, void* module, const char* name) {
  return forward(cudaLibraryGetKernel, function, module, name);
}
NW_CU cuModuleGetFunctionCount(unsigned* count, void* module) {
  return forward(cudaLibraryGetKernelCount, count, module);
}
NW_CU cuModuleEnumerateFunctions(void** functions, unsigned room, void* module) {
  return forward(cudaLibraryEnumerateKernels, functions, room, module);
}
NW_CU cuModuleGetGlobal_v2(DevicePtr* address, size_t* bytes, void* module, const char* name) {
  return get_global(address, bytes, module, name);
}

// --- Libraries -----------------------------------------------------------------------------------

/// Loads a library. Libraries belong to no context, so none is needed.
NW_CU cuLibraryLoadData(void** library, const void* code, int* options, void** values,
                        unsigned num_options, int* library_options, void** library_values,
                        unsigned num_library_options) {
  return call(Needs::kInitialization, [&] {
    return cudaLibraryLoadData(library, code, options, values, num_options, library_options,
                               library_values, num_library_options);
  });
}
NW_CU cuLibraryLoadFromFile(void** library, const char* path, int* options, void** values,
                            unsigned num_options, int* library_options, void** library_values,
                            unsigned num_library_options) {
  return call(Needs::kInitialization, [&] {
    return cudaLibraryLoadFromFile(library, path, options, values, num_options, library_options,
                                   library_values, num_library_options);
  });
}
NW_CU cuLibraryUnload(void* library) {
  return call(Needs::kInitialization, [&] { return cudaLibraryUnload(library); });
}
NW_CU cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return call(Needs::kInitialization, [&] { return cudaLibraryGetKernel(kernel, library, name); });
}
NW_CU cuLibraryGetKernelCount(unsigned* count, void* library) {
  return call(Needs::kInitialization, [&] { return cudaLibraryGetKernelCount(count, library); });
}
NW_CU cuLibraryEnumerateKernels(void** kernels, unsigned room, void* library) {
  return call(Needs::kInitialization,
              [&] { return cudaLibraryEnumerateKernels(kernels, room, library); });
}
NW_CU cuLibraryGetModule(void** module, void* library) {
  return call([&] {
    unsigned count = 0;
    require(module != nullptr);
    check(cudaLibraryGetKernelCount(&count, library));
    *module = library;
    return kSuccess;
  });
}
NW_CU cuLibraryGetGlobal(DevicePtr* address, size_t* bytes, void* library, const char* name) {
  return get_global(address, bytes, library, name);
}
NW_CU cuLibraryGetManaged(DevicePtr* address, size_t* bytes, void* library, const char* name) {
  return get_global(address, bytes, library, name);
}
NW_CU cuLibraryGetUnifiedFunction(void** function, void* library, const char* name) {
  return forward(cudaLibraryGetUnifiedFunction, function, library, name);
}

}  // namespace nearwarp::cudriver
