// Are a figure's numbers those of its runs, in their places, and is what is missing said?
#include "host/timing/experiment/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "host/core/error.h"
#include "host/timing/experiment/described.h"
#include "host/timing/experiment/tables.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using experiment::Chart;
using experiment::Experiment;
using experiment::PlannedStudy;
using experiment::Results;
using Json = nlohmann::ordered_json;

/// An experiment with made-up programs and results.
struct Rig {
  Experiment e;
  std::vector<PlannedStudy> studies;
  Results results;

  explicit Rig(const std::string& text) {
    const TemporaryFolder folder;
    write_text(folder.file("e.toml"),
               "title = \"T\"\ndescription = \"D\"\nsize = \"small\"\n" + text);
    e = experiment::load_experiment(folder.file("e.toml"));
    for (const experiment::Study& s : e.studies) {
      sweep::Definition d;
      d.version = "1";
      for (const std::string& name : s.workloads) d.programs.push_back({name, "small", name});
      d.machines = s.machines;
      d.policies = s.policies;
      for (const std::string& set : s.set) d.axes.push_back(sweep::parse_axis(set));
      studies.emplace_back(&s, sweep::expand(std::move(d)));
    }
  }

  /// Makes a result with these cycles for every point.
  void fill(const std::function<double(const std::string& workload, const std::string& policy,
                                       const sweep::Point& point)>& cycles) {
    for (const PlannedStudy& s : studies)
      for (const sweep::Point& p : s.points()) {
        if (!p.error.empty()) continue;
        const double n =
            cycles(s.plan.definition.programs[p.program].name, s.plan.policy_name(p), p);
        results[p.id] = {
            {"status", "complete"},
            {"run",
             {{"cycles", n},
              {"traffic", {{"gpu_to_memory_bytes", 1e6 * n}, {"memory_to_gpu_bytes", 3e6 * n}}},
              {"counters",
               {{"l2.reads", {{"value", 4}}},
                {"l2.hits", {{"value", 1}}},
                {"l2.misses", {{"value", 3}}}}}}}};
      }
  }

  Chart chart(size_t figure = 0) {
    check_figure(e, studies, e.figures[figure]);
    return make_chart(e, studies, e.figures[figure], results);
  }
};

std::map<std::string, double> values(const Chart& chart) {
  std::map<std::string, double> all;
  for (const experiment::Cell& c : chart.cells)
    all[chart.x[c.x] + "/" + chart.series[c.series] +
        (chart.parts[c.part].empty() ? "" : "/" + chart.parts[c.part])] = c.value;
  return all;
}

const std::string kStudy = R"([study.s]
workloads = ["a", "b"]
machines = ["tom"]
policies = ["baseline", "tom"]
)";

std::string figure(const std::string& lines) {
  return "[[figure]]\nname = \"f\"\ntitle = \"F\"\nstudies = [\"s\"]\n" + lines;
}

double made_up(const std::string& workload, const std::string& policy, const sweep::Point&) {
  return (workload == "a" ? 100 : 800) / (policy == "tom" ? (workload == "a" ? 2.0 : 8.0) : 1.0);
}

TEST(Chart, SpeedUpsAreOverTheReferenceWithTheirMean) {
  Rig rig(kStudy + figure("x = \"workload\"\nseries = \"policy\"\npolicies = [\"tom\"]\n"
                          "value = \"cycles\"\nas = \"speedup\"\nreference = \"baseline\"\n"
                          "summary = \"geometric\"\n"));
  rig.fill(made_up);
  const Chart chart = rig.chart();
  EXPECT_EQ(chart.x, (std::vector<std::string>{"a", "b", "geometric mean"}));
  const auto v = values(chart);
  ASSERT_EQ(v.size(), 3u);
  EXPECT_DOUBLE_EQ(v.at("a/tom"), 2);
  EXPECT_DOUBLE_EQ(v.at("b/tom"), 8);
  EXPECT_DOUBLE_EQ(v.at("geometric mean/tom"), 4);
  EXPECT_TRUE(chart.notes.empty());
}

