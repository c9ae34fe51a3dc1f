// Does the driver library do what applications ask of it, without a toolkit?
#include "tests/cudart/library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "host/cudriver/abi.h"

namespace nearwarp::cudriver {
namespace {

using cudart::kErrorInitialization;
using cudart::kErrorInvalidValue;
using cudart::kErrorNotSupported;
using cudart::kErrorSymbolNotFound;
using cudart::kSuccess;

class DriverLibrary : public testing::Test {
 protected:
  static void* symbol(const std::string& name) {
    static void* const library = dlopen(NW_CUDRIVER, RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : dlsym(library, name.c_str());
  }
  /// Pointers, integers and structures must be exactly those of the interface.
  template <class... Args>
  static int call(const std::string& name, Args... args) {
    void* const address = symbol(name);
    if (address == nullptr) {
      ADD_FAILURE() << name << ": " << dlerror();
      return -1;
    }
    return reinterpret_cast<int (*)(Args...)>(address)(args...);
  }
  static void* make_context() {
    void* context = nullptr;
    EXPECT_EQ(call("cuInit", 0u), kSuccess);
    EXPECT_EQ(call("cuCtxCreate_v2", &context, 0u, 0), kSuccess);
    return context;
  }
};

TEST_F(DriverLibrary, EveryNameOfTheRealLibraryIsThere) {
  std::ifstream list(NW_SOURCE_DIR "/host/cudriver/names.txt");
  std::string name, before;
  int version = 0, count = 0;
  while (list >> name >> version) {
    EXPECT_NE(symbol(name), nullptr) << name;
    EXPECT_LT(before, name) << "names.txt is sorted";
    EXPECT_GE(version, 2000) << name;
    EXPECT_LE(version, 13000) << name;
    before = name;
    ++count;
  }
  EXPECT_EQ(count, 637);
}

TEST_F(DriverLibrary, EveryNameIsFoundByItsVersion) {
  std::ifstream list(NW_SOURCE_DIR "/host/cudriver/names.txt");
  std::string name;
  int version = 0;
  while (list >> name >> version) {
    void* function = nullptr;
    int found = -1;
    EXPECT_EQ(call("cuGetProcAddress_v2", name.c_str(), &function, 13000, uint64_t{0}, &found),
              kSuccess);
    EXPECT_EQ(found, 0) << name;
    EXPECT_NE(function, nullptr) << name;
    function = &function;
    EXPECT_EQ(
        call("cuGetProcAddress_v2", name.c_str(), &function, version - 1, uint64_t{0}, &found),
        kSuccess);
    EXPECT_EQ(found, 2) << name;
    EXPECT_EQ(function, nullptr) << name;
  }
}

TEST_F(DriverLibrary, WhatIsNotImplementedSaysSoOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cuMulticastCreate"), kErrorNotSupported);
  EXPECT_EQ(call("cuMulticastCreate"), kErrorNotSupported);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("cuMulticastCreate() is not supported"), std::string::npos) << text;
  EXPECT_EQ(text.find("cuMulticastCreate"), text.rfind("cuMulticastCreate")) << text;
}

TEST_F(DriverLibrary, NothingWorksBeforeItIsInitialised) {
  int count = 0;
  EXPECT_EQ(call("cuDeviceGetCount", &count), kErrorInitialization);
  void* context = nullptr;
  EXPECT_EQ(call("cuCtxCreate_v2", &context, 0u, 0), kErrorInitialization);
  EXPECT_EQ(call("cuInit", 0u), kSuccess);
  EXPECT_EQ(call("cuDeviceGetCount", &count), kSuccess);
  EXPECT_EQ(count, 1);
  DevicePtr p = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &p, size_t{4}), kErrorInvalidContext);
}

TEST_F(DriverLibrary, VectorAddFromText) {
  void* const context = make_context();
  const std::string ptx = cudart::read_ptx("kernels.ptx");
  void *module = nullptr, *add = nullptr;
  ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(ptx.c_str())), kSuccess);
  ASSERT_EQ(call("cuModuleGetFunction", &add, module, "vector_add"), kSuccess);
  constexpr int kCount = 1000;
  std::vector<float> a(kCount, 1.5f), b(kCount, 2.0f), c(kCount);
  DevicePtr da = 0, db = 0, dc = 0;
  for (DevicePtr* p : {&da, &db, &dc})
    ASSERT_EQ(call("cuMemAlloc_v2", p, size_t{kCount * 4}), kSuccess);
  const void* const from = a.data();
  ASSERT_EQ(call("cuMemcpyHtoD_v2", da, from, size_t{kCount * 4}), kSuccess);
  ASSERT_EQ(call("cuMemsetD32_v2", db, 0x40000000u, size_t{kCount}), kSuccess);  // 2.0f
  int n = kCount;
  void* args[] = {&da, &db, &dc, &n};
  ASSERT_EQ(call("cuLaunchKernel", static_cast<const void*>(add), 8u, 1u, 1u, 128u, 1u, 1u, 0u,
                 Stream{nullptr}, args, static_cast<void**>(nullptr)),
            kSuccess);
  void* const to = c.data();
  ASSERT_EQ(call("cuMemcpyDtoH_v2_ptds", to, dc, size_t{kCount * 4}), kSuccess)
      << "by the name for per-thread default streams";
  for (float value : c) ASSERT_EQ(value, 3.5f);
  EXPECT_EQ(call("cuCtxDestroy_v2", context), kSuccess);
}

TEST_F(DriverLibrary, TheLastContextFreesWhatAllHad) {
  void* const context = make_context();
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(call("cuMemGetInfo_v2", &before, &total), kSuccess);
  DevicePtr p = 0;
  ASSERT_EQ(call("cuMemAlloc_v2", &p, size_t{1} << 20), kSuccess);
  void* const second = make_context();
  EXPECT_EQ(call("cuCtxDestroy_v2", second), kSuccess);
  ASSERT_EQ(call("cuMemGetInfo_v2", &after, &total), kSuccess);
  EXPECT_LE(after, before - (1 << 20)) << "the other context is still there";
  EXPECT_EQ(call("cuCtxDestroy_v2", context), kSuccess);
  void* const third = make_context();
  ASSERT_EQ(call("cuMemGetInfo_v2", &after, &total), kSuccess);
  EXPECT_GE(after, before);
  EXPECT_EQ(call("cuCtxDestroy_v2", third), kSuccess);
}

TEST_F(DriverLibrary, TablesWithoutDocumentsAreNotThere) {
  const unsigned char of_runtime[17] =
      "\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9";
  const unsigned char other[16] = {};
  const void* table = &table;
  testing::internal::CaptureStderr();
  const void* id = other;
  EXPECT_EQ(call("cuGetExportTable", &table, id), kErrorNotSupported);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  id = of_runtime;
  EXPECT_EQ(call("cuGetExportTable", &table, id), kErrorNotSupported);
  EXPECT_EQ(call("cuGetExportTable", &table, id), kErrorNotSupported);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("NVCC_APPEND_FLAGS=\"-cudart=shared\""), std::string::npos) << text;
  EXPECT_EQ(text.find("NVCC_APPEND"), text.rfind("NVCC_APPEND")) << text;
}

}  // namespace
}  // namespace nearwarp::cudriver
