// Do CUDA applications, built as their users build them, run and get simulated?
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

class Application : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(NW_APPLICATIONS).empty()) GTEST_SKIP() << "there is no nvcc to build it";
  }
  static std::string app(const std::string& name) {
    return std::string(NW_APPLICATIONS) + "/" + name;
  }
  static Outcome run(const std::string& name, const Words& arguments = {},
                     const Words& options = {}) {
    Words words = {"run", "--policy", "baseline"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.push_back(app(name));
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program(words);
  }
  /// It checks itself, and a table follows.
  static void expect_passes(const std::string& name, const Words& arguments = {}) {
    const Outcome outcome = run(name, arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "passed")) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, name + ", on machine tom; ")) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "cycles")) << outcome.out;
  }
};

TEST_F(Application, VectorAdd) { expect_passes("vector_add"); }
TEST_F(Application, VectorAddFromLz4) { expect_passes("lz4"); }
TEST_F(Application, VectorAddFromPlainPtx) { expect_passes("plain"); }
TEST_F(Application, Copies) { expect_passes("copies"); }
TEST_F(Application, Unified) { expect_passes("unified"); }
TEST_F(Application, Launches) { expect_passes("launches"); }
TEST_F(Application, Graphs) { expect_passes("graphs"); }
TEST_F(Application, GraphNodes) { expect_passes("graph_nodes"); }
TEST_F(Application, BulkCopies) { expect_passes("bulk"); }
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
  EXPECT_TRUE(contains(newer.out, "no PTX or machine code in the application suits the device"))
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
  const Outcome outcome = run("code_90a", {"wgmma"});
  EXPECT_TRUE(contains(outcome.out, "operation not supported")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "the instruction is not supported (code_90a.1.ptx:"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "wgmma.fence.sync.aligned;")) << outcome.err;
}

TEST_F(Application, WaitsByAnyKindOfLoad) {
  expect_passes("spins");
  const Outcome never = run("spins", {"never"});
  EXPECT_TRUE(contains(never.out, "passed")) << never.out << never.err;
  EXPECT_TRUE(contains(never.err, "deadlock in kernel _Z5neverPKiPi")) << never.err;
}

TEST_F(Application, ALimitOfExecutionEndsItWithAReport) {
  for (const Words& limit : {Words{"--execute-most", "40000000"}, Words{"--time-limit", "1"}}) {
    const Outcome outcome = run("spins", {"long"}, limit);
    EXPECT_EQ(outcome.exit_code, 124) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "a limit of execution has been reached")) << outcome.err;
    EXPECT_FALSE(contains(outcome.out, "passed")) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "spins, on machine tom; ")) << outcome.out;
  }
}

TEST_F(Application, AJournalIsSimulatedEvenIfItsProcessWasKilled) {
  const TemporaryFolder folder;
  const std::string library = std::string(NW_APPLICATIONS) + "/../../../lib/nearwarp";
  for (const std::string how : {"return", "kill"}) {
    const std::string journal = folder.file(how + ".journal");
    const std::string command = "NEARWARP_CUDART_RECORD='" + journal + "' LD_LIBRARY_PATH='" +
                                library + "' '" + app("endings") + "' " + how + " > /dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()) == 0, how == "return");
    const Outcome outcome = run_program({"run", "--policy", "baseline", journal});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "endings, on machine tom; ")) << outcome.out;
    EXPECT_EQ(contains(outcome.err, "ends before its program did"), how == "kill") << outcome.err;
  }
}

TEST_F(Application, AProcessWithoutADeviceLeavesTheJournalOfAnother) {
  const TemporaryFolder folder;
  const std::string journal = folder.file("x.journal"), program = "'" + app("endings") + "'";
  const std::string command = "export NEARWARP_CUDART_RECORD='" + journal + "' LD_LIBRARY_PATH='" +
                              NW_APPLICATIONS + "/../../../lib/nearwarp'; (" + program + " && " +
                              program + " asks) > /dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const Outcome outcome = run_program({"run", "--policy", "baseline", journal});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "endings, on machine tom; ")) << outcome.out;
}

