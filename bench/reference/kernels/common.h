// Common to all reference kernels: one allocation helper, one launch, one check line.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
static unsigned rng_state = 12345u;
static inline unsigned rnd() {
  rng_state ^= rng_state << 13;
  rng_state ^= rng_state >> 17;
  rng_state ^= rng_state << 5;
  return rng_state;
}
template <class T>
static T *to_device(const std::vector<T> &v) {
  T *p = nullptr;
  cudaMalloc((void **)&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T>
static T *device_zeros(size_t n) {
  return to_device(std::vector<T>(n, T(0)));
}
template <class T>
static std::vector<T> to_host(const T *p, size_t n) {
  std::vector<T> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return v;
}
static inline int argument(int argc, char **argv, int i, int otherwise) {
  return argc > i ? atoi(argv[i]) : otherwise;
}
static inline int report(bool ok) {
  cudaDeviceSynchronize();
  printf("CHECK %s\n", ok ? "OK" : "FAILED");
  return ok ? 0 : 1;
}
