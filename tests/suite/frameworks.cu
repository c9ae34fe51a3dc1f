// Programs as frameworks are: graphs with conditions and memory of their own, memory of other
// processes, hints, decoding of language models with caches in pages and experts, and a run that a limit ends.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "tests/suite/program.h"

using namespace suite;

static __global__ void add(int* p, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += by;
}
static __global__ void halve(int* p, cudaGraphConditionalHandle again) {
  *p /= 2;
  cudaGraphSetConditional(again, *p > 1);
}

static cudaGraphNode_t kernel_node(cudaGraph_t graph, void* kernel, void** arguments) {
  cudaKernelNodeParams params = {};
  params.func = kernel;
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node;
  CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  return node;
}
static std::vector<cudaGraph_t> condition(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& after,
                                          cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, int bodies,
                                          cudaGraphNode_t* node) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = bodies;
  CUDA(cudaGraphAddNode(node, graph, after.data(), nullptr, after.size(), &params));
  return {params.conditional.phGraph_out, params.conditional.phGraph_out + bodies};
}

/// A loop that the device ends, then one of three ways.
PROGRAM(graph_conditions) {
  int* const d = upload(std::vector<int>{1000, 0});
  int *at = d, *to = d + 1, one = 1, values[] = {5, 50, 500};
  cudaGraph_t graph;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle loop, choice;
  CUDA(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
  CUDA(cudaGraphConditionalHandleCreate(&choice, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t first, second;
  void* halving[] = {&at, &loop};
  kernel_node(condition(graph, {}, loop, cudaGraphCondTypeWhile, 1, &first)[0], (void*)halve, halving);
  const auto ways = condition(graph, {first}, choice, cudaGraphCondTypeSwitch, 3, &second);
  for (int i = 0; i < 3; ++i) {
    void* arguments[] = {&to, &one, &values[i]};
    kernel_node(ways[i], (void*)add, arguments);
  }
  cudaGraphExec_t instance;
  CUDA(cudaGraphInstantiate(&instance, graph, 0));
  CUDA(cudaGraphLaunch(instance, 0));
  const std::vector<int> found = download(d, 2);
  std::printf("halved to %d, way %d\n", found[0], found[1]);
  return 0;
}

/// Memory that a graph has for itself: one address for two, reserved from the first launch on.
PROGRAM(graph_memory) {
  cudaStream_t s;
  CUDA(cudaStreamCreate(&s));
  int *a, *b;
  int* const sums = device<int>(64);
  CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CUDA(cudaMallocAsync(&a, 1 << 20, s));
  CUDA(cudaMemsetAsync(a, 0, 1 << 20, s));
  add<<<1, 64, 0, s>>>(a, 64, 3);
  CUDA(cudaMemcpyAsync(sums, a, 64 * sizeof(int), cudaMemcpyDefault, s));
  CUDA(cudaFreeAsync(a, s));
  CUDA(cudaMallocAsync(&b, 1 << 20, s));
  CUDA(cudaFreeAsync(b, s));
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(s, &graph));
  cudaGraphExec_t instance;
  CUDA(cudaGraphInstantiate(&instance, graph, 0));
  unsigned long long before = 9, after = 9, trimmed = 9;
  CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &before));
  CUDA(cudaGraphLaunch(instance, s));
  CUDA(cudaStreamSynchronize(s));
  CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &after));
  CUDA(cudaDeviceGraphMemTrim(0));
  CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &trimmed));
  std::printf("same address %d; reserved before %d, after %d, trimmed %d; value %d\n", a == b, before > 0, after > 0,
              trimmed > 0, download(sums, 64)[63]);
  return 0;
}

