// LIBOR market model with the storage of GPGPU-Sim's LIB: what a path owns lies in local arrays of its
// thread (the derivatives in the place of the rates), the model in constant memory. Shocks and initial
// rates are the same on every path, as there. The algorithm is that of libor.cu.

namespace {

constexpr int kMaxRates = 80;
constexpr int kMaxFixings = 40;
constexpr int kMaxOptions = 15;
constexpr int kMaxTrajectory = kMaxRates * (kMaxFixings + 1);
constexpr float kShock = 0.3f;
constexpr float kInitialRate = 0.05f;

}  // namespace

extern "C" {
__constant__ int libor_num_rates, libor_num_fixings, libor_num_options;
__constant__ int libor_maturities[kMaxOptions];
__constant__ float libor_delta;
__constant__ float libor_swaprates[kMaxOptions];
__constant__ float libor_lambda[kMaxRates];
}

namespace {

__device__ __forceinline__ void start(float* L, float* z) {
  for (int i = 0; i < libor_num_rates; ++i) {
    z[i] = kShock;
    L[i] = kInitialRate;
  }
}

// One step of rate i of fixing n; `drift` sums up over the rates of a fixing.
__device__ __forceinline__ float evolved(float rate, float lambda, float shock, float* drift) {
  const float con = libor_delta * lambda;
  *drift += con * rate / (1.0f + libor_delta * rate);
  return rate * __expf(con * *drift + lambda * (shock - 0.5f * con));
}

__device__ __forceinline__ void path_calc(float* L, const float* z) {
  for (int n = 0; n < libor_num_fixings; ++n) {
    const float shock = sqrtf(libor_delta) * z[n];
    float drift = 0.0f;
    for (int i = n + 1; i < libor_num_rates; ++i)
      L[i] = evolved(L[i], libor_lambda[i - n - 1], shock, &drift);
  }
}

// Keeps rate i after fixing n in L2[(n + 1) * rates + i].
__device__ __forceinline__ void path_calc_b1(float* L, const float* z, float* L2) {
  for (int i = 0; i < libor_num_rates; ++i) L2[i] = L[i];
  for (int n = 0; n < libor_num_fixings; ++n) {
    const float shock = sqrtf(libor_delta) * z[n];
    float drift = 0.0f;
    for (int i = n + 1; i < libor_num_rates; ++i) {
      L[i] = evolved(L[i], libor_lambda[i - n - 1], shock, &drift);
      L2[(n + 1) * libor_num_rates + i] = L[i];
    }
  }
}

__device__ __forceinline__ void path_calc_b2(float* L_b, const float* L2) {
  for (int n = libor_num_fixings - 1; n >= 0; --n) {
    float drift_b = 0.0f;
    for (int i = libor_num_rates - 1; i > n; --i) {
      const float after = L2[(n + 1) * libor_num_rates + i];
      const float before = L2[n * libor_num_rates + i];
      const float lambda = libor_lambda[i - n - 1];
      drift_b += lambda * after * L_b[i];
      const float factor = libor_delta / (1.0f + libor_delta * before);
      L_b[i] = L_b[i] * after / before + drift_b * lambda * factor * factor;
    }
  }
}

__device__ __forceinline__ float portfolio(const float* L) {
  float B[kMaxFixings], S[kMaxFixings];
  float b = 1.0f, s = 0.0f;
  for (int n = libor_num_fixings; n < libor_num_rates; ++n) {
    b = b / (1.0f + libor_delta * L[n]);
    s = s + libor_delta * b;
    B[n - libor_num_fixings] = b;
    S[n - libor_num_fixings] = s;
  }
  float v = 0.0f;
  for (int k = 0; k < libor_num_options; ++k) {
    const int last = libor_maturities[k] - 1;
    const float swapval = B[last] + libor_swaprates[k] * S[last] - 1.0f;
    if (swapval < 0.0f) v += -100.0f * swapval;
  }
  for (int n = 0; n < libor_num_fixings; ++n) v = v / (1.0f + libor_delta * L[n]);
  return v;
}

// L_b may be L: an element of L is read last where the element of L_b is written first.
__device__ __forceinline__ float portfolio_b(const float* L, float* L_b) {
  float B[kMaxFixings], S[kMaxFixings], B_b[kMaxFixings], S_b[kMaxFixings];
  float b = 1.0f, s = 0.0f;
  for (int n = libor_num_fixings; n < libor_num_rates; ++n) {
    b = b / (1.0f + libor_delta * L[n]);
    s = s + libor_delta * b;
    B[n - libor_num_fixings] = b;
    S[n - libor_num_fixings] = s;
  }
  for (int m = 0; m < libor_num_rates - libor_num_fixings; ++m) {
    B_b[m] = 0.0f;
    S_b[m] = 0.0f;
  }
  float v = 0.0f;
  for (int k = 0; k < libor_num_options; ++k) {
    const int last = libor_maturities[k] - 1;
    const float swapval = B[last] + libor_swaprates[k] * S[last] - 1.0f;
    if (swapval < 0.0f) {
      v += -100.0f * swapval;
      S_b[last] += -100.0f * libor_swaprates[k];
      B_b[last] += -100.0f;
    }
  }
  float b_b = 0.0f, s_b = 0.0f;
  for (int n = libor_num_rates - 1; n >= libor_num_fixings; --n) {
    const int m = n - libor_num_fixings;
    const float growth = 1.0f + libor_delta * L[n];
    s_b += S_b[m];
    b_b += B_b[m] + libor_delta * s_b;
    L_b[n] = -b_b * libor_delta * B[m] / growth;
    b_b = b_b / growth;
  }
  b = 1.0f;
  for (int n = 0; n < libor_num_fixings; ++n) b = b / (1.0f + libor_delta * L[n]);
  v = b * v;
  // The two loops of Figure 4 of the TOM paper.
  for (int n = 0; n < libor_num_fixings; ++n)
    L_b[n] = -v * libor_delta / (1.0f + libor_delta * L[n]);
  for (int n = libor_num_fixings; n < libor_num_rates; ++n) L_b[n] = b * L_b[n];
  return v;
}

}  // namespace

// Values, and the derivative of each to the last initial rate.
extern "C" __global__ void libor_original_adjoint(float* value, float* adjoint, int num_paths) {
  float L[kMaxRates], L2[kMaxTrajectory], z[kMaxRates];
  float* L_b = L;
  const int threads = blockDim.x * gridDim.x;
  for (int path = blockIdx.x * blockDim.x + threadIdx.x; path < num_paths; path += threads) {
    start(L, z);
    path_calc_b1(L, z, L2);
    value[path] = portfolio_b(L, L_b);
    path_calc_b2(L_b, L2);
    adjoint[path] = L_b[libor_num_rates - 1];
  }
}

// Values only.
extern "C" __global__ void libor_original_value(float* value, int num_paths) {
  float L[kMaxRates], z[kMaxRates];
  const int threads = blockDim.x * gridDim.x;
  for (int path = blockIdx.x * blockDim.x + threadIdx.x; path < num_paths; path += threads) {
    start(L, z);
    path_calc(L, z);
    value[path] = portfolio(L);
  }
}
