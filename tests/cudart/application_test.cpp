// Do CUDA applications, built as their users build them, run right?
#include "tests/cudart/application.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace nearwarp::testing {
namespace {

TEST_F(Application, VectorAdd) { expect_passes("vector_add"); }
TEST_F(Application, VectorAddFromLz4) { expect_passes("lz4"); }
TEST_F(Application, VectorAddFromPlainPtx) { expect_passes("plain"); }
TEST_F(Application, Copies) { expect_passes("copies"); }
TEST_F(Application, Unified) { expect_passes("unified"); }
TEST_F(Application, Launches) { expect_passes("launches"); }
TEST_F(Application, Graphs) { expect_passes("graphs"); }
TEST_F(Application, Captures) { expect_passes("captures"); }
TEST_F(Application, GraphNodes) { expect_passes("graph_nodes"); }
TEST_F(Application, BulkCopies) { expect_passes("bulk"); }
TEST_F(Application, TilesByTensorMaps) { expect_passes("tiles"); }
TEST_F(Application, Libraries) { expect_passes("libraries"); }
TEST_F(Application, Textures) { expect_passes("textures"); }
TEST_F(Application, VectorAddWithDefaults) { expect_passes("defaults"); }
TEST_F(Application, Objects) {
  const Outcome outcome = run("objects");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "text 42  1.50 1099511627776 x %\npassed")) << outcome.out;
}
TEST_F(Application, Libcu) { expect_passes("libcu"); }
TEST_F(Application, LibcuOfCapability90) { expect_passes("libcu_90"); }
TEST_F(Application, Math) { expect_passes("math"); }
TEST_F(Application, MathOfCapability90) { expect_passes("math_90"); }
TEST_F(Application, Pools) { expect_passes("pools"); }
TEST_F(Application, SeveralTranslationUnits) { expect_passes("linked"); }
TEST_F(Application, CooperativeGroups) { expect_passes("cooperative"); }
TEST_F(Application, CooperativeGroupsOfCapability90) { expect_passes("cooperative_90"); }
TEST_F(Application, WideAtomics) {
  expect_passes("wide");
  const Outcome checked = run_program({"check", "--", app("wide")});
  EXPECT_TRUE(contains(checked.out, "wide: no hazards, no errors in ")) << checked.out;
}

TEST_F(Application, OfSeveralCodesTheDevicesOwnIsTakenAndSaid) {
  const Outcome own = run("code_90a");
  EXPECT_TRUE(contains(own.out, "code 900 own features 1 no error")) << own.out << own.err;
  EXPECT_TRUE(contains(own.err, "PTX for sm_90 and sm_90a: that for sm_90a is executed"))
      << own.err;
  EXPECT_TRUE(contains(own.out, " sm_90a\n")) << "the table of registers names it: " << own.out;

  const Outcome several = run("code_several");
  EXPECT_TRUE(contains(several.out, "code 800 own features 0 no error")) << several.out;
  EXPECT_TRUE(contains(several.err,
                       "PTX for sm_75, sm_80 and sm_100: that for sm_80 is executed on this device "
                       "of compute capability 9.0"))
      << several.err;
  EXPECT_TRUE(contains(several.err, "a GPU would execute its machine code for sm_90"))
      << several.err;
  const Outcome older = run("code_several", {}, {"--set", "gpu.compute_capability=75"});
  EXPECT_TRUE(contains(older.out, "code 750 ")) << older.out;

  const Outcome newer = run("code_newer");
  EXPECT_TRUE(contains(newer.out, "no kernel image is available for execution on the device"))
      << newer.out;
  EXPECT_TRUE(contains(newer.err,
                       "has code for sm_100 alone, which a device of compute capability "
                       "9.0 does not run"))
      << newer.err;
  const Outcome fits = run("code_newer", {}, {"--set", "gpu.compute_capability=100"});
  EXPECT_TRUE(contains(fits.out, "code 1000 own features 0 no error")) << fits.out << fits.err;
  EXPECT_FALSE(contains(fits.err, "is executed on this device")) << "no choice: " << fits.err;

  const Outcome beside = run("code_beside");
  EXPECT_TRUE(contains(beside.out, "code 1000 own features 0 no error")) << beside.out;
  EXPECT_TRUE(contains(beside.err,
                       "PTX for sm_100: that for sm_100 is executed on this device of compute "
                       "capability 9.0"))
      << beside.err;
  EXPECT_TRUE(contains(beside.err, "a GPU would execute its machine code for sm_90")) << beside.err;
}

