// The application's own memory, by addresses that may be wrong: accesses tell so, where a plain one
// would end the process.
#pragma once

#include <cstddef>

namespace nearwarp::cudart {

/// Copy from and to the application's memory. False if it cannot be read or written.
bool read_host(void* ours, const void* theirs, size_t bytes);
bool write_host(void* theirs, const void* ours, size_t bytes);

}  // namespace nearwarp::cudart
