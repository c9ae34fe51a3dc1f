// Does the public interface give the command line's results, wherever a run is stopped?
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <thread>

#include "host/api/nearwarp.h"
#include "tests/api/results.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

/// The first run of a document that the command line has written.
Json of_command_line(const Words& arguments, const Words& application = {}) {
  const TemporaryFolder folder;
  const std::string file = folder.file("r.json");
  const Outcome ran = run_program(arguments + Words{"--json", file} + application);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  return Json::parse(read_text(file)).at("runs").at(0);
}

struct Case {
  const char *workload, *machine, *policy;
};
constexpr Case kRuns[] = {{"vector-add", "tom", "baseline"},
                          {"kmeans", "tom", "tom"},
                          {"kmeans", "coda", "coda"},
                          {"vector-add", "gtx480", "baseline"},
                          {"axpy", "mpu", "mpu"},
                          {"vector-add", "opportunistic", "llc-compute"}};

TEST(Api, ResultsAreTheCommandLines) {
  for (const Case& r : kRuns) {
    Simulation run = begin(r.workload, r.machine, r.policy);
    ASSERT_TRUE(run.run()) << r.workload << " on " << r.machine;
    EXPECT_TRUE(run.ended());
    EXPECT_EQ(
        lasting(run.result()),
        lasting(of_command_line({"run", r.workload, "--machine", r.machine, "--policy", r.policy})))
        << r.workload << " on " << r.machine;
  }
}

/// An application of the driver's API, which needs no compiler: python3 squares.py.
std::vector<std::string> squares() {
  return {"python3", NW_SOURCE_DIR "/bench/samples/squares.py"};
}

Json run_of(const Program& program, const std::string& machine, const std::string& policy) {
  Simulation run = std::move(
      Simulation::begin(program, Machine::load(machine).value(), Policy::load(policy).value())
          .value());
  EXPECT_TRUE(run.run());
  return lasting(run.result());
}

TEST(Api, ApplicationsAreTheCommandLines) {
  const TemporaryFolder folder;
  std::vector<std::string> told;
  ApplicationOptions options;
  options.output = folder.file("printed.txt");
  options.tell = [&](const std::string& message) { told.push_back(message); };
  const Expected<Program> program = Program::application(squares(), options);
  ASSERT_TRUE(program) << program.failure().message;
  EXPECT_EQ(told, Words{});
  EXPECT_TRUE(contains(read_text(options.output), "squares of 65536 numbers: right"));
  EXPECT_FALSE(program->truncated());
  for (const char* policy : {"baseline", "tom"})
    EXPECT_EQ(run_of(*program, "tom", policy),
              lasting(of_command_line({"run", "--policy", policy}, Words{"--"} + squares())));
}

TEST(Api, ApplicationsThatCannotBeRunAreFailures) {
  ApplicationOptions options;
  EXPECT_EQ(Program::application(Words{"/no/such/app"}, options).failure().what,
            "there is no application '/no/such/app'");
  EXPECT_TRUE(contains(Program::application(Words{"true"}, options).failure().message,
                       "did not use the simulated GPU"));
  EXPECT_TRUE(contains(Program::application({}, options).failure().message, "no application"));
  options.kernels = "(";
  EXPECT_TRUE(contains(Program::application(squares(), options).failure().right, "regular"));
  options.kernels = "no_such_kernel";
  options.output = "/dev/null";
  EXPECT_TRUE(contains(Program::application(squares(), options).failure().message,
                       "no kernel that was launched has a name"));
  options.kernels.clear();
  options.registers = "mine";
  EXPECT_FALSE(Program::application(squares(), options));
  // One that would run for ever is ended.
  options = {};
  options.go_on = [] { return false; };
  EXPECT_FALSE(Program::application(Words{"sleep", "1000"}, options));
}

TEST(Api, ApplicationsAndRunsBesideOneAnother) {
  Simulation alone = begin("kmeans", "tom", "tom");
  ASSERT_TRUE(alone.run());
  const Json expected =
      run_of(Program::application(squares(), {.output = "/dev/null"}).value(), "tom", "tom");
  Simulation beside = begin("kmeans", "tom", "tom");
  std::thread other([&] { EXPECT_TRUE(beside.run()); });
  const Json found =
      run_of(Program::application(squares(), {.output = "/dev/null"}).value(), "tom", "tom");
  other.join();
  EXPECT_EQ(found, expected);
  EXPECT_EQ(lasting(beside.result()), lasting(alone.result()));
}

