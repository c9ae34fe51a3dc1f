// The mechanisms that come with the program, to run: those of list.h.
#include "host/mechanisms/list.h"
#include "host/mechanisms/mechanism.h"

#define NW_RUN(name)                 \
  namespace nearwarp::name {         \
  const sim::Mechanism& mechanism(); \
  }
NW_EACH_MECHANISM(NW_RUN)

namespace nearwarp::sim {

static_assert(sm::number_in<nearwarp::tom::Mechanism>(kernels::Mechanisms()) == 0);
static_assert(sm::number_in<nearwarp::opportunistic::Mechanism>(kernels::Mechanisms()) == 1);
static_assert(sm::number_in<nearwarp::mpu::Mechanism>(kernels::Mechanisms()) == 2);
static_assert(sm::number_in<nearwarp::coda::Mechanism>(kernels::Mechanisms()) == 3);

MechanismSet built_in_mechanisms() {
#define NW_LISTED(name) &name::mechanism(),
  static const Mechanism* const all[] = {NW_EACH_MECHANISM(NW_LISTED)};
  return all;
}

}  // namespace nearwarp::sim
