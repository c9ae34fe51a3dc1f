// MonteCarlo with consecutive random numbers for each warp, begun in different rounds (pim-tuning,
// section 3.2). Paths are interchangeable: nothing is laid out anew.
#include "bench/workloads/common/first_round.h"

using nearwarp::workloads::first_round;

constexpr int kThreads = 256;
constexpr int kMaxOptions = 512;

struct Option {
  float price, strike, drift, volatility;  // of the logarithm of the price until expiry
};
struct Value {
  float sum, squares;
};

__constant__ Option options[kMaxOptions];

// The number of paths is a multiple of kThreads.
extern "C" __global__ void monte_carlo_consecutive(const float* samples, Value* values,
                                                   unsigned num_paths) {
  __shared__ float sums[kThreads], squares[kThreads];
  const Option option = options[blockIdx.x];
  const unsigned rounds = num_paths / kThreads, warp = threadIdx.x / 32;
  const float* mine = samples + warp * rounds * 32 + threadIdx.x % 32;
  float sum = 0.0f, square = 0.0f;
  unsigned at = first_round(blockIdx.x * (kThreads / 32) + warp, rounds);
  for (unsigned round = 0; round < rounds; ++round) {
    const float exponent = option.drift + option.volatility * mine[size_t{32} * at];
    const float pay_off = fmaxf(option.price * __expf(exponent) - option.strike, 0.0f);
    sum += pay_off;
    square += pay_off * pay_off;
    at = at + 1 < rounds ? at + 1 : 0;
  }
  sums[threadIdx.x] = sum;
  squares[threadIdx.x] = square;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
      squares[threadIdx.x] += squares[threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) values[blockIdx.x] = {sums[0], squares[0]};
}
