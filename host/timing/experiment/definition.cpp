// Reads experiments' files, strictly.
#include "host/timing/experiment/definition.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "host/config/find.h"
#include "host/config/nearest.h"
#include "host/config/toml_errors.h"
#include "host/core/error_parts.h"
#include "host/timing/experiment/expression.h"
#include "host/timing/experiment/measured.h"
#include "host/timing/experiment/own_program_file.h"
#include "host/timing/experiment/section.h"

namespace nearwarp::experiment {
namespace {

/// Paths among the names begin in the folder of the file that has them.
Names from_folder(Names names, const std::filesystem::path& folder) {
  for (std::string& name : names)
    if (config::is_path(name) && !folder.empty()) name = (folder / name).string();
  return names;
}

/// Recordings and lists of traces among workloads begin there, too.
Names recordings_from_folder(Names names, const std::filesystem::path& folder) {
  for (std::string& name : names) {
    const bool is_file = name.ends_with(".nwtrace") || name.find('/') != std::string::npos ||
                         name.find("kernelslist") != std::string::npos;
    if (is_file && name.find('+') == std::string::npos && !folder.empty())
      name = (folder / name).string();
  }
  return names;
}

/// Files in "key=a,b", where the key names files, begin in the experiment's folder.
std::string set_from_folder(const std::string& text, const std::filesystem::path& folder) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || !config::names_file(text.substr(0, equals))) return text;
  Names values;
  std::istringstream all(text.substr(equals + 1));
  for (std::string value; std::getline(all, value, ',');) values.push_back(value);
  return fmt::format("{}={}", text.substr(0, equals),
                     fmt::join(from_folder(std::move(values), folder), ","));
}

Study read_study(Section section, const std::filesystem::path& folder) {
  section.only({"about", "workloads", "machines", "policies", "set"});
  Study study;
  study.name = section.name();
  study.about = section.text("about", false);
  study.workloads = recordings_from_folder(section.list("workloads", true), folder);
  study.machines = from_folder(section.list("machines", true), folder);
  study.policies = from_folder(section.list("policies", true), folder);
  for (const std::string& text : section.list("set", false))
    study.set.push_back(set_from_folder(text, folder));
  return study;
}

Published read_published(Section section) {
  Published published;
  published.x = section.text("x", true);
  published.series = section.text("series", false);
  published.part = section.text("part", false);
  published.value = section.number("value");
  published.source = section.text("source", true);
  section.finish();
  return published;
}

constexpr std::pair<const char*, Mean> kMeans[] = {{"geometric", Mean::kGeometric},
                                                   {"arithmetic", Mean::kArithmetic},
                                                   {"sum", Mean::kSum},
                                                   {"fairness", Mean::kFairness}};

Mean read_mean(Section& section, const std::string& key) {
  return section.choice<Mean>(key, Mean::kNone, {std::begin(kMeans), std::end(kMeans)});
}

/// Fails for an expression that is written wrongly, before anything runs.
void check_expression(const Section& section, const std::string& text) {
  try {
    Expression::parse(text);
  } catch (const Error& error) {
    section.fail(error.what(), nullptr, "e.g. value = \"cycles\" or \"a + b / c\"");
  }
}

/// A figure's files are called after it.
void check_file_name(const Section& section, const std::string& name) {
  const bool plain = !name.empty() && name.size() <= 100 && name[0] != '.' &&
                     name.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-.") == std::string::npos;
  if (!plain)
    section.fail(fmt::format("'name' cannot be \"{}\": files are called after it", name), nullptr,
                 "letters, digits, '_', '-', and '.' inside");
}

