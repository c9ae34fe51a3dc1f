// The range of host addresses where the simulated GPU's memory belongs.
//
// The system places libraries and stacks at random, and now and then (some 1 in 70 times) where
// the GPU's memory must be. nearwarp starts applications without that randomness where it is
// allowed to; otherwise the library starts the application again, before its main() has begun.
#pragma once

namespace nearwarp::cudart {

/// Let go of the range, which is kept free from the process's beginning on: the device takes it.
void release_address_range();

}  // namespace nearwarp::cudart
