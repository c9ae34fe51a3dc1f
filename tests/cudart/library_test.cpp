// Does the CUDA runtime library do what host code asks of it, without a toolkit?
#include "tests/cudart/library.h"

#include <fstream>
#include <set>

namespace nearwarp::cudart {
namespace {

class LibraryTest : public testing::Test {
 protected:
  Library& lib = Library::get();
  std::string said;  // by the library, of the call before

  int launch(const char* name, Dim grid, Dim block, std::vector<void*> args, size_t shared = 0) {
    return lib.call("cudaLaunchKernel", lib.stub(name), grid, block, args.data(), shared,
                    Stream{nullptr});
  }
  template <class T>
  T* allocate(size_t count) {
    void* p = nullptr;
    EXPECT_EQ(lib.call("cudaMalloc", &p, count * sizeof(T)), kSuccess);
    return static_cast<T*>(p);
  }
  int copy(void* dst, const void* src, size_t bytes, int kind) {
    return lib.call("cudaMemcpy", dst, src, bytes, kind);
  }
  void add_vectors() {
    constexpr int kCount = 1000;
    std::vector<float> a(kCount), b(kCount), c(kCount);
    for (int i = 0; i < kCount; ++i) {
      a[static_cast<size_t>(i)] = static_cast<float>(i);
      b[static_cast<size_t>(i)] = static_cast<float>(2 * i);
    }
    auto *da = allocate<float>(kCount), *db = allocate<float>(kCount);
    auto* dc = allocate<float>(kCount);
    ASSERT_EQ(copy(da, a.data(), kCount * 4, kHostToDevice), kSuccess);
    ASSERT_EQ(copy(db, b.data(), kCount * 4, kDefault), kSuccess);
    int n = kCount;
    ASSERT_EQ(launch("vector_add", {8, 1, 1}, {128, 1, 1}, {&da, &db, &dc, &n}), kSuccess);
    ASSERT_EQ(copy(c.data(), dc, kCount * 4, kDeviceToHost), kSuccess);
    for (int i = 0; i < kCount; ++i)
      ASSERT_EQ(c[static_cast<size_t>(i)], static_cast<float>(3 * i)) << i;
  }
};

TEST_F(LibraryTest, EveryNameOfTheRealLibraryIsThere) {
  std::ifstream list(NW_SOURCE_DIR "/host/functional/cudart/api/names.txt");
  std::string name, before;
  int count = 0;
  while (std::getline(list, name)) {
    EXPECT_NO_THROW(lib.symbol(name)) << name;
    EXPECT_LT(before, name) << "names.txt is sorted";
    before = name;
    ++count;
  }
  EXPECT_EQ(count, 422);
}

TEST_F(LibraryTest, WhatIsNotImplementedSaysSoOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(lib.call("cudaGraphicsGLRegisterBuffer"), kErrorNotSupported);
  EXPECT_EQ(lib.call("cudaGraphicsGLRegisterBuffer"), kErrorNotSupported);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("cudaGraphicsGLRegisterBuffer"), text.rfind("cudaGraphicsGLRegisterBuffer"));
  EXPECT_NE(text.find("cudaGraphicsGLRegisterBuffer() is not supported"), std::string::npos);
  EXPECT_EQ(lib.call("cudaGetLastError"), kErrorNotSupported);
  EXPECT_EQ(lib.call("cudaGetLastError"), kSuccess);
}

TEST_F(LibraryTest, PtxThatIsLoadedAsTextMustSuitTheDevice) {
  const auto loaded = [&](const std::string& target) {
    std::string text = read_ptx("kernels.ptx");
    const size_t at = text.find(".target sm_75");
    EXPECT_NE(at, std::string::npos);
    text.replace(at, std::string(".target sm_75").size(), ".target " + target);
    void* library = nullptr;
    testing::internal::CaptureStderr();
    const int status =
        lib.call("cudaLibraryLoadData", &library, static_cast<const void*>(text.c_str()),
                 static_cast<int*>(nullptr), static_cast<void**>(nullptr), 0u,
                 static_cast<int*>(nullptr), static_cast<void**>(nullptr), 0u);
    said = testing::internal::GetCapturedStderr();
    if (status == kSuccess) lib.call("cudaLibraryUnload", library);
    lib.call("cudaGetLastError");
    return status;
  };
  for (const char* runs : {"sm_50", "sm_90", "sm_90a"}) EXPECT_EQ(loaded(runs), kSuccess) << runs;
  for (const char* other : {"sm_100", "sm_100a", "sm_80a"}) {
    EXPECT_EQ(loaded(other), kErrorInvalidPtx) << other;
    EXPECT_NE(said.find(std::string("code for ") + other + " alone"), std::string::npos) << said;
  }
}

TEST_F(LibraryTest, VectorAddFromPlainPtx) {
  lib.register_kernels(Packing::kPlain);
  add_vectors();
}
TEST_F(LibraryTest, VectorAddFromLz4) {
  lib.register_kernels(Packing::kLz4);
  add_vectors();
}
TEST_F(LibraryTest, VectorAddFromZstd) {
  lib.register_kernels(Packing::kZstd);
  add_vectors();
}

TEST_F(LibraryTest, RegistersAreThoseOfTheMachineCode) {
  const auto registers = [&](const char* name) {
    FuncAttributes attributes;
    EXPECT_EQ(lib.call("cudaFuncGetAttributes", &attributes, lib.stub(name)), kSuccess);
    return attributes.num_regs;
  };
  lib.register_kernels();
  const int own = registers("use_variables");
  EXPECT_NE(own, 16);
  for (const Packing packing : {Packing::kPlain, Packing::kLz4, Packing::kZstd}) {
    lib.register_kernels(packing, {{read_cubin_file("kernels.sm_90.cubin"), 90},
                                   {read_cubin_file("kernels.sm_75.cubin"), 75}});
    EXPECT_EQ(registers("use_variables"), 16);
    EXPECT_EQ(registers("fill_shared"), 8);
    add_vectors();
  }
  lib.register_kernels(Packing::kZstd, {{read_cubin_file("kernels.sm_90.cubin"), 90}});
  EXPECT_EQ(registers("use_variables"), 18);
  testing::internal::CaptureStderr();
  lib.register_kernels(Packing::kZstd, {{"no machine code at all, but long enough to be one: "
                                         "an ELF file has a head of 64 bytes",
                                         75}});
  EXPECT_EQ(registers("use_variables"), own) << "it runs all the same";
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("damaged machine code: it is no 64-bit ELF file"), std::string::npos) << text;
  EXPECT_NE(text.find("nearwarp's own allocation"), std::string::npos) << text;
  add_vectors();
}

