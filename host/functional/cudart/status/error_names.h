// Names of the CUDA 13 runtime's statuses, and what they mean.
#pragma once

namespace nearwarp::cudart {

/// "cudaErrorInvalidValue"; "unrecognized error code" for none.
const char* error_name(int status);
/// "invalid argument"; "unrecognized error code" for none.
const char* error_text(int status);

}  // namespace nearwarp::cudart
