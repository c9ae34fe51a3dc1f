// Times each kernel launch of an application from outside: a library to be loaded before the CUDA
// runtime (LD_PRELOAD). Each launch gets an event before and behind it and is waited for, and a
// line in the file that NEARWARP_LAUNCH_TIMES names: kernel, grid, block, shared memory,
// nanoseconds, separated by tabs.
//
// Launches of streams that are being captured are not timed: their graphs run later.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

/// A function of the real runtime, or nullptr.
template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

FILE* lines() {
  static FILE* const file = [] {
    const char* const path = std::getenv("NEARWARP_LAUNCH_TIMES");
    return path == nullptr ? nullptr : std::fopen(path, "a");
  }();
  return file;
}

const char* name_of(const void* kernel) {
  const char* name = nullptr;
  if (auto* const of = real<decltype(cudaFuncGetName)>("cudaFuncGetName"))
    if (of(&name, kernel) == cudaSuccess && name != nullptr) return name;
  using OfKernel = int(const char**, const void*);
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  auto* const of =
      driver == nullptr ? nullptr : reinterpret_cast<OfKernel*>(dlsym(driver, "cuKernelGetName"));
  return of != nullptr && of(&name, kernel) == 0 && name != nullptr ? name : "?";
}

bool is_captured(cudaStream_t stream) {
  auto* const ask = real<decltype(cudaStreamIsCapturing)>("cudaStreamIsCapturing");
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return ask == nullptr || ask(stream, &status) != cudaSuccess ||
         status != cudaStreamCaptureStatusNone;
}

struct Events {
  cudaEvent_t begin = nullptr, end = nullptr;
  bool there = false;
  Events() {
    auto* const make = real<decltype(cudaEventCreate)>("cudaEventCreate");
    there = make != nullptr && make(&begin) == cudaSuccess && make(&end) == cudaSuccess;
  }
};

template <class Launch>
cudaError_t timed(const void* kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                  Launch&& launch) {
  if (lines() == nullptr || is_captured(stream)) return launch();
  static auto* const note = real<cudaError_t(cudaEvent_t, cudaStream_t)>("cudaEventRecord");
  static auto* const wait = real<decltype(cudaEventSynchronize)>("cudaEventSynchronize");
  static auto* const between = real<decltype(cudaEventElapsedTime)>("cudaEventElapsedTime");
  static const Events events;
  if (!events.there || note == nullptr || wait == nullptr || between == nullptr) return launch();
  note(events.begin, stream);
  const cudaError_t status = launch();
  note(events.end, stream);
  float milliseconds = 0;
  if (status == cudaSuccess && wait(events.end) == cudaSuccess &&
      between(&milliseconds, events.begin, events.end) == cudaSuccess) {
    std::fprintf(lines(), "%s\t%u,%u,%u\t%u,%u,%u\t%zu\t%.1f\n", name_of(kernel), grid.x, grid.y,
                 grid.z, block.x, block.y, block.z, shared,
                 static_cast<double>(milliseconds) * 1e6);
    std::fflush(lines());
  }
  return status;
}

using LaunchKernel = cudaError_t(const void*, dim3, dim3, void**, size_t, cudaStream_t);

cudaError_t launch(const char* name, const void* kernel, dim3 grid, dim3 block, void** arguments,
                   size_t shared, cudaStream_t stream) {
  auto* const next = real<LaunchKernel>(name);
  if (next == nullptr) return cudaErrorSymbolNotFound;
  return timed(kernel, grid, block, shared, stream,
               [&] { return next(kernel, grid, block, arguments, shared, stream); });
}

}  // namespace

extern "C" {

// The functions that <<<>>> calls, since CUDA 13 and before.
cudaError_t __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  return launch("__cudaLaunchKernel", kernel, grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  return launch("cudaLaunchKernel", kernel, grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
  auto* const next = real<decltype(cudaLaunchKernelExC)>("cudaLaunchKernelExC");
  if (next == nullptr) return cudaErrorSymbolNotFound;
  return timed(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,
               [&] { return next(config, kernel, arguments); });
}
}