TEST_F(Application, InstructionsOfTheDevicesOwnCodeAreRefusedWithTheirLine) {
  const Outcome outcome = run("code_90a", {"product"});
  EXPECT_TRUE(contains(outcome.out, "operation not supported")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "is not supported - mma of these is (code_90a.1.ptx:"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "wmma.mma.sync.aligned.row.col.m8n8k32")) << outcome.err;
}

TEST_F(Application, WaitsByAnyKindOfLoad) {
  expect_passes("spins");
  const Outcome never = run("spins", {"never"});
  EXPECT_TRUE(contains(never.out, "passed")) << never.out << never.err;
  EXPECT_TRUE(contains(never.err, "deadlock in kernel _Z5neverPKiPi")) << never.err;
}

TEST_F(Application, Clusters) {
  expect_passes("clusters");
  struct Mistake {
    const char* how;
    const char* message;
  };
  for (const Mistake& m : {Mistake{"ended", "block 1 of the cluster, which has ended"},
                           {"beyond", "in no block: the cluster has 2"},
                           {"deadlock", "deadlock in kernel _Z10half_waitsPi"}}) {
    const Outcome outcome = run("clusters", {m.how});
    EXPECT_EQ(outcome.exit_code, 1) << m.how << outcome.out << outcome.err;  // nothing to simulate
    EXPECT_TRUE(contains(outcome.out, "passed")) << m.how << outcome.out;
    EXPECT_TRUE(contains(outcome.err, m.message)) << m.how << outcome.err;
  }
  const Outcome clean = run_program({"check", "--", app("clusters")});
  EXPECT_EQ(clean.exit_code, 0) << clean.out << clean.err;
  EXPECT_TRUE(contains(clean.out, "clusters: no hazards, no errors in ")) << clean.out;
  const Outcome races = run_program({"check", "--", app("clusters"), "races"});
  EXPECT_EQ(races.exit_code, 3) << races.out << races.err;
  EXPECT_TRUE(contains(races.out, "between blocks")) << races.out;
  EXPECT_TRUE(contains(races.out, "of shared memory")) << races.out;
}

TEST_F(Application, NestedLaunches) {
  expect_passes("nested");
  expect_passes("nested_cub");
  const Outcome fault = run("nested", {"fault"});
  EXPECT_EQ(fault.exit_code, 0) << fault.out << fault.err;
  EXPECT_TRUE(contains(fault.err, "in kernel _Z6brokenPi")) << fault.err;
  EXPECT_TRUE(contains(fault.err, "(launched by kernel _Z16parent_of_brokenPi)")) << fault.err;
  const Outcome times = run("nested", {"times"}, {"--event-times", "simulated"});
  EXPECT_EQ(times.exit_code, 0) << times.out << times.err;
  const Outcome checked = run_program({"check", "--", app("nested")});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_TRUE(contains(checked.out, "nested: no hazards, no errors in ")) << checked.out;
}

TEST_F(Application, Thrust) {
  for (const char* what : {"reduce", "scan", "sort", "sort_pairs", "select", "reduce_by_key"})
    expect_passes("thrust", {what});
}
TEST_F(Application, Cub) {
  for (const char* what : {"device", "blocks"}) expect_passes("cub", {what});
}
TEST_F(Application, Mistakes) { expect_passes("mistakes"); }

TEST_F(Application, FaultsOfKernels) {
  for (const Words& arguments : {Words{"1"}, Words{"1", "2"}}) {
    const Outcome outcome = run("mistakes", arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "__global__ write of size 4 bytes in kernel _Z5writePi"))
        << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "on machine tom"));
  }
}

TEST_F(Application, AccessesBesideAllocationsPassAsOnAGpu) {
  const Outcome outcome = run("mistakes", {"1", "2", "3"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "passed")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "__global__ read of size 4 bytes in kernel _Z6besidePKiPi"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "1 bytes after the nearest allocation of 800 bytes"))
      << outcome.err;
  const size_t first = outcome.err.find("a GPU lets this pass");
  EXPECT_NE(first, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("a GPU lets this pass", first + 1), std::string::npos) << outcome.err;
  const Outcome checked = run_program({"check", "--", app("mistakes"), "1", "2", "3"});
  EXPECT_NE(checked.exit_code, 0) << checked.out;  // the race detector looks closely
  EXPECT_TRUE(contains(checked.out + checked.err, "invalid __global__ read")) << checked.out;
}

TEST_F(Application, LimitsAndReset) {
  const Outcome outcome = run("limits");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "passed")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "whose __launch_bounds__ allow 256")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "have 32 in blocks of 1024 threads")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "needs 98304 bytes of shared memory")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "stack overflow in kernel _Z7recursePiS_")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "by thread (0,0,0) of block (0,0,0)")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "more than the 16384 bytes")) << outcome.err;
}