/// Two processes with one piece of memory, and an event.
PROGRAM(two_processes) {
  struct Handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
  } handles;
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return 4;
  const pid_t child = fork();
  if (child == 0) {
    if (read(there[0], &handles, sizeof(handles)) != sizeof(handles)) _exit(1);
    int* p;
    cudaEvent_t event;
    CUDA(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&p), handles.memory, cudaIpcMemLazyEnablePeerAccess));
    CUDA(cudaIpcOpenEventHandle(&event, handles.event));
    CUDA(cudaStreamWaitEvent(0, event, 0));
    add<<<1, 256>>>(p, 256, 40);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaIpcCloseMemHandle(p));
    _exit(write(back[1], "x", 1) == 1 ? 0 : 1);
  }
  int* const p = device<int>(256);
  add<<<1, 256>>>(p, 256, 2);
  cudaEvent_t event;
  CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
  CUDA(cudaEventRecord(event));
  CUDA(cudaIpcGetMemHandle(&handles.memory, p));
  CUDA(cudaIpcGetEventHandle(&handles.event, event));
  char done;
  if (write(there[1], &handles, sizeof(handles)) != sizeof(handles) || read(back[0], &done, 1) != 1) return 4;
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("both added: %d; the other ended with %d\n", download(p, 256)[255], WEXITSTATUS(status));
  return 0;
}