TEST_F(Application, AFailedSelfCheckIsAHintToCheck) {
  const Outcome outcome = run("endings", {"exit"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(contains(outcome.err, "'nearwarp check -- ...' finds races")) << outcome.err;
  EXPECT_FALSE(contains(run("endings").err, "nearwarp check")) << "it ended well";
  const Outcome none = run("endings", {}, {"--kernels", "zzz"});
  EXPECT_TRUE(contains(none.err, "a match of --kernels 'zzz'")) << none.err;
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

TEST_F(Application, NestedLaunchesAreRecordedAsLaunches) {
  TemporaryFolder folder;
  const auto kernels = [&](const Words& options) {
    const std::string file = folder.file("out.json");
    Words all = options;
    all.insert(all.end(), {"--json", file});
    EXPECT_EQ(run("nested", {}, all).exit_code, 0);
    return nlohmann::json::parse(read_text(file))["runs"][0]["kernel_totals"];
  };
  uint64_t digs = 0;
  for (const auto& kernel : kernels({}))
    if (kernel["kernel"] == "_Z3digPiP9cudaError") digs = kernel["launches"];
  EXPECT_EQ(digs, 25u);
  const auto one = kernels({"--kernels", "^void expand|^expand"});  // launched by kernels only
  ASSERT_EQ(one.size(), 1u);
  EXPECT_GT(one[0]["launches"], 5);
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

TEST_F(Application, EveryEndingKeepsWhatWasRecorded) {
  struct Ending {
    const char* how;
    int code;
    const char* message;
  };
  for (const Ending& e : {Ending{"return", 0, ""},
                          {"exit", 3, "the application ended with status 3"},
                          {"_exit", 4, "the application ended with status 4"},
                          {"abort", 128 + SIGABRT, "was ended by signal 6"},
                          {"crash", 128 + SIGSEGV, "was ended by signal 11"},
                          {"kill", 128 + SIGKILL, "was ended by signal 9"},
                          {"fork-first", 0, ""},
                          {"fork", 0, "fork()"},
                          {"exec", 0, ""}}) {
    const Outcome outcome = run("endings", {e.how});
    EXPECT_EQ(outcome.exit_code, e.code) << e.how << outcome.err;
    EXPECT_TRUE(contains(outcome.err, e.message)) << e.how << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "endings, on machine tom; ")) << e.how << outcome.out;
  }
}

TEST_F(Application, WithoutALaunchItIsSaidWhatHappened) {
  struct Case {
    const char* how;
    const char* message;
  };
  for (const Case& c :
       {Case{"nothing",
             "did not use the simulated GPU: it is linked with the shared CUDA runtime and "
             "called none of its functions"},
        {"no-file",
         "did not use the simulated GPU: it ended with status 2 before it used the device"},
        {"asks", "the application called CUDA, but no kernel was executed"},
        {"asks-and-exits", "called CUDA, but ended with status 5 before a kernel was executed"}}) {
    for (const char* command : {"run", "record", "check"}) {
      const Outcome outcome = run_program({command, "--", app("endings"), c.how});
      EXPECT_EQ(outcome.exit_code, 1) << command << c.how;
      EXPECT_TRUE(contains(outcome.err, c.message)) << command << c.how << outcome.err;
    }
  }
}

TEST_F(Application, AHiddenDeviceIsNone) {
  const char* const ambient = getenv("CUDA_VISIBLE_DEVICES");
  const std::string before = ambient == nullptr ? "" : ambient;
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  const Outcome hidden = run("endings", {"hidden"});
  setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  const Outcome shown = run("endings");
  if (ambient == nullptr)
    unsetenv("CUDA_VISIBLE_DEVICES");
  else
    setenv("CUDA_VISIBLE_DEVICES", before.c_str(), 1);
  EXPECT_TRUE(contains(hidden.out, "passed")) << hidden.out << hidden.err;
  EXPECT_TRUE(contains(hidden.err, "CUDA_VISIBLE_DEVICES hides the simulated GPU")) << hidden.err;
  EXPECT_EQ(hidden.exit_code, 1) << "nothing to simulate";
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
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
  // Who goes by what calls return is right, too.
  const Outcome returned = run_program({"check", "--", app("failed_launches"), "returned"});
  EXPECT_EQ(returned.exit_code, 0) << returned.out;
  EXPECT_TRUE(contains(returned.out, "no hazards, no errors in 1 launch")) << returned.out;
  EXPECT_TRUE(contains(returned.err, "cudaMalloc failed with cudaErrorMemoryAllocation"))
      << returned.err;
}

TEST_F(Application, AnInterruptLeavesWhatWasExecuted) {
  for (const char* command : {"run", "record", "check"}) {
    const TemporaryFolder folder;
    const std::string file = folder.file("some.nwtrace"), json = folder.file("some.json");
    Words words = {command};
    if (words[0] == "run") words = words + Words{"--policy", "baseline", "--json", json};
    if (words[0] == "record") words = words + Words{"--out", file};
    bool sent = false;
    Setting setting;
    setting.watch = [&](pid_t child, const std::string& err) {
      if (sent || !contains(err, "launched")) return;
      sent = true;
      kill(child, SIGINT);
    };
    const Outcome outcome = run_program(words + Words{"--", app("endings"), "sleep"}, setting);
    EXPECT_TRUE(sent);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "the application was interrupted: ")) << outcome.err;
    if (words[0] == "run") {
      EXPECT_TRUE(contains(outcome.out, "is partial (the application was interrupted)"))
          << outcome.out;
      EXPECT_EQ(nlohmann::json::parse(read_text(json))["runs"][0]["status"], "partial");
    } else if (words[0] == "record") {
      EXPECT_TRUE(contains(outcome.out, "in 1 launch, not all of the program")) << outcome.out;
    } else {
      EXPECT_TRUE(contains(outcome.out, "no hazards, no errors in 1 launch")) << outcome.out;
    }
  }
}

