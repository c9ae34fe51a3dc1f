// The frame of the suite's programs. An executable is one file with several programs: its first
// argument is which one runs. Programs print what they found and whether the host finds the same,
// so that nothing but right results prints what table.tsv has.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace suite {

struct Program {
  const char* name;
  int (*run)(int count, char** arguments);
  const Program* next;
  static const Program*& first() {
    static const Program* list = nullptr;
    return list;
  }
  Program(const char* name, int (*run)(int, char**)) : name(name), run(run), next(first()) {
    first() = this;
  }
};

inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::printf("%s: %s\n", call, cudaGetErrorName(status));
  std::exit(2);
}

/// Device memory of n elements; freed with the process, as short programs do.
template <class T>
T* device(size_t n) {
  T* p = nullptr;
  check(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc");
  check(cudaMemset(p, 0, n * sizeof(T)), "cudaMemset");
  return p;
}
template <class T>
T* upload(const std::vector<T>& host) {
  T* const p = device<T>(host.size());
  check(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return p;
}
template <class T>
std::vector<T> download(const T* p, size_t n) {
  std::vector<T> host(n);
  check(cudaMemcpy(host.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return host;
}

/// Numbers in [0, 1) by a linear congruence.
inline std::vector<float> numbers(size_t n, unsigned seed) {
  std::vector<float> x(n);
  for (float& v : x) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(seed >> 8) * 0x1p-24f;
  }
  return x;
}

/// Says whether all of a are as near to b as that, relative to what is larger than 1.
inline int compare(const char* what, const std::vector<float>& a, const std::vector<float>& b,
                   double bound) {
  double worst = 0;
  for (size_t i = 0; i < b.size(); ++i)
    worst =
        std::fmax(worst, std::fabs(double(a[i]) - b[i]) / std::fmax(1, std::fabs(double(b[i]))));
  const bool near = a.size() == b.size() && worst <= bound;
  std::printf("%s: %zu values %s\n", what, a.size(), near ? "agree" : "DIFFER");
  if (!near) std::printf("worst %g\n", worst);
  return near ? 0 : 1;
}
template <class T>
int same(const char* what, const std::vector<T>& a, const std::vector<T>& b) {
  const bool equal = a == b;
  std::printf("%s: %zu values %s\n", what, a.size(), equal ? "are equal" : "DIFFER");
  return equal ? 0 : 1;
}

}  // namespace suite

#define CUDA(call) suite::check(call, #call)
#define PROGRAM(name)                                              \
  static int name##_program(int, char**);                          \
  static const suite::Program name##_entry{#name, name##_program}; \
  static int name##_program([[maybe_unused]] int count, [[maybe_unused]] char** arguments)

int main(int argc, char** argv) {
  for (const suite::Program* p = suite::Program::first(); argc > 1 && p != nullptr; p = p->next)
    if (std::strcmp(p->name, argv[1]) == 0) return p->run(argc - 2, argv + 2);
  std::printf("there is no such program\n");
  return 64;
}
