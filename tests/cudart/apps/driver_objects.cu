// The driver's graphs, arrays, textures and surfaces, with kernels of the runtime's program.
#include <cuda.h>

#include <cstring>
#include <vector>

#include "tests/cudart/apps/check.h"
#include "tests/cudart/apps/driver_check.h"

__global__ void add(int* p, int n) { p[threadIdx.x] += n; }
__global__ void fetch(cudaTextureObject_t texture, float* out, int width, int height) {
  const int i = threadIdx.x;
  if (i < width * height) out[i] = tex2D<float>(texture, i % width + 0.5f, i / width + 0.5f);
}
__global__ void fetch_bytes(cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<unsigned char>(texture, threadIdx.x);
}
__global__ void invert(cudaSurfaceObject_t surface, int width, int height) {
  const int x = threadIdx.x % width, y = threadIdx.x / width;
  if (y >= height) return;
  float value;
  surf2Dread(&value, surface, x * 4, y);
  surf2Dwrite(-value, surface, x * 4, y);
}

template <class Kernel>
CUfunction function_of(Kernel* kernel) {
  cudaFunction_t function;
  CUDA(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(kernel)));
  return function;
}

void graphs() {
  CUdeviceptr p;
  CU(cuMemAlloc(&p, 128));
  CUgraph graph;
  CU(cuGraphCreate(&graph, 0));
  CUgraphNode fill, kernel, copy, host_node;
  const CUDA_MEMSET_NODE_PARAMS fill_params = {p, 128, 5, 4, 32, 1};
  CU(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &fill_params, nullptr));
  int n = 3;
  void* args[] = {&p, &n};
  CUDA_KERNEL_NODE_PARAMS kernel_params = {};
  kernel_params.func = function_of(add);
  kernel_params.gridDimX = kernel_params.gridDimY = kernel_params.gridDimZ = 1;
  kernel_params.blockDimX = 32, kernel_params.blockDimY = kernel_params.blockDimZ = 1;
  kernel_params.kernelParams = args;
  CU(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &kernel_params));
  int values[32] = {};
  CUDA_MEMCPY3D copy_params = {};
  copy_params.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy_params.srcDevice = p;
  copy_params.dstMemoryType = CU_MEMORYTYPE_HOST, copy_params.dstHost = values;
  copy_params.WidthInBytes = 128, copy_params.Height = copy_params.Depth = 1;
  CU(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &copy_params, nullptr));
  int calls = 0;
  const CUDA_HOST_NODE_PARAMS host_params = {[](void* data) { ++*static_cast<int*>(data); },
                                             &calls};
  CU(cuGraphAddHostNode(&host_node, graph, &copy, 1, &host_params));

  CUDA_MEMCPY3D asked;
  CU(cuGraphMemcpyNodeGetParams(copy, &asked));
  CHECK(asked.dstHost == values && asked.srcDevice == p && asked.WidthInBytes == 128);
  CUDA_KERNEL_NODE_PARAMS kernel_asked;
  CU(cuGraphKernelNodeGetParams(kernel, &kernel_asked));
  CHECK(kernel_asked.func == kernel_params.func && kernel_asked.blockDimX == 32);
  CHECK(*static_cast<int*>(kernel_asked.kernelParams[1]) == 3);
  size_t count = 0;
  CU(cuGraphGetNodes(graph, nullptr, &count));
  CHECK(count == 4);
  CU(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  CHECK(count == 3);
  CUgraphNodeType type;
  CU(cuGraphNodeGetType(copy, &type));
  CHECK(type == CU_GRAPH_NODE_TYPE_MEMCPY);

  CUgraphExec exec;
  CU(cuGraphInstantiate(&exec, graph, 0));
  CU(cuGraphLaunch(exec, nullptr));
  for (int value : values) CHECK(value == 8);
  CHECK(calls == 1);
  // Arguments in a buffer, and the kernel in the other place.
  struct {
    CUdeviceptr p;
    int n;
  } buffer = {p, 10};
  size_t size = sizeof(buffer);
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  kernel_params.kern = reinterpret_cast<CUkernel>(kernel_params.func);
  kernel_params.func = nullptr;
  kernel_params.kernelParams = nullptr;
  kernel_params.extra = extra;
  CU(cuGraphExecKernelNodeSetParams(exec, kernel, &kernel_params));
  CU(cuGraphLaunch(exec, nullptr));
  for (int value : values) CHECK(value == 15);
  CUgraphNodeParams any = {};
  any.type = CU_GRAPH_NODE_TYPE_KERNEL;
  any.kernel.kern = kernel_params.kern;
  any.kernel.gridDimX = any.kernel.gridDimY = any.kernel.gridDimZ = 1;
  any.kernel.blockDimX = 32, any.kernel.blockDimY = any.kernel.blockDimZ = 1;
  n = -5;
  any.kernel.kernelParams = args;
  CU(cuGraphExecNodeSetParams(exec, kernel, &any));
  CU(cuGraphLaunch(exec, nullptr));
  for (int value : values) CHECK(value == 0);
  CU(cuGraphExecDestroy(exec));

  CUgraphNodeParams memory = {};  // an address comes back
  memory.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  memory.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  memory.alloc.bytesize = 1000;
  CUgraphNode allocation, release;
  CU(cuGraphAddNode(&allocation, graph, nullptr, nullptr, 0, &memory));
  CHECK(memory.alloc.dptr != 0);
  CU(cuGraphAddMemFreeNode(&release, graph, &allocation, 1, memory.alloc.dptr));
  CUdeviceptr freed = 0;
  CU(cuGraphMemFreeNodeGetParams(release, &freed));
  CHECK(freed == memory.alloc.dptr);
  CU(cuGraphDestroy(graph));

  // Captured from a stream.
  CUstream stream;
  CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU(cuMemsetD32Async(p, 1, 32, stream));
  n = 6;
  CU(cuLaunchKernel(function_of(add), 1, 1, 1, 32, 1, 1, 0, stream, args, nullptr));
  CU(cuMemcpyDtoHAsync(values, p, 128, stream));
  CUstreamCaptureStatus status;
  CU(cuStreamIsCapturing(stream, &status));
  CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CU(cuStreamEndCapture(stream, &graph));
  CHECK(values[0] == 0);
  CU(cuGraphInstantiate(&exec, graph, 0));
  CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  for (int value : values) CHECK(value == 7);
  CU(cuGraphExecDestroy(exec));
  CU(cuGraphDestroy(graph));
  CU(cuStreamDestroy(stream));
  CU(cuMemFree(p));
}

