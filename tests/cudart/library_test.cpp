// Does the CUDA runtime library do what host code asks of it, without a toolkit?
#include "tests/cudart/library.h"

#include <fstream>
#include <set>

namespace nearwarp::cudart {
namespace {

class LibraryTest : public testing::Test {
 protected:
  Library& lib = Library::get();

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
  std::ifstream list(NW_SOURCE_DIR "/host/cudart/names.txt");
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

}  // namespace
}  // namespace nearwarp::cudart