TEST_F(LibraryTest, VariablesHaveTheirInitialValues) {
  lib.register_kernels();
  int counter = 0;
  ASSERT_EQ(lib.call("cudaMemcpyFromSymbol", static_cast<void*>(&counter), lib.stub("counter"),
                     size_t{4}, size_t{0}, int{kDeviceToHost}),
            kSuccess);
  EXPECT_EQ(counter, 7);
  ASSERT_NE(lib.call<char>("__cudaInitModule", lib.module()), 0);
  int* managed = lib.managed();
  ASSERT_NE(managed, nullptr);
  EXPECT_EQ(*managed, 40);
  *managed = 60;
  struct {
    char small = 3;
    double large = 0.5;
  } pair;
  auto* out = allocate<float>(8);
  ASSERT_EQ(launch("use_variables", {1, 1, 1}, {8, 1, 1}, {&out, &pair}), kSuccess);
  EXPECT_EQ(*managed, 62);
  float host[8];
  ASSERT_EQ(copy(host, out, sizeof(host), kDeviceToHost), kSuccess);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(host[i], 0.5f * static_cast<float>(i % 4 + 1) + 3);
  counter = 100;
  ASSERT_EQ(lib.call("cudaMemcpyToSymbol", lib.stub("counter"), static_cast<const void*>(&counter),
                     size_t{4}, size_t{0}, int{kHostToDevice}),
            kSuccess);
  EXPECT_EQ(lib.call("cudaMemcpyToSymbol", lib.stub("counter"), static_cast<const void*>(&counter),
                     size_t{4}, size_t{1}, int{kHostToDevice}),
            kErrorInvalidValue);
  EXPECT_EQ(lib.call("cudaMemcpyToSymbol", static_cast<const void*>(&counter),
                     static_cast<const void*>(&counter), size_t{4}, size_t{0}, int{kHostToDevice}),
            kErrorInvalidSymbol);
}

TEST_F(LibraryTest, AFaultStaysUntilTheDeviceIsReset) {
  lib.register_kernels();
  auto* p = allocate<char>(64);
  char* odd = p;
  ASSERT_EQ(launch("write_odd", {1, 1, 1}, {1, 1, 1}, {&odd}), kSuccess) << "it is asynchronous";
  EXPECT_EQ(lib.call("cudaDeviceSynchronize"), kErrorMisalignedAddress);
  EXPECT_EQ(lib.call("cudaGetLastError"), kErrorMisalignedAddress);
  EXPECT_EQ(lib.call("cudaGetLastError"), kErrorMisalignedAddress);
  void* more = nullptr;
  EXPECT_EQ(lib.call("cudaMalloc", &more, size_t{4}), kErrorMisalignedAddress);
  EXPECT_EQ(lib.call("cudaDeviceReset"), kSuccess);
  EXPECT_EQ(lib.call("cudaGetLastError"), kSuccess);
  auto* q = allocate<int>(4);
  ASSERT_EQ(launch("write_far", {1, 1, 1}, {1, 1, 1}, {&q}), kSuccess);
  EXPECT_EQ(lib.call("cudaPeekAtLastError"), kErrorIllegalAddress);
  EXPECT_EQ(lib.call("cudaDeviceReset"), kSuccess);
}

