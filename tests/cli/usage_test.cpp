// Does the program say what it can do, and what is wrong with a command line?
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <utility>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

constexpr int kFailure = 1, kUsage = 2;

/// An error is one line on standard error that begins with the program's name.
void expect_error(const Words& words, int exit_code, const Words& parts) {
  const Outcome outcome = run_program(words);
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("nearwarp: ")) << outcome.err;
  EXPECT_EQ(count_lines(outcome.err), 1u) << outcome.err;
  for (const std::string& part : parts) EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
}

TEST(Usage, WhatIsTooLargeIsSaidToBe) {
  expect_error({"noc", "--size", "100000x100000"}, kUsage, {"too large", "at most 4096"});
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/zero", folder.file("endless.ptx"));
  expect_error({"analyze", folder.file("endless.ptx")}, kFailure, {"more than 256 MiB"});
  expect_error({"restructure", folder.file("endless.ptx"), "--array", "0:all"}, kFailure,
               {"more than 256 MiB"});
}

TEST(Usage, DamagedResultsAreToldInPlainWords) {
  const TemporaryFolder folder;
  write_text(folder.file("bad.jsonl"), "{\"schema\": 1,}\n{}\n");
  const Outcome outcome =
      run_program({"merge", folder.file("out.jsonl"), folder.file("bad.jsonl")});
  EXPECT_EQ(outcome.exit_code, kFailure);
  EXPECT_TRUE(contains(outcome.err, "no line of a sweep's results")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "json.exception")) << outcome.err;
}

TEST(Usage, TheLegendOfATableIsForTerminalsAndWhoAsks) {
  const Words words{"run", "gather", "--policy", "baseline"};
  EXPECT_FALSE(contains(run_program(words).out, "IPC: thread-instructions"));
  Words asked = words;
  asked.push_back("--legend");
  EXPECT_TRUE(contains(run_program(asked).out, "IPC: thread-instructions"));
}

TEST(Usage, FewerMainSmsAreNamedWhereNothingIsOffloaded) {
  const char* const note = "GPU has 64 SMs instead of 68";
  EXPECT_TRUE(
      contains(run_program({"run", "gather", "--policy", "ndp-controlled-bmap"}).out, note));
  EXPECT_FALSE(contains(run_program({"run", "gather", "--policy", "baseline"}).out, note));
}

TEST(Usage, ClocksThatAreNotExactAreTold) {
  const Words words{"run",      "gather",
                    "--policy", "baseline",
                    "--set",    "clocks.core_mhz=1733",
                    "--set",    "clocks.dram_mhz=877",
                    "--set",    "dram.other_clock=keep-ns"};
  const Outcome outcome = run_program(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "is simulated as ")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "clocks.core_mhz")) << outcome.err;
}

TEST(Usage, OptionsOfExecutionAreForApplications) {
  for (const char* command : {"run", "check"})
    for (const char* option : {"--interleave=16", "--execute-most=5", "--time-limit=1"})
      expect_error({command, option, "gather"}, kUsage, {"is for applications"});
  expect_error({"run", "--strict-bounds", "gather"}, kUsage, {"is for applications"});
  expect_error({"run", "--interleave", "0", "--", "/bin/true"}, kUsage, {"interleave"});
}

TEST(Usage, AnExperimentOfNoFigureIsRefused) {
  expect_error({"experiment", "tom", "--no-run", "--only", ""}, kUsage, {"--only names no figure"});
}

TEST(Usage, ARecordingThatIsNotThereIsSaidNotToBe) {
  expect_error({"analyze", "nowhere.nwtrace"}, kUsage, {"there is no file 'nowhere.nwtrace'"});
}

TEST(Usage, AnalysesTakeThePolicyOrRefuseIt) {
  for (const char* analysis : {"--chains", "--strides"})
    for (const Words& option : {Words{"--policy", "tom"}, Words{"--set", "chains.max_parts=1"}})
      expect_error(Words{"analyze", "triad", analysis} + option, kUsage,
                   {"looks at the code alone", option[0]});
  expect_error({"analyze", "triad", "--locations", "--policy", "mpu-far"}, kUsage,
               {"mpu.locations = \"far\"", "such as mpu"});
  const Words locations{"analyze", "nearest-neighbour", "--locations", "--policy", "mpu"};
  const std::string simple = run_program(locations).out;
  const std::string all = run_program(locations + Words{"--set", "mpu.near_operations=all"}).out;
  EXPECT_TRUE(contains(simple, "F* sqrt.rn.f32")) << simple;
  EXPECT_TRUE(contains(all, "N  sqrt.rn.f32")) << all;
}

