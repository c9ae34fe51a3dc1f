// The mechanisms that come with the program. A new one is a line here and, if it has device code of
// its own, one in kernels::Mechanisms, in the same place among those.
#include "host/mechanisms/coda/mechanism.h"
#include "host/mechanisms/mechanism.h"
#include "host/mechanisms/mpu/mechanism.h"
#include "host/mechanisms/opportunistic/mechanism.h"
#include "host/mechanisms/tom/mechanism.h"
#include "host/mechanisms/tuning/mechanism.h"

namespace nearwarp::sim {

static_assert(sm::number_in<nearwarp::tom::Mechanism>(kernels::Mechanisms()) == 0);
static_assert(sm::number_in<nearwarp::opportunistic::Mechanism>(kernels::Mechanisms()) == 1);
static_assert(sm::number_in<nearwarp::mpu::Mechanism>(kernels::Mechanisms()) == 2);

MechanismSet built_in_mechanisms() {
  static const nearwarp::tom::TomMechanism tom;
  static const nearwarp::tuning::TuningMechanism tuning;
  static const nearwarp::coda::CodaMechanism coda;
  static const nearwarp::opportunistic::OpportunisticMechanism opportunistic;
  static const nearwarp::mpu::MpuMechanism mpu;
  static const Mechanism* const all[] = {&tom, &tuning, &opportunistic, &mpu, &coda};
  return all;
}

}  // namespace nearwarp::sim
