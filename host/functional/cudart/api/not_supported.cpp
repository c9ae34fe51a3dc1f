// Where entry points end that the library does not implement.
#include <fmt/format.h>

#include "host/functional/cudart/runtime/runtime.h"

extern "C" int nw_cudart_not_supported(const char* name) {
  using namespace nearwarp::cudart;
  const OuterCall outer({name, __builtin_return_address(0)});
  return api([name](Runtime&) {
    say_once(fmt::format(
        "{}() is not supported on the simulated GPU: it returns cudaErrorNotSupported", name));
    return kErrorNotSupported;
  });
}
