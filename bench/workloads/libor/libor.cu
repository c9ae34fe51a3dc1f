// LIBOR market model by Monte Carlo: values of a swaption portfolio and, by the adjoint method,
// their derivatives to every initial forward rate (Giles and Glasserman, "Smoking adjoints", 2006).
//
// One thread follows one path. What a path owns of L, L_b and the trajectory lies in global memory
// at [index * num_paths + path], so that the lanes of a warp access neighbouring words.

namespace {

constexpr int kMaxTail = 64;    // forward rates beyond the last fixing: num_rates - num_fixings
constexpr int kMaxRates = 128;  // volatilities
constexpr int kMaxOptions = 16;

}  // namespace

extern "C" {
__constant__ float libor_lambda[kMaxRates];       // volatility by time to maturity
__constant__ float libor_swaprates[kMaxOptions];  // strike of each swaption
__constant__ int
    libor_maturities[kMaxOptions];  // its length in rates, 1 .. num_rates - num_fixings
}

namespace {

struct Model {
  float delta;  // accrual period in years
  float sqrt_delta;
  int num_rates;    // N in the paper's Figure 4
  int num_fixings;  // Nmat
  int num_options;
  int num_paths;  // distance between two values of one path
};

// Evolve the forward rates L through all fixings.
__device__ __forceinline__ void path_calc(float* L, const float* z, const Model& m) {
  for (int n = 0; n < m.num_fixings; ++n) {
    const float shock = m.sqrt_delta * z[n * m.num_paths];
    float drift = 0.0f;
    for (int i = n + 1; i < m.num_rates; ++i) {
      const float lambda = libor_lambda[i - n - 1];
      const float con = m.delta * lambda;
      const float rate = L[i * m.num_paths];
      drift += con * rate / (1.0f + m.delta * rate);
      L[i * m.num_paths] = rate * __expf(con * drift + lambda * (shock - 0.5f * con));
    }
  }
}

// Evolve L likewise, and keep every intermediate rate for the adjoint sweep:
// trajectory[(n * num_rates + i) * num_paths] is rate i before fixing n.
__device__ __forceinline__ void path_calc_b1(float* L, float* trajectory, const float* z,
                                             const Model& m) {
  const int step = m.num_rates * m.num_paths;
  for (int i = 0; i < m.num_rates; ++i) trajectory[i * m.num_paths] = L[i * m.num_paths];
  for (int n = 0; n < m.num_fixings; ++n) {
    const float shock = m.sqrt_delta * z[n * m.num_paths];
    float* next = trajectory + (n + 1) * step;
    float drift = 0.0f;
    for (int i = n + 1; i < m.num_rates; ++i) {
      const float lambda = libor_lambda[i - n - 1];
      const float con = m.delta * lambda;
      const float rate = L[i * m.num_paths];
      drift += con * rate / (1.0f + m.delta * rate);
      const float evolved = rate * __expf(con * drift + lambda * (shock - 0.5f * con));
      L[i * m.num_paths] = evolved;
      next[i * m.num_paths] = evolved;
    }
  }
}

// Adjoint of path_calc: turns derivatives to the final rates into derivatives to the initial ones.
__device__ __forceinline__ void path_calc_b2(float* L_b, const float* trajectory, const Model& m) {
  const int step = m.num_rates * m.num_paths;
  for (int n = m.num_fixings - 1; n >= 0; --n) {
    const float* before = trajectory + n * step;
    const float* after = before + step;
    float drift_b = 0.0f;
    for (int i = m.num_rates - 1; i > n; --i) {
      const float con = m.delta * libor_lambda[i - n - 1];
      const float rate = before[i * m.num_paths];
      const float evolved_b = after[i * m.num_paths] * L_b[i * m.num_paths];
      drift_b += con * evolved_b;
      const float growth = 1.0f + m.delta * rate;
      L_b[i * m.num_paths] = evolved_b / rate + drift_b * con / (growth * growth);
    }
  }
}

// Discounted value of the swaption portfolio on one path.
__device__ __forceinline__ float portfolio(const float* L, const Model& m) {
  float bond[kMaxTail], annuity[kMaxTail];
  float b = 1.0f, s = 0.0f;
  for (int n = m.num_fixings; n < m.num_rates; ++n) {
    b = b / (1.0f + m.delta * L[n * m.num_paths]);
    s = s + m.delta * b;
    bond[n - m.num_fixings] = b;
    annuity[n - m.num_fixings] = s;
  }
  float v = 0.0f;
  for (int k = 0; k < m.num_options; ++k) {
    const int last = libor_maturities[k] - 1;
    const float swapval = bond[last] + libor_swaprates[k] * annuity[last] - 1.0f;
    if (swapval < 0.0f) v += -100.0f * swapval;
  }
  for (int n = 0; n < m.num_fixings; ++n) v = v / (1.0f + m.delta * L[n * m.num_paths]);
  return v;
}

// Value of the portfolio, and its derivatives to all final rates in L_b.
__device__ __forceinline__ float portfolio_b(const float* L, float* L_b, const Model& m) {
  float bond[kMaxTail], annuity[kMaxTail], bond_b[kMaxTail], annuity_b[kMaxTail];
  float b = 1.0f, s = 0.0f;
  for (int n = m.num_fixings; n < m.num_rates; ++n) {
    b = b / (1.0f + m.delta * L[n * m.num_paths]);
    s = s + m.delta * b;
    bond[n - m.num_fixings] = b;
    annuity[n - m.num_fixings] = s;
    bond_b[n - m.num_fixings] = 0.0f;
    annuity_b[n - m.num_fixings] = 0.0f;
  }
  float v = 0.0f;
  for (int k = 0; k < m.num_options; ++k) {
    const int last = libor_maturities[k] - 1;
    const float swapval = bond[last] + libor_swaprates[k] * annuity[last] - 1.0f;
    if (swapval < 0.0f) {
      v += -100.0f * swapval;
      annuity_b[last] += -100.0f * libor_swaprates[k];
      bond_b[last] += -100.0f;
    }
  }
  float b_b = 0.0f, s_b = 0.0f;
  for (int n = m.num_rates - 1; n >= m.num_fixings; --n) {
    const float growth = 1.0f + m.delta * L[n * m.num_paths];
    s_b = s_b + annuity_b[n - m.num_fixings];
    b_b = b_b + bond_b[n - m.num_fixings] + m.delta * s_b;
    L_b[n * m.num_paths] = -b_b * m.delta * bond[n - m.num_fixings] / growth;
    b_b = b_b / growth;
  }
  b = 1.0f;
  for (int n = 0; n < m.num_fixings; ++n) b = b / (1.0f + m.delta * L[n * m.num_paths]);
  v = b * v;
  // The two loops of Figure 4 of the TOM paper.
  for (int n = 0; n < m.num_fixings; ++n)
    L_b[n * m.num_paths] = -v * m.delta / (1.0f + m.delta * L[n * m.num_paths]);
  for (int n = m.num_fixings; n < m.num_rates; ++n) L_b[n * m.num_paths] = b * L_b[n * m.num_paths];
  return v;
}

}  // namespace

