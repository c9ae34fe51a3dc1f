// The range of host addresses where the simulated GPU's memory belongs.
//
// The system places libraries and stacks at random, and now and then (some 1 in 70 times) where
// the GPU's memory must be. nearwarp starts applications without that randomness where it is
// allowed to; otherwise the library starts the application again, before its main() has begun.
#pragma once

namespace nearwarp::cudart {

/// Keeps the range free from the process's beginning on. Where something lies there, and the
/// program needs the library, this starts the program again, with these arguments; it returns if
/// that did not help or is not allowed. For the library's constructor (api/begin_of_process.cpp).
void keep_address_range_free(char** argv);
/// Let go of the range: the device takes it.
void release_address_range();

}  // namespace nearwarp::cudart
