// cuRAND's host interface as an application uses it: its words are those of the device interface, whose generators the
// toolkit's headers bring as source, and of the standard library.
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/cudart/apps/check.h"

#define RAND(call) CHECK((call) == CURAND_STATUS_SUCCESS)

/// Number i is the next one of sequence i % sequences.
template <class State, int sequences>
__global__ void reference(unsigned* words, int n, unsigned long long seed, unsigned long long offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  State state;
  curand_init(seed, (offset + i) % sequences, (offset + i) / sequences, &state);
  words[i] = curand(&state);
}
/// Groups of four words, each of the next of 65536 sequences.
__global__ void philox(unsigned* words, int n, unsigned long long seed, unsigned long long offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  curandStatePhilox4_32_10_t state;
  const unsigned long long group = (offset + i) / 4;
  curand_init(seed, group % 65536, group / 65536 * 4 + (offset + i) % 4, &state);
  words[i] = curand(&state);
}

template <class Reference>
static void compare(curandRngType type, Reference&& reference_of, const char* name) {
  constexpr int n = 5000, more = 77;
  unsigned *words, *expected;
  CUDA(cudaMallocManaged(&words, (n + more) * sizeof(unsigned)));
  CUDA(cudaMallocManaged(&expected, (n + more) * sizeof(unsigned)));
  for (const auto& [seed, offset] : {std::pair(1234ull, 0ull), {0x123456789abcdefull, 10001ull}, {5ull, 262144ull * 3 - 2500}}) {
    curandGenerator_t g;
    RAND(curandCreateGenerator(&g, type));
    RAND(curandSetPseudoRandomGeneratorSeed(g, seed));
    RAND(curandSetGeneratorOffset(g, offset));
    RAND(curandGenerate(g, words, n));  // and where it ended it goes on
    RAND(curandGenerate(g, words + n, more));
    CUDA(cudaDeviceSynchronize());
    reference_of(expected, n + more, seed, offset);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n + more; ++i) {
      if (words[i] != expected[i]) std::printf("%s %d: %x, not %x\n", name, i, words[i], expected[i]);
      CHECK(words[i] == expected[i]);
    }
    RAND(curandDestroyGenerator(g));
  }
  CUDA(cudaFree(words));
  CUDA(cudaFree(expected));
}

int main() {
  const auto on_device = [](auto* kernel) {
    return [kernel](unsigned* to, int n, unsigned long long seed, unsigned long long offset) {
      kernel<<<(n + 127) / 128, 128>>>(to, n, seed, offset);
    };
  };
  compare(CURAND_RNG_PSEUDO_XORWOW, on_device(reference<curandStateXORWOW_t, 4096>), "XORWOW");
  compare(CURAND_RNG_PSEUDO_MRG32K3A, on_device(reference<curandStateMRG32k3a_t, 81920>), "MRG32k3a");
  compare(CURAND_RNG_PSEUDO_PHILOX4_32_10, on_device(philox), "Philox");
  compare(CURAND_RNG_PSEUDO_MT19937,
          [](unsigned* to, int n, unsigned long long seed, unsigned long long offset) {
            std::mt19937 twister(static_cast<unsigned>(seed));
            twister.discard(offset);
            for (int i = 0; i < n; ++i) to[i] = twister();
          },
          "MT19937");
  std::puts("words are right");
  return passed();
}