TEST(Usage, HelpFitsATerminal) {
  for (const Words& words :
       {Words{"--help"}, Words{"-h"}, Words{"run", "--help"}, Words{"analyze", "--help"},
        Words{"list", "--help"}, Words{"show", "--help"}, Words{"sweep", "--help"},
        Words{"merge", "--help"}, Words{"experiment", "--help"}, Words{"compare", "--help"},
        Words{"noc", "--help"}, Words{"dram", "--help"}, Words{"probe", "--help"},
        Words{"devices", "--help"}, Words{"check", "--help"}}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 0) << words[0];
    EXPECT_EQ(outcome.err, "") << words[0];
    EXPECT_TRUE(contains(outcome.out, "nearwarp " + (words.size() > 1 ? words[0] : "")))
        << words[0];
    EXPECT_LE(longest_line(outcome.out), 80u) << outcome.out;
  }
}

TEST(Usage, HelpOfACommandIsItsOwn) {
  for (const char* command : {"run", "show", "analyze", "compare"}) {
    const Outcome outcome = run_program({"help", command});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, run_program({command, "--help"}).out) << command;
  }
  EXPECT_EQ(run_program({"help"}).out, run_program({"--help"}).out);
  expect_error({"help", "rum"}, kUsage, {"'rum'", "'run'"});
}

TEST(Usage, HelpBreaksNoNameInTwo) {
  for (const char* command : {"run", "sweep"}) {
    const std::string help = run_program({command, "--help"}).out;
    EXPECT_TRUE(std::regex_search(
        help, std::regex("baseline,ndp-uncontrolled-bmap,\n +ndp-controlled-bmap\\)")))
        << help;
  }
}

TEST(Usage, KindsAreNamedWhereOneIsMissing) {
  expect_error({"list"}, kUsage, {"needs a KIND", "workloads, machines, policies"});
  expect_error({"show"}, kUsage, {"KIND NAME"});
  expect_error({"show", "policy"}, kUsage, {"needs a NAME", "baseline, ", "tom"});
  expect_error({"show", "gtx480"}, kUsage, {"did you mean 'nearwarp show machine gtx480'?"});
  expect_error({"show", "tom"}, kUsage, {"'nearwarp show machine tom' or 'nearwarp show policy"});
  expect_error({"show", "polices"}, kUsage, {"'policy'"});
  for (const char* kind : {"policies", "machines", "workloads", "experiments"}) {
    const Outcome outcome = run_program({"show", kind});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, run_program({"list", kind}).out);
  }
}

TEST(Usage, HelpOfRunNamesItsOptions) {
  const std::string help = run_program({"run", "--help"}).out;
  for (const char* option :
       {"--machine", "--policy", "--size", "--set", "--threads", "--backend", "--device", "--json",
        "--checkpoint", "--trace-cache", "--registers"}) {
    EXPECT_TRUE(contains(help, option)) << option;
  }
}

