// Drives libcuda.so.1 by its entry points' names, without a CUDA toolkit.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "host/functional/cudriver/abi.h"
#include "tests/cudart/library.h"

namespace nearwarp::cudriver {

inline void* driver_symbol(const std::string& name) {
  static void* const library = dlopen(NW_CUDRIVER, RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : dlsym(library, name.c_str());
}

/// Pointers, integers and structures must be exactly those of the interface.
template <class... Args>
int call_driver(const std::string& name, Args... args) {
  void* const address = driver_symbol(name);
  if (address == nullptr) {
    ADD_FAILURE() << name << ": " << dlerror();
    return -1;
  }
  return reinterpret_cast<int (*)(Args...)>(address)(args...);
}

class DriverLibrary : public testing::Test {
 protected:
  static void* symbol(const std::string& name) { return driver_symbol(name); }
  template <class... Args>
  static int call(const std::string& name, Args... args) {
    return call_driver(name, args...);
  }
  static void* make_context() {
    void* context = nullptr;
    EXPECT_EQ(call("cuInit", 0u), cudart::kSuccess);
    EXPECT_EQ(call("cuCtxCreate_v2", &context, 0u, 0), cudart::kSuccess);
    return context;
  }
};

}  // namespace nearwarp::cudriver
