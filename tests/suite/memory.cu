// Programs about memory: of all kinds, by streams, graphs and textures.
#include <algorithm>

#include "tests/suite/program.h"

using namespace suite;

__global__ void scale_and_add(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

PROGRAM(unified) {
  const int n = 5000;
  float *x, *y;
  CUDA(cudaMallocManaged(&x, n * sizeof(float)));
  CUDA(cudaMallocManaged(&y, n * sizeof(float)));
  for (int i = 0; i < n; ++i) x[i] = float(i), y[i] = 1;
  const cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
  CUDA(cudaMemAdvise(x, n * sizeof(float), cudaMemAdviseSetReadMostly, device));
  CUDA(cudaMemPrefetchAsync(x, n * sizeof(float), device, 0));
  scale_and_add<<<20, 256>>>(x, y, 2, n);
  CUDA(cudaMemPrefetchAsync(y, n * sizeof(float), host, 0));
  CUDA(cudaDeviceSynchronize());
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += y[i];
  cudaPointerAttributes attributes;
  CUDA(cudaPointerGetAttributes(&attributes, x));
  std::printf("sum %.0f, managed %d\n", sum, attributes.type == cudaMemoryTypeManaged);
  return 0;
}

PROGRAM(zero_copy) {
  const int n = 1000;
  float *x, *y, *on_device;
  CUDA(cudaHostAlloc(&x, n * sizeof(float), cudaHostAllocMapped));
  std::vector<float> own(n, 3);
  y = own.data();
  for (int i = 0; i < n; ++i) x[i] = float(i % 7);
  CUDA(cudaHostRegister(y, n * sizeof(float), cudaHostRegisterMapped));
  CUDA(cudaHostGetDevicePointer(&on_device, y, 0));
  scale_and_add<<<8, 128>>>(x, on_device, 10, n);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaHostUnregister(y));
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += y[i];
  std::printf("sum %.0f\n", sum);
  return 0;
}

PROGRAM(memory_pool) {
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cudaMemPool_t pool;
  CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  float first = 0;
  for (int round = 0; round < 10; ++round) {
    float *x, *y;
    CUDA(cudaMallocAsync(&x, 4096, stream));
    CUDA(cudaMallocAsync(&y, 4096, stream));
    CUDA(cudaMemsetAsync(x, 0x40, 4096, stream));  // 3.004
    CUDA(cudaMemsetAsync(y, 0, 4096, stream));
    scale_and_add<<<4, 256, 0, stream>>>(x, y, 1, 1024);
    CUDA(cudaMemcpyAsync(&first, y, 4, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaFreeAsync(x, stream));
    CUDA(cudaFreeAsync(y, stream));
  }
  CUDA(cudaStreamSynchronize(stream));
  unsigned long long used = 1;
  CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  std::printf("first %.3f, %llu bytes in use\n", first, used);
  return 0;
}

__constant__ int offsets[4];
__device__ int total = 5;
__global__ void add_offsets() {
  atomicAdd(&total, offsets[threadIdx.x % 4]);
}
PROGRAM(symbols) {
  const int host[4] = {1, 10, 100, 1000};
  int result = 0;
  CUDA(cudaMemcpyToSymbol(offsets, host, sizeof host));
  add_offsets<<<1, 8>>>();
  CUDA(cudaMemcpyFromSymbol(&result, total, sizeof result));
  int* address = nullptr;
  size_t bytes = 0;
  CUDA(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), total));
  CUDA(cudaGetSymbolSize(&bytes, offsets));
  std::printf("total %d, %zu bytes, the same by its address: %d\n", result, bytes, download(address, 1)[0] == result);
  return 0;
}

