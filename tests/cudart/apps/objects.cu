// C++ on the device: virtual functions, new and delete, templates, lambdas, function pointers,
// recursion, printf and assert.
#include <cassert>

#include "tests/cudart/apps/check.h"

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Circle : Shape {
  __device__ explicit Circle(float radius) : r(radius) {}
  __device__ float area() const override { return 3 * r * r; }
  float r;
};
struct Box : Shape {
  __device__ Box(float width, float height) : w(width), h(height) {}
  __device__ float area() const override { return w * h; }
  float w, h;
};

__global__ void shapes(float* areas, int* sums) {
  const int t = threadIdx.x;
  const Shape* shape = t % 3 == 0 ? static_cast<Shape*>(new Circle(t)) : new Box(t, 2);
  areas[t] = shape->area();
  delete shape;
  int* const numbers = new int[t + 1];
  for (int i = 0; i <= t; ++i) numbers[i] = i;
  int sum = 0;
  for (int i = 0; i <= t; ++i) sum += numbers[i];
  assert(sum >= t);
  sums[t] = sum;
  delete[] numbers;
  if (t == 3) printf("%s %d %5.2f %lld %c %%\n", "text", 42, 1.5, 1ll << 40, 'x');
}

template <int N, class T>
struct Vector {
  T v[N];
  __host__ __device__ T dot(const Vector& o) const {
    T sum{};
    for (int i = 0; i < N; ++i) sum += v[i] * o.v[i];
    return sum;
  }
};
__global__ void dot(Vector<5, double> a, Vector<5, double> b, double* out) { *out = a.dot(b); }

template <class F>
__global__ void each(F f, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

__host__ __device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
using Operation = float (*)(float, float);
__device__ float plus(float a, float b) { return a + b; }
__device__ float times(float a, float b) { return a * b; }
__device__ Operation operations[2] = {plus, times};
__global__ void calls(float* out) {
  const int t = threadIdx.x;
  out[t] = operations[t & 1](static_cast<float>(t), 3) + fibonacci(t % 10);
}

int main() {
  constexpr int n = 64;
  float* out;
  int* sums;
  double* product;
  CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  CUDA(cudaMallocManaged(&out, n * sizeof(float)));
  CUDA(cudaMallocManaged(&sums, n * sizeof(int)));
  CUDA(cudaMallocManaged(&product, sizeof(double)));
  shapes<<<1, n>>>(out, sums);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    CHECK(out[i] == (i % 3 == 0 ? 3.0f * i * i : 2.0f * i) && sums[i] == i * (i + 1) / 2);
  FAILS(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));  // too late

  const Vector<5, double> a{{1, 2, 3, 4, 5}}, b{{2, 3, 4, 5, 6}};
  dot<<<1, 1>>>(a, b, product);
  calls<<<1, n>>>(out);
  CUDA(cudaDeviceSynchronize());
  CHECK(*product == a.dot(b));
  for (int i = 0; i < n; ++i) CHECK(out[i] == (i & 1 ? i * 3 : i + 3) + fibonacci(i % 10));

  each<<<1, n>>>([=] __device__(int i) { out[i] = 2.0f * i; }, 50);
  CUDA(cudaDeviceSynchronize());
  CHECK(out[49] == 98 && out[50] != 100);
  return passed();
}
