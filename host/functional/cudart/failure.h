// How the body of an API call ends early.
#pragma once

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudart {

/// Ends an API call with this status.
struct Failure {
  Status status;
};

/// Ends the call unless `condition` holds.
inline void require(bool condition, Status status = kErrorInvalidValue) {
  if (!condition) throw Failure{status};
}

}  // namespace nearwarp::cudart
