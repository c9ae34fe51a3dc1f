// Errors that carry the parts of their messages. The parts cannot be recovered from the message,
// since paths and other texts of users may contain the marks between them.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "host/core/error.h"

namespace nearwarp {

struct ErrorParts {
  std::string what = {};   ///< what is wrong, with the place if the message needs it
  std::string right = {};  ///< what would be right; may be empty
  std::string file = {};   ///< the file with the error; may be empty
  uint32_t line = 0;       ///< line of the file, from 1 on; 0: none

  std::string message() const { return right.empty() ? what : what + " - " + right; }
};

/// Parts of an error at `place`. If that is "file:line", they have the file and line.
inline ErrorParts parts_at(const std::string& place, std::string what, std::string right) {
  ErrorParts parts{.what = std::move(what), .right = std::move(right)};
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos) return parts;
  uint32_t line = 0;
  const char* const end = place.data() + place.size();
  const auto [read, failed] = std::from_chars(place.data() + colon + 1, end, line);
  if (failed != std::errc() || read != end) return parts;
  parts.file = place.substr(0, colon);
  parts.line = line;
  return parts;
}

class HasErrorParts {
 public:
  const ErrorParts& parts() const { return parts_; }

 protected:
  explicit HasErrorParts(ErrorParts parts) : parts_(std::move(parts)) {}
  ~HasErrorParts() = default;
  HasErrorParts(const HasErrorParts&) = default;
  HasErrorParts& operator=(const HasErrorParts&) = default;
  virtual void dynamic() const {}  // makes dynamic_cast possible

 private:
  ErrorParts parts_;
};

/// An Error or UsageError with its parts.
template <class Kind = Error>
class ErrorWithParts final : public Kind, public HasErrorParts {
 public:
  explicit ErrorWithParts(ErrorParts parts)
      : Kind(parts.message()), HasErrorParts(std::move(parts)) {}
};

/// An error about a file or folder as a whole. `what` contains the path as well, for the message.
inline ErrorWithParts<> file_error(std::string path, std::string what, std::string right = {}) {
  return ErrorWithParts<>(
      {.what = std::move(what), .right = std::move(right), .file = std::move(path)});
}

/// Throws `error` as a UsageError, with its parts if it has them.
[[noreturn]] inline void throw_as_usage(const Error& error) {
  if (const auto* of = dynamic_cast<const HasErrorParts*>(&error))
    throw ErrorWithParts<UsageError>(of->parts());
  throw UsageError(error.what());
}

}  // namespace nearwarp
