// The PTX of the library that a source is compiled into.
#pragma once

namespace nearwarp::cudalibs {
const char* own_ptx();
}
