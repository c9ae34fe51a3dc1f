// Is an experiment's file read as it stands, and is what it has wrong found with its line?
#include "host/timing/experiment/definition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "host/core/error.h"
#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

using experiment::Experiment;

const std::string kGood = R"(title = "T"
description = "D"
size = "small"

[study.second]
workloads = ["alpha"]
machines = ["tom"]
policies = ["baseline", "tom"]

[study.first]
workloads = "alpha"
machines = "tom"
policies = "tom"
set = ["sm.warps=16,32"]

[[figure]]
name = "f"
title = "F"
studies = ["second"]
x = "workload"
value = "cycles"
published = [{x = "alpha", series = "tom", value = 1.3, source = "figure 8"}]

[[figure]]
name = "g"
title = "G"
studies = ["first"]
x = "sm.warps"
kind = "stacked"
as = "multiple"
reference_study = "second"
parts = [{label = "P", value = "tx"}]
)";

Experiment load(const std::string& text) {
  const TemporaryFolder folder;
  write_text(folder.file("e.toml"), text);
  return experiment::load_experiment(folder.file("e.toml"));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

TEST(Experiment, HasWhatItsFileSays) {
  const Experiment e = load(kGood);
  EXPECT_EQ(e.name, "e");
  EXPECT_EQ(e.title, "T");
  EXPECT_EQ(e.size, "small");
  ASSERT_EQ(e.studies.size(), 2u);
  EXPECT_EQ(e.studies[0].name, "second");  // the file's order, not the alphabet's
  EXPECT_EQ(e.studies[1].set, std::vector<std::string>{"sm.warps=16,32"});
  ASSERT_EQ(e.figures.size(), 2u);
  ASSERT_EQ(e.figures[0].published.size(), 1u);
  EXPECT_EQ(e.figures[0].published[0].value, 1.3);
  EXPECT_EQ(e.figures[1].kind, experiment::Kind::kStacked);
  EXPECT_EQ(e.figures[1].relation, experiment::Relation::kMultiple);
}

TEST(Experiment, MistakesAreNamedWithTheirLine) {
  struct Mistake {
    std::string what, by, line, says;
  };
  const std::vector<Mistake> mistakes = {
      {"title = \"T\"", "titel = \"T\"", "", "'title' is missing"},
      {"size = \"small\"", "size = \"small\"\nsise = 1", ":4", "did you mean 'size'"},
      {"workloads = [\"alpha\"]", "workloads = []", ":6", "names nothing"},
      {"workloads = [\"alpha\"]", "worklaods = [\"alpha\"]", ":6", "did you mean 'workloads'"},
      {"kind = \"stacked\"", "kind = \"pie\"", ":29", "allowed: bars, stacked, curve, heat"},
      {"value = \"cycles\"", "value = \"cycles *\"", "", "no sum of quantities"},
      {"studies = [\"first\"]", "studies = [\"frist\"]", "", "did you mean 'first'"},
      {"name = \"g\"", "name = \"f\"", "", "'f' is there twice"},
      {"name = \"g\"", "name = \"../g\"", "", "files are called after it"},
      {"parts = [{label = \"P\", value = \"tx\"}]", "", "", "has no parts"},
      {"value = 1.3", "value = \"1.3\"", ":22", "no number"},
      {"title = \"T\"", "title = T", ":1", "not valid TOML"},
  };
  for (const Mistake& m : mistakes) {
    try {
      load(replaced(kGood, m.what, m.by));
      FAIL() << m.by;
    } catch (const Error& error) {
      EXPECT_TRUE(contains(error.what(), m.says)) << error.what();
      EXPECT_TRUE(contains(error.what(), "e.toml:" + (m.line.empty() ? "" : m.line.substr(1))))
          << error.what();
    }
  }
}

TEST(Experiment, OnlySomeFiguresKeepTheStudiesThatTheyNeed) {
  Experiment f = load(kGood);
  experiment::keep_only(f, {"f"});
  ASSERT_EQ(f.studies.size(), 1u);
  EXPECT_EQ(f.studies[0].name, "second");
  Experiment g = load(kGood);
  experiment::keep_only(g, {"g"});
  EXPECT_EQ(g.figures.size(), 1u);
  EXPECT_EQ(g.studies.size(), 2u);  // the reference's, too
  EXPECT_THROW(experiment::keep_only(g, {"h"}), UsageError);
}

TEST(Experiment, ThoseThatComeWithTheProgramLoad) {
  const std::vector<std::string> names = experiment::experiment_names();
  for (const char* name :
       {"tom", "tuning", "coda", "opportunistic", "mpu", "mechanisms", "combinations", "decoding"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  for (const std::string& name : names) EXPECT_NO_THROW(experiment::load_experiment(name)) << name;
}

}  // namespace
}  // namespace nearwarp::testing
