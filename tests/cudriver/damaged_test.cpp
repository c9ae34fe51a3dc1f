// Does the driver library answer wrong arguments with the documented errors, and never crash?
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cudriver/driver.h"

namespace nearwarp::cudriver {
namespace {

using cudart::kErrorFileNotFound;
using cudart::kErrorInvalidKernelImage;
using cudart::kErrorInvalidPtx;
using cudart::kErrorInvalidResourceHandle;
using cudart::kErrorInvalidValue;
using cudart::kErrorNoKernelImageForDevice;
using cudart::kErrorSymbolNotFound;
using cudart::kSuccess;

class DamagedInput : public DriverLibrary {
 protected:
  void SetUp() override { context_ = make_context(); }
  void TearDown() override { EXPECT_EQ(call("cuCtxDestroy_v2", context_), kSuccess); }

  static int load(const void* image) {
    void* module = nullptr;
    const int status = call("cuModuleLoadData", &module, image);
    EXPECT_EQ(status == kSuccess, module != nullptr);
    return status;
  }

  void* context_ = nullptr;
};

/// Nothing is where any argument should point to, and every number is 0.
TEST_F(DamagedInput, NullForEveryArgument) {
  std::ifstream list(NW_SOURCE_DIR "/host/functional/cudriver/api/names.txt");
  std::string name;
  int version = 0, errors = 0;
  testing::internal::CaptureStderr();  // many say that they are not supported
  while (list >> name >> version) {
    const uint64_t z = 0;
    ASSERT_EQ(call("cuCtxSetCurrent", context_), kSuccess) << "before " << name;
    const int status = call(name, z, z, z, z, z, z, z, z, z, z, z, z);
    EXPECT_GE(status, 0) << name;
    EXPECT_LT(status, 1000) << name;
    if (status != kSuccess) ++errors;
  }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(errors, 500);
}

/// Handles point to readable memory that is no object of the interface.
TEST_F(DamagedInput, HandlesOfNothing) {
  struct Case {
    const char* name;
    int status;
  };
  alignas(64) static std::array<char, 4096> nothing{};
  static std::array<char, 4096> out{};
  void *const handle = nothing.data(), *const to = out.data();
  const auto of = [&](const Case& c, auto... arguments) {
    EXPECT_EQ(call(c.name, arguments...), c.status) << c.name;
  };
  const Case first[] = {{"cuModuleUnload", kErrorInvalidResourceHandle},
                        {"cuLibraryUnload", kErrorInvalidResourceHandle},
                        {"cuStreamSynchronize", kErrorInvalidResourceHandle},
                        {"cuStreamDestroy_v2", kErrorInvalidResourceHandle},
                        {"cuStreamQuery", kErrorInvalidResourceHandle},
                        {"cuEventDestroy_v2", kErrorInvalidResourceHandle},
                        {"cuEventSynchronize", kErrorInvalidResourceHandle},
                        {"cuCtxDestroy_v2", kErrorInvalidContext},
                        {"cuCtxSetCurrent", kErrorInvalidContext},
                        {"cuCtxPushCurrent_v2", kErrorInvalidContext},
                        {"cuLinkDestroy", kErrorInvalidResourceHandle},
                        {"cuArrayDestroy", kErrorInvalidResourceHandle},
                        {"cuMipmappedArrayDestroy", kErrorInvalidResourceHandle},
                        {"cuMemFree_v2", kErrorInvalidValue},
                        {"cuMemFreeHost", kErrorInvalidValue},
                        {"cuMemHostUnregister", cudart::kErrorHostMemoryNotRegistered},
                        {"cuTexObjectDestroy", kErrorInvalidValue},
                        {"cuSurfObjectDestroy", kErrorInvalidValue},
                        {"cuGraphDestroy", kErrorInvalidValue},
                        {"cuGraphExecDestroy", kErrorInvalidValue},
                        {"cuGraphDestroyNode", kErrorInvalidValue},
                        {"cuMemPoolDestroy", kErrorInvalidValue},
                        {"cuFuncLoad", kErrorInvalidResourceHandle}};
  for (const Case& c : first) of(c, handle, uint64_t{0}, uint64_t{0}, uint64_t{0});
  const Case second[] = {{"cuModuleGetFunction", kErrorInvalidResourceHandle},
                         {"cuLibraryGetKernel", kErrorInvalidResourceHandle},
                         {"cuKernelGetFunction", kErrorInvalidResourceHandle},
                         {"cuFuncGetName", kErrorInvalidResourceHandle},
                         {"cuFuncGetModule", kErrorInvalidResourceHandle},
                         {"cuModuleGetFunctionCount", kErrorInvalidResourceHandle},
                         {"cuArray3DGetDescriptor_v2", kErrorInvalidResourceHandle},
                         {"cuGraphInstantiateWithFlags", kErrorInvalidValue},
                         {"cuGraphClone", kErrorInvalidValue}};
  for (const Case& c : second) of(c, to, handle, "name", uint64_t{0}, uint64_t{0});
  of({"cuFuncGetAttribute", kErrorInvalidResourceHandle}, to, 4, handle);
  of({"cuLaunchKernel", kErrorInvalidResourceHandle}, handle, 1u, 1u, 1u, 1u, 1u, 1u, 0u,
     Stream{nullptr}, static_cast<void**>(nullptr), static_cast<void**>(nullptr));
  of({"cuEventRecord", kErrorInvalidResourceHandle}, handle, Stream{nullptr});
  of({"cuGraphLaunch", kErrorInvalidValue}, handle, Stream{nullptr});
  of({"cuMemAllocFromPoolAsync", kErrorInvalidValue}, to, size_t{16}, handle, Stream{nullptr});
  of({"cuMemcpyHtoA_v2", kErrorInvalidResourceHandle}, handle, size_t{0}, to, size_t{16});
  of({"cuUserObjectRetain", kErrorInvalidValue}, handle, 1u);
  of({"cuGraphKernelNodeGetParams_v2", kErrorInvalidValue}, handle, to);
}

TEST_F(DamagedInput, ImagesOfModules) {
  EXPECT_EQ(load(""), kErrorInvalidKernelImage);
  EXPECT_EQ(load("no PTX"), kErrorInvalidPtx);
  EXPECT_EQ(load("\x7f"
                 "ELF and so on"),
            kErrorNoKernelImageForDevice);
  EXPECT_EQ(load(reinterpret_cast<const void*>(8)), kErrorInvalidKernelImage);
  const std::string ptx = cudart::read_ptx("kernels.ptx");
  for (const size_t length : {ptx.size() / 4, ptx.size() / 2, ptx.rfind('}')})
    EXPECT_EQ(load(ptx.substr(0, length).c_str()), kErrorInvalidPtx) << length;

  const std::vector<char> container = cudart::make_container({{ptx, 75}}, cudart::Packing::kZstd);
  EXPECT_EQ(load(container.data()), kSuccess);
  int refused = 0;
  for (size_t at = 0; at < 160; ++at) {
    std::vector<char> damaged = container;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
    const int status = load(damaged.data());
    if (status == kSuccess) continue;  // a part that does not matter
    ++refused;
    EXPECT_TRUE(status == kErrorInvalidKernelImage || status == kErrorInvalidPtx ||
                status == kErrorNoKernelImageForDevice)
        << "byte " << at << ": " << status;
  }
  EXPECT_GT(refused, 100);
  cudart::FatWrapper wrapper;
  wrapper.container = nullptr;
  EXPECT_EQ(load(&wrapper), kErrorInvalidKernelImage);
}

/// The readable memory ends before the length in the image's header, and before any zero byte.
TEST_F(DamagedInput, ImagesAtTheEndOfMemory) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const pages =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  char* const end = static_cast<char*>(pages) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  std::memcpy(end - 7, ".versio", 7);
  EXPECT_EQ(load(end - 7), kErrorInvalidKernelImage);
  const uint32_t header[] = {0xba55ed50, 0x00100001, 100000, 0};
  std::memcpy(end - sizeof(header), header, sizeof(header));
  EXPECT_EQ(load(end - sizeof(header)), kErrorInvalidKernelImage);
  EXPECT_EQ(load(end - 3), kErrorInvalidKernelImage);
  munmap(pages, 2 * page);
}

TEST_F(DamagedInput, Files) {
  void* module = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cuModuleLoad", &module, "/nowhere/kernels.ptx"), kErrorFileNotFound);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("no '/nowhere/kernels.ptx' to load code from"), std::string::npos) << text;
  EXPECT_EQ(call("cuModuleLoad", &module, "/"), kErrorInvalidKernelImage) << "a folder";
  EXPECT_EQ(call("cuModuleLoad", &module, "/dev/null"), kErrorInvalidKernelImage);
}

TEST_F(DamagedInput, NamesAndSizes) {
  const std::string ptx = cudart::read_ptx("kernels.ptx");
  void *module = nullptr, *function = nullptr;
  ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(ptx.c_str())), kSuccess);
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cuModuleGetFunction", &function, module, "vector_ad"), kErrorSymbolNotFound);
  EXPECT_EQ(function, nullptr);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("no kernel 'vector_ad' - its kernels are "), std::string::npos) << text;
  EXPECT_NE(text.find("vector_add"), std::string::npos) << text;
  DevicePtr p = 0;
  EXPECT_EQ(call("cuModuleGetGlobal_v2", &p, static_cast<size_t*>(nullptr), module, "absent"),
            kErrorSymbolNotFound);
  constexpr size_t kHuge = size_t{1} << 62;
  EXPECT_EQ(call("cuMemAlloc_v2", &p, kHuge), cudart::kErrorMemoryAllocation);
  ASSERT_EQ(call("cuMemAlloc_v2", &p, size_t{64}), kSuccess);
  EXPECT_EQ(call("cuMemsetD32_v2", p, 0u, kHuge), kErrorInvalidValue) << "4 times 2^62 is 0";
  EXPECT_EQ(call("cuMemsetD2D8_v2", p, size_t{0}, 0u, size_t{0}, kHuge), kSuccess);
  EXPECT_EQ(call("cuMemsetD2D8_v2", p, size_t{1}, 0u, size_t{2}, size_t{2}), kErrorInvalidValue);
  void* const nowhere = reinterpret_cast<void*>(16);
  EXPECT_EQ(call("cuMemcpyHtoD_v2", p, static_cast<const void*>(nowhere), size_t{16}),
            kErrorInvalidValue);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", nowhere, p, size_t{16}), kErrorInvalidValue);
  EXPECT_EQ(call("cuMemFree_v2", p), kSuccess);
}

}  // namespace
}  // namespace nearwarp::cudriver