TEST_F(Application, AnInterruptOfTheFirstLaunchIsSaidToBeOne) {
  bool sent = false;
  Setting setting;
  setting.watch = [&](pid_t child, const std::string& err) {
    if (sent || !contains(err, "launching")) return;
    sent = true;
    kill(child, SIGINT);
  };
  const Outcome outcome = run_program({"check", "--", app("spins"), "first"}, setting);
  EXPECT_TRUE(sent);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "the application was interrupted: no launch that was to be"))
      << outcome.err;
}

TEST_F(Application, StaticRuntimeIsRefusedWithAdvice) {
  const Outcome outcome = run("static_runtime");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.err, "NVCC_APPEND_FLAGS=\"-cudart=shared\"")) << outcome.err;
}

TEST_F(Application, StaticRuntimeBehindAScriptEndsWithAdvice) {
  const Outcome outcome = run_program({"run", "--", "sh", "-c", app("static_runtime")});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "FAILED")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "NVCC_APPEND_FLAGS=\"-cudart=shared\"")) << outcome.err;
  const size_t first = outcome.err.find("static_runtime asks for functions of the CUDA driver");
  EXPECT_NE(first, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find(" asks for ", first + 20), std::string::npos) << outcome.err;
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
TEST_F(Application, DriverGraphsAndTextures) { expect_passes("driver_objects"); }
TEST_F(Application, DriverLibraryThatTheProgramLoads) { expect_passes("driver_link"); }
TEST_F(Application, KernelsCompiledAtRunTime) {
  if (access(app("nvrtc").c_str(), X_OK) != 0) GTEST_SKIP() << "there is no libnvrtc";
  expect_passes("nvrtc");
}

TEST_F(Application, ModulesWithoutPtxSaySo) {
  const Outcome outcome = run("no_ptx");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.out, "cudaErrorNoKernelImageForDevice")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "has no PTX, only machine code")) << outcome.err;
}

TEST_F(Application, KernelsAndInstructionsMayBeLimited) {
  TemporaryFolder folder;
  const auto launches = [&](const Words& options) {
    const std::string file = folder.file("out.json");
    Words all = options;
    all.insert(all.end(), {"--json", file});
    const Outcome outcome = run("many_launches", {"50"}, all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "passed"));
    EXPECT_EQ(contains(outcome.err, "only a part was recorded"), !options.empty()) << outcome.err;
    return nlohmann::json::parse(read_text(file))["runs"][0]["kernel_totals"];
  };
  const auto all = launches({});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["launches"], 50);
  EXPECT_EQ(all[1]["launches"], 50);
  const auto one = launches({"--kernels", "add_two\\(int"});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["kernel"], "_Z7add_twoPi");
  EXPECT_EQ(one[0]["thread_instructions"], all[1]["thread_instructions"]);
  const auto few = launches({"--max-instructions", "100000"});
  uint64_t instructions = 0;
  for (const auto& kernel : few) instructions += kernel["thread_instructions"].get<uint64_t>();
  EXPECT_GE(instructions, 100000u);
  EXPECT_LT(instructions, 110000u);
}