TEST(Usage, LaunchesThatCannotBeAPart) {
  const auto refused = [](const std::string& launches, const Words& parts, const Words& more = {}) {
    Words words{"run", "fdtd", "--policy", "baseline", "--launches", launches};
    words.insert(words.end(), more.begin(), more.end());
    expect_error(words, kUsage, parts);
  };
  refused("3", {"'3' is no range of launches", "I..J"});
  refused("0..2", {"0 is not between 1 and"});
  refused("3..2", {"launch 2 is before launch 3"});
  refused("1..x", {"'x' is not a number"});
  refused("1..2:3:4", {"too many numbers"});
  refused("parallel:2:0", {"0 is not between 1 and"});
  refused("parallel@0", {"0 is not between 1 and 1024"});
  refused("parallel@2@3", {"too many numbers of cores"});
  refused("parallel@2:1:3", {"a number of parts is chosen, and one is given"});
  refused("5..7", {"there is no launch 7", "fdtd has 6"});
  refused("2..3", {"touched first", "cgp-only"},
          {"--machine", "coda", "--policy", "cgp-fta-migrate"});
  expect_error({"run", "fdtd", "--cold-caches"}, kUsage, {"--cold-caches is for --launches"});
  refused("2..3", {"--profile"}, {"--profile"});
  const TemporaryFolder folder;
  refused("1..1", {"--launches does not go with --timeline"}, {"--timeline", folder.file("t")});
  refused("1..1", {"--launches does not go with --follow"}, {"--follow", "fdtd_step1_kernel:0"});
  refused("2..3", {"--max-repeats"}, {"--max-repeats", "1"});
  expect_error({"run", "fdtd+gather", "--policy", "baseline", "--launches", "2..3"}, kUsage,
               {"may run at the same time", "launches 1 to 7"});
}

TEST(Usage, OptionsThatAreGivenAndEmpty) {
  const TemporaryFolder folder;
  for (const std::string option : {"launches", "sample", "follow"})
    expect_error({"run", "vector-add", "--policy", "baseline", "--" + option, ""}, kUsage,
                 {"--" + option + " cannot be ''", "is needed"});
  expect_error({"run", "vector-add", "--cold-caches", "--sample", ""}, kUsage, {"--sample cannot"});
  expect_error({"sweep", "vector-add", "--out", folder.file("s"), "--shard", ""}, kUsage,
               {"--shard cannot be ''", "i/n"});
  for (const std::string option : {"json", "csv", "checkpoint", "trace-cache"})
    expect_error({"run", "vector-add", "--policy", "baseline", "--" + option, ""}, kUsage,
                 {"--" + option + " cannot be ''", "is needed"});
}

TEST(Usage, NamesThatNoFileCanHave) {
  const std::string name(300, 'x');
  expect_error({"run", name}, kUsage, {"unknown workload 'xxx"});
  expect_error({"run", name + ".nwtrace"}, kUsage, {"there is no recording 'xxx"});
  expect_error({"sweep", "vector-add", "--policy", "baseline", "--out", name}, kFailure,
               {"cannot write 'xxx", "choose another file"});
}

TEST(Usage, ASetWithoutAKey) {
  const TemporaryFolder folder;
  expect_error(
      {"sweep", "vector-add", "--out", folder.file("s"), "--set", "sm.warps=16,32", "--set", "foo"},
      kUsage, {"'foo' sets nothing"});
}

TEST(Usage, SamplesThatCannotBe) {
  const auto refused = [](const std::string& sample, const Words& parts, const Words& more = {}) {
    Words words{"run", "fdtd", "--policy", "baseline", "--sample", sample};
    words.insert(words.end(), more.begin(), more.end());
    expect_error(words, kUsage, parts);
  };
  const TemporaryFolder folder;
  refused("two", {"'two' is not a number", "ERROR:K"});
  refused("2%", {"'2%' is not a number"});
  refused("1", {"1 is not between 1.5 and 50"});
  refused("nan", {"nan is not between"});
  refused("2:x", {"'x' is not a number"});
  refused("2:", {"'' is not a number"});
  refused("2::x", {"'x' is not a number"});
  refused("2:1:1:1", {"too many numbers"});
  refused("2", {"two ways of one thing"}, {"--launches", "parallel"});
  refused("2", {"--sample does not go with --checkpoint"}, {"--checkpoint", folder.file("c")});
  refused("2", {"finds launches that repeat"}, {"--max-repeats", "1"});
  refused("2", {"touched first"}, {"--machine", "coda", "--policy", "cgp-fta"});
  const Outcome few = run_program({"run", "fdtd", "--policy", "baseline", "--sample", "2"});
  EXPECT_EQ(few.exit_code, 0);
  EXPECT_TRUE(contains(few.err, "more than half of the work")) << few.err;
  EXPECT_TRUE(contains(few.out, "All launches were simulated in one go")) << few.out;
  std::string words = few.out;
  std::replace(words.begin(), words.end(), '\n', ' ');
  EXPECT_TRUE(contains(words, "a sample within 2 % was given up")) << few.out;
}

