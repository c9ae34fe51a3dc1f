// On the machine with what the authors' simulator has: do programs in the shape that it wants find
// their data beside them, and are results the same however it is stepped?
#include <gtest/gtest.h>

#include "tests/mechanisms/same_results.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::workload;

/// Block b on core b modulo 128.
const std::vector<std::string> kDispatch = {"dispatch.groups=128", "dispatch.row_blocks=1"};

report::RunResult run_on_core_of_data(const std::string& machine, const std::string& name,
                                      std::vector<std::string> keys = kDispatch) {
  return replay_on_cpu(workload(name, 1'000'000), config::load_machine(machine, keys),
                       config::load_policy("mpu", keys), {});
}
uint64_t accesses(const report::RunResult& r) {
  return counter(r, "sm.loads") + counter(r, "sm.stores");
}
uint64_t near(const report::RunResult& r) {
  return counter(r, "mpu.loads_near") + counter(r, "mpu.stores_near");
}

TEST(MpuSim, ProgramsFindTheirDataBesideThem) {
  for (const char* name : {"axpy-mpu", "max-pool-mpu", "upsample-mpu", "nearest-neighbour-mpu",
                           "transpose-mpu", "blur-mpu"}) {
    SCOPED_TRACE(name);
    const report::RunResult r = run_on_core_of_data("mpu-sim", name);
    EXPECT_GT(accesses(r), 0u);
    EXPECT_EQ(near(r), accesses(r));
    EXPECT_EQ(counter(r, "noc.flit_hops"),
              counter(r, "noc.from_sms.packets"));  // own routers alone
  }
}

TEST(MpuSim, MapAndDispatchMustFitTheProgram) {
  const report::RunResult fits = run_on_core_of_data("mpu-sim", "axpy-mpu");
  // 1024 bytes a core: of eight warps' words of a round four are another core's.
  const report::RunResult map = run_on_core_of_data(
      "mpu-sim", "axpy-mpu",
      {"dispatch.groups=128", "dispatch.row_blocks=1", "near_bank.interleave_bytes=1024"});
  EXPECT_EQ(near(fits), accesses(fits));
  EXPECT_LT(near(map), accesses(map) / 10);
  EXPECT_EQ(counter(map, "mpu.remote") + near(map) + counter(map, "mpu.other_unit"), accesses(map));
}

TEST(MpuSim, TheSameWhateverTheWindows) {
  for (const char* name : {"axpy-mpu", "conv-mpu", "reduction"})
    testing::expect_same_in_windows({"mpu-sim", "mpu"}, name, 300'000, {1, 3, 997});
  testing::expect_same_in_windows({"mpu-sim", "ponb"}, "gemv-mpu", 300'000, {3, 997});
}

TEST(MpuSim, TheSameOnADevice) {
  testing::expect_same_on_a_device({"mpu-sim", "mpu"}, "gemv-mpu", 100'000);
}

}  // namespace
}  // namespace nearwarp::sim