TEST_F(Application, RepetitionsAreRecognisedAndCanBeLeftOut) {
  TemporaryFolder folder;
  const auto simulated = [&](const Words& options) {
    const std::string file = folder.file("out.json");
    // Without refreshes, which make one launch in six a third longer.
    Words all = {"--policy", "baseline", "--json", file, "--set", "dram.tREFI=60000"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run("many_launches", {"50"}, all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(contains(outcome.out, "16 of 100 launches were simulated"), !options.empty());
    return nlohmann::json::parse(read_text(file))["runs"][0];
  };
  const auto all = simulated({}), few = simulated({"--max-repeats", "8"});
  for (size_t k = 0; k < 2; ++k) {
    const auto &a = all["kernel_totals"][k], &f = few["kernel_totals"][k];
    EXPECT_EQ(a["distinct_launches"], 1);
    EXPECT_EQ(a["simulated_launches"], 50);
    EXPECT_EQ(a["estimated_cycles"], a["cycles"]);
    EXPECT_EQ(f["launches"], 50);
    EXPECT_EQ(f["distinct_launches"], 1);
    EXPECT_EQ(f["simulated_launches"], 8);
    EXPECT_EQ(f["thread_instructions"].get<uint64_t>() * 50,
              a["thread_instructions"].get<uint64_t>() * 8);
    const double ratio = f["estimated_cycles"].get<double>() / a["cycles"].get<double>();
    EXPECT_NEAR(ratio, 1, 0.05) << "warm launches take about as long as each other";
  }
  for (size_t i = 0; i < 16; ++i) {  // the first ones are simulated as they are without the limit
    EXPECT_EQ(few["kernels"][i]["cycles"], all["kernels"][i]["cycles"]);
    EXPECT_EQ(few["kernels"][i]["launch"], i);
    EXPECT_EQ(few["kernels"][i]["alike"], i % 2);
    EXPECT_EQ(few["kernels"][i]["stands_for"], i < 14 ? 1 : 43);
  }
}

TEST_F(Application, RegistersAreCountedByMachineCodeOrPtxas) {
  TemporaryFolder folder;
  const auto counted = [&](const std::string& name, const Words& options) {
    const std::string file = folder.file("out.json");
    Words all = options;
    all.insert(all.end(), {"--json", file});
    const Outcome outcome = run(name, {}, all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto kernel = nlohmann::json::parse(read_text(file))["runs"][0]["kernel_totals"][0];
    const std::string source = kernel["registers_source"];
    EXPECT_TRUE(contains(outcome.out, " " + source + "  sm_75\n")) << outcome.out;
    return std::pair{kernel["registers"].get<int>(), source};
  };
  // `defaults` has machine code for sm_75 beside the PTX that `vector_add` has alone.
  const auto [registers, source] = counted("defaults", {});
  EXPECT_EQ(source, "cubin sm_75");
  EXPECT_EQ(counted("vector_add", {}).second, "own allocation");
  EXPECT_EQ(counted("defaults", {"--registers", "own"}), counted("vector_add", {}));
  EXPECT_EQ(counted("linked", {}).second, "cubin sm_75") << "what the linker made";

  const std::string cache = folder.file("cache");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(counted("vector_add", {"--registers", "ptxas", "--trace-cache", cache}),
              (std::pair<int, std::string>{registers, "ptxas sm_75"}));
  EXPECT_TRUE(std::filesystem::exists(cache)) << "and holds the answer";
  EXPECT_FALSE(std::filesystem::is_empty(cache));
  EXPECT_EQ(counted("defaults", {"--registers", "ptxas"}).second, "cubin sm_75");
  EXPECT_EQ(counted("defaults", {"--registers", "ptxas:sm_90"}).second, "ptxas sm_90");

  const std::string file = folder.file("add.nwtrace");
  ASSERT_EQ(run_program({"record", "--out", file, "--registers", "ptxas", "--", app("vector_add")})
                .exit_code,
            0);
  const Outcome again = run_program({"run", file, "--policy", "baseline"});
  EXPECT_TRUE(contains(again.out, "ptxas sm_75  sm_75\n"))
      << again.out << "recordings keep the count";
  const Outcome wrong = run("vector_add", {}, {"--registers", "nvcc"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "'auto', 'own', 'ptxas'")) << wrong.err;
}

TEST_F(Application, EventsTellSimulatedTimes) {
  TemporaryFolder folder;
  const std::string file = folder.file("out.json");
  const auto told = [&](const Words& options) {
    Words all = {"--policy", "baseline", "--json", file, "--set", "gpu.sms=8"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run("timing", {}, all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<double> times;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
      if (line.ends_with(" us")) times.push_back(std::stod(line));
    return times;
  };
  const std::vector<double> simulated = told({"--event-times", "simulated"});
  const auto report = nlohmann::json::parse(read_text(file))["runs"][0];
  ASSERT_EQ(simulated.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(simulated[i], report["kernels"][i]["cycles"].get<double>() / 1400, 0.001)
        << "as in nearwarp's own report";
  EXPECT_LT(simulated[2], simulated[1]);
  const std::vector<double> estimated = told({});
  ASSERT_EQ(estimated.size(), 3u);
  EXPECT_NE(estimated, simulated);
  const Outcome wrong = run("timing", {}, {"--event-times", "exact"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "'estimated' or 'simulated'")) << wrong.err;
}

TEST_F(Application, RecordedOnceSimulatedOften) {
  TemporaryFolder folder;
  const std::string file = folder.file("add.nwtrace");
  const Outcome recorded = run_program({"record", "--out", file, "--", app("vector_add")});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const auto cycles = [&](const Words& words) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const size_t at = outcome.out.find("\ncycles ");
    return at == std::string::npos ? outcome.out
                                   : outcome.out.substr(at, outcome.out.find('\n', at + 1) - at);
  };
  EXPECT_EQ(cycles({"run", file, "--policy", "baseline"}),
            cycles({"run", "--policy", "baseline", "--", app("vector_add")}));
  const Outcome sweep = run_program({"sweep", file, "--policy", "baseline", "--set",
                                     "l2.bytes=524288,1048576", "--out", folder.file("s/")});
  EXPECT_EQ(sweep.exit_code, 0) << sweep.err;
  EXPECT_TRUE(contains(sweep.out, "add.nwtrace")) << sweep.out;
}

TEST_F(Application, AProfileIsThatOfItsRecording) {
  TemporaryFolder folder;
  const std::string file = folder.file("add.nwtrace");
  ASSERT_EQ(run_program({"record", "--out", file, "--", app("vector_add")}).exit_code, 0);
  const auto profile = [&](const Words& words) {
    Words all = {"run", "--profile", "--json", folder.file("out.json")};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run_program(all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "warp-instr.")) << outcome.out;
    return read_text(folder.file("out.json"));
  };
  EXPECT_EQ(profile({file}), profile({"--", app("vector_add")}));
}

TEST_F(Application, SweepsCanLeaveRepetitionsOut) {
  TemporaryFolder folder;
  const std::string file = folder.file("many.nwtrace"), out = folder.file("s.jsonl");
  const Outcome recorded = run_program({"record", "--out", file, "--", app("many_launches"), "20"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const auto launches = [&](const Words& options) {
    Words words = {"sweep", file, "--policy", "baseline", "--out", out};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string text = read_text(out);
    const auto last = nlohmann::json::parse(text.substr(text.rfind('\n', text.size() - 2) + 1));
    return last["run"]["kernels"].size();
  };
  EXPECT_EQ(launches({}), 40u);
  EXPECT_EQ(launches({"--max-repeats", "2"}), 4u) << "a point of its own in the same file";
  EXPECT_EQ(launches({"--max-repeats", "3"}), 6u);
}

TEST_F(Application, RacesAreFound) {
  TemporaryFolder folder;
  struct Case {
    const char* how;
    int code;
    size_t hazards, errors;
  };
  for (const Case& c : {Case{"clean", 0, 0, 0},
                        {"race", 3, 2, 0},
                        {"fail", 5, 2, 0},
                        {"fault", 3, 2, 1},
                        {"kill", 128 + SIGABRT, 2, 0}}) {
    const std::string file = folder.file(std::string(c.how) + ".json");
    const Outcome outcome = run_program({"check", "--json", file, "--", app("races"), c.how});
    EXPECT_EQ(outcome.exit_code, c.code) << c.how << outcome.out << outcome.err;
    const auto found = nlohmann::json::parse(read_text(file))["programs"][0];
    EXPECT_EQ(found["hazards"].size(), c.hazards) << c.how << outcome.out;
    EXPECT_EQ(found["errors"].size(), c.errors) << c.how << outcome.out;
    EXPECT_EQ(contains(outcome.out, "kernel void reverse<false>(int*, int const*)"), c.hazards != 0)
        << outcome.out;
  }
  const Outcome one = run_program({"check", "--kernels", "<true>", "--", app("races"), "race"});
  EXPECT_EQ(one.exit_code, 0) << one.out;
}

TEST_F(Application, WhatNobodyWroteAndMasksAreFound) {
  const Outcome clean = run_program({"check", "--", app("written")});
  EXPECT_EQ(clean.exit_code, 0) << clean.out << clean.err;
  struct Case {
    Words options;
    int code;
    size_t misuses, unwritten;
  };
  for (const Case& c : {Case{{}, 3, 1, 1},
                        {{"--no-misuse"}, 3, 0, 1},
                        {{"--no-unwritten"}, 3, 1, 0},
                        {{"--no-misuse", "--no-unwritten"}, 0, 0, 0}}) {
    TemporaryFolder folder;
    const std::string file = folder.file("found.json");
    Words words = {"check", "--json", file};
    words.insert(words.end(), c.options.begin(), c.options.end());
    words.insert(words.end(), {"--", app("written"), "unwritten"});
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, c.code) << outcome.out << outcome.err;
    const auto found = nlohmann::json::parse(read_text(file))["programs"][0];
    ASSERT_EQ(found["misuses"].size(), c.misuses) << outcome.out;
    ASSERT_EQ(found["unwritten_reads"].size(), c.unwritten) << outcome.out;
    if (c.misuses != 0) {
      EXPECT_EQ(found["misuses"][0]["count"], 16);
    }
    if (c.unwritten != 0) {
      EXPECT_EQ(found["unwritten_reads"][0]["count"], 48 + 2 * 64) << "a graph's, at each launch";
      EXPECT_EQ(found["unwritten_reads"][0]["at"]["thread"], (std::vector<int>{16, 0, 0}));
    }
  }
}

TEST_F(Application, UsualWaysToWorkTogetherAreRight) {
  const Outcome clean = run_program({"check", "--", app("idioms")});
  EXPECT_EQ(clean.exit_code, 0) << clean.out << clean.err;
  EXPECT_TRUE(contains(clean.out, "idioms: no hazards, no errors in 10 launches")) << clean.out;
  const Outcome bugs = run_program({"check", "--", app("idioms"), "bugs"});
  EXPECT_EQ(bugs.exit_code, 3) << bugs.err;
  // Each block's first thread reads the element that is missing.
  EXPECT_TRUE(contains(bugs.out, "read of shared memory that nobody wrote, 8 times")) << bugs.out;
  EXPECT_TRUE(contains(bugs.out, "atomic on shared memory that nobody wrote, 1 time")) << bugs.out;
}

TEST_F(Application, LibrariesOfKernelsHaveNoRaces) {
  for (const Words& words :
       {Words{"cub"}, Words{"cub", "device"}, Words{"thrust", "sort"}, Words{"thrust", "scan"},
        Words{"thrust", "select"}, Words{"thrust", "reduce_by_key"}, Words{"cooperative"}}) {
    Words all = {"check", "--", app(words[0])};
    all.insert(all.end(), words.begin() + 1, words.end());
    const Outcome outcome = run_program(all);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.out, words[0] + ": no hazards, no errors in ")) << outcome.out;
  }
}

TEST(ApplicationUsage, WhatCannotBeRunIsSaid) {
  struct Case {
    Words words;
    const char* message;
  };
  for (const Case& c : {Case{{"run", "--"}, "must follow"},
                        {{"run", "--", "/no/such/application"}, "there is no application"},
                        {{"run", "--", "/"}, "is a folder"},
                        {{"run", "--", NW_SOURCE_DIR "/README.md"}, "is not executable"},
                        {{"run", "--", "no-such-program-anywhere"}, "there is no application"},
                        {{"run", "kmeans", "--", "ls"}, "one word too many"},
                        {{"run", "--kernels", "(", "--", "ls"}, "regular expression"},
                        {{"run", "kmeans", "--kernels", "x"}, "is for applications"},
                        {{"run", "none.nwtrace"}, "there is no recording"},
                        {{"sweep", "none.nwtrace", "--out", "/tmp/x"}, "cannot read the recording"},
                        {{"record"}, "and an application"},
                        {{"record", "--out", "x", "--", "ls"}, "ends with .nwtrace"}}) {
    const Outcome outcome = run_program(c.words);
    EXPECT_EQ(outcome.exit_code, 2) << c.message << outcome.err;
    EXPECT_TRUE(contains(outcome.err, c.message)) << outcome.err;
  }
  const Outcome shell = run_program({"run", "--", "sh", "-c", "exit 7"});
  EXPECT_EQ(shell.exit_code, 1);
  EXPECT_TRUE(contains(shell.err, "ended with status 7")) << shell.err;
  EXPECT_TRUE(contains(shell.err, "did not use the simulated GPU")) << shell.err;
}

}  // namespace
}  // namespace nearwarp::testing