TEST(Chart, AMissingRunLeavesAGapAndANoteAndIsInNoMean) {
  Rig rig(kStudy + figure("x = \"workload\"\nseries = \"policy\"\nvalue = \"cycles\"\n"
                          "summary = \"arithmetic\"\n"));
  rig.fill(made_up);
  const sweep::Point& point = rig.studies[0].points()[3];  // b under tom
  rig.results[point.id] = {{"status", "failed"}, {"error", "it broke"}};
  const Chart chart = rig.chart();
  const auto v = values(chart);
  EXPECT_EQ(v.count("b/tom"), 0u);
  EXPECT_DOUBLE_EQ(v.at("b/baseline"), 800);
  EXPECT_DOUBLE_EQ(v.at("mean/baseline"), 100);  // of a alone, as for tom
  ASSERT_EQ(chart.notes.size(), 2u);
  EXPECT_TRUE(contains(chart.notes[0], "b on tom under tom: it broke")) << chart.notes[0];
  EXPECT_TRUE(contains(chart.notes[1], "without b")) << chart.notes[1];
}

TEST(Chart, AReasonThatManyPointsHaveIsToldOnce) {
  Rig rig(kStudy + figure("x = \"workload\"\nseries = \"policy\"\nvalue = \"cycles\"\n"));
  rig.fill(made_up);
  for (const sweep::Point& point : rig.studies[0].points())
    rig.results[point.id] = {{"status", "failed"}, {"error", "there is no library"}};
  const Chart chart = rig.chart();
  ASSERT_EQ(chart.notes.size(), 1u);
  EXPECT_EQ(chart.notes[0],
            "a on tom under baseline; a on tom under tom; 2 more: there is no library");
}

TEST(Chart, NotesSayWherePoliciesHaveOtherSmsAndWhereFewInstancesDecided) {
  Rig rig(kStudy + figure("x = \"workload\"\nseries = \"policy\"\npolicies = [\"tom\"]\n"
                          "value = \"cycles\"\nas = \"speedup\"\nreference = \"baseline\"\n"));
  rig.fill(made_up);
  for (const PlannedStudy& s : rig.studies)
    for (const sweep::Point& p : s.points()) {
      Json& run = rig.results[p.id]["run"];
      const bool baseline = s.plan.policy_name(p) == "baseline";
      run["sm_cycles"] = {{{"sms", "sm"}, {"count", baseline ? 68 : 64}}};
      if (baseline) continue;
      run["sm_cycles"].push_back({{"sms", "stack_sm"}, {"count", 4}});
      const bool few = s.plan.definition.programs[p.program].name == "a";
      run["mapping"] = {{"instances", {{"seen", few ? 2 : 40}, {"few", few}}}};
    }
  EXPECT_EQ(rig.chart().notes,
            (std::vector<std::string>{
                "SMs: 68 (baseline), 64 + 4 in stacks (tom)",
                "mappings learnt from fewer than 32 instances, which is luck: a under tom (2)"}));
}

TEST(Chart, PartsOfAStackAreSharesOfTheReferencesWhole) {
  Rig rig(kStudy + figure("x = \"workload\"\nseries = \"policy\"\nkind = \"stacked\"\n"
                          "as = \"multiple\"\nparts = [{label = \"TX\", value = \"tx\"}, "
                          "{label = \"RX\", value = \"rx\"}]\n"));
  rig.fill(made_up);
  const auto v = values(rig.chart());
  EXPECT_DOUBLE_EQ(v.at("a/baseline/TX"), 0.25);
  EXPECT_DOUBLE_EQ(v.at("a/baseline/RX"), 0.75);
  EXPECT_DOUBLE_EQ(v.at("b/tom/RX"), 0.75 / 8);
}