Figure read_figure(Section section, const std::filesystem::path& folder) {
  Figure f;
  f.name = section.text("name", true);
  check_file_name(section, f.name);
  f.title = section.text("title", true);
  f.about = section.text("about", false);
  f.kind = section.choice<Kind>("kind", Kind::kBars,
                                {{"bars", Kind::kBars},
                                 {"stacked", Kind::kStacked},
                                 {"curve", Kind::kCurve},
                                 {"heat", Kind::kHeat}});
  f.studies = section.list("studies", true);
  f.value = section.text("value", f.kind != Kind::kStacked);
  f.unit = section.text("unit", false);
  f.relation = section.choice<Relation>("as", Relation::kValue,
                                        {{"value", Relation::kValue},
                                         {"multiple", Relation::kMultiple},
                                         {"speedup", Relation::kSpeedup}});
  f.reference = section.text("reference", false);
  f.reference_machine = section.text("reference_machine", false);
  f.reference_study = section.text("reference_study", false);
  f.each_program = section.choice<bool>("programs", false, {{"together", false}, {"each", true}});
  f.reference_alone =
      section.choice<bool>("reference_program", false, {{"beside", false}, {"alone", true}});
  if (f.reference_alone && !f.each_program)
    section.fail("a mix as a whole has no run by itself", nullptr,
                 "reference_program = \"alone\" goes with programs = \"each\"");
  f.x = section.list("x", true);
  f.series = section.list("series", false);
  f.policies = section.list("policies", false);
  f.workloads = section.list("workloads", false);
  f.mean = read_mean(section, "mean");
  f.summary = read_mean(section, "summary");
  f.line = section.line();
  for (Section& part : section.sections("parts")) {
    f.parts.push_back({part.text("label", true), part.text("value", true)});
    part.finish();
    check_expression(part, f.parts.back().value);
  }
  if (f.kind == Kind::kStacked && f.parts.empty())
    section.fail("a stacked figure has no parts", nullptr,
                 "parts = [{label = \"TX\", value = \"tx\"}]");
  if (f.kind != Kind::kStacked) check_expression(section, f.value);
  if (f.kind == Kind::kHeat && f.series.empty())
    section.fail("a heat map has no 'series'", nullptr, "name what lies on its other axis");
  for (Section& published : section.sections("published"))
    f.published.push_back(read_published(published));
  if (const std::string file = section.text("measured", false); !file.empty()) {
    if (!f.published.empty())
      section.fail("it has 'published' and 'measured' values", section.find("measured"),
                   "make two figures of them");
    f.published = read_measured((folder / file).string());
    f.measured = true;
  }
  section.finish();
  return f;
}

Names study_names(const Experiment& e) {
  Names names;
  for (const Study& s : e.studies) names.push_back(s.name);
  return names;
}

void check_studies(const Experiment& e) {
  std::set<std::string> seen;
  for (const Figure& f : e.figures) {
    const std::string where = fmt::format("{}:{}", e.path, f.line);
    if (!seen.insert(f.name).second)
      throw Error(
          fmt::format("figure '{}' is there twice ({}) - give it another name", f.name, where));
    Names needed = f.studies;
    if (!f.reference_study.empty()) needed.push_back(f.reference_study);
    for (const std::string& name : needed) {
      if (e.study(name) != nullptr) continue;
      throw Error(fmt::format("figure '{}' is of study '{}', which is not there ({}){}", f.name,
                              name, where, config::suggestion(name, study_names(e))));
    }
  }
}

}  // namespace

const OwnProgram* Experiment::program(const std::string& wanted) const {
  for (const OwnProgram& p : programs)
    if (p.name == wanted) return &p;
  return nullptr;
}

const Study* Experiment::study(const std::string& wanted) const {
  for (const Study& s : studies)
    if (s.name == wanted) return &s;
  return nullptr;
}

Experiment parse_experiment(std::string text, const std::string& name, const std::string& file,
                            const std::filesystem::path& folder) {
  Experiment e;
  e.name = name;
  e.path = file;
  e.text = std::move(text);
  config::check_depth(e.text, file);
  toml::table table;
  try {
    table = toml::parse(e.text, file);
  } catch (const toml::parse_error& error) {
    throw config::not_toml(file, error);
  }
  Section top(table, file, e.name);
  e.title = top.text("title", true);
  e.description = top.text("description", true);
  e.source = top.text("source", false);
  e.size = top.text("size", false);
  if (e.size.empty()) e.size = "small";
  for (Section& program : top.sections("program"))
    e.programs.push_back(read_own_program(program, folder));
  for (Section& study : top.sections("study")) e.studies.push_back(read_study(study, folder));
  for (Section& figure : top.sections("figure")) e.figures.push_back(read_figure(figure, folder));
  top.finish();
  if (e.studies.empty())
    throw Error(fmt::format("the experiment has no study ({}:1) - [study.NAME]", file));
  check_studies(e);
  return e;
}

Experiment load_experiment(const std::string& name_or_path) {
  const std::filesystem::path path = config::find_config("experiments", name_or_path);
  const std::string file = path.string();
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream)
    throw file_error(file, fmt::format("cannot read '{}'", file), "is it a readable text file?");
  return parse_experiment(text.str(), path.stem().string(), file, path.parent_path());
}

std::vector<std::string> experiment_names() { return config::config_names("experiments"); }

void keep_only(Experiment& e, const std::vector<std::string>& names) {
  if (names.empty()) return;
  Names all;
  for (const Figure& f : e.figures) all.push_back(f.name);
  for (const std::string& name : names) {
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    throw UsageError(fmt::format("experiment {} has no figure '{}'{}", e.name, name,
                                 config::suggestion(name, all)));
  }
  std::erase_if(e.figures, [&](const Figure& f) {
    return std::find(names.begin(), names.end(), f.name) == names.end();
  });
  std::set<std::string> needed;
  for (const Figure& f : e.figures) {
    needed.insert(f.studies.begin(), f.studies.end());
    if (!f.reference_study.empty()) needed.insert(f.reference_study);
  }
  std::erase_if(e.studies, [&](const Study& s) { return needed.count(s.name) == 0; });
}

}  // namespace nearwarp::experiment
