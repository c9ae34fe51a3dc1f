// Do recordings of applications that use the driver's API say which launches wait for which?
#include <thread>

#include "tests/cudart/recorded_order.h"
#include "tests/cudriver/driver.h"

namespace nearwarp::cudriver {
namespace {

using cudart::Indices;
using cudart::kSuccess;

class DriverOrder : public cudart::RecordedOrder {
 protected:
  void SetUp() override {
    void *context = nullptr, *module = nullptr;
    const std::string ptx = cudart::read_ptx("kernels.ptx");
    call("cuInit", 0u);
    call("cuDevicePrimaryCtxRetain", &context, 0);
    call("cuCtxSetCurrent", context);
    call("cuModuleLoadData", &module, static_cast<const void*>(ptx.c_str()));
    call("cuModuleGetFunction", &kernel_, module, "fill_shared");
    call("cuMemAlloc_v2", &memory, size_t{4096});
    call("cuStreamCreate", &a, 0u);
    call("cuStreamCreate", &b, 0u);
    call("cuStreamCreate", &free, 1u);
    call("cuCtxSynchronize");
    begin();
  }

  template <class... Args>
  static void call(const std::string& name, Args... args) {
    ASSERT_EQ(call_driver(name, args...), kSuccess) << name;
  }
  void launch(Stream stream, const std::string& name = "cuLaunchKernel") {
    void* args[] = {&memory};
    call(name, static_cast<const void*>(kernel_), 1u, 1u, 1u, 32u, 1u, 1u, 128u, stream,
         static_cast<void**>(args), static_cast<void**>(nullptr));
  }

  DevicePtr memory = 0;
  Stream a = nullptr, b = nullptr, free = nullptr;  ///< the last one is non-blocking
  static constexpr Stream kDefaultStream = nullptr;

 private:
  void* kernel_ = nullptr;
};

TEST_F(DriverOrder, StreamsAreIndependent) {
  for (Stream stream : {a, b, free, a, b, free, kDefaultStream}) launch(stream);
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {}, {}, {0}, {1}, {2}, {3, 4}}));
}

TEST_F(DriverOrder, TheHostWaitsForCallsThatAreNotAsync) {
  launch(kDefaultStream);  // 0
  call("cuMemsetD8Async", memory, 0u, size_t{64}, kDefaultStream);
  launch(free);  // 1
  call("cuMemsetD8_v2", memory, 0u, size_t{64});
  launch(free);            // 2
  launch(kDefaultStream);  // 3
  uint32_t word = 0;
  call("cuMemcpyDtoH_v2", static_cast<void*>(&word), memory, sizeof(word));
  Stream another = nullptr;
  call("cuStreamCreate", &another, 1u);
  launch(another);  // 4
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {}, {0, 1}, {0}, {3}}));
}

TEST_F(DriverOrder, ThreadsHaveDefaultStreamsOfTheirOwn) {
  launch(kDefaultStream, "cuLaunchKernel_ptsz");  // 0
  std::thread([&] {
    void* context = nullptr;
    call("cuDevicePrimaryCtxRetain", &context, 0);
    call("cuCtxSetCurrent", context);
    launch(kDefaultStream, "cuLaunchKernel_ptsz");  // 1
  }).join();
  launch(kDefaultStream, "cuLaunchKernel_ptsz");  // 2
  launch(kDefaultStream);                         // 3: the legacy one
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {}, {0}, {1, 2}}));
}

TEST_F(DriverOrder, WordsThatStreamsWaitFor) {
  const DevicePtr word = memory + 2048;  // the kernel does not write it
  launch(a);                             // 0
  call("cuStreamWriteValue32_v2", a, word, 7u, 0u);
  launch(b);  // 1
  call("cuStreamWaitValue32_v2", b, word, 7u, 1u);
  launch(b);  // 2
  EXPECT_EQ(order(), (std::vector<Indices>{{}, {}, {0, 1}}));
}

}  // namespace
}  // namespace nearwarp::cudriver
