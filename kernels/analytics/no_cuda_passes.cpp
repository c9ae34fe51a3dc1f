// In a build without a CUDA toolkit no pass runs on a GPU.
#include "kernels/analytics/study_passes.h"
#include "kernels/device.h"

namespace nearwarp::analytics {

std::unique_ptr<StudyPasses> make_cuda_passes(int, const StudyTables&) {
  throw kernels::DeviceError("this nearwarp was built without a CUDA toolkit");
}

}  // namespace nearwarp::analytics