TEST(Usage, APartOfAProgramSaysWhatItApproximates) {
  const Outcome learnt = run_program({"run", "fdtd", "--policy", "tom", "--launches", "4..6:2"});
  EXPECT_TRUE(contains(learnt.out, "learnt")) << learnt.out << learnt.err;
  EXPECT_TRUE(contains(learnt.out, "the program's first 2 launches")) << learnt.out;
  // Learning was over before the part, whether or not it was simulated in one run with it.
  const Outcome exact = run_program({"run", "fdtd", "--policy", "tom", "--launches", "4..6:5"});
  EXPECT_TRUE(contains(exact.out, "Launches 4 to 6 of 6: exact.")) << exact.out;
  for (const Outcome& run : {learnt, exact})
    EXPECT_FALSE(contains(run.out, "learning phase")) << run.out;
  const auto said = [](const std::string& launches, const Words& more = {}) {
    Words words{"run", "fdtd", "--policy", "baseline", "--launches", launches};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words).out;
  };
  const std::string cold = said("5..5:1");
  EXPECT_TRUE(contains(cold, "Launches 5 to 5 of 6, approximated")) << cold;
  EXPECT_TRUE(contains(cold, "caches filled from traces of 3 launches before")) << cold;
  EXPECT_TRUE(contains(said("5..5:1", {"--cold-caches"}), "began 1 launch earlier cold"));
  EXPECT_TRUE(contains(said("2..3"), "Launches 2 to 3 of 6: exact."));
  EXPECT_TRUE(contains(said("parallel:1:3"), "6 launches in 3 parts side by side"));
  EXPECT_TRUE(contains(said("parallel@2:0"), "6 launches in 2 parts side by side"));
  EXPECT_TRUE(contains(said("parallel@6:0"), "6 launches in 6 parts side by side"));
}

