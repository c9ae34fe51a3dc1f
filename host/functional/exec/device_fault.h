// Errors of running kernels that end a CUDA context.
#pragma once

#include <string>

#include "host/core/error.h"

namespace nearwarp::runtime {

/// Thrown by a launch for an error that makes the CUDA context unusable.
class DeviceFault : public Error {
 public:
  enum class Kind {
    kIllegalAddress,     ///< cudaErrorIllegalAddress
    kMisalignedAddress,  ///< cudaErrorMisalignedAddress
    kTrap,               ///< cudaErrorLaunchFailure (trap, bad indirect branch)
    kStackOverflow,      ///< cudaErrorHardwareStackError
    kAssert,             ///< cudaErrorAssert
    kDeadlock,           ///< no CUDA counterpart: the launch would never end
  };
  DeviceFault(Kind kind, const std::string& message) : Error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace nearwarp::runtime
