// Do launches for long results have threads for all of them? Kernels are not executed here.
#include <utility>

#include "host/functional/cublas/runtime_calls.h"
#include "tests/cublas/calls.h"

extern "C" {
int cublasCgemm_v2(void*, int, int, int, int, int, const void*, const void*, int, const void*, int,
                   const void*, void*, int);
int cublasCgemv_v2(void*, int, int, int, const void*, const void*, int, const void*, int,
                   const void*, void*, int);
int cublasCgeru_v2(void*, int, int, const void*, const void*, int, const void*, int, void*, int);
int cublasCgeam(void*, int, int, int, int, const void*, const void*, int, const void*, const void*,
                int, void*, int);
}

namespace {
int64_t launched_blocks = 0;
}  // namespace

/// In the place of the runtime's.
extern "C" __attribute__((visibility("default"))) int cudaLaunchKernel(const void*,
                                                                       nearwarp::cudalibs::Dim grid,
                                                                       nearwarp::cudalibs::Dim,
                                                                       void**, size_t, void*) {
  launched_blocks += int64_t{grid.x} * grid.y * grid.z;
  return 0;
}

namespace nearwarp::cublas {
namespace {

constexpr int kRows = 1 << 30;  // of a result of one column
constexpr float kOne[] = {1, 0};

TEST_F(CublasTest, LaunchesOfComplexNumbersReachEveryRow) {
  const OnDevice<float> x(2);
  const auto blocks = [](int status) {
    EXPECT_EQ(status, kSuccess);
    return std::exchange(launched_blocks, 0);
  };
  EXPECT_EQ(blocks(cublasCgemm_v2(handle_, 0, 0, kRows, 1, 1, kOne, x.get(), kRows, x.get(), 1,
                                  kOne, x.get(), kRows)),
            kRows / 32);  // tiles
  EXPECT_EQ(blocks(cublasCgeam(handle_, 0, 0, kRows, 1, kOne, x.get(), kRows, kOne, x.get(), kRows,
                               x.get(), kRows)),
            kRows / 256);
  EXPECT_EQ(blocks(cublasCgeru_v2(handle_, kRows, 1, kOne, x.get(), 1, x.get(), 1, x.get(), kRows)),
            kRows / 256);
  EXPECT_EQ(blocks(cublasCgemv_v2(handle_, 0, kRows, 1, kOne, x.get(), kRows, x.get(), 1, kOne,
                                  x.get(), 1)),
            kRows / 256);
  EXPECT_EQ(
      blocks(cublasCgemv_v2(handle_, 1, 1, kRows, kOne, x.get(), 1, x.get(), 1, kOne, x.get(), 1)),
      kRows / 8);  // a warp each
}

}  // namespace
}  // namespace nearwarp::cublas