TEST(Usage, Version) {
  const Outcome outcome = run_program({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(
      std::regex_match(outcome.out, std::regex("nearwarp " NW_EXPECTED_VERSION "[+][0-9a-f]{8}\n")))
      << outcome.out;
}

TEST(Usage, AFileInAWrongPlaceIsToldWhereItGoes) {
  expect_error({"run", "/bin/true"}, kUsage, {"'nearwarp run -- /bin/true ARG...'"});
  expect_error({"run", "/bin/true", "1", "2"}, kUsage, {"'nearwarp run -- /bin/true ARG...'"});
  expect_error({"check", "/bin/true"}, kUsage, {"'nearwarp check -- /bin/true ARG...'"});
  expect_error({"sweep", "/bin/true", "--out", "x"}, kUsage, {"nearwarp record -- /bin/true"});
  expect_error({"analyze", "/bin/true"}, kUsage, {"nearwarp record -- /bin/true"});
  expect_error({"record", "/bin/true"}, kUsage, {"nearwarp record -- /bin/true"});
  expect_error({"record", "vector-add"}, kUsage, {"for applications", "nearwarp run vector-add"});
  const std::string ptx = NW_SOURCE_DIR "/bench/workloads/fma/fma.ptx";
  expect_error({"run", ptx}, kUsage, {"'nearwarp analyze " + ptx + "'"});
  expect_error({"run", "/etc/passwd"}, kUsage, {"does not take"});
}

TEST(Usage, MistakesOfUseExitWithTwo) {
  expect_error({}, kUsage, {"--help"});
  expect_error({"rum", "libor"}, kUsage, {"'rum'", "'run'"});
  expect_error({"run"}, kUsage, {"WORKLOAD"});
  expect_error({"run", "libor", "kmeans"}, kUsage, {"kmeans"});
  expect_error({"run", "libor", "--jsn", "x"}, kUsage, {"--jsn", "'--json'"});
  expect_error({"run", "libor", "--json"}, kUsage, {"json"});
  expect_error({"run", "libor", "--size", "huge"}, kUsage, {"huge", "small, medium, large, paper"});
  expect_error({"run", "libor", "--threads", "0"}, kUsage, {"--threads"});
  expect_error({"run", "libor", "--threads", "two"}, kUsage, {"--threads", "two"});
  expect_error({"run", "libor", "--policy", ","}, kUsage, {"--policy"});
  expect_error({"run", "libor", "--registers", "own"}, kUsage, {"--registers", "-- ./app"});
  expect_error({"run", "--registers", "all", "--", "/bin/true"}, kUsage,
               {"--registers all", "'auto', 'own', 'ptxas'"});
  expect_error({"list", "machine"}, kUsage, {"machines"});
  expect_error({"show", "machines", "tom"}, kUsage, {"machine"});
  expect_error({"show", "machine"}, kUsage, {"NAME"});
}

TEST(Usage, ProgramsAreBoundToStacksThatThereAre) {
  expect_error({"run", "row-sum@x", "--machine", "coda"}, kUsage, {"'row-sum@x'", "kmeans@1-3"});
  expect_error({"run", "row-sum@2-1", "--machine", "coda"}, kUsage, {"'row-sum@2-1'"});
  expect_error({"run", "row-smu@0", "--machine", "coda"}, kUsage, {"'row-smu'", "'row-sum'"});
  for (const char* command : {"run", "sweep"}) {
    const TemporaryFolder folder;
    Words words = {command, "kmeans@0+row-sum@2-4", "--machine", "coda"};
    if (std::string(command) == "sweep") words.insert(words.end(), {"--out", folder.file("x")});
    expect_error(words, kUsage, {"row-sum@2-4", "no stack 4", "0 to 3"});
    words[3] = "tom";
    expect_error(words, kUsage, {"kmeans@0", "machine 'tom' runs kernels elsewhere", "'coda'"});
  }
}

TEST(Usage, UnknownNamesGetTheNearest) {
  expect_error({"run", "libro"}, kUsage, {"'libro'", "'libor'"});
  expect_error({"run", "bfs"}, kUsage, {"'bfs-rmat' or 'bfs-uniform' or 'bfs-original'?"});
  expect_error({"run", "xyzzy"}, kUsage, {"'xyzzy'", "'nearwarp list workloads'"});
  expect_error({"analyze", "bsf-rmat"}, kUsage, {"'bfs-rmat'?", ".ptx"});
  expect_error({"analyze", "xyzzy", "--sharing"}, kUsage, {"'nearwarp list workloads'"});
  expect_error({"analyze", "kmeans", "--objects", "--sharing"}, kUsage, {"one at a time"});
  expect_error({"analyze", "kmeans", "--objects", "--policy", "cgp-only"}, kUsage,
               {"'cgp-only' places no objects", "coda"});
  expect_error({"analyze", "kmeans", "--objects", "--kernel", "x"}, kUsage, {"--kernel"});
  expect_error({"run", "libor", "--machine", "ton"}, kUsage, {"ton", "tom"});
  expect_error({"run", "libor", "--policy", "baseline,ndp-controled-bmap"}, kUsage,
               {"ndp-controled-bmap", "'ndp-controlled-bmap'"});
  expect_error({"analyze", "kmean"}, kUsage, {"'kmeans'"});
  expect_error({"show", "policy", "base-line"}, kUsage, {"'baseline'"});
}

TEST(Usage, NetworksThatCannotBe) {
  expect_error({"noc", "mesh"}, kUsage, {"mesh"});
  expect_error({"noc", "--topology", "mash"}, kUsage, {"'mash'", "'mesh'"});
  expect_error({"noc", "--traffic", "many-to-one"}, kUsage, {"'many-to-few'"});
  expect_error({"noc", "--routing", "zigzag"}, kUsage, {"xy, yx"});
  expect_error({"noc", "--size", "8by8"}, kUsage, {"8by8", "8x8"});
  expect_error({"noc", "--size", "100x100"}, kUsage, {"10000", "4096"});
  expect_error({"noc", "--vcs", "33"}, kUsage, {"--vcs 33", "32"});
  expect_error({"noc", "--vcs", "8", "--vnets", "3"}, kUsage, {"--vnets 3"});
  expect_error({"noc", "--rate", "1.5"}, kUsage, {"--rate", "1.5"});
  expect_error({"noc", "--rate", "0.1:0.4"}, kUsage, {"FROM:TO:STEP"});
  expect_error({"noc", "--rate", "0"}, kUsage, {"--rate"});
  expect_error({"noc", "--traffic", "hotspot", "--hot-nodes", "64"}, kUsage, {"64", "0 to 63"});
  expect_error({"noc", "--hot-nodes", "3"}, kUsage, {"hotspot"});
  expect_error({"noc", "--rate", "0.1", "--json", "/nowhere/x.json"}, kFailure, {"/nowhere"});
}

TEST(Usage, WrongKeysAndValues) {
  expect_error({"run", "libor", "--set", "links.gpu_to_memory_mbp=1"}, kUsage,
               {"links.gpu_to_memory_mbp", "'links.gpu_to_memory_mbps'"});
  expect_error({"run", "libor", "--set", "sm.warps"}, kUsage, {"sm.warps"});
  expect_error({"run", "libor", "--set", "sm.warps=0"}, kUsage, {"sm.warps", "0"});
  expect_error({"run", "libor", "--set", "sm.warps=4000000000"}, kUsage, {"sm.warps"});
  expect_error({"show", "machine", "tom", "--set", "sm.warps=many"}, kUsage, {"sm.warps"});
  expect_error({"run", "libor", "--set", "energy.model=tom-40mn"}, kUsage, {"'tom-40nm'"});
  expect_error({"run", "libor", "--set", "energy.links.idle_fj_per_bit=-1"}, kUsage,
               {"energy.links.idle_fj_per_bit", "-1"});
  expect_error({"run", "libor", "--set", "energy.link.idle_fj_per_bit=1"}, kUsage,
               {"'energy.links.idle_fj_per_bit'"});
  expect_error({"show", "machine", "tom", "--set", "energy.l2.read_fj=1"}, kUsage,
               {"it is one of the energy file, tom-40nm, and set there"});
}

TEST(Usage, MissingAndBrokenFiles) {
  const TemporaryFolder folder;
  expect_error({"analyze", folder.file("none.ptx")}, kFailure, {"none.ptx"});
  expect_error({"run", "libor", "--machine", folder.file("none.toml")}, kFailure, {"none.toml"});
  expect_error({"run", "libor", "--json", folder.file("none/x.json")}, kFailure, {"none"});

  const std::string ptx = folder.file("cut.ptx");
  write_text(ptx,
             ".version 8.0\n.target sm_75\n.address_size 64\n"
             ".visible .entry f(.param .u64 p) {\n  .reg .b32 %r<3>;\n  add.s32 %r1, %r2,");
  expect_error({"analyze", ptx}, kFailure, {"cut.ptx:6"});

  const std::string machine = folder.file("wrong.toml");
  write_text(machine, "[machine]\ndescription = \"x\"\n[sm]\nwarp = 48\n");
  expect_error({"show", "machine", machine}, kFailure, {"wrong.toml:4", "'sm.warps'"});
}

TEST(Usage, ListsEverything) {
  const Outcome workloads = run_program({"list", "workloads"});
  EXPECT_EQ(workloads.exit_code, 0);
  for (const char* name :
       {"libor", "kmeans", "bfs-rmat", "bfs-uniform", "reduction", "vector-add", "fma", "gather"}) {
    EXPECT_TRUE(contains(workloads.out, name)) << name;
  }
  EXPECT_TRUE(contains(run_program({"list", "machines"}).out, "tom"));
  const std::string policies = run_program({"list", "policies"}).out;
  for (const char* name : {"baseline", "ndp-uncontrolled-bmap", "ndp-controlled-bmap"}) {
    EXPECT_TRUE(contains(policies, name)) << name;
  }
  const std::string energy = run_program({"list", "energy"}).out;
  for (const char* name : {"tom-40nm", "mpu-20nm"}) EXPECT_TRUE(contains(energy, name)) << name;
  for (const char* what : {"workloads", "machines", "policies", "energy"}) {
    EXPECT_LE(longest_line(run_program({"list", what}).out), 80u) << what;
  }
}

TEST(Usage, WhatShowPrintsCanBeLoaded) {
  const TemporaryFolder folder;
  const Outcome machine = run_program({"show", "machine", "tom", "--set", "sm.threads=1024"});
  ASSERT_EQ(machine.exit_code, 0) << machine.err;
  EXPECT_TRUE(contains(machine.out, "\nthreads = 1024 "));
  // Values stand on lines of their own, however long; comments are wrapped.
  std::istringstream lines(machine.out.substr(machine.out.find("\n[")));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) continue;
    EXPECT_LE(line.size(), 80u) << line;
  }
  write_text(folder.file("mine.toml"), machine.out);
  const Outcome again = run_program({"show", "machine", folder.file("mine.toml")});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  // All but the first comment, which says where the values come from.
  EXPECT_EQ(again.out.substr(again.out.find("\n[")), machine.out.substr(machine.out.find("\n[")));

  const Outcome policy = run_program({"show", "policy", "ndp-controlled-bmap"});
  ASSERT_EQ(policy.exit_code, 0) << policy.err;
  EXPECT_TRUE(contains(policy.out, "mechanism = \"tom\"\n"));

  const Outcome energy =
      run_program({"show", "energy", "tom-40nm", "--set", "energy.links.idle_fj_per_bit=7"});
  ASSERT_EQ(energy.exit_code, 0) << energy.err;
  EXPECT_TRUE(contains(energy.out, "[energy.links]\n"));
  EXPECT_TRUE(contains(energy.out, "\nidle_fj_per_bit = 7 "));
  write_text(folder.file("mine-40nm.toml"), energy.out);
  const Outcome loaded = run_program({"show", "energy", folder.file("mine-40nm.toml")});
  ASSERT_EQ(loaded.exit_code, 0) << loaded.err;
  EXPECT_EQ(loaded.out.substr(loaded.out.find("\n[")), energy.out.substr(energy.out.find("\n[")));
}

