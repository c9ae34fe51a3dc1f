// The exception by which the body of an API call ends early with a status.
#pragma once

#include <string>

#include "host/functional/cudart/abi.h"

namespace nearwarp::cudart {

/// Ends an API call with this status.
struct Failure {
  Status status;
  std::string why = {};  ///< the reason, for reports; empty if the status tells it
};

/// Ends the call unless `condition` holds.
inline void require(bool condition, Status status = kErrorInvalidValue) {
  if (!condition) throw Failure{status};
}

}  // namespace nearwarp::cudart
