// Entry points that launch kernels.
#include <vector>

#include "host/cudart/launch.h"
#include "host/cudart/runtime.h"

using namespace nearwarp::cudart;

namespace {

/// What <<<>>> leaves for the stub that it calls.
std::vector<LaunchConfig>& configurations() {
  thread_local std::vector<LaunchConfig> stack;
  return stack;
}

Status launch(const void* function, const LaunchConfig& config, void** args, bool cooperative) {
  return api([&](Runtime& r) {
    r.enqueue(config.stream, NodeType::kKernel,
              prepare_launch(r, r.modules.kernel(function), config, args, cooperative));
    return kSuccess;
  });
}

LaunchConfig plain(Dim grid, Dim block, size_t shared, Stream stream) {
  return {grid, block, shared, stream, nullptr, 0};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) unsigned __cudaPushCallConfiguration(
    Dim grid, Dim block, size_t shared, Stream stream) {
  configurations().push_back(plain(grid, block, shared, stream));
  return 0;
}

NW_API __cudaPopCallConfiguration(Dim* grid, Dim* block, size_t* shared, void* stream) {
  if (configurations().empty()) return kErrorUnknown;
  const LaunchConfig config = configurations().back();
  configurations().pop_back();
  *grid = config.grid;
  *block = config.block;
  *shared = config.dynamic_shared_bytes;
  *static_cast<Stream*>(stream) = config.stream;
  return kSuccess;
}

NW_API __cudaGetKernel(void** kernel, const void* host_function) {
  return api([&](Runtime& r) {
    require(kernel != nullptr);
    *kernel = &r.modules.kernel(host_function);
    return kSuccess;
  });
}
NW_API cudaGetKernel(void** kernel, const void* host_function) {
  return __cudaGetKernel(kernel, host_function);
}
NW_API cudaGetFuncBySymbol(void** function, const void* symbol) {
  return __cudaGetKernel(function, symbol);
}

NW_API __cudaLaunchKernel(void* kernel, Dim grid, Dim block, void** args, size_t shared,
                          Stream stream) {
  return launch(kernel, plain(grid, block, shared, stream), args, false);
}
NW_API cudaLaunchKernel(const void* function, Dim grid, Dim block, void** args, size_t shared,
                        Stream stream) {
  return launch(function, plain(grid, block, shared, stream), args, false);
}
NW_API cudaLaunchCooperativeKernel(const void* function, Dim grid, Dim block, void** args,
                                   size_t shared, Stream stream) {
  return launch(function, plain(grid, block, shared, stream), args, true);
}

NW_API cudaLaunchKernelExC(const LaunchConfig* config, const void* function, void** args) {
  return api([&](Runtime& r) {
    require(config != nullptr && (config->num_attributes == 0 || config->attributes != nullptr));
    bool cooperative = false;
    for (unsigned i = 0; i < config->num_attributes; ++i) {
      const LaunchAttribute& a = config->attributes[i];
      if (a.id == kAttributeCooperative) cooperative = a.value.cooperative != 0;
      if (a.id == kAttributeClusterDimension &&
          (a.value.cluster[0] > 1 || a.value.cluster[1] > 1 || a.value.cluster[2] > 1)) {
        say_once("clusters of thread blocks are not supported - launch without that attribute");
        return kErrorNotSupported;
      }
    }
    r.enqueue(config->stream, NodeType::kKernel,
              prepare_launch(r, r.modules.kernel(function), *config, args, cooperative));
    return kSuccess;
  });
}
