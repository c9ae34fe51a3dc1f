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
#include "host/core/error.h"
#include "host/timing/experiment/expression.h"

namespace nearwarp::experiment {
namespace {

using Names = std::vector<std::string>;

/// A table of the file, and what of it has been read: what is left at the end is unknown.
class Section {
 public:
  Section(const toml::table& table, std::string file, std::string name)
      : table_(&table), file_(std::move(file)), name_(std::move(name)) {}

  std::string where(const toml::node* node = nullptr) const {
    const auto line = (node != nullptr ? node->source() : table_->source()).begin.line;
    return fmt::format("{}:{}", file_, line == 0 ? 1 : line);
  }
  int line() const { return static_cast<int>(table_->source().begin.line); }

  [[noreturn]] void fail(const std::string& what, const toml::node* node,
                         const std::string& right) const {
    throw Error(fmt::format("{}: {} ({}) - {}", name_, what, where(node), right));
  }

  const toml::node* find(const std::string& key) {
    known_.push_back(key);
    return table_->get(key);
  }

  std::string text(const std::string& key, bool needed) {
    const toml::node* node = find(key);
    if (node == nullptr) {
      if (needed) fail(fmt::format("'{}' is missing", key), nullptr, key + " = \"a text\"");
      return "";
    }
    const auto value = node->value_exact<std::string>();
    if (!value) fail(fmt::format("'{}' is no text", key), node, "put it into quotation marks");
    return *value;
  }

  double number(const std::string& key) {
    const toml::node* node = find(key);
    if (node == nullptr || !node->is_number())
      fail(fmt::format("'{}' is no number", key), node, key + " = 1.25");
    return *node->value<double>();
  }

  /// A list of texts; a single text is a list of one.
  Names list(const std::string& key, bool needed) {
    const toml::node* node = find(key);
    Names names;
    if (node != nullptr && node->is_string()) return {*node->value<std::string>()};
    if (node != nullptr && node->is_array()) {
      for (const toml::node& element : *node->as_array()) {
        const auto value = element.value_exact<std::string>();
        if (!value)
          fail(fmt::format("'{}' holds something else than texts", key), &element,
               "put it into quotation marks");
        names.push_back(*value);
      }
    } else if (node != nullptr) {
      fail(fmt::format("'{}' is no list", key), node, key + " = [\"a\", \"b\"]");
    }
    if (needed && names.empty())
      fail(fmt::format("'{}' names nothing", key), node, key + " = [\"a\", \"b\"]");
    return names;
  }

  /// One of the words.
  template <class Enum>
  Enum choice(const std::string& key, Enum otherwise,
              const std::vector<std::pair<std::string, Enum>>& words) {
    const std::string word = text(key, false);
    if (word.empty()) return otherwise;
    Names valid;
    for (const auto& [name, value] : words) {
      if (name == word) return value;
      valid.push_back(name);
    }
    fail(fmt::format("'{}' cannot be \"{}\"", key, word), table_->get(key),
         fmt::format("allowed: {}", fmt::join(valid, ", ")));
  }

  /// The tables of an array of tables, or of a table of named tables.
  std::vector<Section> sections(const std::string& key) {
    std::vector<Section> found;
    const toml::node* node = find(key);
    if (node == nullptr) return found;
    if (const toml::table* named = node->as_table()) {
      std::vector<std::pair<uint32_t, Section>> in_order;  // toml++ sorts tables by name
      for (const auto& [name, element] : *named) {
        if (!element.is_table())
          fail(fmt::format("'{}.{}' is no section", key, name.str()), &element,
               fmt::format("[{}.{}]", key, name.str()));
        in_order.emplace_back(element.source().begin.line,
                              Section(*element.as_table(), file_, std::string(name.str())));
      }
      std::stable_sort(in_order.begin(), in_order.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (auto& [line, section] : in_order) found.push_back(std::move(section));
      return found;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr) fail(fmt::format("'{}' is no list", key), node, "[[" + key + "]]");
    for (const toml::node& element : *array) {
      if (!element.is_table())
        fail(fmt::format("'{}' holds something else than tables", key), &element,
             "[[" + key + "]]");
      found.emplace_back(*element.as_table(), file_, name_ + "." + key);
    }
    return found;
  }

  const std::string& name() const { return name_; }

  /// Everything else in the table is an error.
  void finish() const {
    for (const auto& [key, node] : *table_) {
      const std::string name(key.str());
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      throw Error(fmt::format("{}: unknown key '{}' ({}){}", name_, name, where(&node),
                              config::suggestion(name, known_)));
    }
  }

 private:
  const toml::table* table_;
  std::string file_, name_;
  Names known_;
};

/// Paths among the names begin in the folder of the file that has them.
Names from_folder(Names names, const std::filesystem::path& folder) {
  for (std::string& name : names)
    if (config::is_path(name) && !folder.empty()) name = (folder / name).string();
  return names;
}

/// The same for "key=a,b" where the key names files.
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
  Study study;
  study.name = section.name();
  study.about = section.text("about", false);
  study.workloads = section.list("workloads", true);
  study.machines = from_folder(section.list("machines", true), folder);
  study.policies = from_folder(section.list("policies", true), folder);
  for (const std::string& text : section.list("set", false))
    study.set.push_back(set_from_folder(text, folder));
  section.finish();
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

/// What is written wrongly in an expression is known before anything runs.
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

Figure read_figure(Section section) {
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

const Study* Experiment::study(const std::string& wanted) const {
  for (const Study& s : studies)
    if (s.name == wanted) return &s;
  return nullptr;
}

Experiment load_experiment(const std::string& name_or_path) {
  const std::filesystem::path path = config::find_config("experiments", name_or_path);
  const std::string file = path.string();
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw Error(fmt::format("cannot read '{}' - is it a readable text file?", file));
  Experiment e;
  e.name = path.stem().string();
  e.path = file;
  e.text = text.str();
  toml::table table;
  try {
    table = toml::parse(e.text, file);
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("not valid TOML ({}:{}): {} - see https://toml.io", file,
                            error.source().begin.line, error.description()));
  }
  Section top(table, file, e.name);
  e.title = top.text("title", true);
  e.description = top.text("description", true);
  e.source = top.text("source", false);
  e.size = top.text("size", true);
  for (Section& study : top.sections("study"))
    e.studies.push_back(read_study(study, path.parent_path()));
  for (Section& figure : top.sections("figure")) e.figures.push_back(read_figure(figure));
  top.finish();
  if (e.studies.empty())
    throw Error(fmt::format("the experiment has no study ({}:1) - [study.NAME]", file));
  check_studies(e);
  return e;
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
