// Links the PTX of several translation units (nvcc -rdc=true) into one module.
#pragma once

#include <string>
#include <vector>

namespace nearwarp::cudart {

/// One module with everything of `units`: what one of them defines serves the declarations
/// (.extern) of the others, of several equal definitions (.weak, .common) the first one is taken,
/// and what belongs to a unit alone gets another name where names clash. Throws nearwarp::Error for
/// two .visible definitions of one name, and for text that is no PTX.
std::string link_ptx(const std::vector<std::string>& units);

}  // namespace nearwarp::cudart
