// Does what executes programs stop when a function of the caller's wants it, and say so?
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "host/api/nearwarp.h"
#include "tests/api/results.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

constexpr auto kStop = [](const Activity&) { return false; };

template <class T>
void expect_stopped(const Expected<T>& made) {
  ASSERT_FALSE(made);
  EXPECT_EQ(made.failure().kind, Failure::Kind::kStopped) << made.failure().message;
  EXPECT_TRUE(contains(made.failure().message, "interrupted")) << made.failure().message;
}

TEST(ApiStops, Programs) {
  expect_stopped(Program::workload("kmeans", "small", {.progress = kStop}));
  expect_stopped(Program::load("vector-add+kmeans", "small", {.progress = kStop}));
  const std::string traces = NW_SOURCE_DIR "/bench/samples/trace/kernelslist.g";
  expect_stopped(Program::recording(traces, {.progress = kStop}));
  expect_stopped(check_workload("kmeans", "small", {.progress = kStop}));
}

TEST(ApiStops, ApplicationsThatHaveLaunchedNothing) {
  const ApplicationOptions options = {.go_on = [] { return false; }};
  expect_stopped(Program::application({"sleep", "1000"}, options));
  expect_stopped(check_application({"sleep", "1000"}, options));
}

TEST(ApiStops, ProgramsAreAskedAtOnceAndThenSomeTimesASecond) {
  const auto begin = std::chrono::steady_clock::now();
  int asked = 0;
  const auto count = [&](const Activity& a) {
    EXPECT_EQ(a.what, "executing kmeans");
    EXPECT_STREQ(a.unit, "Mwi/s");
    return ++asked, true;
  };
  ASSERT_TRUE(Program::workload("kmeans", "medium", {.progress = count}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, 1 + took.count() * 10);
}

const std::string kSpin = read_text(NW_SOURCE_DIR "/tests/api/spin.ptx");

std::vector<std::byte> times(uint64_t number) {
  std::vector<std::byte> arguments(sizeof(number));
  std::memcpy(arguments.data(), &number, sizeof(number));
  return arguments;
}
constexpr uint64_t kForEver = uint64_t{1} << 60;

TEST(ApiStops, KernelsOfOnesOwn) {
  bool goes_on = true;
  std::string printed;
  Device device({.progress =
                     [&](const Activity& a) {
                       EXPECT_EQ(a.what, "executing spin");
                       return goes_on;
                     },
                 .print = [&](const std::string& text) { printed += text; }});
  const uint32_t module = device.load(kSpin, "spin.ptx").value();
  ASSERT_TRUE(device.launch(module, "spin", {2}, {3}, times(10)));
  EXPECT_EQ(printed, "done\ndone\ndone\ndone\ndone\ndone\n");
  goes_on = false;
  expect_stopped(device.launch(module, "spin", {1}, {32}, times(kForEver)));
  // The device can be used again, and its program has the thread blocks that had ended.
  goes_on = true;
  ASSERT_TRUE(device.launch(module, "spin", {1}, {32}, times(10)));
  const Program program = device.take_program("spin").value();
  EXPECT_TRUE(program.truncated());
  ASSERT_GE(program.launches().size(), 1u);
  EXPECT_EQ(program.launches()[0].warp_instructions, program.launches()[0].thread_instructions / 3);
}

TEST(ApiStops, ADeviceStaysAsItIsWhileAKernelRuns) {
  std::vector<std::string> refused;
  uint32_t read = 0;
  uint64_t at = 0;
  Device* self = nullptr;
  const auto meddle = [&] {
    const auto note = [&](const auto& made) { refused.push_back(made.failure().message); };
    note(self->take_program("early"));
    note(self->launch(0, "spin", {1}, {1}, times(1)));
    note(self->load(kSpin));
    note(self->allocate(8));
    note(self->free(at));
    EXPECT_TRUE(self->read(at, std::as_writable_bytes(std::span(&read, 1))));
    std::thread([&] {
      note(self->take_program("early"));
      note(self->read(at, std::as_writable_bytes(std::span(&read, 1))));
    }).join();
    return false;
  };
  Device device({.progress = [&](const Activity&) { return meddle(); }});
  self = &device;
  at = device.allocate(4).value();
  const uint32_t seven = 7;
  ASSERT_TRUE(device.write(at, std::as_bytes(std::span(&seven, 1))));
  const uint32_t module = device.load(kSpin).value();
  expect_stopped(device.launch(module, "spin", {1}, {32}, times(kForEver)));
  EXPECT_EQ(read, 7u);
  ASSERT_EQ(refused.size(), 7u);
  for (const std::string& message : refused)
    EXPECT_TRUE(message.starts_with("a kernel is running")) << message;
}

TEST(ApiStops, WhatACallersFunctionThrowsIsAFailure) {
  const auto thrown = [](const auto&) -> bool { throw std::runtime_error("mine"); };
  const auto expect_thrown = [](const auto& made) {
    EXPECT_EQ(made.failure().kind, Failure::Kind::kStopped);
    EXPECT_EQ(made.failure().message, "a function of the caller's threw: mine");
  };
  expect_thrown(Program::workload("kmeans", "small", {.progress = thrown}));
  const Machine tom = Machine::load("tom").value();
  const Program program = Program::workload("vector-add").value();
  expect_thrown(probe_machine(tom, {.progress = thrown}));
  expect_thrown(measure_network({.loads = {0.1}, .progress = thrown}));
  const auto counted = [](uint64_t, uint64_t) -> bool { throw std::runtime_error("mine"); };
  const SweepDefinition definition = {
      .programs = {"vector-add"}, .machines = {"tom"}, .policies = {"baseline"}};
  const Sweep sweep = Sweep::plan(definition).value();
  expect_thrown(Sweep::plan({.programs = {"vector-add@0"},
                             .machines = {"tom"},
                             .policies = {"baseline"},
                             .values = {"gpu.sms=4,8"}},
                            counted));
  const std::string out = ::testing::TempDir() + "thrown.jsonl";
  std::filesystem::remove(out);
  expect_thrown(sweep.run({.out = out, .program = thrown}));
  expect_thrown(sweep.run({.out = out, .progress = thrown}));
  // Points that have not ended fail; nothing of it stays in the file.
  EXPECT_EQ(sweep.run({.out = out}).value().finished, 1u);
  const std::vector<Point> points(2, {program, tom, Policy::load("baseline").value()});
  const auto told = [](size_t, const Expected<Result>&) { throw std::runtime_error("mine"); };
  const std::vector<Expected<Result>> results = run_all(points, {.threads = 1, .finished = told});
  EXPECT_TRUE(results[0]);
  expect_thrown(results[1]);
  Device asked({.progress = thrown});
  const Expected<Done> launched =
      asked.launch(asked.load(kSpin).value(), "spin", {1}, {32}, times(kForEver));
  expect_thrown(launched);
  Device prints({.print = [](const std::string&) { throw std::runtime_error("mine"); }});
  const Expected<Done> printed =
      prints.launch(prints.load(kSpin).value(), "spin", {1}, {1}, times(1));
  expect_thrown(printed);
}

TEST(ApiStops, AnAnalysisAmidALaunch) {
  const Program program = Program::workload("vector-add").value();
  const Machine coda = Machine::load("coda").value();
  uint64_t done = 1;
  const auto stop = [&](const Activity& a) {
    done = a.done;
    return false;
  };
  EXPECT_EQ(analyze_objects(program, coda, Policy::load("coda").value(), {.progress = stop})
                .failure()
                .kind,
            Failure::Kind::kStopped);
  EXPECT_EQ(done, 0u);
  done = 1;
  EXPECT_EQ(analyze_sharing(program, coda, {.progress = stop}).failure().kind,
            Failure::Kind::kStopped);
  EXPECT_EQ(done, 0u);
}

TEST(ApiStops, AMeasurementAmidALoad) {
  // A period of a million cycles would take too long for a test.
  int asked = 0;
  const auto stop = [&](const Activity& a) {
    EXPECT_EQ(a.done, 0u);
    return ++asked < 3;
  };
  const Expected<NetworkReport> report = measure_network(
      {.size = "16x16", .loads = {0.1}, .period_cycles = 1'000'000, .progress = stop});
  EXPECT_TRUE(report->stopped);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace nearwarp::testing
