// The message of CUDA's libraries for calls that they do not serve. Compiled into each of them.
#pragma once

namespace nearwarp::cudalibs {

/// Says once for each text, on standard error: `function`() of this library, with what, is not
/// supported, and returns that status.
void say_not_supported(const char* function, const char* what, const char* library,
                       const char* status);

}  // namespace nearwarp::cudalibs
