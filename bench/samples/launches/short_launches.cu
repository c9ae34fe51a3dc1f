// Programs of short launches, by name: one, two, streams, alternate. Results are left unchecked:
// what counts is how launches differ from each other, and from themselves later.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kThreads = 256;
int blocks_of(int n) { return (n + kThreads - 1) / kThreads; }

__global__ void scale(float* x, int n, float f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * f + 1;
}
__global__ void gather(const float* x, const int* at, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[at[i]];
}
__global__ void triad(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + 0.5f * b[i];
}
__global__ void gather_many(const float* x, const int* at, float* y, int n, int each) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < each; ++k) sum += x[at[k * n + i]];
  y[i] = sum;
}

float* zeros(int n) {
  float* p = nullptr;
  cudaMalloc(&p, n * 4);
  cudaMemset(p, 0, n * 4);
  return p;
}
int* on_device(const std::vector<int>& values) {
  int* p = nullptr;
  cudaMalloc(&p, values.size() * 4);
  cudaMemcpy(p, values.data(), values.size() * 4, cudaMemcpyHostToDevice);
  return p;
}
int* strided(int n) {
  std::vector<int> at(n);
  for (int i = 0; i < n; ++i) at[i] = static_cast<int>(i * 7919LL % n);
  return on_device(at);
}
int* random_indices(int n, int below) {
  std::vector<int> at(n);
  for (int& i : at) i = rand() % below;
  return on_device(at);
}

// A launch that streams and one that gathers what it wrote, or two that stream, beside each other
// in two streams, and one that gathers after both.
void run_rounds(int rounds, bool beside) {
  const int n = 1 << 14;
  float *const x = zeros(n), *const y = zeros(n), *const z = zeros(n);
  const int* const at = strided(n);
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  for (int r = 0; r < rounds; ++r) {
    scale<<<blocks_of(n), kThreads, 0, a>>>(x, n, 0.5f);
    if (beside) scale<<<blocks_of(n), kThreads, 0, b>>>(z, n, 0.25f);
    gather<<<blocks_of(n), kThreads, 0, a>>>(x, at, y, n);
    if (beside) cudaDeviceSynchronize();
  }
}

// Three streams whose launches take different times: a long one that gathers much, one that
// streams through three arrays, and a short one that gathers little.
void run_streams(int rounds, int shorter) {
  const int few = (1 << 12) / shorter, some = (1 << 14) / shorter, many = (1 << 12) / shorter;
  const int each = 6;
  float *const x = zeros(some), *const y = zeros(many), *const z = zeros(few);
  float *const a = zeros(some), *const b = zeros(some), *const c = zeros(some);
  const int* const at = random_indices(many * each, some);
  const int* const at_few = random_indices(few, some);
  cudaStream_t streams[3];
  for (cudaStream_t& s : streams) cudaStreamCreate(&s);
  for (int r = 0; r < rounds; ++r) {
    gather_many<<<blocks_of(many), kThreads, 0, streams[0]>>>(x, at, y, many, each);
    triad<<<blocks_of(some), kThreads, 0, streams[1]>>>(a, b, c, some);
    gather<<<blocks_of(few), kThreads, 0, streams[2]>>>(x, at_few, z, few);
    cudaDeviceSynchronize();
  }
}

// One stream whose launches stream through arrays and gather from what these wrote in turn.
void run_alternate(int rounds, int shorter) {
  const int large = (1 << 15) / shorter, small = (1 << 11) / shorter, each = 6;
  float *const a = zeros(large), *const b = zeros(large), *const c = zeros(large);
  float* const y = zeros(small);
  const int* const at = random_indices(small * each, large);
  for (int r = 0; r < rounds; ++r) {
    triad<<<blocks_of(large), kThreads>>>(a, b, c, large);
    gather_many<<<blocks_of(small), kThreads>>>(c, at, y, small, each);
  }
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  const int rounds = argc > 2 ? atoi(argv[2]) : 0, shorter = argc > 3 ? atoi(argv[3]) : 1;
  if (strcmp(name, "one") == 0) {
    run_rounds(rounds > 0 ? rounds : 60, false);
  } else if (strcmp(name, "two") == 0) {
    run_rounds(rounds > 0 ? rounds : 60, true);
  } else if (strcmp(name, "streams") == 0) {
    run_streams(rounds > 0 ? rounds : 40, shorter);
  } else if (strcmp(name, "alternate") == 0) {
    run_alternate(rounds > 0 ? rounds : 60, shorter);
  } else {
    printf("usage: short_launches one|two|streams|alternate [ROUNDS [SHORTER]]\n");
    return 1;
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
