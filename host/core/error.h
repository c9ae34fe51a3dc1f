// The exceptions for everything that a user can get wrong, and for work that is interrupted.
#pragma once

#include <stdexcept>
#include <string>

namespace nearwarp {

/// A user's error. The message reads: what is wrong (where: file:line) - what would be right.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A mistake on the command line; the program exits with 2 instead of 1.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Thrown by a long computation whose progress callback asked it to stop.
class Interrupted : public Error {
 public:
  using Error::Error;
};

}  // namespace nearwarp
