// Programs of more than a hundred launches, by name: floyd, bitonic, rank. Results are left
// unchecked: what counts is how launches differ from each other.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

template <class T>
T* on_device(const std::vector<T>& values) {
  T* p = nullptr;
  cudaMalloc(&p, values.size() * sizeof(T));
  cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}

// Shortest paths between all vertices, by way of the first k of them.
__global__ void floyd(float* d, int n, int k) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j >= n) return;
  const float via = d[i * n + k] + d[k * n + j];
  if (via < d[i * n + j]) d[i * n + j] = via;
}
void run_floyd() {
  const int n = 160;
  std::vector<float> lengths(n * n);
  for (float& x : lengths) x = rand() % 100 + 1;
  float* const d = on_device(lengths);
  for (int k = 0; k < n; ++k) floyd<<<dim3((n + 63) / 64, n), 64>>>(d, n, k);
}

__global__ void bitonic(int* a, int j, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other <= i) return;
  const bool up = (i & k) == 0;
  const int x = a[i], y = a[other];
  if ((x > y) != up) return;
  a[i] = y;
  a[other] = x;
}
void run_bitonic() {
  const int n = 1 << 16;
  std::vector<int> numbers(n);
  for (int& x : numbers) x = rand();
  int* const a = on_device(numbers);
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) bitonic<<<n / 256, 256>>>(a, j, k);
}

// PageRank on a graph of which some vertices have many edges.
__global__ void rank_of(const int* begin, const int* from, const float* share, float* rank, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float sum = 0;
  for (int i = begin[v]; i < begin[v + 1]; ++i) sum += share[from[i]];
  rank[v] = 0.15f / n + 0.85f * sum;
}
__global__ void share_of(const float* rank, const int* degree, float* share, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) share[v] = rank[v] / degree[v];
}
void run_rank() {
  const int n = 20000, iterations = 60, threads = 128, blocks = (n + threads - 1) / threads;
  std::vector<int> begin{0}, from, weights, degree(n, 1);
  for (int v = 0; v < n; ++v) {
    const int edges = 1 + rand() % 8 + (v % 97 == 0 ? 60 : 0);
    for (int i = 0; i < edges; ++i) {
      from.push_back(rand() % n);
      weights.push_back(1 + rand() % 9);  // not used; it keeps the order of random numbers
      ++degree[from.back()];
    }
    begin.push_back(static_cast<int>(from.size()));
  }
  const int* const d_begin = on_device(begin);
  const int* const d_from = on_device(from);
  const int* const d_degree = on_device(degree);
  float* const rank = on_device(std::vector<float>(n, 1.0f / n));
  float* const share = on_device(std::vector<float>(n));
  for (int i = 0; i < iterations; ++i) {
    share_of<<<blocks, threads>>>(rank, d_degree, share, n);
    rank_of<<<blocks, threads>>>(d_begin, d_from, share, rank, n);
  }
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  srand(7);
  if (strcmp(name, "floyd") == 0) {
    run_floyd();
  } else if (strcmp(name, "bitonic") == 0) {
    run_bitonic();
  } else if (strcmp(name, "rank") == 0) {
    run_rank();
  } else {
    fprintf(stderr, "usage: %s floyd|bitonic|rank\n", argv[0]);
    return 2;
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
