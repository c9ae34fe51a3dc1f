// The mechanisms that come with the program. A new one is a line here and one in
// kernels::Mechanisms, in the same place among those that have device code of their own.
#include "host/mechanisms/mechanism.h"
#include "host/mechanisms/tom/mechanism.h"
#include "host/mechanisms/tuning/mechanism.h"

namespace nearwarp::sim {

static_assert(sm::number_in<nearwarp::tom::Mechanism>(kernels::Mechanisms()) == 0);

MechanismSet built_in_mechanisms() {
  static const nearwarp::tom::TomMechanism tom;
  static const nearwarp::tuning::TuningMechanism tuning;
  static const Mechanism* const all[] = {&tom, &tuning};
  return all;
}

}  // namespace nearwarp::sim