TEST_F(LibraryTest, ImpossibleLaunches) {
  lib.register_kernels();
  auto* p = allocate<int>(1024);
  const std::vector<void*> args = {&p};
  for (const auto& [grid, block] : {std::pair<Dim, Dim>{{0, 1, 1}, {1, 1, 1}},
                                    {{1, 1, 1}, {0, 1, 1}},
                                    {{1, 1, 1}, {1025, 1, 1}},
                                    {{1, 1, 1}, {1, 1, 65}},
                                    {{1, 65536, 1}, {1, 1, 1}},
                                    {{0x7fffffff, 65535, 65535}, {1, 1, 1}}})
    EXPECT_EQ(launch("fill_shared", grid, block, args), kErrorInvalidConfiguration);
  EXPECT_EQ(launch("fill_shared", {1, 1, 1}, {32, 1, 1}, args, size_t{1} << 40),
            kErrorInvalidValue);
  EXPECT_EQ(launch("no such stub", {1, 1, 1}, {32, 1, 1}, args), kErrorInvalidDeviceFunction);
  EXPECT_EQ(launch("fill_shared", {1, 1, 1}, {32, 1, 1}, {nullptr}), kErrorInvalidValue);
  EXPECT_EQ(launch("fill_shared", {1, 1, 1}, {32, 1, 1}, args, 128), kSuccess);
  EXPECT_EQ(lib.call("cudaDeviceSynchronize"), kSuccess);
}

TEST_F(LibraryTest, WildPointersAreErrors) {
  auto* p = allocate<char>(100);
  char host[100] = {};
  EXPECT_EQ(copy(p, host, 101, kHostToDevice), kErrorInvalidValue);
  EXPECT_EQ(copy(p + 200000, host, 1, kHostToDevice), kErrorInvalidValue);
  EXPECT_EQ(copy(p, reinterpret_cast<void*>(0x10), 8, kHostToDevice), kErrorInvalidValue);
  EXPECT_EQ(copy(reinterpret_cast<void*>(0x10), p, 8, kDeviceToHost), kErrorInvalidValue);
  EXPECT_EQ(copy(host, reinterpret_cast<void*>(~uint64_t{0} - 3), 8, kHostToHost),
            kErrorInvalidValue);
  EXPECT_EQ(copy(host, host, 8, 77), kErrorInvalidMemcpyDirection);
  EXPECT_EQ(copy(p, host, ~size_t{0}, kDefault), kErrorInvalidValue);
  EXPECT_EQ(lib.call("cudaFree", static_cast<void*>(host)), kErrorInvalidValue);
  EXPECT_EQ(lib.call("cudaFree", static_cast<void*>(p)), kSuccess);
  EXPECT_EQ(lib.call("cudaFree", static_cast<void*>(p)), kErrorInvalidValue);
  EXPECT_EQ(lib.call("cudaMemset", static_cast<void*>(p), 0, size_t{1}), kErrorInvalidValue);
}

TEST_F(LibraryTest, PropertiesAndAttributesAgree) {
  DeviceProp p;
  ASSERT_EQ(lib.call("cudaGetDeviceProperties", &p, 0), kSuccess);
  const auto attribute = [&](int number) {
    int value = -1;
    EXPECT_EQ(lib.call("cudaDeviceGetAttribute", &value, number, 0), kSuccess) << number;
    return value;
  };
  EXPECT_EQ(attribute(16), p.multi_processor_count);
  EXPECT_EQ(attribute(10), p.warp_size);
  EXPECT_EQ(attribute(75) * 10 + attribute(76), p.major * 10 + p.minor);
  EXPECT_EQ(attribute(39), p.max_threads_per_multi_processor);
  EXPECT_EQ(attribute(38), p.l2_cache_size);
  EXPECT_EQ(attribute(97), static_cast<int>(p.shared_mem_per_block_optin));
  int value = 0;
  EXPECT_EQ(lib.call("cudaDeviceGetAttribute", &value, 0, 0), kErrorInvalidValue);
  EXPECT_EQ(lib.call("cudaDeviceGetAttribute", &value, 16, 1), kErrorInvalidDevice);
}

TEST_F(LibraryTest, DamagedFatBinaryFailsAtItsFirstLaunch) {
  static FatWrapper wrapper{.container = "not a container at all"};
  void** handle = lib.call<void**>("__cudaRegisterFatBinary", static_cast<void*>(&wrapper));
  void* const null = nullptr;
  lib.call<void>("__cudaRegisterFunction", handle, static_cast<const char*>(lib.stub("damaged")),
                 static_cast<char*>(nullptr), "damaged", -1, null, null, null, null,
                 static_cast<int*>(nullptr));
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch("damaged", {1, 1, 1}, {1, 1, 1}, {}), kErrorInvalidKernelImage);
  EXPECT_EQ(launch("damaged", {1, 1, 1}, {1, 1, 1}, {}), kErrorInvalidKernelImage);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("damaged fat binary"), std::string::npos) << text;
  lib.call<void>("__cudaUnregisterFatBinary", handle);
  EXPECT_EQ(launch("damaged", {1, 1, 1}, {1, 1, 1}, {}), kErrorInvalidDeviceFunction);
}

}  // namespace
}  // namespace nearwarp::cudart
