// Prices of European call options by Monte Carlo, after the CUDA SDK's MonteCarlo with a block per
// option: all options share normal random numbers in global memory.

constexpr int kThreads = 256;
constexpr int kMaxOptions = 512;

struct Option {
  float price, strike, drift, volatility;  // of the logarithm of the price until expiry
};
struct Value {
  float sum, squares;
};

__constant__ Option options[kMaxOptions];

extern "C" __global__ void monte_carlo(const float* samples, Value* values, int num_paths) {
  __shared__ float sums[kThreads], squares[kThreads];
  const Option option = options[blockIdx.x];
  float sum = 0.0f, square = 0.0f;
  for (int path = threadIdx.x; path < num_paths; path += kThreads) {
    const float exponent = option.drift + option.volatility * samples[path];
    const float pay_off = fmaxf(option.price * __expf(exponent) - option.strike, 0.0f);
    sum += pay_off;
    square += pay_off * pay_off;
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