TEST(Api, TracesAreTheCommandLines) {
  const std::string list = NW_SOURCE_DIR "/bench/samples/trace/kernelslist.g";
  const Expected<Program> program = Program::recording(list);
  ASSERT_TRUE(program) << program.failure().message;
  EXPECT_EQ(run_of(*program, "tom", "baseline"),
            lasting(of_command_line({"run", list, "--policy", "baseline"})));
  EXPECT_TRUE(contains(Program::recording("no-such.nwtrace").failure().message, "no-such"));
}

TEST(Api, WhereARunIsStoppedChangesNothing) {
  for (const Case& r : kRuns) {
    Simulation whole = begin(r.workload, r.machine, r.policy);
    ASSERT_TRUE(whole.run());
    Simulation stopped = begin(r.workload, r.machine, r.policy);
    const uint64_t cycles = whole.cycles();
    uint64_t committed = 0;
    for (const uint64_t at : {uint64_t{1}, cycles / 7, cycles / 7, cycles / 2 + 1, cycles - 1}) {
      ASSERT_TRUE(stopped.run_to_cycle(at));
      EXPECT_FALSE(stopped.ended());
      EXPECT_EQ(stopped.cycles(), at);
      const Result now = stopped.result();
      EXPECT_TRUE(now.partial);
      EXPECT_EQ(now.cycles, at);
      EXPECT_GE(now.warp_instructions, committed);
      committed = now.warp_instructions;
    }
    EXPECT_GT(committed, 0u);
    ASSERT_TRUE(stopped.run());
    EXPECT_EQ(lasting(stopped.result()), lasting(whole.result()))
        << r.workload << " on " << r.machine;
  }
}

TEST(Api, ARunStopsAfterALaunch) {
  Simulation whole = begin("kmeans", "tom", "baseline");
  ASSERT_TRUE(whole.run());
  const Result all = whole.result();
  Simulation run = begin("kmeans", "tom", "baseline");
  for (const size_t launches : {size_t{1}, size_t{3}, all.launches.size() - 1}) {
    ASSERT_TRUE(run.run_to_launch(launches));
    EXPECT_EQ(run.launches_ended(), launches);
    const LaunchResult& last = all.launches[launches - 1];
    EXPECT_GE(run.cycles(), last.begin_cycle + last.cycles);
    EXPECT_LT(run.cycles(), last.begin_cycle + last.cycles + 1000);
  }
  ASSERT_TRUE(run.run());
  EXPECT_EQ(lasting(run.result()), lasting(all));
}

TEST(Api, NoCycleIsBehindTheProgramsEnd) {
  for (const Case& r : kRuns) {
    Simulation whole = begin(r.workload, r.machine, r.policy);
    ASSERT_TRUE(whole.run());
    const uint64_t end = whole.cycles();
    Simulation run = begin(r.workload, r.machine, r.policy);
    for (const uint64_t at : {end - 5, end, end + 1}) {
      ASSERT_TRUE(run.run_to_cycle(at));
      EXPECT_EQ(run.cycles(), std::min(at, end)) << r.workload << " on " << r.machine;
      EXPECT_EQ(run.result().cycles, run.cycles()) << r.workload << " on " << r.machine;
    }
    EXPECT_TRUE(run.ended()) << r.workload << " on " << r.machine;
    ASSERT_TRUE(run.run());
    EXPECT_EQ(run.cycles(), end);
    EXPECT_EQ(lasting(run.result()), lasting(whole.result()));
    Simulation last = begin(r.workload, r.machine, r.policy);
    ASSERT_TRUE(last.run_to_launch(whole.result().launches.size()));
    EXPECT_TRUE(last.ended()) << "all launches have ended";
    EXPECT_EQ(last.cycles(), end);
  }
}