TEST(Chart, OnATerminalAStackHasItsWholeAndTheMeansOfItsParts) {
  const std::string lines = "x = \"workload\"\nseries = \"policy\"\nkind = \"stacked\"\n";
  Rig multiples(kStudy + figure(lines + "as = \"multiple\"\nparts = [{label = \"TX\", value = "
                                        "\"tx\"}, {label = \"RX\", value = \"rx\"}]\n"));
  multiples.fill(made_up);
  const std::string text = chart_text(multiples.chart());
  EXPECT_TRUE(contains(text,
                       "workload  baseline       tom\n"
                       "----------------------------\n"
                       "a            1.000     0.500\n"
                       "b            1.000     0.125\n"))
      << text;
  EXPECT_TRUE(contains(text,
                       "mean of parts  baseline       tom\n"
                       "---------------------------------\n"
                       "TX                0.250     0.078\n"
                       "RX                0.750     0.234\n"))
      << text;
  Rig shares(kStudy + figure(lines + "unit = \"share\"\nparts = [{label = \"hit\", value = "
                                     "\"l2.hits / l2.reads\"}, "
                                     "{label = \"miss\", value = \"l2.misses / l2.reads\"}]\n"));
  shares.fill(made_up);
  const std::string of_shares = chart_text(shares.chart());
  EXPECT_FALSE(contains(of_shares, "workload")) << of_shares;
  EXPECT_TRUE(contains(of_shares, "miss              0.750     0.750\n")) << of_shares;
}

/// Two programs together, and each alone. Together they take 3 and 5 times as long; near memory,
/// half of that.
const std::string kMix = R"([study.s]
workloads = ["a+b", "a", "b"]
machines = ["tom"]
policies = ["baseline", "tom"]
)";

void fill_mix(Rig& rig) {
  rig.fill([](const std::string& workload, const std::string& policy, const sweep::Point&) {
    return (workload == "a" ? 100 : workload == "b" ? 200 : 1000) / (policy == "tom" ? 2.0 : 1.0);
  });
  for (const sweep::Point& point : rig.studies[0].points()) {
    if (point.program != 0) continue;
    const double times = point.policy == 0 ? 1 : 0.5;
    rig.results[point.id]["run"]["applications"] = {{{"name", "a"},
                                                     {"cycles", 300 * times},
                                                     {"warp_instructions", 10},
                                                     {"thread_instructions", 600}},
                                                    {{"name", "b"},
                                                     {"cycles", 1000 * times},
                                                     {"warp_instructions", 9},
                                                     {"thread_instructions", 500}}};
  }
}

