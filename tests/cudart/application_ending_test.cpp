// However a CUDA application ends, or cannot begin: is what it did kept, and is it said why?
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cudart/application.h"

namespace nearwarp::testing {
namespace {

TEST_F(Application, ALimitOfExecutionEndsItWithAReport) {
  for (const Words& limit : {Words{"--execute-most", "40000000"}, Words{"--time-limit", "1"}}) {
    const Outcome outcome = run("spins", {"long"}, limit);
    EXPECT_EQ(outcome.exit_code, 124) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "a limit of execution has been reached")) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "the application's launch number ")) << outcome.err;
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
  EXPECT_TRUE(contains(hidden.err, "CUDA_VISIBLE_DEVICES hides all simulated GPUs")) << hidden.err;
  EXPECT_EQ(hidden.exit_code, 1) << "nothing to simulate";
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
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

TEST_F(Application, ModulesWithoutPtxSaySo) {
  const Outcome outcome = run("no_ptx");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.out, "cudaErrorNoKernelImageForDevice")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "has no PTX, only machine code")) << outcome.err;
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