TEST(Api, ProgressIsNeverBehindTheProgramsEnd) {
  const uint64_t end = [] {
    Simulation whole = begin("vector-add", "tom", "tom");
    EXPECT_TRUE(whole.run());
    return whole.cycles();
  }();
  Simulation run = begin("vector-add", "tom", "tom", {.progress = [&](const Progress& p) {
                           EXPECT_LE(p.cycles, end);
                           return true;
                         }});
  uint64_t before = 0;
  for (uint64_t at = end - 3; !run.ended(); ++at) {
    ASSERT_TRUE(run.run_to_cycle(at));
    EXPECT_GE(run.cycles(), before);
    before = run.cycles();
    ASSERT_LT(at, end + 3);
  }
}

TEST(Api, ARunGoesOnFromItsFile) {
  const TemporaryFolder folder;
  const std::string file = folder.file("state");
  Simulation whole = begin("kmeans", "tom", "tom");
  ASSERT_TRUE(whole.run());
  {
    Simulation first = begin("kmeans", "tom", "tom", {.checkpoint = file});
    ASSERT_TRUE(first.run_to_cycle(whole.cycles() / 3));
    ASSERT_TRUE(first.save());
  }
  Simulation second = begin("kmeans", "tom", "tom", {.threads = 2, .checkpoint = file});
  EXPECT_GE(second.cycles(), whole.cycles() / 3 - 1);
  ASSERT_TRUE(second.run());
  EXPECT_EQ(lasting(second.result()), lasting(whole.result()));
  EXPECT_FALSE(begin("kmeans", "tom", "tom").save());
}

TEST(Api, ProgressMayStopARun) {
  int asked = 0;
  Simulation run =
      begin("kmeans", "opportunistic", "baseline", {.progress = [&](const Progress& p) {
              EXPECT_GT(p.cycles, 0u);
              return ++asked > 1;
            }});
  ASSERT_TRUE(run.run());
  EXPECT_FALSE(run.ended());
  EXPECT_TRUE(run.result().partial);
  ASSERT_TRUE(run.run());
  EXPECT_TRUE(run.ended());
}

TEST(Api, WhatProgressThrowsStopsARunThatCanBeGoneOnWith) {
  Simulation whole = begin("kmeans", "tom", "tom");
  ASSERT_TRUE(whole.run());
  int asked = 0;
  Simulation run = begin("kmeans", "tom", "tom", {.progress = [&](const Progress&) -> bool {
                           if (++asked == 1) throw std::runtime_error("my disk is full");
                           if (asked == 2) throw 2;
                           return true;
                         }});
  const Expected<Done> first = run.run(), second = run.run();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.failure().kind, Failure::Kind::kStopped);
  EXPECT_EQ(first.failure().message, "a function of the caller's threw: my disk is full");
  ASSERT_FALSE(second);
  EXPECT_TRUE(contains(second.failure().message, "no std::exception"));
  EXPECT_FALSE(run.ended());
  ASSERT_TRUE(run.run());
  EXPECT_EQ(lasting(run.result()), lasting(whole.result()));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Api, ThreadsThatTheHostHasNotAreAFailure) {
  // In a process of its own, which has room for the stacks of a few threads.
  const auto begin_with_many = [] {
    const Program add = program("vector-add");
    const Machine tom = Machine::load("tom").value();
    const Policy baseline = Policy::load("baseline").value();
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t room = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (256u << 20);
    const rlimit limit = {room, room};
    if (setrlimit(RLIMIT_AS, &limit) != 0) std::exit(3);
    const auto many = Simulation::begin(add, tom, baseline, {.threads = 200});
    std::cerr << (many ? "begun" : many.failure().message) << std::flush;
    std::exit(0);
  };
  EXPECT_EXIT(begin_with_many(), ::testing::ExitedWithCode(0),
              "cannot start 200 threads: .* - use fewer");
}
#endif

