#include "host/functional/cudalibs/not_supported.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

namespace nearwarp::cudalibs {

void say_not_supported(const char* function, const char* what, const char* library,
                       const char* status) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const said = new std::set<std::string>;
  const std::string text =
      std::string("nearwarp: ") + function + "()" + (*what != '\0' ? " " : "") + what +
      " is not supported by nearwarp's own " + library + ": it returns " + status + "\n";
  const std::lock_guard lock(*mutex);
  if (said->insert(text).second) std::fputs(text.c_str(), stderr);
}

}  // namespace nearwarp::cudalibs