/// A user wants to change a machine and keep where its numbers come from.
TEST(Usage, ShowKeepsTheSourcesAndMarksWhatIsSet) {
  const Outcome shown = run_program({"show", "machine", "tom", "--set", "sm.warps=32", "--set",
                                     "sm.threads = 1024", "--set", "sm.warps=24"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto has = [&](const std::string& part) {
    EXPECT_TRUE(contains(shown.out, part)) << part << "\n" << shown.out;
  };
  has("# The machine of the TOM paper");  // what is said of the whole file
  has("core_mhz = 1400                        # TOM, Table 1\n");
  has("warps = 24                             # set, the file has 48: TOM, Table 1\n");
  has("threads = 1024                         # set, the file has 1536: 48 ");
  has("# [sm.classes]: SM2_GTX480 throughout\n[sm.classes.int_add]\n");
  has("\nshape = \"stacked\"                      # default\n");
  has("# Main SMs under policies without stack SMs. (SMs: 1 to 4096)\n");  // the meanings

  const TemporaryFolder folder;
  const std::string file = folder.file("mine.toml");
  write_text(file, shown.out);
  const std::string again = run_program({"show", "machine", file}).out;
  EXPECT_EQ(again.substr(again.find("\n[")), shown.out.substr(shown.out.find("\n[")));
  // The whole's comments come after where it was read from.
  EXPECT_LT(again.find(file), again.find("# machine tom, from ")) << again.substr(0, 500);
}

TEST(Usage, WhatShowPrintsOfAnyFileCanBeLoadedAndIsTheSame) {
  const TemporaryFolder folder;
  const std::pair<const char*, Words> all[] = {
      {"machine", {"bench80", "coda", "gtx480", "mpu", "qv100", "v100", "h100"}},
      {"policy", {"tom", "tuned"}},
      {"energy", {"v100-12nm"}},
      {"area", {"mpu-20nm"}}};
  for (const auto& [kind, names] : all)
    for (const std::string& name : names) {
      const Outcome shown = run_program({"show", kind, name});
      ASSERT_EQ(shown.exit_code, 0) << shown.err;
      const std::string file = folder.file(name + ".toml");
      write_text(file, shown.out);
      const Outcome again = run_program({"show", kind, file});
      ASSERT_EQ(again.exit_code, 0) << again.err;
      EXPECT_EQ(again.out.substr(again.out.find("\n[")), shown.out.substr(shown.out.find("\n[")));
    }
}

/// Paths in a file do not begin in the working directory.
TEST(Usage, PathsInAFileBeginInItsFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "study");
  std::string energy = run_program({"show", "energy", "tom-40nm"}).out;
  std::string machine = run_program({"show", "machine", "tom"}).out;
  const std::string model = "model = \"tom-40nm\"";
  ASSERT_TRUE(contains(machine, model)) << machine;
  machine.replace(machine.find(model), model.size(), "model = \"./mine-40nm.toml\"");
  write_text(folder.file("study/mine-40nm.toml"), energy);
  write_text(folder.file("study/mine.toml"), machine);
  const std::string file = folder.file("study/mine.toml");
  const Outcome run = run_program({"run", "vector-add", "--policy", "baseline", "--machine", file});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  // A machine that is shown may be put anywhere: its paths are whole.
  const Outcome shown = run_program({"show", "machine", file});
  EXPECT_TRUE(contains(shown.out, "model = \"" + folder.file("study/mine-40nm.toml") + "\""))
      << shown.out;
  // On the command line they begin in the working directory.
  expect_error({"run", "vector-add", "--machine", file, "--set", "energy.model=./mine-40nm.toml"},
               kUsage, {"no energy model file './mine-40nm.toml'"});
  write_text(folder.file("study/e.toml"),
             "title = \"T\"\ndescription = \"D\"\nsize = \"small\"\n[study.s]\n"
             "workloads = [\"vector-add\"]\nmachines = [\"./mine.toml\"]\n"
             "policies = [\"baseline\"]\nset = [\"energy.model=tom-40nm,./mine-40nm.toml\"]\n");
  const Outcome experiment = run_program(
      {"experiment", folder.file("study/e.toml"), "--no-run", "--out", folder.file("study")});
  EXPECT_EQ(experiment.exit_code, 0) << experiment.err;
}

TEST(Usage, AnalyzePrintsCandidatesOfEveryWorkload) {
  for (const char* name : {"libor", "kmeans", "bfs-rmat", "reduction"}) {
    const Outcome outcome = run_program({"analyze", name});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, ".cu:")) << name;
  }
}

