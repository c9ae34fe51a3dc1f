// Are jobs that end badly, and mistakes, handled? With programs in Slurm's place: what they
// say is hard to get from Slurm itself.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

/// Says a number, the next one each time, after having kept its arguments and done `what` with
/// $script and $tasks (numbers with blanks), and $log, the name up to the number.
std::string fake_sbatch(const std::string& what) {
  return R"(#!/bin/bash
here=$(dirname "$0")
printf '%s\n' "$@" >> "$here/arguments"
for word in "$@"; do
  case "$word" in
    --array=*) tasks=${word#--array=}; tasks=${tasks//,/ } ;;
    --output=*) log=${word#--output=}; log=${log%%%a.log} ;;
  esac
  script=$word
done
echo >> "$here/jobs"
job=$(wc -l < "$here/jobs")
)" + what +
         "\necho $job\n";
}

/// Says the same of each of three tasks.
std::string fake_squeue(const std::string& state) {
  return "#!/bin/bash\nfor last in \"$@\"; do :; done\nIFS=, read -ra jobs <<< "
         "\"${last#--jobs=}\"\n"
         "for job in \"${jobs[@]}\"; do for i in 1 2 3; do echo \"$job|$i|" +
         state + "|None\"; done; done\n";
}

class FakeSlurm : public ::testing::Test {
 protected:
  FakeSlurm() : path_(std::getenv("PATH")) {
    std::filesystem::create_directory(folder_.file("bin"));
    setenv("PATH", (folder_.file("bin") + ":" + path_).c_str(), 1);
    program("sacct", "#!/bin/sh\necho Slurm accounting storage is disabled >&2\nexit 1\n");
  }
  ~FakeSlurm() override { setenv("PATH", path_.c_str(), 1); }

  void program(const std::string& name, const std::string& text) const {
    write_text(folder_.file("bin/" + name), text);
    chmod(folder_.file("bin/" + name).c_str(), 0755);
  }
  /// 3 points in 3 tasks.
  Outcome sweep(const Words& more) const {
    Words words = {"sweep",    "fma",   "--out",         folder_.file("x") + "/",
                   "--engine", "slurm", "--slurm-tasks", "3"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  const std::string path_;
  const TemporaryFolder folder_;
};

TEST_F(FakeSlurm, ATaskThatKeepsFailingIsGivenUp) {
  program("sbatch", fake_sbatch(R"(for i in $tasks; do
  echo "CANCELLED DUE TO TIME LIMIT of job $job" > "$log$i.log"
  [[ $i == 2 ]] || SLURM_ARRAY_TASK_ID=$i sh "$script" > /dev/null
done)"));
  program("squeue", fake_squeue("TIMEOUT"));
  const Outcome outcome = sweep({"--slurm-resubmit", "1"});
  EXPECT_EQ(outcome.exit_code, 1);
  for (const char* part :
       {"job 1 is submitted: 3 of 3 points, in 3 tasks",
        "part 2 of 3 (job 1_2) ended as TIMEOUT, 1 of its points being left",
        "part-2.log: CANCELLED DUE TO TIME LIMIT of job 1); submitted again (1 of 1)",
        "1 of 3 points are left: part 2 of 3 (job 2_2) ended as TIMEOUT",
        "DUE TO TIME LIMIT of job 2), submitted 2 times - the same command again"})
    EXPECT_TRUE(contains(outcome.err, part)) << part << "\n" << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "2 of 3 points are in")) << outcome.out;
  EXPECT_TRUE(contains(read_text(folder_.file("bin/arguments")), "--array=1,2,3\n"));
  EXPECT_TRUE(contains(read_text(folder_.file("bin/arguments")), "--array=2\n"));
  // It begins anew, with the part that is missing.
  const Outcome again = sweep({"--slurm-resubmit", "0"});
  EXPECT_TRUE(contains(again.err, "job 3 is submitted: 1 of 3 points, in 1 task;")) << again.err;
}

TEST_F(FakeSlurm, JobsThatAreForgottenAreSubmittedAgain) {
  program("sbatch", fake_sbatch(R"([[ $job == 1 ]] && tasks=
for i in $tasks; do SLURM_ARRAY_TASK_ID=$i sh "$script" > "$log$i.log"; done)"));
  program("squeue",
          "#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2\nexit 1\n");
  const Outcome outcome = sweep({});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err,
                       "part 1 of 3 (job 1_1) ended, 1 of its points being left, "
                       "and without a log: can its node write to"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "3 of 3 points are in")) << outcome.out;
}

