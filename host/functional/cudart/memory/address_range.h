// The range of host addresses where the simulated GPU's memory belongs.
//
// The system places libraries and stacks at random addresses, and sometimes (about 1 in 70 times)
// where the GPU's memory must be. nearwarp starts applications without that randomness if it is
// allowed to; otherwise the library starts the application again, before its main() has begun.
#pragma once

namespace nearwarp::cudart {

/// Reserves the range. If something else lies there and the program needs the library, this starts
/// the program again with the arguments `argv`; it returns if that did not help or is not allowed.
/// Called by the library's constructor (api/begin_of_process.cpp).
void keep_address_range_free(char** argv);
/// Releases the range, so that the device can use it.
void release_address_range();

}  // namespace nearwarp::cudart
