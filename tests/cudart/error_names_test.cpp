// Are statuses named and worded as CUDA's runtime does it?
#include "host/functional/cudart/status/error_names.h"

#include <gtest/gtest.h>

namespace nearwarp::cudart {
namespace {

TEST(ErrorNames, AreThoseThatProgramsPrint) {
  struct Case {
    int status;
    const char *name, *text;
  };
  constexpr Case kCases[] = {{0, "cudaSuccess", "no error"},
                             {1, "cudaErrorInvalidValue", "invalid argument"},
                             {2, "cudaErrorMemoryAllocation", "out of memory"},
                             {35, "cudaErrorInsufficientDriver",
                              "CUDA driver version is insufficient for CUDA runtime version"},
                             {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
                             {209, "cudaErrorNoKernelImageForDevice",
                              "no kernel image is available for execution on the device"},
                             {218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
                             {712, "cudaErrorHostMemoryAlreadyRegistered",
                              "part or all of the requested memory range is already mapped"},
                             {901, "cudaErrorStreamCaptureInvalidated",
                              "operation failed due to a previous error during capture"},
                             {999, "cudaErrorUnknown", "unknown error"}};
  for (const Case& k : kCases) {
    EXPECT_STREQ(error_name(k.status), k.name);
    EXPECT_STREQ(error_text(k.status), k.text);
  }
  for (const int none : {-1, 10, 11, 916, 1000}) {
    EXPECT_STREQ(error_name(none), "unrecognized error code");
    EXPECT_STREQ(error_text(none), "unrecognized error code");
  }
}

}  // namespace
}  // namespace nearwarp::cudart
