// Does the study of mappings find on a GPU what it finds on the CPU?
#include "host/mechanisms/tom/mapping_study.h"

#include "host/timing/machine/baseline_map.h"
#include "tests/cuda/gpu.h"
#include "tests/sim/whole_machine.h"
#include "tests/support/offload_image.h"

namespace nearwarp::sim {
namespace {

using testing::Gpu;

TEST_F(Gpu, TheStudyOfMappingsIsTheCpus) {
  const config::MachineConfig machine = config::load_machine("tom");
  const config::PolicyConfig policy = config::load_policy("tom");
  for (const char* name : {"kmeans", "bfs-rmat", "libor", "fwt"}) {
    SCOPED_TRACE(name);
    const runtime::Recording& recording = testing::workload(name);
    const testing::OffloadImage image(recording, machine, policy);
    StudyOptions gpu;
    gpu.cuda_device = 0;
    EXPECT_EQ(count_instances(recording, image, image.offload, gpu),
              count_instances(recording, image, image.offload));
    const AddressMap map = machine_address_map(machine);
    for (const uint64_t n : {uint64_t{1}, uint64_t{1000}, kAllInstances})
      EXPECT_EQ(study_mappings(recording, image, image.offload, map, n, gpu),
                study_mappings(recording, image, image.offload, map, n));
  }
}

TEST(MappingStudyOnAGpu, IsAnErrorWithoutOne) {
  std::string why;
  if (!kernels::cuda_devices(why).empty()) GTEST_SKIP() << "there is one";
  const config::MachineConfig machine = config::load_machine("tom");
  const runtime::Recording& recording = testing::workload("kmeans", 20'000);
  const testing::OffloadImage image(recording, machine, config::load_policy("tom"));
  StudyOptions gpu;
  gpu.cuda_device = 0;
  EXPECT_THROW(count_instances(recording, image, image.offload, gpu), Error);
}

}  // namespace
}  // namespace nearwarp::sim