PROGRAM(pitched) {
  const int width = 33, height = 9;
  std::vector<int> in(width * height), out(5 * 4);
  for (int i = 0; i < width * height; ++i) in[i] = i;
  char* p = nullptr;
  size_t pitch = 0;
  CUDA(cudaMallocPitch(&p, &pitch, width * 4, height));
  CUDA(cudaMemcpy2D(p, pitch, in.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy2D(out.data(), 5 * 4, p + 3 * pitch + 7 * 4, pitch, 5 * 4, 4, cudaMemcpyDeviceToHost));
  for (const int v : out) std::printf("%d ", v);
  std::printf("\n%s\n", pitch % 32 == 0 && pitch >= width * 4 ? "pitch is aligned" : "PITCH IS WRONG");
  return 0;
}

__global__ void stage(const int* in, int* out, int n, int add) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 3 + add;
}
PROGRAM(streams) {
  const int n = 4096, chunks = 4, own = n / chunks;
  int *pinned = nullptr, *d = device<int>(n);
  CUDA(cudaMallocHost(&pinned, n * sizeof(int)));
  for (int i = 0; i < n; ++i) pinned[i] = i;
  cudaStream_t s[4];
  cudaEvent_t begin, end, each;
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&end));
  CUDA(cudaEventCreateWithFlags(&each, cudaEventDisableTiming));
  CUDA(cudaEventRecord(begin));
  for (int c = 0; c < chunks; ++c) {
    CUDA(cudaStreamCreateWithFlags(&s[c], cudaStreamNonBlocking));
    CUDA(cudaMemcpyAsync(d + c * own, pinned + c * own, own * 4, cudaMemcpyHostToDevice, s[c]));
    for (int k = 0; k < 3; ++k) stage<<<own / 128, 128, 0, s[c]>>>(d + c * own, d + c * own, own, k);
    CUDA(cudaMemcpyAsync(pinned + c * own, d + c * own, own * 4, cudaMemcpyDeviceToHost, s[c]));
    CUDA(cudaEventRecord(each, s[c]));
    CUDA(cudaStreamWaitEvent(nullptr, each, 0));
  }
  static int calls = 0;
  CUDA(cudaLaunchHostFunc(nullptr, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  CUDA(cudaEventRecord(end));
  CUDA(cudaEventSynchronize(end));
  float milliseconds = -1;
  CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += pinned[i] != ((i * 3) * 3 + 1) * 3 + 2;
  std::printf("%d wrong, %d call, time %s\n", wrong, calls, milliseconds > 0 ? "passed" : "DID NOT PASS");
  return wrong;
}

PROGRAM(graph) {
  const int n = 1024;
  int* const d = device<int>(n);
  cudaStream_t s, side;
  cudaEvent_t fork, join;
  CUDA(cudaStreamCreate(&s));
  CUDA(cudaStreamCreate(&side));
  CUDA(cudaEventCreate(&fork));
  CUDA(cudaEventCreate(&join));
  int* const e = device<int>(n);
  CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  stage<<<8, 128, 0, s>>>(d, d, n, 1);
  CUDA(cudaEventRecord(fork, s));
  CUDA(cudaStreamWaitEvent(side, fork, 0));
  stage<<<8, 128, 0, side>>>(d, e, n, 100);
  CUDA(cudaEventRecord(join, side));
  CUDA(cudaStreamWaitEvent(s, join, 0));
  stage<<<8, 128, 0, s>>>(e, e, n, 0);
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(s, &graph));
  size_t nodes = 0, edges = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  cudaGraphExec_t instance;
  CUDA(cudaGraphInstantiate(&instance, graph, 0));
  for (int round = 0; round < 5; ++round) CUDA(cudaGraphLaunch(instance, s));
  CUDA(cudaStreamSynchronize(s));
  std::printf("%zu nodes, %zu edges, d %d, e %d\n", nodes, edges, download(d, n)[n - 1], download(e, n)[0]);
  return 0;
}

/// The argument of a captured kernel node is changed in the instance.
PROGRAM(graph_update) {
  int n = 256, add = 4;
  int* d = device<int>(n);
  void* parameters[] = {&d, &d, &n, &add};
  cudaGraph_t graph;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(stage), p.gridDim = dim3(2), p.blockDim = dim3(128), p.kernelParams = parameters;
  cudaGraphNode_t node;
  CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  cudaGraphExec_t instance;
  CUDA(cudaGraphInstantiate(&instance, graph, 0));
  CUDA(cudaGraphLaunch(instance, 0));
  add = 7;
  CUDA(cudaGraphExecKernelNodeSetParams(instance, node, &p));
  CUDA(cudaGraphLaunch(instance, 0));
  std::printf("value %d\n", download(d, n)[99]);
  return 0;
}

__global__ void sample_linear(cudaTextureObject_t t, float* out, int width, int height) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(t, x + 1.0f, y + 0.5f);
}
PROGRAM(texture) {
  const int width = 40, height = 24;
  std::vector<float> in(width * height), want(in.size());
  for (int i = 0; i < width * height; ++i) in[i] = float(i * 8 % 256);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) want[y * width + x] = 0.5f * (in[y * width + x] + in[y * width + std::min(x + 1, width - 1)]);
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CUDA(cudaMallocArray(&array, &format, width, height));
  CUDA(cudaMemcpy2DToArray(array, 0, 0, in.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray, resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp, how.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  float* const d = device<float>(in.size());
  sample_linear<<<dim3(3, 2), dim3(16, 16)>>>(texture, d, width, height);
  return same("between texels", download(d, in.size()), want);
}

__global__ void paint(cudaSurfaceObject_t s, int width) {
  const int x = threadIdx.x, y = blockIdx.x;
  uchar4 old;
  surf2Dread(&old, s, x * 4, y);
  if (x < width) surf2Dwrite(make_uchar4(old.x + 1, y, x, 255), s, x * 4, y);
}
PROGRAM(surface) {
  const int width = 16, height = 4;
  std::vector<uchar4> image(width * height, make_uchar4(9, 0, 0, 0));
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  CUDA(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  CUDA(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray, resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CUDA(cudaCreateSurfaceObject(&surface, &resource));
  paint<<<height, width>>>(surface, width);
  CUDA(cudaMemcpy2DFromArray(image.data(), width * 4, array, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
  const uchar4 v = image[2 * width + 11];
  std::printf("pixel %d %d %d %d\n", v.x, v.y, v.z, v.w);
  return 0;
}

PROGRAM(peers) {
  int devices = 0, can = 0;
  CUDA(cudaGetDeviceCount(&devices));
  std::printf("%d devices\n", devices);
  if (devices < 2) return 0;
  CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
  CUDA(cudaDeviceEnablePeerAccess(1, 0));
  int* p[2];
  for (int d = 0; d < 2; ++d) {
    CUDA(cudaSetDevice(d));
    p[d] = upload(std::vector<int>(100, d + 1));
    stage<<<1, 128>>>(p[d], p[d], 100, d);
  }
  CUDA(cudaMemcpyPeer(p[1], 1, p[0], 0, 50 * sizeof(int)));
  const std::vector<int> host = download(p[1], 100);
  std::printf("access %d, values %d %d\n", can, host[0], host[99]);
  return 0;
}