TEST_F(FakeSlurm, AControllerThatDoesNotAnswerIsWaitedFor) {
  program("sbatch", fake_sbatch(R"((sleep 3
for i in $tasks; do SLURM_ARRAY_TASK_ID=$i sh "$script"; done) > /dev/null 2>&1 &)"));
  program("squeue", "#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n");
  const Outcome outcome =
      sweep({"--slurm-partition", "long", "--slurm-account", "me", "--slurm-time", "1:00:00",
             "--slurm-args", "--mem=8G --qos=low", "--threads", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "squeue does not answer: Unable to contact")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "again (")) << outcome.err;
  const std::string arguments = read_text(folder_.file("bin/arguments"));
  for (const char* argument :
       {"--partition=long\n", "--account=me\n", "--time=1:00:00\n", "--mem=8G\n", "--qos=low\n",
        "--cpus-per-task=2\n", "--array=1,2,3\n"})
    EXPECT_TRUE(contains(arguments, argument)) << argument << arguments;
}

TEST_F(FakeSlurm, NodesThatAreNotNamedAreExcluded) {
  program("scontrol", "#!/bin/sh\nprintf 'n2\\nn3\\n'\n");
  program("sinfo", "#!/bin/sh\nprintf 'n1\\nn2\\nn3\\nn4\\nn4\\n'\n");
  program("sbatch", fake_sbatch("echo no more >&2; exit 1"));
  program("squeue", fake_squeue("PENDING"));
  const Outcome outcome = sweep({"--slurm-nodes", "n[2-3]"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "sbatch refused the job: no more")) << outcome.err;
  EXPECT_TRUE(contains(read_text(folder_.file("bin/arguments")), "--exclude=n1,n4\n"));
}

TEST_F(FakeSlurm, WithoutSlurmItSaysWhatIsNeeded) {
  setenv("PATH", folder_.file("bin").c_str(), 1);
  const Outcome outcome = sweep({});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "needs Slurm's sbatch, which is not on PATH")) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder_.file("x")));
}

TEST_F(FakeSlurm, MistakesOfUseExitWithTwo) {
  program("sbatch", fake_sbatch(""));
  program("squeue", fake_squeue("PENDING"));
  const std::string out = folder_.file("x/");
  const std::vector<std::pair<Words, std::string>> mistakes = {
      {{"--engine", "slrum"}, "'slurm'"},
      {{"--slurm-tasks", "2"}, "--slurm-tasks belongs to --engine slurm"},
      {{"--engine", "slurm", "--slurm-tasks", "0"}, "--slurm-tasks"},
      {{"--engine", "slurm", "--shard", "1/2"}, "--shard"},
      {{"--engine", "slurm", "--backend", "cdua"}, "'cuda'"},
      {{"--engine", "slurm", "--slurm-args", "8G"}, "'8G'"},
      {{"--engine", "slurm", "--slurm-args", "--array=1-3"}, "--array"},
  };
  for (const auto& [more, part] : mistakes) {
    for (const Words& command : {Words{"sweep", "fma"}, Words{"experiment", "tom"}}) {
      Words words = command;
      words.insert(words.end(), {"--out", out});
      words.insert(words.end(), more.begin(), more.end());
      const Outcome outcome = run_program(words);
      EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
      EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
      EXPECT_EQ(count_lines(outcome.err), 1u) << outcome.err;
    }
  }
  const Outcome file =
      run_program({"sweep", "fma", "--engine", "slurm", "--out", folder_.file("y")});
  EXPECT_EQ(file.exit_code, 2);
  EXPECT_TRUE(contains(file.err, "--out names a folder")) << file.err;
}

}  // namespace
}  // namespace nearwarp::testing
