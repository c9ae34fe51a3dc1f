// Does the public interface have what `nearwarp run` prints and writes, from the same words?
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/api/results.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

/// Without the rows that say how long the host took.
std::string without_host(const std::string& text) {
  static const std::regex rows("(simulated \\[Mwi/s\\]|simulation time).*\n");
  return std::regex_replace(text, rows, "");
}

Json without_host(Json document) {
  for (Json& run : document.at("runs")) run.erase("host");
  return document;
}

struct Compared {
  Machine machine;
  std::vector<Point> points;
};

Compared compared(const std::string& names, const std::string& machine, const Words& policies,
                  const Words& changes) {
  Compared c;
  c.machine = Machine::load(machine, changes, Foreign::kPassedOver).value();
  const Program program = Program::load(names).value();
  for (const Policy& policy : Policy::load_all(policies, changes, Foreign::kPassedOver).value())
    c.points.push_back({program, c.machine, policy});
  return c;
}

std::vector<Result> results_of(const std::vector<Point>& points, const BatchOptions& options = {}) {
  std::vector<Result> results;
  for (const Expected<Result>& r : run_all(points, options)) results.push_back(r.value());
  return results;
}

TEST(ApiCommandLine, TablesAndDocumentsAreThoseOfRun) {
  struct Case {
    std::string names, machine;
    Words policies, changes, more;
    BatchOptions options;
    bool explain = false;
  };
  const Case cases[] = {
      {"kmeans",
       "tom",
       {"baseline", "tom"},
       {"gpu.sms=32", "offload.load_miss_percent=60"},
       {},
       {}},
      {"kmeans@0+libor@1-3", "coda", {"baseline", "coda"}, {}, {"--explain"}, {}, true},
      {"vector-add", "gtx480", {"baseline"}, {}, {"--sample", "2"}, {.sample = "2"}},
      {"bench/samples/trace/kernelslist.g", "tom", {"baseline"}, {}, {}, {}},
  };
  for (const Case& c : cases) {
    const TemporaryFolder folder;
    std::string names = c.names, policies;
    if (names.starts_with("bench")) names = NW_SOURCE_DIR "/" + names;
    for (const std::string& p : c.policies) policies += (policies.empty() ? "" : ",") + p;
    Words words = {"run",      names,    "--machine", c.machine,
                   "--policy", policies, "--json",    folder.file("r.json")};
    for (const std::string& change : c.changes) words = words + Words{"--set", change};
    const Outcome ran = run_program(words + c.more);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const Compared own = compared(names, c.machine, c.policies, c.changes);
    const std::vector<Result> results = results_of(own.points, c.options);
    EXPECT_EQ(without_host(table(results, {.explain = c.explain}).value()), without_host(ran.out));
    EXPECT_EQ(without_host(Json::parse(document(results, own.machine).value())),
              without_host(Json::parse(read_text(folder.file("r.json")))));
  }
}

