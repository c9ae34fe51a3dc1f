// Does the driver library have all of the driver's functions, and do they work without a toolkit?
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cudriver/driver.h"

namespace nearwarp::cudriver {
namespace {

using cudart::kErrorInitialization;
using cudart::kErrorInvalidValue;
using cudart::kErrorNotSupported;
using cudart::kErrorSymbolNotFound;
using cudart::kSuccess;

TEST_F(DriverLibrary, EveryDocumentedNameIsThere) {
  std::ifstream list(NW_SOURCE_DIR "/host/functional/cudriver/api/names.txt");
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
  EXPECT_EQ(count, 636);
}

TEST_F(DriverLibrary, TensorMapsAreMadeAndRefused) {
  // No device is needed, since an address only has to be aligned.
  alignas(64) unsigned char map[128] = {}, other[128] = {};
  const uint64_t sizes[] = {64, 32}, strides[] = {256};
  const uint32_t box[] = {16, 8}, steps[] = {1, 1};
  const auto encode = [&](void* to, uint64_t address, int swizzle, const uint32_t* size) {
    return call("cuTensorMapEncodeTiled", to, 7, 2u, reinterpret_cast<void*>(address),
                static_cast<const uint64_t*>(sizes), static_cast<const uint64_t*>(strides), size,
                static_cast<const uint32_t*>(steps), 0, swizzle, 0, 0);
  };
  EXPECT_EQ(encode(map, 0x10000, 2, box), kSuccess);
  EXPECT_NE(std::string(map, map + 128), std::string(128, '\0'));
  EXPECT_EQ(encode(map + 1, 0x10000, 2, box), kErrorInvalidValue) << "no place for a map";
  EXPECT_EQ(encode(nullptr, 0x10000, 2, box), kErrorInvalidValue);
  EXPECT_EQ(encode(other, 0x10008, 2, box), kErrorInvalidValue) << "an address of 8 bytes";
  EXPECT_EQ(encode(other, 0x10000, 1, box), kErrorInvalidValue) << "a row beyond its swizzle";
  EXPECT_EQ(encode(other, 0x10000, 2, nullptr), kErrorInvalidValue);
  EXPECT_EQ(encode(other, 0x20000, 2, box), kSuccess);
  EXPECT_NE(std::string(map, map + 128), std::string(other, other + 128));
  EXPECT_EQ(call("cuTensorMapReplaceAddress", static_cast<void*>(map),
                 reinterpret_cast<void*>(uint64_t{0x20000})),
            kSuccess);
  EXPECT_EQ(std::string(map, map + 128), std::string(other, other + 128));
  map[0] = 0;  // no longer a tensor map
  EXPECT_EQ(call("cuTensorMapReplaceAddress", static_cast<void*>(map),
                 reinterpret_cast<void*>(uint64_t{0x20000})),
            kErrorInvalidValue);
}

TEST_F(DriverLibrary, EveryNameIsFoundByItsVersion) {
  std::ifstream list(NW_SOURCE_DIR "/host/functional/cudriver/api/names.txt");
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

TEST_F(DriverLibrary, StreamsOfThreadsHaveNamesOfTheirOwn) {
  const auto found = [](uint64_t flags) {
    void* function = nullptr;
    EXPECT_EQ(call("cuGetProcAddress_v2", "cuMemcpyHtoD", &function, 13000, flags,
                   static_cast<int*>(nullptr)),
              kSuccess);
    return function;
  };
  EXPECT_EQ(found(0), symbol("cuMemcpyHtoD_v2"));
  EXPECT_EQ(found(2), symbol("cuMemcpyHtoD_v2_ptds"));
  void* function = nullptr;
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuInit", &function, 13000, uint64_t{3},
                 static_cast<int*>(nullptr)),
            kErrorInvalidValue);
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

TEST_F(DriverLibrary, ADestroyedContextBelowTheCurrentOneIsNotMadeCurrent) {
  void *const first = make_context(), *const second = make_context(), *const third = make_context();
  EXPECT_EQ(call("cuCtxPushCurrent_v2", second), kSuccess);  // first, second, third, second
  EXPECT_EQ(call("cuCtxDestroy_v2", second), kSuccess);
  void* current = nullptr;
  EXPECT_EQ(call("cuCtxGetCurrent", &current), kSuccess);
  EXPECT_EQ(current, third);
  EXPECT_EQ(call("cuCtxPopCurrent_v2", &current), kSuccess);
  EXPECT_EQ(current, third);
  EXPECT_EQ(call("cuCtxGetCurrent", &current), kSuccess);
  EXPECT_EQ(current, first);
  DevicePtr p = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &p, size_t{4}), kSuccess);
  EXPECT_EQ(call("cuCtxDestroy_v2", third), kSuccess);
  EXPECT_EQ(call("cuCtxDestroy_v2", first), kSuccess);
}

// The test runs in a process of its own, because the runtime keeps its context until the end.
TEST_F(DriverLibrary, AProgramMayBeginWithTheRuntimesDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto allocates_in_the_primary_context = [] {
    cudart::Library& runtime = cudart::Library::get();
    DevicePtr p = 0;
    return runtime.call("cudaSetDevice", 0) == kSuccess &&
           runtime.call("cudaFree", static_cast<void*>(nullptr)) == kSuccess &&
           call("cuMemAlloc_v2", &p, size_t{1} << 20) == kSuccess &&
           call("cuMemFree_v2", p) == kSuccess;
  };
  EXPECT_EXIT(std::exit(allocates_in_the_primary_context() ? 0 : 1), testing::ExitedWithCode(0),
              "");
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

TEST_F(DriverLibrary, AnotherLibraryOfTheSameNameIsTold) {
  void* const other = dlopen(NW_OTHER_LIBRARY, RTLD_NOW);
  ASSERT_NE(other, nullptr) << dlerror();
  using Ask = int (*)(void*);
  const auto ask = reinterpret_cast<Ask>(dlsym(other, "ask_for_tables"));
  ASSERT_NE(ask, nullptr);
  testing::internal::CaptureStderr();
  EXPECT_EQ(ask(symbol("cuGetExportTable")), kErrorNotSupported);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("libcurand.so has answered in place of nearwarp's own library of that name"),
            std::string::npos)
      << text;
  dlclose(other);
}

TEST_F(DriverLibrary, TablesWithoutDocumentsAreNotThere) {
  const unsigned char id[16] = {};
  const void* table = &table;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(call("cuGetExportTable", &table, static_cast<const void*>(id)), kErrorNotSupported);
    EXPECT_EQ(table, nullptr);
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("NVCC_APPEND_FLAGS=\"-cudart=shared\""), std::string::npos) << text;
  EXPECT_EQ(text.find("NVCC_APPEND"), text.rfind("NVCC_APPEND")) << text;
  EXPECT_NE(text.find("test_cudriver asks for"), std::string::npos) << text;
  void* function = &function;
  int found = -1;
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuGetExportTable", &function, 13000, uint64_t{0}, &found),
            kSuccess);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(function, nullptr);
}

}  // namespace
}  // namespace nearwarp::cudriver
