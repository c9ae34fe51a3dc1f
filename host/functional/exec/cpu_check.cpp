// Compiled for the baseline of the architecture (see CMakeLists.txt), so that it runs anywhere.
#include "host/functional/exec/cpu_check.h"

namespace nearwarp::runtime {

bool cpu_supports_build() {
#if defined(__x86_64__) && defined(NW_BUILT_FOR_V3)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("lzcnt");
#else
  return true;
#endif
}

std::string cpu_requirement() {
  return "this build of nearwarp needs a processor with AVX2, FMA, BMI1, BMI2, LZCNT and POPCNT "
         "(x86-64-v3) - rebuild with -DNW_MARCH=x86-64 for older ones";
}

}  // namespace nearwarp::runtime
