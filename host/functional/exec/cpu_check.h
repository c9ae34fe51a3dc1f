// Does this processor have the instructions that the program was built for?
#pragma once

#include <string>

namespace nearwarp::runtime {

/// False if the build's instruction set (NW_MARCH) exceeds the processor's.
bool cpu_supports_build();

/// "this build needs a processor with AVX2, FMA, BMI2, ... - rebuild with ..." for the user.
std::string cpu_requirement();

}  // namespace nearwarp::runtime