TEST(Api, TablesAndDocumentsAreOfOneMachine) {
  const Machine tom = Machine::load("tom").value(), coda = Machine::load("coda").value();
  const auto result = [](const std::string& workload, const Machine& machine) {
    Simulation run =
        Simulation::begin(program(workload), machine, Policy::load("baseline").value()).value();
    EXPECT_TRUE(run.run());
    return run.result();
  };
  const Result add = result("vector-add", tom), kmeans = result("kmeans", tom),
               on_coda = result("vector-add", coda),
               of_few = result("vector-add", tom.with({"gpu.sms=32"}).value());
  const auto refused = [](const Expected<std::string>& made, const std::string& why) {
    ASSERT_FALSE(made) << why;
    EXPECT_EQ(made.failure().kind, Failure::Kind::kUsage);
    EXPECT_TRUE(contains(made.failure().message, why)) << made.failure().message;
  };
  refused(document(std::vector{add}, coda), "on 'tom'");
  refused(document(std::vector{add, on_coda}, tom), "on 'coda'");
  refused(document(std::vector{of_few}, tom), "of that name with other keys");
  refused(table(std::vector{add, on_coda}), "on 'coda'");
  refused(table(std::vector{add, of_few}), "with other keys");
  refused(table(std::vector{add, kmeans}), "'vector-add, size small' and 'kmeans, size small'");
  // A machine of the same keys is the same.
  EXPECT_TRUE(document(std::vector{add, kmeans}, Machine::load("tom").value()));
  EXPECT_TRUE(table(std::vector{add, result("vector-add", Machine::load("tom").value())}));
}

TEST(Api, CountersHaveNames) {
  Simulation run = begin("vector-add", "tom", "baseline");
  ASSERT_TRUE(run.run());
  const Result result = run.result();
  ASSERT_FALSE(result.counters.empty());
  for (const Counter& c : result.counters) EXPECT_EQ(run.counter(c.name).value(), c.value);
  const Expected<uint64_t> wrong = run.counter("sm.l1.read_hit");
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(contains(wrong.failure().message, "sm.l1.read_hits")) << wrong.failure().message;
  // A part of names is answered with some that have it, and not with hundreds.
  const Failure part = run.counter("sm.l1").failure(), none = run.counter("zebra").failure();
  EXPECT_TRUE(contains(part.right, "sm.l1.read_hits")) << part.message;
  EXPECT_LT(part.message.size(), 200u) << part.message;
  EXPECT_EQ(none.message, "there is no counter 'zebra' - the result lists all that there are");
}

TEST(Api, FailuresSayWhereAndWhatWouldBeRight) {
  const auto unknown = Machine::load("tmo");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.failure().what, "unknown machine 'tmo'");
  EXPECT_EQ(unknown.failure().right, "did you mean 'tom'?");
  EXPECT_THROW(static_cast<void>(unknown.value()), std::logic_error);
  const Words wrong_key = {"links.gpu_to_memory_mbp=1"}, wrong_value = {"gpu.sms=0"},
              of_policy = {"policy.mechanism=none"};
  EXPECT_FALSE(Machine::load("tom", wrong_key));
  EXPECT_FALSE(Machine::load("tom", wrong_value));
  EXPECT_TRUE(contains(Machine::load("tom", of_policy).failure().message, "set it in the policy"));
  const auto text = Machine::parse("[gpu]\nsms = 4\nsmss = 5\n", "mine");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.failure().file, "mine");
  EXPECT_EQ(text.failure().line, 3u);
  EXPECT_FALSE(Program::workload("kmean"));
  EXPECT_FALSE(Program::workload("kmeans", "tiny"));
  EXPECT_FALSE(Program::recording("/nowhere.nwtrace"));
  // A machine that cannot be laid out under its policy.
  EXPECT_FALSE(Simulation::begin(program("vector-add"), Machine::load("gtx480").value(),
                                 Policy::load("tom").value()));
}

/// Names with what looks like the marks between a message's parts.
constexpr const char* kOddFolders[] = {"a - b", "x (a:3)", "my (old) - v2 (b:7) - c"};

