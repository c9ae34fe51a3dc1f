#include "bench/workloads/libor/reference.h"

#include <algorithm>
#include <cmath>

namespace nearwarp::workloads {
namespace {

/// __expf: nvcc computes 2^(x log2 e) with the factor rounded to float and a plain product.
template <class Real>
Real fast_exp(Real x) {
  if constexpr (sizeof(Real) == sizeof(float)) return std::exp2(x * 1.4426950408889634f);
  return std::exp(x);
}

/// Evolve `rates` through all fixings; states[n] receives the rates before fixing n (and at the
/// end).
template <class Real>
void evolve(const LiborModel& model, std::vector<Real>& rates, const std::vector<float>& normals,
            std::vector<std::vector<Real>>* states) {
  const Real delta = model.delta, half = Real(0.5), one = 1;
  for (int n = 0; n < model.num_fixings; ++n) {
    if (states != nullptr) states->push_back(rates);
    const Real shock = Real(model.sqrt_delta) * Real(normals[n]);
    Real drift = 0;
    for (int i = n + 1; i < model.num_rates; ++i) {
      const Real lambda = model.lambda[i - n - 1];
      const Real con = delta * lambda;
      drift += con * rates[i] / (one + delta * rates[i]);
      rates[i] *= fast_exp<Real>(con * drift + lambda * (shock - half * con));
    }
  }
  if (states != nullptr) states->push_back(rates);
}

/// Prices of bonds and annuities that start at the last fixing.
template <class Real>
struct Tail {
  std::vector<Real> bond, annuity;
};

template <class Real>
Tail<Real> tail_of(const LiborModel& model, const std::vector<Real>& rates) {
  Tail<Real> tail;
  Real b = 1, s = 0;
  for (int n = model.num_fixings; n < model.num_rates; ++n) {
    b = b / (Real(1) + Real(model.delta) * rates[n]);
    s = s + Real(model.delta) * b;
    tail.bond.push_back(b);
    tail.annuity.push_back(s);
  }
  return tail;
}

template <class Real>
Real swap_value(const LiborModel& model, const Tail<Real>& tail, size_t option) {
  const int last = model.maturities[option] - 1;
  return tail.bond[last] + Real(model.swaprates[option]) * tail.annuity[last] - Real(1);
}

}  // namespace

LiborModel libor_model(int num_rates) {
  LiborModel model;
  model.num_rates = num_rates;
  model.num_fixings = num_rates / 2;
  const int tail = model.num_rates - model.num_fixings;
  for (int i = 0; i < num_rates; ++i) model.lambda.push_back(0.2f);
  for (int k = 0; k < 15; ++k) {
    model.maturities.push_back(std::max(1, tail * (k / 3 + 1) / 5));
    model.swaprates.push_back(0.045f + 0.005f * static_cast<float>(k % 3));
  }
  return model;
}

template <class Real>
Real libor_value(const LiborModel& model, std::vector<Real> rates,
                 const std::vector<float>& normals) {
  evolve<Real>(model, rates, normals, nullptr);
  const Tail<Real> tail = tail_of(model, rates);
  Real v = 0;
  for (size_t k = 0; k < model.maturities.size(); ++k) {
    const Real swapval = swap_value(model, tail, k);
    if (swapval < 0) v += Real(-100) * swapval;
  }
  for (int n = 0; n < model.num_fixings; ++n) v = v / (Real(1) + Real(model.delta) * rates[n]);
  return v;
}

template <class Real>
LiborPath<Real> libor_adjoint(const LiborModel& model, const std::vector<Real>& initial,
                              const std::vector<float>& normals) {
  std::vector<Real> rates = initial;
  std::vector<std::vector<Real>> states;
  evolve(model, rates, normals, &states);
  const Tail<Real> tail = tail_of(model, rates);
  const Real delta = model.delta, one = 1;
  const int fixings = model.num_fixings;

  LiborPath<Real> path;
  std::vector<Real> bond_b(tail.bond.size(), 0), annuity_b(tail.bond.size(), 0);
  for (size_t k = 0; k < model.maturities.size(); ++k) {
    const Real swapval = swap_value(model, tail, k);
    if (!(swapval < 0)) continue;
    const int last = model.maturities[k] - 1;
    path.value += Real(-100) * swapval;
    annuity_b[last] += Real(-100) * Real(model.swaprates[k]);
    bond_b[last] += Real(-100);
  }
  std::vector<Real>& adjoint = path.adjoint;
  adjoint.resize(model.num_rates);
  Real b_b = 0, s_b = 0;
  for (int n = model.num_rates - 1; n >= fixings; --n) {
    const Real growth = one + delta * rates[n];
    s_b = s_b + annuity_b[n - fixings];
    b_b = b_b + bond_b[n - fixings] + delta * s_b;
    adjoint[n] = -b_b * delta * tail.bond[n - fixings] / growth;
    b_b = b_b / growth;
  }
  Real discount = 1;
  for (int n = 0; n < fixings; ++n) discount = discount / (one + delta * rates[n]);
  path.value = discount * path.value;
  for (int n = 0; n < fixings; ++n) adjoint[n] = -path.value * delta / (one + delta * rates[n]);
  for (int n = fixings; n < model.num_rates; ++n) adjoint[n] = discount * adjoint[n];

  for (int n = fixings - 1; n >= 0; --n) {
    Real drift_b = 0;
    for (int i = model.num_rates - 1; i > n; --i) {
      const Real con = delta * Real(model.lambda[i - n - 1]);
      const Real evolved_b = states[n + 1][i] * adjoint[i];
      drift_b += con * evolved_b;
      const Real growth = one + delta * states[n][i];
      adjoint[i] = evolved_b / states[n][i] + drift_b * con / (growth * growth);
    }
  }
  return path;
}

template float libor_value(const LiborModel&, std::vector<float>, const std::vector<float>&);
template double libor_value(const LiborModel&, std::vector<double>, const std::vector<float>&);
template LiborPath<float> libor_adjoint(const LiborModel&, const std::vector<float>&,
                                        const std::vector<float>&);
template LiborPath<double> libor_adjoint(const LiborModel&, const std::vector<double>&,
                                         const std::vector<float>&);

}  // namespace nearwarp::workloads