TEST(Chart, AMixHasThePlacesOfItsPrograms) {
  const std::string figure_of_programs =
      "workloads = [\"a+b\"]\nprograms = \"each\"\nx = \"program\"\nseries = \"policy\"\n";
  Rig rig(kMix + figure(figure_of_programs + "value = \"cycles\"\nas = \"speedup\"\n") +
          figure(figure_of_programs + "value = \"ipc\"\n").replace(19, 1, "g"));
  fill_mix(rig);
  const Chart chart = rig.chart();
  EXPECT_EQ(chart.x, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(values(chart), (std::map<std::string, double>{
                               {"a/baseline", 1}, {"a/tom", 2}, {"b/baseline", 1}, {"b/tom", 2}}));
  const auto ipc = values(rig.chart(1));
  EXPECT_DOUBLE_EQ(ipc.at("a/baseline"), 2);
  EXPECT_DOUBLE_EQ(ipc.at("b/tom"), 1);
}

TEST(Chart, AWeightedSpeedUpIsOverTheProgramsAlone) {
  Rig rig(kMix + figure("workloads = [\"a+b\"]\nprograms = \"each\"\nx = \"workload\"\n"
                        "reference_program = \"alone\"\nseries = \"policy\"\n"
                        "value = \"cycles\"\nas = \"speedup\"\nmean = \"sum\"\n"));
  fill_mix(rig);
  const auto v = values(rig.chart());
  EXPECT_DOUBLE_EQ(v.at("a+b/baseline"), 100.0 / 300 + 200.0 / 1000);
  EXPECT_DOUBLE_EQ(v.at("a+b/tom"), 2 * (100.0 / 300 + 200.0 / 1000));
}

TEST(Chart, FairnessIsTheLeastOverTheGreatestOfThePrograms) {
  Rig rig(kMix + figure("workloads = [\"a+b\"]\nprograms = \"each\"\nx = \"workload\"\n"
                        "reference_program = \"alone\"\nseries = \"policy\"\n"
                        "value = \"cycles\"\nas = \"speedup\"\nmean = \"fairness\"\n"));
  fill_mix(rig);
  const Chart chart = rig.chart();
  EXPECT_EQ(chart.unit, "least over greatest");
  EXPECT_DOUBLE_EQ(values(chart).at("a+b/baseline"), (200.0 / 1000) / (100.0 / 300));
}

TEST(Chart, WhatIsNotCountedByProgramIsAnError) {
  const auto error_of = [](const std::string& study, const std::string& lines) -> std::string {
    try {
      Rig(study + figure("series = \"policy\"\n" + lines)).chart();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_TRUE(contains(error_of(kMix,
                                "programs = \"each\"\nx = \"program\"\nvalue = \"energy\"\n"
                                "mean = \"sum\"\n"),
                       "'energy' is not counted by program"));
  EXPECT_TRUE(contains(error_of(kMix, "x = \"program\"\nvalue = \"cycles\"\n"), "'program' is "));
  EXPECT_TRUE(contains(
      error_of(kMix, "x = \"workload\"\nvalue = \"cycles\"\nreference_program = \"alone\"\n"),
      "programs = \"each\""));
  std::string without = kMix;
  without.replace(without.find(", \"b\"]"), 6, "]");
  EXPECT_TRUE(contains(error_of(without,
                                "workloads = [\"a+b\"]\nprograms = \"each\"\n"
                                "x = \"program\"\nvalue = \"cycles\"\nas = \"speedup\"\n"
                                "reference_program = \"alone\"\n"),
                       "b in a+b on tom under baseline has no reference runs"));
}

TEST(Chart, CurvesAreOverTheKeysValueInEffectOfAllTheirStudies) {
  Rig rig(kStudy +
          "[study.more]\nworkloads = [\"a\", \"b\"]\nmachines = [\"tom\"]\npolicies = [\"tom\"]\n"
          "set = [\"stack.sm_warps=192,96\"]\n" +
          "[[figure]]\nname = \"f\"\ntitle = \"F\"\nstudies = [\"s\", \"more\"]\n"
          "kind = \"curve\"\nx = \"stack.sm_warps\"\nseries = \"policy\"\npolicies = [\"tom\"]\n"
          "value = \"cycles\"\nas = \"speedup\"\nreference = \"baseline\"\n"
          "reference_study = \"s\"\nmean = \"geometric\"\n");
  const PlannedStudy& more = rig.studies[1];
  rig.fill([&](const std::string&, const std::string& policy, const sweep::Point& p) {
    const bool own = std::any_of(more.points().begin(), more.points().end(),
                                 [&](const sweep::Point& q) { return &p == &q; });
    return policy == "baseline" ? 96.0 : own ? more.plan.machine(p)->stack.sm_warps : 48.0;
  });
  const Chart chart = rig.chart();
  EXPECT_EQ(chart.x, (std::vector<std::string>{"48", "96", "192"}));  // by size
  const auto v = values(chart);
  EXPECT_DOUBLE_EQ(v.at("48/tom"), 2);
  EXPECT_DOUBLE_EQ(v.at("96/tom"), 1);
  EXPECT_DOUBLE_EQ(v.at("192/tom"), 0.5);
}

TEST(Chart, SeveralPointsAtOnePlaceWantAMean) {
  Rig rig(kStudy + figure("x = \"policy\"\nvalue = \"cycles\"\n"));
  try {
    rig.chart();
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "mean = \"geometric\"")) << error.what();
  }
}

TEST(Chart, AReferenceThatIsNotThereIsFoundBeforeAnythingRuns) {
  Rig rig(kStudy + figure("x = \"workload\"\nseries = \"policy\"\nvalue = \"cycles\"\n"
                          "as = \"speedup\"\nreference = \"coda\"\n"));
  EXPECT_THROW(rig.chart(), Error);
}

TEST(Chart, ACounterThatNoRunHasIsNotedAndNotDrawn) {
  Rig rig(kStudy + figure("x = \"workload\"\nseries = \"policy\"\nvalue = \"l2.raeds\"\n"));
  rig.fill(made_up);
  const Chart chart = rig.chart();
  ASSERT_EQ(chart.notes.size(), 1u);
  EXPECT_TRUE(contains(chart.notes[0], "l2.raeds"));
  EXPECT_TRUE(contains(chart.notes[0], "did you mean 'l2.reads'")) << chart.notes[0];
  EXPECT_TRUE(chart.cells.empty()) << "it is not 0";
}

TEST(Chart, OfAStackThePartsThatRunsHaveAreDrawn) {
  Rig rig(kStudy + figure("kind = \"stacked\"\nx = \"workload\"\nseries = \"policy\"\n"
                          "parts = [{label = \"R\", value = \"l2.reads\"},\n"
                          "{label = \"W\", value = \"l2.reads + l2.writse\"}]\n"));
  rig.fill(made_up);
  const Chart chart = rig.chart();
  EXPECT_EQ(chart.notes.size(), 1u);
  EXPECT_EQ(chart.cells.size(), 4u);
  for (const experiment::Cell& cell : chart.cells) EXPECT_EQ(chart.parts[cell.part], "R");
}

TEST(Chart, PublishedValuesStandBesideOurs) {
  Rig rig(kStudy + figure("x = \"workload\"\nseries = \"policy\"\nvalue = \"cycles\"\n"
                          "published = [{x = \"a\", series = \"tom\", value = 60, "
                          "source = \"figure 8, read off\"}]\n"));
  rig.fill(made_up);
  const std::string csv = chart_csv(rig.chart());
  EXPECT_TRUE(contains(csv, "a,tom,,50,core cycles,60,\"figure 8, read off\"\n")) << csv;
  EXPECT_TRUE(contains(csv, "a,baseline,,100,core cycles,,\n")) << csv;
  const std::string text = chart_text(rig.chart(), 80);
  EXPECT_TRUE(contains(text, "(published (ours): a tom 60.0 (50.0); mean error 17 %)")) << text;
}

TEST(Chart, MeasuredValuesComeFromAFile) {
  const TemporaryFolder folder;
  write_text(folder.file("h200.csv"), "x,series,value,date\na,tom,60,\"1, 2\"\r\na,baseline,80,\n");
  const auto with = [&](const std::string& file) {
    return kStudy + figure(
                        "x = \"workload\"\nseries = \"policy\"\nvalue = \"cycles\"\n"
                        "measured = \"" +
                        folder.file(file) + "\"\n");
  };
  Rig rig(with("h200.csv"));
  rig.fill(made_up);
  const std::string csv = chart_csv(rig.chart());
  EXPECT_TRUE(contains(csv, "part,value,unit,measured,source\n")) << csv;
  EXPECT_TRUE(contains(csv, "a,tom,,50,core cycles,60,h200.csv\n")) << csv;
  const std::string text = chart_text(rig.chart(), 80);
  EXPECT_TRUE(contains(text, "(measured (ours): a tom 60.0 (50.0), a baseline 80.0 (100.0); mean"))
      << text;
  EXPECT_TRUE(contains(text, "error 21 %")) << text << ": of 16.7 and 25";
  const auto refused = [&](const std::string& written, const std::string& why) {
    write_text(folder.file("wrong.csv"), written);
    try {
      Rig wrong(with("wrong.csv"));
      experiment::check_figure(wrong.e, wrong.studies, wrong.e.figures[0]);
      ADD_FAILURE() << written;
    } catch (const Error& error) {
      EXPECT_TRUE(contains(error.what(), why)) << error.what();
    }
  };
  refused("workload,value\na,1\n", "measured values have no column 'x'");
  refused("x,value\na,much\n", "a measured value is 'much'");
  refused("x,value\na,nan\n", "a measured value is 'nan'");
  refused("x,value\n", "the file has no measured values");
  refused("x,series,value\naa,tom,1\n", "a measured value has x = \"aa\", which is not in it");
  EXPECT_THROW(Rig(with("none.csv")), Error);
}

TEST(Chart, OfAStackTheWholeAndItsPartsMayBePublished) {
  Rig rig(kStudy + figure("kind = \"stacked\"\nx = \"workload\"\nseries = \"policy\"\n"
                          "parts = [{label = \"hits\", value = \"l2.hits\"}, "
                          "{label = \"misses\", value = \"l2.misses\"}]\n"
                          "published = [{x = \"a\", series = \"tom\", value = 5, source = \"s\"},"
                          "{x = \"a\", series = \"tom\", part = \"hits\", value = 2, "
                          "source = \"t\"}]\n"));
  rig.fill(made_up);
  const std::string csv = chart_csv(rig.chart());
  EXPECT_TRUE(contains(csv, "a,tom,all,4,")) << csv;
  EXPECT_TRUE(contains(csv, ",5,s\n")) << csv;
  EXPECT_TRUE(contains(csv, "a,tom,hits,1,")) << csv;
  const std::string text = chart_text(rig.chart(), 200);
  EXPECT_TRUE(contains(text, "a tom 5.000 (4.000), a tom hits 2.000 (1.000); mean error 35 %"))
      << text;
}

TEST(Chart, APublishedValueWithoutAPlaceIsFoundBeforeAnythingRuns) {
  const auto refused = [](const std::string& place, const std::string& text) {
    Rig rig(kStudy + figure("x = \"workload\"\nseries = \"policy\"\nvalue = \"cycles\"\n"
                            "summary = \"arithmetic\"\npublished = [{" +
                            place + ", value = 60, source = \"figure 8\"}]\n"));
    try {
      rig.chart();
      ADD_FAILURE() << place << " is taken";
    } catch (const Error& error) {
      EXPECT_TRUE(contains(error.what(), text)) << error.what();
    }
  };
  refused("x = \"aa\", series = \"tom\"", "a published value has x = \"aa\"");
  refused("x = \"arithmetic mean\"", "x = \"arithmetic mean\", which is not in it");
  refused("x = \"a\", series = \"tomm\"", "did you mean 'tom'");
  refused("x = \"a\", part = \"SMs\"", "part = \"SMs\"");
}

TEST(Configuration, AHashTellsEveryValueApart) {
  Rig rig(R"([study.s]
workloads = ["a"]
machines = ["tom"]
policies = ["baseline", "tom"]
set = ["sm.warps=16,32", "energy.links.idle_fj_per_bit=0,1500"]
)" + figure("x = \"workload\"\nmean = \"sum\"\nvalue = \"cycles\"\n"));
  const sweep::Plan& plan = rig.studies[0].plan;
  experiment::DescribedPoints in_order, others;
  std::set<std::string> hashes;
  for (const sweep::Point& p : rig.studies[0].points()) hashes.insert(in_order.hash(plan, p));
  EXPECT_EQ(hashes.size(), rig.studies[0].points().size());
  // Hashes do not depend on the order in which they are asked for, nor on other points' changes.
  for (size_t i = rig.studies[0].points().size(); i-- > 0;) {
    const sweep::Point& p = rig.studies[0].points()[i];
    EXPECT_TRUE(hashes.contains(others.hash(plan, p)));
    EXPECT_EQ(others.hash(plan, p), in_order.hash(plan, p));
    EXPECT_EQ(others.changes(plan, p).contains("sm.warps"),
              plan.machine(p)->sm.warps != config::load_machine("tom", {}).sm.warps);
  }
}

}  // namespace
}  // namespace nearwarp::testing