TEST(Usage, WhatAnalysesPrintFitsATerminal) {
  for (const char* name : {"libor", "kmeans", "bfs-rmat", "cfd", "heartwall", "conv"})
    for (const Words& analysis :
         {Words{}, Words{"--strides"}, Words{"--chains"}, Words{"--locations"}}) {
      const Outcome outcome = run_program(Words{"analyze", name} + analysis);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_LE(longest_line(outcome.out), 80u) << name << "\n" << outcome.out;
    }
}

TEST(Usage, TablesFitANarrowTerminal) {
  setenv("COLUMNS", "60", 1);
  for (const Words& words :
       {Words{"list", "machines"}, Words{"run", "--help"}, Words{"analyze", "libor"},
        Words{"run", "vector-add", "--policy", "baseline,tom", "--legend"},
        Words{"noc", "--size", "4x4", "--rate", "0.1", "--links", "3"},
        Words{"dram", "--traffic", "random", "--rate", "0.1,0.3"}}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_LE(longest_line(outcome.out), 60u) << outcome.out;
  }
  unsetenv("COLUMNS");
}

TEST(Usage, AnalyzeTakesFiles) {
  const Outcome outcome = run_program(
      {"analyze", std::string(NW_SOURCE_DIR) + "/tests/mechanisms/tom/data/figure4.ptx"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "+110.25") || contains(outcome.out, "-39")) << outcome.out;
}

TEST(Usage, FullDiskAndClosedPipe) {
  Setting full;
  full.stdout_path = "/dev/full";
  const Outcome outcome = run_program({"list", "workloads"}, full);
  EXPECT_EQ(outcome.exit_code, kFailure);
  EXPECT_TRUE(contains(outcome.err, "standard output")) << outcome.err;

  Setting closed;
  closed.stdout_closed = true;
  const Outcome piped = run_program({"list", "workloads"}, closed);
  EXPECT_EQ(piped.err, "");  // like any other program whose reader has had enough
  EXPECT_NE(piped.exit_code, 0);
}

}  // namespace
}  // namespace nearwarp::testing