TEST(Api, PlacesOfFailuresAreTrueWhateverFoldersAreCalled) {
  const TemporaryFolder folder;
  for (const char* odd : kOddFolders) {
    const std::filesystem::path in = folder.file(odd);
    std::filesystem::create_directories(in);
    const auto failure = [&](const std::string& text) {
      const std::string file = in / "m.toml";
      write_text(file, text);
      const Failure f = Machine::load(file).failure();
      EXPECT_EQ(f.file, file) << f.message;
      EXPECT_EQ(f.message, f.what + " - " + f.right);
      return f;
    };
    const Failure key = failure("[gpu]\n\nsmss = 3\n");
    EXPECT_EQ(key.line, 3u);
    EXPECT_EQ(key.right, "did you mean 'gpu.sms'?");
    EXPECT_EQ(failure("[gpu]\nsms = -1\n").line, 2u);
    EXPECT_EQ(failure("[gpu]\nsms = 'a - b (c:4)'\n").line, 2u);
    const Failure toml = failure("[machine]\n[gpu]\n\nsms =\n");
    EXPECT_GE(toml.line, 4u);
    EXPECT_EQ(toml.right, "see https://toml.io");
    EXPECT_TRUE(contains(failure("[gpu]\nsms = 4\n").right, " allowed: ")) << "a key is missing";
    const std::string none = (in / "none.toml").string();
    const Failure missing = Machine::load(none).failure();
    EXPECT_EQ(missing.file, none);
    EXPECT_TRUE(missing.right.starts_with("give a .toml file")) << missing.right;
  }
  // An argument is in no file, whatever it says.
  const Failure change = Machine::load("tom", {"gpu.sms=3 - 4 (x:7)"}).failure();
  EXPECT_EQ(change.kind, Failure::Kind::kUsage);
  EXPECT_EQ(change.file, "");
  EXPECT_TRUE(change.right.starts_with("allowed: ")) << change.right;
}

TEST(Api, FailuresOfFilesNameThem) {
  const TemporaryFolder folder;
  const std::string state = folder.file("a - b"), nowhere = folder.file("none (a:3)/state");
  write_text(state, "no state");
  const auto begun = [&](const std::string& checkpoint) {
    return Simulation::begin(program("vector-add"), Machine::load("tom").value(),
                             Policy::load("baseline").value(), {.checkpoint = checkpoint});
  };
  const Failure damaged = begun(state).failure();
  EXPECT_EQ(damaged.file, state) << damaged.message;
  EXPECT_EQ(damaged.right, "delete it to begin anew");
  const Failure unwritten = begun(nowhere)->save().failure();
  EXPECT_EQ(unwritten.file, nowhere) << unwritten.message;
  EXPECT_EQ(unwritten.right, "make the folder first");
  const Failure recording = program("vector-add").save(nowhere).failure();
  EXPECT_EQ(recording.file, nowhere) << recording.message;
  // A line of a sweep's results that is none.
  const Sweep sweep =
      Sweep::plan({.programs = {"vector-add"}, .machines = {"tom"}, .policies = {"baseline"}})
          .value();
  const std::string lines = folder.file("x (b:1) - points.jsonl");
  write_text(lines, "{}\njunk\n");
  const Failure line = sweep.run({.out = lines}).failure();
  EXPECT_EQ(line.file, lines) << line.message;
  EXPECT_EQ(line.line, 1u);
  EXPECT_EQ(line.right, "mend or remove it");
  const Point point = {program("vector-add"), Machine::load("tom").value(),
                       Policy::load("baseline").value()};
  BatchOptions options;
  options.timeline = TimelineOptions{.path = nowhere};
  const Failure timeline = run_all(std::span(&point, 1), options)[0].failure();
  EXPECT_EQ(timeline.file, nowhere) << timeline.message;
  // A folder cannot be made where there is a file.
  const std::string inside = state + "/there";
  const Failure cache = Program::load("vector-add", "small", {.cache = inside}).failure();
  EXPECT_EQ(cache.file, inside) << cache.message;
}

TEST(Api, RecordingsReplaceNothingButFiles) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Failure refused = program("vector-add").save(pipe).failure();
  EXPECT_EQ(refused.file, pipe);
  EXPECT_TRUE(contains(refused.what, "it is no regular file")) << refused.message;
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(Api, ObjectsThatNothingHasMadeSaySo) {
  EXPECT_THROW(static_cast<void>(Machine().name()), std::logic_error);
  EXPECT_THROW(static_cast<void>(Program().launches()), std::logic_error);
  EXPECT_THROW(static_cast<void>(Machine().with({"gpu.sms=1"})), std::logic_error);
  EXPECT_THROW(static_cast<void>(run_all(std::vector<Point>(1))), std::logic_error);
  Simulation from = begin("vector-add", "tom", "baseline");
  Simulation run = std::move(from);
  EXPECT_TRUE(run.run());
  EXPECT_THROW(static_cast<void>(from.run()), std::logic_error);
  EXPECT_THROW(static_cast<void>(from.cycles()), std::logic_error);
  EXPECT_THROW(static_cast<void>(from.result()), std::logic_error);
  Device one;
  const Device other = std::move(one);
  EXPECT_THROW(static_cast<void>(one.allocate(8)), std::logic_error);
}

