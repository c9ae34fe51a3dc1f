// Access to the application's own memory at addresses that may be invalid: a bad address is
// reported, where a plain access would end the process.
#pragma once

#include <cstddef>

namespace nearwarp::cudart {

/// Copy from the application's memory, `theirs`. False if it cannot be read.
bool read_host(void* ours, const void* theirs, size_t bytes);
/// Copy into the application's memory, `theirs`. False if it cannot be written.
bool write_host(void* theirs, const void* ours, size_t bytes);

}  // namespace nearwarp::cudart
