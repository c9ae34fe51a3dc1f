// Answers to kernels' calls of the CUDA runtime: those of the host's functions of these names.
#include "host/functional/exec/device_services.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "host/functional/cudart/runtime/launch.h"
#include "host/functional/cudart/runtime/runtime.h"
#include "host/functional/cudart/status/error_names.h"

namespace nearwarp::cudart {

namespace {

constexpr int kLimitPendingLaunches = 4;  // cudaLimitDevRuntimePendingLaunchCount

class Services final : public runtime::DeviceServices {
 public:
  explicit Services(Runtime& runtime) : runtime_(runtime) {}

  bool records(const std::string& kernel) const override {
    return runtime_.recorder().active() && runtime_.recorder().wanted(kernel);
  }

  int launch_status(const runtime::GridConfig& c) override {
    return status_of([&] {
      LaunchConfig config{};
      config.grid = {c.grid.x, c.grid.y, c.grid.z};
      config.block = {c.block.x, c.block.y, c.block.z};
      config.dynamic_shared_bytes = c.dynamic_shared_bytes;
      check_launch(runtime_, handle(c), config, {});
    });
  }

  int attribute(int number, int* value) override {
    return quietly([&] { return cudaDeviceGetAttribute(value, number, 0); });
  }

  int limit(int number, uint64_t* value) override {
    size_t bytes = 0;
    const int status = quietly([&] { return cudaDeviceGetLimit(&bytes, number); });
    *value = bytes;
    return status;
  }

  uint64_t pending_launches() const override {
    size_t count = 0;
    quietly([&] { return cudaDeviceGetLimit(&count, kLimitPendingLaunches); });
    return count;
  }

  std::string error_name(int status) const override { return cudart::error_name(status); }
  std::string error_text(int status) const override { return cudart::error_text(status); }

  bool set_condition(uint64_t handle, uint32_t value) override {
    return runtime_.graphs.set_condition(handle, value);
  }

  int function_attributes(const runtime::GridConfig& kernel, void* to, size_t bytes) override {
    static_assert(sizeof(FuncAttributes) == kFunctionAttributesBytes);
    FuncAttributes attributes;
    const int status = quietly([&] { return cudaFuncGetAttributes(&attributes, &handle(kernel)); });
    std::memcpy(to, &attributes, std::min(bytes, sizeof(attributes)));
    return status;
  }

  int blocks_per_sm(const runtime::GridConfig& c, int* blocks) override {
    return status_of([&] {
      *blocks = cudart::blocks_per_sm(runtime_, handle(c), c.block.count(), c.dynamic_shared_bytes);
    });
  }

  void note(const std::string& text) override { say_once(text); }

 private:
  KernelHandle& handle(const runtime::GridConfig& c) {
    KernelHandle*& known = handles_[c.kernel];
    if (known == nullptr) known = runtime_.modules.find(c.module, c.kernel->name);
    if (known == nullptr) throw Failure{kErrorInvalidDeviceFunction};
    return *known;
  }

  template <class Body>
  static int status_of(Body&& body) {
    try {
      body();
      return kSuccess;
    } catch (const Failure& failure) {
      return failure.status;
    }
  }

  /// The host's last error is none of device code's business.
  template <class Body>
  static int quietly(Body&& body) {
    const Status before = last_error();
    int status = kSuccess;
    const int refused = status_of([&] { status = body(); });
    last_error() = before;
    return refused != kSuccess ? refused : status;
  }

  Runtime& runtime_;
  std::unordered_map<const compiler::Kernel*, KernelHandle*> handles_;
};

}  // namespace

}  // namespace nearwarp::cudart

/// When the library is loaded, before any device is made. They live as long as the process.
__attribute__((constructor)) static void offer_services() {
  nearwarp::cudart::Runtime& runtime = nearwarp::cudart::the_runtime();
  runtime.services = new nearwarp::cudart::Services(runtime);
}
