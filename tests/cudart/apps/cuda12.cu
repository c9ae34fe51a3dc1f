// An application of CUDA 12's runtime library: functions whose parameters differ are declared as there.
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/cudart/apps/check.h"

namespace cuda12 {
struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
};
extern "C" {
cudaError_t cudaGetDeviceProperties_v2(void* properties, int device);
}
// The declarations have names of their own, since the header has CUDA 13's.
cudaError_t prefetch(const void*, size_t, int device, cudaStream_t) __asm__("cudaMemPrefetchAsync");
cudaError_t advise(const void*, size_t, int advice, int device) __asm__("cudaMemAdvise");
cudaError_t attributes(PointerAttributes*, const void*) __asm__("cudaPointerGetAttributes");
cudaError_t edges(cudaGraph_t, cudaGraphNode_t*, cudaGraphNode_t*, size_t*) __asm__("cudaGraphGetEdges");
cudaError_t depend(cudaGraph_t, const cudaGraphNode_t*, const cudaGraphNode_t*,
                   size_t) __asm__("cudaGraphAddDependencies");
cudaError_t capturing(cudaStream_t, cudaStreamCaptureStatus*,
                      unsigned long long*) __asm__("cudaStreamGetCaptureInfo");
cudaError_t batch(void**, void**, size_t*, size_t, void*, size_t*, size_t, size_t* failed,
                  cudaStream_t) __asm__("cudaMemcpyBatchAsync");
cudaError_t batch_of_thread(void**, void**, size_t*, size_t, void*, size_t*, size_t, size_t* failed,
                            cudaStream_t) __asm__("cudaMemcpyBatchAsync_ptsz");
}  // namespace cuda12

__global__ void square(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= p[i];
}

int main() {
  int version = 0;
  CUDA(cudaRuntimeGetVersion(&version));
  CHECK(version / 1000 == 12);

  constexpr size_t kBytes = 1032;  // of cudaDeviceProp there
  std::vector<char> properties(kBytes + 64, 'x');
  CUDA(cuda12::cudaGetDeviceProperties_v2(properties.data(), 0));
  CHECK(std::strstr(properties.data(), "simulated") != nullptr);
  for (size_t i = kBytes; i < properties.size(); ++i) CHECK(properties[i] == 'x');
  const auto number = [&](size_t offset) {
    int value;
    std::memcpy(&value, properties.data() + offset, sizeof(value));
    return value;
  };
  int expected = 0;
  // Where compilers of CUDA 12 look: warpSize, clockRate, major, multiProcessorCount, ...
  for (const auto& [offset, attribute] :
       {std::pair(308, cudaDevAttrWarpSize), {348, cudaDevAttrClockRate},
        {360, cudaDevAttrComputeCapabilityMajor}, {388, cudaDevAttrMultiProcessorCount},
        {608, cudaDevAttrMemoryClockRate}, {624, cudaDevAttrMaxThreadsPerMultiProcessor},
        {688, cudaDevAttrCooperativeLaunch}}) {
    CUDA(cudaDeviceGetAttribute(&expected, attribute, 0));
    if (number(offset) != expected)
      std::printf("at %d: %d instead of %d\n", offset, number(offset), expected);
    CHECK(number(offset) == expected);
  }

  constexpr int n = 1000;
  float* p = nullptr;
  CUDA(cudaMallocManaged(&p, n * sizeof(float)));
  for (int i = 0; i < n; ++i) p[i] = float(i);
  CUDA(cuda12::advise(p, n * sizeof(float), cudaMemAdviseSetPreferredLocation, 0));
  CUDA(cuda12::prefetch(p, n * sizeof(float), 0, nullptr));
  FAILS(cudaErrorInvalidDevice, cuda12::prefetch(p, n * sizeof(float), 7, nullptr));
  square<<<(n + 127) / 128, 128>>>(p, n);
  CUDA(cuda12::prefetch(p, n * sizeof(float), cudaCpuDeviceId, nullptr));
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(p[i] == float(i) * float(i));
  struct {
    cuda12::PointerAttributes a;
    long behind = 4711;
  } about;
  CUDA(cuda12::attributes(&about.a, p));
  CHECK(about.a.type == cudaMemoryTypeManaged && about.a.device_pointer == p && about.behind == 4711);

  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  for (const auto copies : {cuda12::batch, cuda12::batch_of_thread}) {
    float found[3] = {};
    void *to[] = {found, found + 2}, *from[] = {p + 3, p + 30};
    size_t sizes[] = {2 * sizeof(float), sizeof(float)}, failed = 4711;
    CUDA(copies(to, from, sizes, 2, nullptr, nullptr, 0, &failed, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(found[0] == 9 && found[1] == 16 && found[2] == 900 && failed == 4711);
    FAILS(cudaErrorInvalidValue, copies(nullptr, from, sizes, 2, nullptr, nullptr, 0, &failed, stream));
    CHECK(failed == SIZE_MAX);
  }

  cudaGraph_t graph;
  cudaGraphNode_t nodes[2], from, to;
  CUDA(cudaGraphCreate(&graph, 0));
  for (auto& node : nodes) CUDA(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  CUDA(cuda12::depend(graph, &nodes[0], &nodes[1], 1));
  size_t count = 1;
  CUDA(cuda12::edges(graph, &from, &to, &count));
  CHECK(count == 1 && from == nodes[0] && to == nodes[1]);
  cudaStreamCaptureStatus status;
  unsigned long long id = 1;
  CUDA(cuda12::capturing(nullptr, &status, &id));
  CHECK(status == cudaStreamCaptureStatusNone);
  return passed();
}
