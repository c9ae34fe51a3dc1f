// The declarations of all mechanisms, for the configuration.
#include "host/config/mechanism.h"
#include "host/mechanisms/list.h"

#define NW_DECLARED(name)                            \
  namespace nearwarp::name {                         \
  const config::MechanismDeclaration& declaration(); \
  }
NW_EACH_MECHANISM(NW_DECLARED)

namespace nearwarp::config {

std::span<const MechanismDeclaration* const> declared_mechanisms() {
#define NW_LISTED(name) &name::declaration(),
  static const MechanismDeclaration* const all[] = {NW_EACH_MECHANISM(NW_LISTED)};
  return all;
}

}  // namespace nearwarp::config
