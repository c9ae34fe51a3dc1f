#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "host/functional/cublas/handle.h"

namespace nearwarp::cublas {

void say_not_supported(const char* function, const char* what) {
  static std::mutex* const mutex = new std::mutex;
  static std::set<std::string>* const said = new std::set<std::string>;
  std::string text = std::string(function) + "()";
  if (what != nullptr) text += std::string(" ") + what;
  const std::lock_guard lock(*mutex);
  if (!said->insert(text).second) return;
  std::fprintf(stderr,
               "nearwarp: %s is not supported by nearwarp's own cuBLAS: it returns "
               "CUBLAS_STATUS_NOT_SUPPORTED\n",
               text.c_str());
}

}  // namespace nearwarp::cublas

/// Where entry points end that the library does not implement.
extern "C" int nw_cublas_not_supported(const char* name) {
  nearwarp::cublas::say_not_supported(name);
  return nearwarp::cublas::kNotSupported;
}