// Values only. `rates` holds the initial rates of each path and is overwritten.
extern "C" __global__ void libor_value(float* rates, const float* normals, float* value,
                                       float delta, float sqrt_delta, int num_rates,
                                       int num_fixings, int num_options, int num_paths) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= num_paths) return;
  const Model m{delta, sqrt_delta, num_rates, num_fixings, num_options, num_paths};
  path_calc(rates + path, normals + path, m);
  value[path] = portfolio(rates + path, m);
}

// Values and derivatives. `adjoint` receives the derivative to each initial rate.
extern "C" __global__ void libor_adjoint(float* rates, float* trajectory, const float* normals,
                                         float* adjoint, float* value, float delta,
                                         float sqrt_delta, int num_rates, int num_fixings,
                                         int num_options, int num_paths) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= num_paths) return;
  const Model m{delta, sqrt_delta, num_rates, num_fixings, num_options, num_paths};
  path_calc_b1(rates + path, trajectory + path, normals + path, m);
  value[path] = portfolio_b(rates + path, adjoint + path, m);
  path_calc_b2(adjoint + path, trajectory + path, m);
}

// Set every path's rates back to the initial curve.
extern "C" __global__ void libor_reset(float* rates, const float* curve, int num_rates,
                                       int num_paths) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= num_paths) return;
  for (int i = 0; i < num_rates; ++i) rates[i * num_paths + path] = curve[i];
}
