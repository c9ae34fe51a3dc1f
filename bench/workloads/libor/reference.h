// The LIBOR market model on the CPU: one path at a time, in any floating-point type.
#pragma once

#include <cstdint>
#include <vector>

namespace nearwarp::workloads {

/// Everything that does not depend on the path.
struct LiborModel {
  int num_rates = 0;    ///< N: forward rates
  int num_fixings = 0;  ///< Nmat: steps of the evolution
  float delta = 0.25f;  ///< accrual period in years
  float sqrt_delta = 0.5f;
  std::vector<float> lambda;        ///< volatility by time to maturity, num_rates entries
  std::vector<float> swaprates;     ///< strikes
  std::vector<int32_t> maturities;  ///< lengths in rates, 1 .. num_rates - num_fixings
};

template <class Real>
struct LiborPath {
  Real value = 0;
  std::vector<Real> adjoint;  ///< derivative of the value to each initial rate
};

/// A model with `num_rates` rates of which half are fixed along the path, and 15 swaptions.
LiborModel libor_model(int num_rates);

/// Value of the portfolio on one path: `rates` initial curve, `normals` one shock per fixing.
template <class Real>
Real libor_value(const LiborModel& model, std::vector<Real> rates,
                 const std::vector<float>& normals);

/// Value and derivatives by the adjoint method, with the device's order of operations.
template <class Real>
LiborPath<Real> libor_adjoint(const LiborModel& model, const std::vector<Real>& rates,
                              const std::vector<float>& normals);

}  // namespace nearwarp::workloads