/// A loop in a graph that a stream captures: its body is captured by another stream.
PROGRAM(captured_loop) {
  int* const d = upload(std::vector<int>{1000, 0});
  cudaStream_t stream, inner;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamCreate(&inner));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(d, 1, 24);
  cudaStreamCaptureStatus status;
  cudaGraph_t graph;
  const cudaGraphNode_t* before;
  const cudaGraphEdgeData* edges;
  size_t edge_count;
  CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &before, &edges, &edge_count));
  cudaGraphConditionalHandle again;
  CUDA(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t loop;
  const std::vector<cudaGraph_t> body =
      condition(graph, std::vector<cudaGraphNode_t>(before, before + edge_count), again, cudaGraphCondTypeWhile, 1, &loop);
  CUDA(cudaStreamUpdateCaptureDependencies(stream, &loop, nullptr, 1, cudaStreamSetCaptureDependencies));
  CUDA(cudaStreamBeginCaptureToGraph(inner, body[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  halve<<<1, 1, 0, inner>>>(d, again);
  add<<<1, 1, 0, inner>>>(d + 1, 1, 1);
  CUDA(cudaStreamEndCapture(inner, nullptr));
  add<<<1, 1, 0, stream>>>(d, 1, 6);
  CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t instance;
  CUDA(cudaGraphInstantiate(&instance, graph, 0));
  CUDA(cudaGraphLaunch(instance, stream));
  CUDA(cudaStreamSynchronize(stream));
  const std::vector<int> found = download(d, 2);
  std::printf("after %d rounds %d\n", found[1], found[0]);
  return 0;
}

/// A pool's memory in another process, which opens the descriptor that the pool was exported to.
PROGRAM(shared_pool) {
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return 4;
  struct Handed {
    int process, descriptor;
    cudaMemPoolPtrExportData memory;
  } handed;
  const pid_t child = fork();
  // So that who waits for the other is told that it has ended.
  close(child == 0 ? there[1] : there[0]);
  close(child == 0 ? back[0] : back[1]);
  if (child == 0) {
    if (read(there[0], &handed, sizeof(handed)) != sizeof(handed)) _exit(1);
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", handed.process, handed.descriptor);
    const intptr_t file = open(path, O_RDWR);
    cudaMemPool_t pool;
    int* p;
    CUDA(cudaMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(file), cudaMemHandleTypePosixFileDescriptor, 0));
    CUDA(cudaMemPoolImportPointer(reinterpret_cast<void**>(&p), pool, &handed.memory));
    add<<<1, 256>>>(p, 256, 40);
    CUDA(cudaFreeAsync(p, 0));
    CUDA(cudaDeviceSynchronize());
    _exit(write(back[1], "x", 1) == 1 ? 0 : 1);
  }
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  CUDA(cudaMemPoolCreate(&pool, &properties));
  int* p;
  CUDA(cudaMallocFromPoolAsync(&p, 256 * sizeof(int), pool, 0));
  CUDA(cudaMemsetAsync(p, 0, 256 * sizeof(int), 0));
  add<<<1, 256>>>(p, 256, 2);
  handed.process = getpid();
  CUDA(cudaMemPoolExportToShareableHandle(&handed.descriptor, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  CUDA(cudaMemPoolExportPointer(&handed.memory, p));
  char done;
  if (write(there[1], &handed, sizeof(handed)) != sizeof(handed) || read(back[0], &done, 1) != 1) return 4;
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("both added: %d; the other ended with %d\n", download(p, 256)[255], WEXITSTATUS(status));
  return 0;
}

/// Hints about memory, and what is wrong with some.
PROGRAM(hints) {
  int *managed, on_host[4];
  CUDA(cudaMallocManaged(&managed, 4096));
  int* const on_device = device<int>(4);
  const cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, nowhere = {cudaMemLocationTypeDevice, 9};
  const auto say = [](const char* what, cudaError_t status) {
    std::printf("%s: %s\n", what, cudaGetErrorName(status));
    cudaGetLastError();
  };
  say("prefetched", cudaMemPrefetchAsync(managed, 4096, here, 0, 0));
  say("to no device", cudaMemPrefetchAsync(managed, 4096, nowhere, 0, 0));
  say("not managed", cudaMemPrefetchAsync(on_device, 16, here, 0, 0));
  say("the host's", cudaMemPrefetchAsync(on_host, 16, here, 0, 0));
  say("too much", cudaMemPrefetchAsync(managed, size_t(1) << 30, here, 0, 0));
  say("flags", cudaMemPrefetchAsync(managed, 4096, here, 7, 0));
  say("advised", cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, here));
  say("of no device", cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, nowhere));
  say("unknown", cudaMemAdvise(managed, 4096, static_cast<cudaMemoryAdvise>(99), here));
  add<<<1, 32>>>(managed, 32, 1);
  return 0;
}

static __global__ void attend(const float* q, const float* keys, const float* values, const int* pages, int context, float* out) {
  constexpr int kPage = 16, kWidth = 32;  // a lane for each element of a head
  const int head = blockIdx.x, of_keys = head / 4, lane = threadIdx.x;
  float most = -1e30f, sum = 0, result = 0;
  for (int t = 0; t < context; ++t) {
    const size_t row = (size_t(pages[t / kPage]) * kPage + t % kPage) * 2 + of_keys;
    float x = q[head * kWidth + lane] * keys[row * kWidth + lane];
    for (int n = 16; n != 0; n /= 2) x += __shfl_xor_sync(~0u, x, n);
    const float now = fmaxf(most, x), kept = expf(most - now), weight = expf(x - now);
    sum = sum * kept + weight;
    result = result * kept + weight * values[row * kWidth + lane];
    most = now;
  }
  out[head * kWidth + lane] = result / sum;
}

/// One query over a cache in pages, four heads of queries to each head of keys.
PROGRAM(paged_attention) {
  const int context = 75, heads = 8, width = 32, pages = 5, page = 16;
  const std::vector<int> table = {3, 0, 4, 1, 2};
  const std::vector<float> q = numbers(heads * width, 60), k = numbers(pages * page * 2 * width, 61),
                           v = numbers(pages * page * 2 * width, 62);
  std::vector<float> want(heads * width);
  for (int h = 0; h < heads; ++h) {
    std::vector<double> weight(context);
    double sum = 0;
    const auto row = [&](int t) { return ((table[t / page] * page + t % page) * 2 + h / 4) * width; };
    for (int t = 0; t < context; ++t) {
      double x = 0;
      for (int i = 0; i < width; ++i) x += double(q[h * width + i]) * k[row(t) + i];
      sum += weight[t] = std::exp(x);
    }
    for (int i = 0; i < width; ++i) {
      double x = 0;
      for (int t = 0; t < context; ++t) x += weight[t] / sum * v[row(t) + i];
      want[h * width + i] = float(x);
    }
  }
  float* const out = device<float>(heads * width);
  attend<<<heads, width>>>(upload(q), upload(k), upload(v), upload(table), context, out);
  return compare("attended", download(out, want.size()), want, 1e-5);
}

static __global__ void route(const float* scores, int experts, int* chosen, float* share) {
  const float* const s = scores + threadIdx.x * experts;
  int best = 0, next = -1;
  for (int e = 1; e < experts; ++e)
    if (s[e] > s[best]) best = e;
  for (int e = 0; e < experts; ++e)
    if (e != best && (next < 0 || s[e] > s[next])) next = e;
  const float other = expf(s[next] - s[best]);
  chosen[2 * threadIdx.x] = best, chosen[2 * threadIdx.x + 1] = next;
  share[2 * threadIdx.x] = 1 / (1 + other), share[2 * threadIdx.x + 1] = other / (1 + other);
}
static __global__ void experts_times(const float* weights, const float* table, const int* words, const int* chosen,
                                     const float* share, int width, float* out) {
  const int token = blockIdx.x, row = threadIdx.x;
  float sum = 0;
  for (int c = 0; c < 2; ++c) {
    const float* const w = weights + (size_t(chosen[2 * token + c]) * width + row) * width;
    float x = 0;
    for (int i = 0; i < width; ++i) x += w[i] * table[words[token] * width + i];
    sum += share[2 * token + c] * x;
  }
  out[token * width + row] = sum;
}

/// Embeddings of words through two of eight experts each.
PROGRAM(experts) {
  const int tokens = 6, all = 8, width = 64, vocabulary = 50;
  const std::vector<float> weights = numbers(all * width * width, 63), table = numbers(vocabulary * width, 64),
                           scores = numbers(tokens * all, 65);
  const std::vector<int> words = {7, 49, 0, 7, 21, 33};
  std::vector<float> want(tokens * width);
  std::vector<int> want_chosen;
  for (int t = 0; t < tokens; ++t) {
    std::vector<int> order(all);
    for (int e = 0; e < all; ++e) order[e] = e;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return scores[t * all + a] > scores[t * all + b]; });
    const double other = std::exp(double(scores[t * all + order[1]]) - scores[t * all + order[0]]);
    for (int c = 0; c < 2; ++c) {
      want_chosen.push_back(order[c]);
      for (int r = 0; r < width; ++r) {
        double x = 0;
        for (int i = 0; i < width; ++i) x += double(weights[(order[c] * width + r) * width + i]) * table[words[t] * width + i];
        want[t * width + r] += float((c == 0 ? 1 : other) / (1 + other) * x);
      }
    }
  }
  int* const chosen = device<int>(2 * tokens);
  float *const share = device<float>(2 * tokens), *const out = device<float>(tokens * width);
  route<<<1, tokens>>>(upload(scores), all, chosen, share);
  experts_times<<<tokens, width>>>(upload(weights), upload(table), upload(words), chosen, share, width, out);
  const int wrong = same("experts", download(chosen, 2 * tokens), want_chosen);
  return wrong + compare("results", download(out, want.size()), want, 1e-5);
}

static __global__ void long_loop(float* p, int rounds) {
  float x = threadIdx.x;
  for (int i = 0; i < rounds; ++i) x = x * 1.0001f + 0.5f;
  p[threadIdx.x] = x;
}

/// Would take hours.
PROGRAM(endless) {
  float* const d = device<float>(256);
  long_loop<<<1, 256>>>(d, 10);
  std::printf("one launch has ended\n");
  std::fflush(stdout);
  long_loop<<<1 << 20, 256>>>(d, 1 << 30);
  CUDA(cudaDeviceSynchronize());
  std::printf("so has the other\n");
  return 0;
}

/// An index that is too large, in one thread of the second block.
static __global__ void beyond(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i == 40 ? 1 << 28 : i] = n;
}
PROGRAM(out_of_bounds) {
  int* const d = device<int>(64);
  beyond<<<2, 32>>>(d, 1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