TEST(Api, MachinesAreChangedByKeys) {
  const Machine tom = Machine::load("tom").value();
  const Words fewer = {"gpu.sms=32"}, bad = {"gpu.sms=16", "gpu.sms=many"};
  const Machine small = tom.with(fewer).value();
  EXPECT_EQ(small.get("gpu.sms").value(), "32");
  EXPECT_NE(tom.get("gpu.sms").value(), "32");
  EXPECT_FALSE(small.with(bad));
  EXPECT_EQ(small.get("gpu.sms").value(), "32");
  EXPECT_GT(small.keys().size(), 50u);
  EXPECT_FALSE(small.get("gpu.sm"));
  // Keys may be given in whatever way texts come in a row.
  const auto sms = [](const Expected<Machine>& machine) { return machine->get("gpu.sms").value(); };
  EXPECT_EQ(sms(tom.with({"gpu.sms=16", "gpu.sms=24"})), "24");
  EXPECT_EQ(sms(Machine::load("tom", {"gpu.sms=8"})), "8");
  EXPECT_EQ(sms(tom.with(std::span(fewer))), "32");
  EXPECT_EQ(sms(tom.with(std::array<std::string, 1>{"gpu.sms=40"})), "40");
  EXPECT_EQ(sms(tom.with({})), tom.get("gpu.sms").value());
  // A machine of text is the same as one of a file.
  const Machine copy =
      Machine::parse(read_text(std::string(NW_SOURCE_DIR) + "/configs/machines/tom.toml"), "tom")
          .value();
  ASSERT_EQ(copy.keys().size(), tom.keys().size());
  for (size_t i = 0; i < copy.keys().size(); ++i)
    EXPECT_EQ(copy.keys()[i].value, tom.keys()[i].value) << tom.keys()[i].name;
}

constexpr const char* kDouble = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 at, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [at];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1;
  @%p bra DONE;
  mul.wide.u32 %d2, %r2, 4;
  add.s64 %d2, %d1, %d2;
  ld.global.u32 %r5, [%d2];
  add.u32 %r5, %r5, %r5;
  st.global.u32 [%d2], %r5;
DONE:
  ret;
}
)";

TEST(Api, KernelsOfOnesOwn) {
  Device device;
  const uint32_t module = device.load(kDouble, "twice.ptx").value();
  std::vector<uint32_t> values(1000);
  for (uint32_t i = 0; i < values.size(); ++i) values[i] = i;
  const uint64_t at = device.allocate(values.size() * 4, "values").value();
  ASSERT_TRUE(device.write(at, std::as_bytes(std::span(values))));
  EXPECT_FALSE(device.take_program("early"));  // the module and the allocation stay
  std::vector<std::byte> arguments(12);
  const auto n = static_cast<uint32_t>(values.size());
  std::memcpy(arguments.data(), &at, 8);
  std::memcpy(arguments.data() + 8, &n, 4);
  ASSERT_TRUE(device.launch(module, "twice", {8}, {128}, arguments));
  ASSERT_TRUE(device.read(at, std::as_writable_bytes(std::span(values))));
  for (uint32_t i = 0; i < n; ++i) EXPECT_EQ(values[i], 2 * i);
  const auto unknown = device.launch(module, "thrice", {8}, {128}, arguments);
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(contains(unknown.failure().message, "thrice"));
  EXPECT_FALSE(device.load(".version 7.0\n.target sm_70\nnonsense", "x.ptx"));
  const Program own = device.take_program("doubled").value();
  ASSERT_EQ(own.launches().size(), 1u);
  EXPECT_EQ(own.launches()[0].kernel, "twice");
  auto run = Simulation::begin(own, Machine::load("tom").value(), Policy::load("baseline").value());
  ASSERT_TRUE(run->run());
  EXPECT_EQ(run->result().warp_instructions, own.warp_instructions());
  EXPECT_FALSE(device.take_program("nothing"));
  // Kept in a file it is the same program.
  const TemporaryFolder folder;
  ASSERT_TRUE(own.save(folder.file("own.nwtrace")));
  auto again = Simulation::begin(Program::recording(folder.file("own.nwtrace")).value(),
                                 Machine::load("tom").value(), Policy::load("baseline").value());
  ASSERT_TRUE(again->run());
  EXPECT_EQ(lasting(again->result()), lasting(run->result()));
}

