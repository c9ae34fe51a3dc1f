// Converts the exceptions that the simulator throws to the failures that the public interface
// returns.
#include "host/api/failure.h"

#include <fmt/format.h>

#include <charconv>

#include "host/api/by_caller.h"
#include "host/core/error_parts.h"

namespace nearwarp {

Failure failure_of(const std::string& message, Failure::Kind kind) {
  Failure f;
  f.message = message;
  f.kind = kind;
  const size_t dash = message.find(" - ");
  f.what = message.substr(0, dash);
  if (dash != std::string::npos) f.right = message.substr(dash + 3);
  // The place of the error is the last "(file:line)" in the part before the dash.
  const size_t open = f.what.rfind('('), close = f.what.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return f;
  const std::string place = f.what.substr(open + 1, close - open - 1);
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos) return f;
  uint32_t line = 0;
  const char* const end = place.data() + place.size();
  const auto [read, error] = std::from_chars(place.data() + colon + 1, end, line);
  if (error != std::errc() || read != end) return f;
  f.file = place.substr(0, colon);
  f.line = line;
  return f;
}

Failure failure_of(const ErrorParts& parts, Failure::Kind kind) {
  return {parts.message(), parts.what, parts.file, parts.line, parts.right, kind};
}

namespace {

Failure of_error(const Error& error, Failure::Kind kind) {
  const auto* in_parts = dynamic_cast<const HasErrorParts*>(&error);
  return in_parts != nullptr ? failure_of(in_parts->parts(), kind) : failure_of(error.what(), kind);
}

}  // namespace

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const CallerThrew& e) {
    return failure_of(ErrorParts{.what = e.what()}, Failure::Kind::kStopped);
  } catch (const UsageError& e) {
    return of_error(e, Failure::Kind::kUsage);
  } catch (const Interrupted& e) {
    return of_error(e, Failure::Kind::kStopped);
  } catch (const Error& e) {
    return of_error(e, Failure::Kind::kError);
  } catch (const std::bad_alloc&) {
    return failure_of("out of memory - use a smaller size or fewer threads");
  } catch (const std::exception& e) {
    return failure_of(fmt::format("internal error: {}", e.what()));
  } catch (...) {
    return failure_of("internal error: something was thrown that is no std::exception");
  }
}

}  // namespace nearwarp