TEST_F(Application, FailedLaunchesAreNamed) {
  const std::vector<std::string> launches = {
      "a launch of kernel fill(int*) failed with cudaErrorInvalidConfiguration (invalid "
      "configuration argument): a thread block of 1025 threads - at most 1024",
      "cudaLaunchKernel, grid (1,1,1), blocks of (1025,1,1), 0 bytes of dynamic shared memory, "
      "called at failed_launches+0x",
      "; 2 times, and ", ": a grid without thread blocks; ",
      "a launch of kernel with_shared(int*) failed with cudaErrorInvalidValue (invalid argument): "
      "300000 bytes of shared memory"};
  const std::string other =
      "cudaMemset failed with cudaErrorInvalidValue (invalid argument), called";
  const Outcome ran = run("failed_launches");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "failed_launches, on machine tom; ")) << ran.out;
  const Outcome checked = run_program({"check", "--", app("failed_launches")});
  EXPECT_EQ(checked.exit_code, 3) << checked.out << checked.err;
  EXPECT_TRUE(contains(checked.out, "no hazards, 3 errors in 1 launch")) << checked.out;
  for (const std::string& text : {ran.err, checked.out}) {
    for (const std::string& part : launches) EXPECT_TRUE(contains(text, part)) << part << text;
    EXPECT_TRUE(contains(text, "and cudaGetLastError() was not called after it")) << text;
    EXPECT_FALSE(contains(text, "cudaEventQuery")) << text;
  }
  for (const std::string& text : {ran.err, checked.err}) EXPECT_TRUE(contains(text, other)) << text;
  EXPECT_FALSE(contains(checked.out, "cudaMemset")) << checked.out;
  // Who asks knows; the launches are named all the same.
  const Outcome asked = run("failed_launches", {"asked"});
  for (const std::string& part : launches) EXPECT_TRUE(contains(asked.err, part)) << part;
  EXPECT_TRUE(contains(asked.err, "and the application asked for the error")) << asked.err;
  EXPECT_FALSE(contains(asked.err, "was not called after it")) << asked.err;
  const Outcome clean = run_program({"check", "--", app("failed_launches"), "asked"});
  EXPECT_EQ(clean.exit_code, 0) << clean.out;
  EXPECT_TRUE(contains(clean.err, "a launch of kernel fill(int*) failed")) << clean.err;
  // A program that heeds what calls return makes no mistakes.
  const Outcome returned = run_program({"check", "--", app("failed_launches"), "returned"});
  EXPECT_EQ(returned.exit_code, 0) << returned.out;
  EXPECT_TRUE(contains(returned.out, "no hazards, no errors in 1 launch")) << returned.out;
  EXPECT_TRUE(contains(returned.err, "cudaMalloc failed with cudaErrorMemoryAllocation"))
      << returned.err;
}

TEST_F(Application, LinkedWithTheDriversLibrary) { expect_passes("driver"); }
TEST_F(Application, DriverApi) {
  const Outcome outcome = run("driver_api");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "passed")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "\nscale ")) << "kernels by their names: " << outcome.out;
  const Outcome checked = run_program({"check", "--", app("driver_mixed")});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}
TEST_F(Application, DriverApiAndRuntimeTogether) { expect_passes("driver_mixed"); }
TEST_F(Application, GraphsWithConditions) { expect_passes("graph_conditions"); }
TEST_F(Application, OfCuda12) { expect_passes("cuda12"); }
TEST_F(Application, MemoryOfAnotherProcess) {
  const Outcome outcome = run("ipc");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "passed")) << outcome.out;
}
TEST_F(Application, PoolOfAnotherProcess) {
  const Outcome outcome = run("shared_pool");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "passed")) << outcome.out;
}
TEST_F(Application, SeveralDevices) {
  const Outcome outcome = run("devices", {"3"}, {"--devices", "3"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "passed")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "simulated as one")) << outcome.err;
}
TEST_F(Application, SeveralDevicesOfTheDriver) {
  const Outcome outcome = run("driver_devices", {"3"}, {"--devices", "3"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "passed")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "simulated as one")) << outcome.err;
}
TEST_F(Application, MemoryMappedByHand) { expect_passes("virtual_memory"); }
TEST_F(Application, DriverGraphsAndTextures) { expect_passes("driver_objects"); }
TEST_F(Application, DriverLibraryThatTheProgramLoads) { expect_passes("driver_link"); }
TEST_F(Application, KernelsCompiledAtRunTime) {
  if (access(app("nvrtc").c_str(), X_OK) != 0) GTEST_SKIP() << "there is no libnvrtc";
  expect_passes("nvrtc");
}

}  // namespace
}  // namespace nearwarp::testing