TEST(Api, ModulesOfManyKernelsAreLoadedInTimeThatGrowsWithThem) {
  const auto seconds = [](int kernels) {
    std::string ptx = ".version 7.0\n.target sm_70\n.address_size 64\n";
    for (int i = 0; i < kernels; ++i) {
      ptx += ".visible .entry k" + std::to_string(i) + "() { .reg .b32 %r<3>;\n";
      for (int k = 0; k < 40; ++k) ptx += "add.u32 %r1, %r2, 7;\n";
      ptx += "ret; }\n";
    }
    const std::clock_t begin = std::clock();
    EXPECT_TRUE(Device().load(ptx));
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  // Seconds of processor time; eight times as many would take up to 64 times as long.
  const double few = seconds(500), many = seconds(4000);
  EXPECT_LT(many, 20 * few + 0.5);
}

TEST(Api, LaunchesInPartsAreTheCommandLines) {
  const std::vector<Point> points = {
      {program("kmeans"), Machine::load("tom").value(), Policy::load("baseline").value()}};
  const auto result = [&](const BatchOptions& options) {
    return run_all(points, options)[0].value();
  };
  const Result parts = result({.threads = 2, .launches = "parallel:1:3"});
  EXPECT_EQ(lasting(parts),
            lasting(of_command_line({"run", "kmeans", "--machine", "tom", "--policy", "baseline",
                                     "--launches", "parallel:1:3"})));
  EXPECT_FALSE(parts.exact);
  EXPECT_FALSE(parts.cycles_error.has_value());
  EXPECT_NE(parts.cycles,
            result({.threads = 2, .launches = "parallel:1:3", .cold_caches = true}).cycles);
  const Result sample = result({.threads = 2, .sample = "10"});
  EXPECT_EQ(lasting(sample), lasting(of_command_line({"run", "kmeans", "--machine", "tom",
                                                      "--policy", "baseline", "--sample", "10"})));
  EXPECT_TRUE(result({.threads = 2}).exact);
}

TEST(Api, LaunchesThatAreNotThereFailByProgram) {
  const Machine machine = Machine::load("tom").value();
  const Policy baseline = Policy::load("baseline").value();
  const std::vector<Point> points = {{program("kmeans"), machine, baseline},
                                     {program("vector-add"), machine, baseline}};
  std::vector<size_t> told;
  const auto results = run_all(
      points, {.threads = 1,
               .launches = "2..3",
               .finished = [&](size_t at, const Expected<Result>&) { told.push_back(at); }});
  EXPECT_TRUE(results[0].ok());
  ASSERT_FALSE(results[1].ok());
  EXPECT_NE(results[1].failure().message.find("there is no launch 3"), std::string::npos)
      << results[1].failure().message;
  EXPECT_EQ(told.size(), 2u);
  const auto message = [&](const BatchOptions& options) {
    const auto r = run_all(points, options);
    return r[0].ok() ? "" : r[0].failure().message;
  };
  EXPECT_NE(message({.launches = "2..1"}).find("launches=2..1: launch 1 is before launch 2"),
            std::string::npos);
  EXPECT_NE(message({.sample = "much"}).find("'much' is not a number"), std::string::npos);
  EXPECT_NE(message({.launches = "parallel", .sample = "2"}).find("give one of them"),
            std::string::npos);
  EXPECT_NE(message({.cold_caches = true}).find("leave it out"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::testing
