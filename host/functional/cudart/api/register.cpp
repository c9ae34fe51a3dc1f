// Entry points that nvcc's host code calls before main() and at exit: registration.
#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {
Module& module_of(void** handle) { return *reinterpret_cast<Module*>(handle); }
}  // namespace

#define NW_REGISTER(type) extern "C" __attribute__((visibility("default"))) type

NW_REGISTER(void**) __cudaRegisterFatBinary(void* wrapper) {
  Runtime& r = the_runtime();
  const std::lock_guard lock(r.mutex);
  return reinterpret_cast<void**>(&r.modules.add(wrapper));
}

NW_REGISTER(void) __cudaRegisterFatBinaryEnd(void**) {}

NW_REGISTER(void) __cudaUnregisterFatBinary(void** handle) {
  if (handle == nullptr) return;
  Runtime& r = the_runtime();
  const std::lock_guard lock(r.mutex);
  r.modules.remove(module_of(handle));
}

NW_REGISTER(void)
__cudaRegisterFunction(void** handle, const char* host_function, char*, const char* name, int,
                       void*, void*, void*, void*, int*) {
  Runtime& r = the_runtime();
  const std::lock_guard lock(r.mutex);
  r.modules.add_kernel(module_of(handle), host_function, name);
}

NW_REGISTER(void)
__cudaRegisterVar(void** handle, char* host_variable, char*, const char* name, int, size_t bytes,
                  int, int) {
  Runtime& r = the_runtime();
  const std::lock_guard lock(r.mutex);
  r.modules.add_variable(module_of(handle), host_variable, name, bytes);
}

NW_REGISTER(void)
__cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int,
                         size_t bytes, int, int) {
  Runtime& r = the_runtime();
  const std::lock_guard lock(r.mutex);
  Module& m = module_of(handle);
  m.managed.push_back({host_pointer, name});
  r.modules.add_variable(m, host_pointer, name, bytes);
}

/// Host code calls this before it touches a managed variable.
NW_REGISTER(char) __cudaInitModule(void** handle) {
  return api([&](Runtime& r) {
           r.modules.load(r, module_of(handle));
           return kSuccess;
         }) == kSuccess
             ? 1
             : 0;
}