TEST(ApiCommandLine, ATimelineAndAWarpThatIsFollowed) {
  const TemporaryFolder folder;
  const Outcome ran =
      run_program({"run", "vector-add", "--policy", "tom", "--follow", "vector_add:3", "--timeline",
                   folder.file("theirs.json"), "--to", "3000"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  BatchOptions options;
  options.follow = "vector_add:3";
  options.timeline = TimelineOptions{.path = folder.file("ours.json"), .to = 3000};
  std::string told;
  options.tell = [&](const std::string& message) { told += message; };
  const Compared own = compared("vector-add", "tom", {"tom"}, {});
  const std::vector<Result> results = results_of(own.points, options);
  EXPECT_EQ(read_text(folder.file("ours.json")), read_text(folder.file("theirs.json")));
  EXPECT_FALSE(results[0].followed.empty());
  EXPECT_TRUE(contains(told, "ours.json")) << told;
  options.follow = "vector_add";
  EXPECT_EQ(run_all(own.points, options)[0].failure().kind, Failure::Kind::kUsage);
  options.follow = "vector_add:3";
  const std::vector<Point> two = {own.points[0], own.points[0]};
  for (const auto& r : run_all(two, options)) EXPECT_FALSE(r);
}

TEST(ApiCommandLine, ABatchThatWasStoppedGoesOn) {
  const TemporaryFolder folder;
  const Compared own = compared("kmeans", "tom", {"baseline", "tom"}, {});
  const std::vector<Result> whole = results_of(own.points);
  BatchOptions options{.threads = 2, .checkpoints = folder.path()};
  options.progress = [](const Progress& p) {
    EXPECT_EQ(p.of_each.size(), 2u);
    return p.warp_instructions < p.warp_instructions_total / 4;
  };
  for (const Expected<Result>& r : run_all(own.points, options))
    if (r)
      EXPECT_TRUE(r->partial);
    else
      EXPECT_EQ(r.failure().kind, Failure::Kind::kStopped);
  EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  uint64_t first = 0;
  options.progress = [&](const Progress& p) {
    if (first == 0) first = p.warp_instructions;
    return true;
  };
  const std::vector<Result> gone_on = results_of(own.points, options);
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(lasting(gone_on[i]), lasting(whole[i]));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// Points of a sweep's file by their ids, without what differs from run to run.
std::map<std::string, Json> points_in(const std::string& file) {
  std::map<std::string, Json> points;
  std::istringstream lines(read_text(file));
  for (std::string line; std::getline(lines, line);) {
    Json point = Json::parse(line);
    if (point.contains("run")) point["run"].erase("host");
    points[point.at("id")] = point;
  }
  return points;
}

TEST(ApiCommandLine, ASweepIsTheCommandLinesAndGoesOn) {
  const TemporaryFolder folder;
  const std::string theirs = folder.file("theirs.jsonl"), ours = folder.file("ours.jsonl");
  const Outcome ran = run_program({"sweep", "vector-add,kmeans@0", "--machine", "coda", "--policy",
                                   "baseline,coda", "--set", "stack.count=2,4", "--out", theirs});
  SweepDefinition definition;
  definition.programs = {"vector-add", "kmeans@0"};
  definition.machines = {"coda"};
  definition.policies = {"baseline", "coda"};
  definition.values = {"stack.count=2,4"};
  const Expected<Sweep> sweep = Sweep::plan(definition);
  ASSERT_TRUE(sweep) << sweep.failure().message;
  EXPECT_EQ(sweep->points(), 8u);
  // It is stopped after its first point.
  SweepOptions options{.out = ours, .threads = 1};
  double cost = 0;
  options.progress = [&](const SweepProgress& p) {
    cost = p.cost;
    EXPECT_LE(p.cost_done, p.cost);
    return p.points_done == 0;
  };
  const SweepOutcome first = sweep->run(options).value();
  EXPECT_TRUE(first.stopped);
  EXPECT_GE(first.finished, 1u);
  EXPECT_LT(first.finished, 8u);
  EXPECT_GT(cost, 0);
  options.progress = {};
  const SweepOutcome second = sweep->run(options).value();
  EXPECT_FALSE(second.stopped);
  EXPECT_EQ(second.already_there, first.finished);
  EXPECT_EQ(second.already_there + second.finished, 8u);
  EXPECT_EQ(second.failed, ran.exit_code == 0 ? 0u : second.failed);
  EXPECT_EQ(points_in(ours), points_in(theirs));
  EXPECT_TRUE(ran.out.starts_with(second.table)) << second.table << ran.out;
  options.only_count = true;
  EXPECT_EQ(sweep->run(options)->already_there, 8u);
  // Parts of programs are simulated on the CPU alone.
  definition.launches = "parallel";
  definition.programs = {"vector-add"};
  const Sweep parts = Sweep::plan(definition).value();
  const auto on_device = parts.run({.out = folder.file("parts.jsonl"), .backend = "cuda"});
  EXPECT_EQ(on_device.failure().kind, Failure::Kind::kUsage);
  EXPECT_TRUE(contains(on_device.failure().what, "on the CPU")) << on_device.failure().message;
  definition.launches = "";
  definition.values.push_back("stack.count=2");
  EXPECT_EQ(Sweep::plan(definition).failure().kind, Failure::Kind::kUsage);
  EXPECT_FALSE(check(SweepOptions{.out = ours, .part = "3/2"}));
}

TEST(ApiCommandLine, ASweepOfARecordingBesideAWorkload) {
  const TemporaryFolder folder;
  const std::string recording = folder.file("a.nwtrace"), out = folder.file("s.jsonl");
  ASSERT_TRUE(Program::workload("vector-add")->save(recording));
  const std::string names = recording + "+kmeans";
  const Outcome ran = run_program({"sweep", names, "--policy", "baseline", "--out", out});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const Compared own = compared(names, "tom", {"baseline"}, {});
  EXPECT_EQ(points_in(out).begin()->second.at("run").at("cycles"),
            results_of(own.points)[0].cycles);
}

TEST(ApiCommandLine, WhatTheCallerDoesWrongIsAFailureToo) {
  const std::vector<Result> none(1);
  const Compared own = compared("vector-add", "tom", {"baseline"}, {});
  EXPECT_EQ(table(none).failure().kind, Failure::Kind::kUsage);
  EXPECT_EQ(document(none, own.machine).failure().kind, Failure::Kind::kUsage);
  BatchOptions options{.threads = 1};
  options.progress = [](const Progress&) -> bool { throw 5; };
  const std::vector<Expected<Result>> thrown = run_all(own.points, options);
  ASSERT_EQ(thrown.size(), 1u);
  EXPECT_TRUE(contains(thrown[0].failure().message, "caller")) << thrown[0].failure().message;
  const auto cached = Program::load("vector-add", "small", {.cache = "/proc/x/y"});
  EXPECT_TRUE(contains(cached.failure().message, "/proc/x/y"));
  EXPECT_FALSE(contains(cached.failure().message, "--")) << cached.failure().message;
  EXPECT_TRUE(check(SweepOptions{.out = "x", .part = "3"}).failure().message.starts_with("part "));
}

/// Each look is at what there is, without the document that only a result has.
TEST(ApiCommandLine, ALookMakesNoDocument) {
  const Compared own = compared("vector-add", "tom", {"baseline"}, {});
  BatchOptions options{.threads = 1};
  size_t looks = 0;
  options.look = [&](size_t, const Result& result, bool) {
    EXPECT_TRUE(result.json.empty());
    EXPECT_FALSE(result.counters.empty());
    looks += 1;
  };
  EXPECT_FALSE(run_all(own.points, options)[0]->json.empty());
  EXPECT_GE(looks, 1u);
}

/// The time that is left is told of several programs and machines together.
TEST(ApiCommandLine, ABatchOfSeveralMachinesSaysHowLongItTakes) {
  std::vector<Point> points = compared("kmeans", "tom", {"baseline"}, {}).points;
  for (const Point& p : compared("kmeans", "gtx480", {"baseline"}, {}).points) points.push_back(p);
  for (const Point& p : compared("libor", "tom", {"baseline"}, {}).points) points.push_back(p);
  BatchOptions options{.threads = 1, .time_left = true};
  size_t said = 0;
  options.progress = [&](const Progress& p) {
    EXPECT_EQ(p.of_each.size(), points.size());
    EXPECT_GE(p.seconds_left.value_or(0), 0);
    said += 1;
    return true;
  };
  for (const Expected<Result>& r : run_all(points, options)) EXPECT_TRUE(r);
  EXPECT_GE(said, 1u);
}

TEST(ApiCommandLine, WhatIsWrongIsSaidBeforeAnythingRuns) {
  const auto kind = [](const auto& made) { return made.failure().kind; };
  EXPECT_EQ(kind(Program::load("kmean")), Failure::Kind::kUsage);
  EXPECT_EQ(kind(Program::load("kmeans@x")), Failure::Kind::kUsage);
  EXPECT_EQ(kind(check_size("huge")), Failure::Kind::kUsage);
  const Machine tom = Machine::load("tom").value(), coda = Machine::load("coda").value();
  const Policy policy = Policy::load("tom").value();
  EXPECT_TRUE(Program::check("kmeans", tom, policy));
  EXPECT_FALSE(Program::check("kmeans@0", tom, policy));
  EXPECT_FALSE(Program::check("kmeans@9", coda, Policy::load("coda").value()));
  EXPECT_FALSE(Program::check("kernelslist.g", tom, policy));
  EXPECT_FALSE(check(BatchOptions{.launches = "3..1"}));
  EXPECT_FALSE(check(BatchOptions{.checkpoints = "x", .launches = "1..1"}));
  EXPECT_FALSE(check(ApplicationOptions{.registers = "mine"}));
  // A change is of those that have it; one that nobody has is refused.
  const Words changes = {"gpu.sms=32", "offload.load_miss_percent=60"};
  EXPECT_FALSE(Machine::load("tom", changes));
  const Machine changed = Machine::load("tom", changes, Foreign::kPassedOver).value();
  EXPECT_EQ(changed.get("gpu.sms").value(), "32");
  const Words names = {"baseline", "tom"};
  EXPECT_FALSE(Policy::load_all(names, changes));
  const auto policies = Policy::load_all(names, changes, Foreign::kPassedOver);
  ASSERT_TRUE(policies) << policies.failure().message;
  EXPECT_EQ((*policies)[1].get("offload.load_miss_percent").value(), "60");
  EXPECT_FALSE(Policy::load_all(Words{"baseline"}, changes, Foreign::kPassedOver));
  // Arguments are the library's, not the command line's.
  const std::string refused = Machine::load("tom", Words{"gpu.sms=none"}).failure().message;
  EXPECT_TRUE(contains(refused, "(`set` gpu.sms=none)")) << refused;
  const std::string network = check(NetworkOptions{.vcs = 8, .vnets = 3}).failure().message;
  EXPECT_TRUE(network.starts_with("`vcs` 8 ")) << network;
  // They can be changed further.
  EXPECT_TRUE((*policies)[0].with({}));
  EXPECT_TRUE(changed.with(Words{"gpu.sms=16"}));
}

}  // namespace
}  // namespace nearwarp::testing