void textures() {
  const int width = 8, height = 4;
  float host[height][width], back[height][width];
  for (int i = 0; i < width * height; ++i) host[i / width][i % width] = 0.5f * i;
  CUDA_ARRAY3D_DESCRIPTOR format = {};
  format.Width = width, format.Height = height;
  format.Format = CU_AD_FORMAT_FLOAT, format.NumChannels = 1;
  format.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  CUarray array;
  CU(cuArray3DCreate(&array, &format));
  CUDA_ARRAY_DESCRIPTOR asked;
  CU(cuArrayGetDescriptor(&asked, array));
  CHECK(asked.Width == width && asked.Height == height && asked.Format == CU_AD_FORMAT_FLOAT);
  CHECK(asked.NumChannels == 1);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = host, copy.srcPitch = width * 4;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
  copy.WidthInBytes = width * 4, copy.Height = height;
  CU(cuMemcpy2D(&copy));

  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC how = {};
  how.addressMode[0] = how.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  how.filterMode = CU_TR_FILTER_MODE_POINT;
  CUtexObject texture;
  CU(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  CUDA_TEXTURE_DESC how_asked;
  CU(cuTexObjectGetTextureDesc(&how_asked, texture));
  CHECK(how_asked.addressMode[1] == CU_TR_ADDRESS_MODE_CLAMP && how_asked.flags == 0);
  CUdeviceptr out;
  CU(cuMemAlloc(&out, sizeof(host)));
  int w = width, h = height;
  void* args[] = {&texture, &out, &w, &h};
  CU(cuLaunchKernel(function_of(fetch), 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  CU(cuMemcpyDtoH(back, out, sizeof(back)));
  CHECK(std::memcmp(host, back, sizeof(host)) == 0);
  CU(cuTexObjectDestroy(texture));

  CUsurfObject surface;
  CU(cuSurfObjectCreate(&surface, &resource));
  void* surface_args[] = {&surface, &w, &h};
  CU(cuLaunchKernel(function_of(invert), 1, 1, 1, 32, 1, 1, 0, nullptr, surface_args, nullptr));
  // A part of it: from the second row and third element on.
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, copy.srcArray = array;
  copy.srcXInBytes = 8, copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = back, copy.dstPitch = width * 4;
  copy.WidthInBytes = 12, copy.Height = 2;
  CU(cuMemcpy2D(&copy));
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x) CHECK(back[y][x] == -host[y + 1][x + 2]);
  CU(cuSurfObjectDestroy(surface));
  CU(cuArrayDestroy(array));

  // Bytes as they are, and as numbers from 0 to 1.
  std::vector<unsigned char> bytes(32);
  for (int i = 0; i < 32; ++i) bytes[i] = static_cast<unsigned char>(3 * i);
  CU(cuMemcpyHtoD(out, bytes.data(), 32));
  CUDA_RESOURCE_DESC linear = {};
  linear.resType = CU_RESOURCE_TYPE_LINEAR;
  linear.res.linear.devPtr = out;
  linear.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
  linear.res.linear.numChannels = 1;
  linear.res.linear.sizeInBytes = 32;
  how = {};
  how.flags = CU_TRSF_READ_AS_INTEGER;
  CU(cuTexObjectCreate(&texture, &linear, &how, nullptr));
  CU(cuTexObjectGetTextureDesc(&how_asked, texture));
  CHECK(how_asked.flags == CU_TRSF_READ_AS_INTEGER);
  CUDA_RESOURCE_DESC linear_asked;
  CU(cuTexObjectGetResourceDesc(&linear_asked, texture));
  CHECK(linear_asked.res.linear.devPtr == out);
  CHECK(linear_asked.res.linear.format == CU_AD_FORMAT_UNSIGNED_INT8);
  CUdeviceptr words;
  CU(cuMemAlloc(&words, 128));
  void* byte_args[] = {&texture, &words};
  CU(cuLaunchKernel(function_of(fetch_bytes), 1, 1, 1, 32, 1, 1, 0, nullptr, byte_args, nullptr));
  int values[32];
  CU(cuMemcpyDtoH(values, words, 128));
  for (int i = 0; i < 32; ++i) CHECK(values[i] == 3 * i);
  CU(cuTexObjectDestroy(texture));
  CU(cuMemFree(words));
  CU(cuMemFree(out));

  CUDA_ARRAY_DESCRIPTOR line = {16, 0, CU_AD_FORMAT_SIGNED_INT32, 2};
  CU(cuArrayCreate(&array, &line));
  CU(cuMemcpyHtoA(array, 8, values, 64));
  int again[16] = {};
  CU(cuMemcpyAtoH(again, array, 16, 56));
  for (int i = 0; i < 14; ++i) CHECK(again[i] == values[i + 2]);
  CU(cuArrayDestroy(array));
  line.NumChannels = 3;
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, &line));
}

int main() {
  CUDA(cudaFree(nullptr));
  graphs();
  textures();
  return passed();
}
