// Where entry points end that the library does not implement.
#include <string>

#include "host/functional/cudriver/driver.h"

extern "C" {
constinit thread_local bool nw_cudriver_null_is_of_thread = false;
}

extern "C" int nw_cudriver_not_supported(const char* name) {
  using namespace nearwarp::cudriver;
  nw_driver_say_once((std::string(name) + "() is not supported on the simulated GPU: it returns "
                                          "CUDA_ERROR_NOT_SUPPORTED")
                         .c_str());
  return kErrorNotSupported;
}
