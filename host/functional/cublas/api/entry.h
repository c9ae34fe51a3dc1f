// How entry points are written.
#pragma once

#include "host/functional/cublas/handle.h"

#define NW_CUBLAS extern "C" __attribute__((visibility("default"))) nearwarp::cublas::Status
