// Names of the CUDA 13 driver's statuses.
#pragma once

namespace nearwarp::cudriver {

/// "CUDA_ERROR_..." of CUresult's number; nullptr for a number that is none.
const char* error_name(int status);

}  // namespace nearwarp::cudriver
