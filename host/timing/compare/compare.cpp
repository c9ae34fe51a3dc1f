// Finds the differences between two runs, or between the runs of two documents.
#include "host/timing/compare/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <tuple>

#include "host/core/error_parts.h"
#include "host/core/json_reason.h"
#include "host/timing/compare/sentence.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/sample.h"
#include "host/timing/report/sms.h"

namespace nearwarp::compare {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string list;
  for (const Json& element : value) list += (list.empty() ? "" : ", ") + text_of(element);
  return list;
}

std::string title_of(const Json& run) {
  std::string title = text_of(run.at("workload"));
  // Applications and recordings have none.
  if (const std::string size = text_of(run.at("size")); !size.empty())
    title += fmt::format(" ({})", size);
  return title +
         fmt::format(" on {} under {}", text_of(run.at("machine")), text_of(run.at("policy")));
}

/// Keys by which two runs are matched, the one that shares most first.
std::string settings_of(const Json& run) { return title_of(run) + run.at("overrides").dump(); }
std::string workload_of(const Json& run) { return text_of(run.at("workload")); }

using Runs = std::vector<const Json*>;

/// Take runs with the same key out of both lists: where there are as many in one as in the other,
/// but not more than `most`, in their order.
std::vector<std::pair<const Json*, const Json*>> take_pairs(Runs& a, Runs& b,
                                                            std::string (*key)(const Json&),
                                                            size_t most) {
  std::map<std::string, std::pair<Runs, Runs>> by_key;
  for (const Json* run : a) by_key[key(*run)].first.push_back(run);
  for (const Json* run : b) by_key[key(*run)].second.push_back(run);
  std::map<const Json*, const Json*> other;
  for (const auto& [k, runs] : by_key)
    if (runs.first.size() == runs.second.size() && runs.first.size() <= most)
      for (size_t i = 0; i < runs.first.size(); ++i) other[runs.first[i]] = runs.second[i];
  std::vector<std::pair<const Json*, const Json*>> pairs;
  for (const Json* run : a)
    if (const auto at = other.find(run); at != other.end()) pairs.push_back(*at);
  for (const auto& [run, partner] : pairs) {
    std::erase(a, run);
    std::erase(b, partner);
  }
  return pairs;
}

/// Numbers of a run that are not the host's, by dotted name.
std::map<std::string, Change> values_of(const Json& run) {
  std::map<std::string, Change> values;
  const auto add = [&](const std::string& name, const Json& value, const std::string& unit) {
    if (value.is_number()) values[name] = {name, unit, value.get<double>(), 0};
  };
  static const std::map<std::string, std::string> units = {
      {"cycles", "core cycles"},
      {"core_mhz", "MHz"},
      {"warp_instructions", "warp-instructions"},
      {"thread_instructions", "thread-instructions"},
      {"offloaded_thread_instructions", "thread-instructions"}};
  for (const auto& [name, value] : run.items()) {
    const auto unit = units.find(name);
    add(name, value, unit == units.end() ? "" : unit->second);
  }
  for (const char* group : {"traffic", "bandwidth_used"})
    for (const auto& [name, value] : run.at(group).items())
      add(std::string(group) + "." + name, value, "");
  if (run.contains("energy")) {
    add("energy.total_joules", run.at("energy").at("total_joules"), "J");
    for (const auto& [name, value] : run.at("energy").at("parts").items())
      add("energy.parts." + name, value, "J");
  }
  for (const auto& [name, counter] : run.at("counters").items())
    add(name, counter.at("value"), text_of(counter.at("unit")));
  return values;
}

/// The counters that say most of a run come first, in this order.
constexpr const char* kHeadlines[] = {"cycles",
                                      "ipc",
                                      "energy.total_joules",
                                      "traffic.gpu_to_memory_bytes",
                                      "traffic.memory_to_gpu_bytes",
                                      "traffic.memory_to_memory_bytes"};
size_t headline(const Change& c) {
  return static_cast<size_t>(std::find(std::begin(kHeadlines), std::end(kHeadlines), c.name) -
                             std::begin(kHeadlines));
}

/// The group within which changes are measured against each other: counters of one unit, and where
/// they have none those of one prefix.
std::string kind_of(const Change& c) {
  return c.unit.empty() ? c.name.substr(0, c.name.find('.')) : c.unit;
}

/// "name: a -> b" for each that differs.
void add_setting(std::vector<std::string>& settings, const std::string& name, const std::string& a,
                 const std::string& b) {
  if (a != b)
    settings.push_back(fmt::format("{}: {} -> {}", name, a.empty() ? "-" : a, b.empty() ? "-" : b));
}

std::string certainty_of(const Json& a, const Json& b) {
  const auto sample = [](const Json& run) -> std::optional<report::SampleReport> {
    if (!run.contains("launches")) return std::nullopt;
    return report::sample_of(run.at("launches"));
  };
  const auto of_a = sample(a), of_b = sample(b);
  if (!of_a && !of_b) return "";
  const auto one = [](const std::optional<report::SampleReport>& s) {
    return s ? fmt::format("within {:.1f} %", 100 * report::cycles_error(*s))
             : std::string("of all launches");
  };
  const auto ratio = report::ratio_error(of_a ? &*of_a : nullptr, of_b ? &*of_b : nullptr);
  return fmt::format(
      "samples of launches, at 95 % confidence: cycles of the first are {}, of the second {}, {}",
      one(of_a), one(of_b),
      ratio ? fmt::format("the change within {:.1f} %", 100 * *ratio)
            : std::string("which are of different launches: of the change that says nothing"));
}

RunDifference difference_of(const Json& a, const Json& b) {
  RunDifference d;
  d.title = title_of(a);
  for (const char* name : {"workload", "size", "machine", "policy", "overrides", "status"})
    add_setting(d.settings, name, text_of(a.at(name)), text_of(b.at(name)));
  if (const report::SmNumbers x = report::sms_of(a), y = report::sms_of(b); x.known() && y.known())
    add_setting(d.settings, "SMs", x.text(), y.text());
  d.certainty = certainty_of(a, b);
  const auto before = values_of(a);
  const auto after = values_of(b);
  for (const auto& [name, value] : before) {
    const auto at = after.find(name);
    if (at == after.end()) {
      d.only_a.push_back(name);
      continue;
    }
    d.compared += 1;
    Change change = value;
    change.after = at->second.before;
    if (change.before != change.after) d.changes.push_back(std::move(change));
  }
  for (const auto& [name, value] : after)
    if (before.count(name) == 0) d.only_b.push_back(name);
  d.cycles = decompose(a, b);
  std::map<std::string, double> largest;
  for (const auto& [name, value] : before)
    if (headline(value) == std::size(kHeadlines)) {
      double& of_kind = largest[kind_of(value)];
      of_kind = std::max(of_kind, std::abs(value.before));
    }
  for (Change& c : d.changes) {
    double most = std::max(largest[kind_of(c)], std::abs(c.after));
    // A count of a few events says little by one more or less.
    constexpr double kFew = 100;
    if (c.before == std::floor(c.before) && c.after == std::floor(c.after))
      most = std::max(most, kFew);
    c.weight = most == 0 ? 0 : std::abs(c.after - c.before) / most;
  }
  std::stable_sort(d.changes.begin(), d.changes.end(), [](const Change& x, const Change& y) {
    return std::tuple(headline(x), -x.weight, -std::abs(x.relative())) <
           std::tuple(headline(y), -y.weight, -std::abs(y.relative()));
  });
  for (const char* name : kHeadlines) {
    const auto x = before.find(name), y = after.find(name);
    if (x == before.end() || y == after.end()) continue;
    d.headlines.push_back(x->second);
    d.headlines.back().after = y->second.before;
  }
  const std::string under =
      text_of(b.at("policy")) == text_of(a.at("policy")) ? "the second" : text_of(b.at("policy"));
  d.sentence = sentence(a, b, text_of(b.at("workload")), under);
  return d;
}

void compare_machines(const Document& a, const Document& b, std::vector<std::string>& settings) {
  if (a.machine.empty() || b.machine.empty()) return;
  std::map<std::string, std::string> other(b.machine.begin(), b.machine.end());
  for (const auto& [key, value] : a.machine) {
    const auto at = other.find(key);
    add_setting(settings, key, value, at == other.end() ? "" : at->second);
    if (at != other.end()) other.erase(at);
  }
  for (const auto& [key, value] : other) add_setting(settings, key, "", value);
}

Document read_lines(const std::string& text, const std::string& path) {
  Document d;
  d.path = path;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const Json json = Json::parse(line);
    if (!text_of(json.at("schema")).starts_with("nearwarp.sweep/"))
      throw Error(fmt::format("'{}' has lines of schema {}", path, text_of(json.at("schema"))));
    d.version = text_of(json.at("nearwarp_version"));
    if (json.contains("run")) d.runs.push_back(json.at("run"));
  }
  return d;
}

std::string number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return fmt::format("{}", static_cast<int64_t>(value));
  return fmt::format("{:.6g}", value);
}

std::string relative_text(const Change& c) {
  if (c.before == 0) return "new";
  if (c.after == 0) return "gone";
  const double r = c.relative();
  return std::abs(r) < 10 ? fmt::format("{:+.2f} %", 100 * r)
                          : fmt::format("x {:.4g}", c.after / c.before);
}

/// `text` behind `indent` blanks; what does not fit is further to the right.
std::string paragraph(size_t indent, const std::string& text, size_t width) {
  constexpr size_t kFurther = 4;
  std::istringstream lines(report::wrapped(text, width - indent - kFurther));
  std::string result;
  for (std::string line; std::getline(lines, line);)
    result += std::string(indent + (result.empty() ? 0 : kFurther), ' ') + line + "\n";
  return result;
}

/// Lists the names, at most so many; 0: all.
std::string list_text(size_t indent, const char* what, const std::vector<std::string>& names,
                      size_t most, size_t width) {
  if (names.empty()) return "";
  const size_t end = most == 0 ? names.size() : std::min(most, names.size());
  std::string text =
      fmt::format("{}: {}", what, fmt::join(names.begin(), names.begin() + end, ", "));
  if (end < names.size()) text += fmt::format(" and {} more (`most`)", names.size() - end);
  return paragraph(indent, text, width);
}

/// Rows of "+5.00 %  cycles  100 -> 105 core cycles"; values that do not fit stand below.
std::string changes_text(std::span<const Change> changes, size_t width) {
  constexpr size_t kNames = 15;  // where they begin
  std::vector<std::string> values;
  size_t longest = 0;
  for (const Change& c : changes) {
    values.push_back(fmt::format("{} -> {}{}{}", number(c.before), number(c.after),
                                 c.unit.empty() ? "" : " ", c.unit));
    if (kNames + c.name.size() + 2 + values.back().size() <= width)
      longest = std::max(longest, c.name.size());
  }
  std::string text;
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::string& name = changes[i].name;
    text += fmt::format("  {:>11}  ", relative_text(changes[i]));
    // In a column as far as there is room for it.
    const size_t room = width - std::min(width, kNames + 2 + values[i].size());
    if (name.size() <= room)
      text += fmt::format("{:<{}}  {}\n", name, std::min(longest, room), values[i]);
    else
      text += fmt::format("{}\n{:{}}{}\n", name, "", kNames + 2, values[i]);
  }
  return text;
}

}  // namespace

double Change::relative() const {
  if (before == 0) return after == 0 ? 0 : std::numeric_limits<double>::infinity();
  return after / before - 1;
}

bool Difference::none() const {
  return settings.empty() && only_a.empty() && only_b.empty() &&
         std::all_of(runs.begin(), runs.end(), [](const RunDifference& r) {
           return r.settings.empty() && r.changes.empty() && r.only_a.empty() && r.only_b.empty();
         });
}

Document document_of(const Json& json, const std::string& path) {
  Document d;
  d.path = path;
  d.version = text_of(json.at("nearwarp_version"));
  for (const auto& [key, value] : json.at("machine").items())
    d.machine.emplace_back(key, text_of(value));
  for (const Json& run : json.at("runs")) d.runs.push_back(run);
  return d;
}

Document read_document(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file)
    throw ErrorWithParts({.what = fmt::format("cannot read '{}'", path),
                          .right = "is it a readable file?",
                          .file = path});
  try {
    const Json json = Json::parse(text.str(), nullptr, false);
    const bool runs =
        json.is_object() && json.contains("schema") && json.at("schema") == "nearwarp.run/1";
    Document document = runs ? document_of(json, path) : read_lines(text.str(), path);
    for (const Json& run : document.runs) difference_of(run, run);  // it has all that is compared
    return document;
  } catch (const Json::exception& error) {
    throw ErrorWithParts(
        {.what = fmt::format("'{}' holds no runs: {}", path, json_reason(error)),
         .right = "give a file of a run's JSON, or lines of a sweep or an experiment",
         .file = path});
  }
}

Difference compare(const Document& a, const Document& b) {
  Difference d;
  add_setting(d.settings, "nearwarp_version", a.version, b.version);
  compare_machines(a, b, d.settings);
  Runs left_a, left_b;
  for (const Json& run : a.runs) left_a.push_back(&run);
  for (const Json& run : b.runs) left_b.push_back(&run);
  const auto match = [&](std::string (*key)(const Json&), size_t most) {
    for (const auto& [run, other] : take_pairs(left_a, left_b, key, most))
      d.runs.push_back(difference_of(*run, *other));
  };
  match(settings_of, a.runs.size());
  match(title_of, 1);
  match(workload_of, 1);
  for (const Json* run : left_a) d.only_a.push_back(title_of(*run));
  for (const Json* run : left_b) d.only_b.push_back(title_of(*run));
  return d;
}

namespace {

/// Cycles, IPC, energy and traffic of both.
std::string headlines_text(const RunDifference& run, size_t width) {
  std::vector<std::string> names;
  report::Column before{"first", {}}, after{"second", {}}, change{"change", {}};
  for (const Change& c : run.headlines) {
    static const std::map<std::string, std::string> kNames = {
        {"ipc", "IPC"},
        {"energy.total_joules", "energy [mJ]"},
        {"traffic.gpu_to_memory_bytes", "GPU->memory [MB]"},
        {"traffic.memory_to_gpu_bytes", "memory->GPU [MB]"},
        {"traffic.memory_to_memory_bytes", "memory<->memory [MB]"}};
    const auto name = kNames.find(c.name);
    names.push_back(name == kNames.end() ? c.name : name->second);
    const auto text = [&](double value) {
      if (c.name.ends_with("_bytes")) return fmt::format("{:.2f}", value / 1e6);
      if (c.name.ends_with("_joules")) return fmt::format("{:.3f}", value * 1e3);
      if (c.name == "ipc") return fmt::format("{:.2f}", value);
      return report::grouped(static_cast<uint64_t>(value));
    };
    before.cells.push_back(text(c.before));
    after.cells.push_back(text(c.after));
    change.cells.push_back(c.before == c.after ? "equal" : relative_text(c));
  }
  return names.empty() ? "" : report::columns_text(names, {before, after, change}, width);
}

/// The changes left when the headlines have been said.
std::span<const Change> beyond_headlines(const RunDifference& run) {
  const auto first = std::find_if(run.changes.begin(), run.changes.end(), [](const Change& c) {
    return headline(c) == std::size(kHeadlines);
  });
  return {first, run.changes.end()};
}

}  // namespace

std::string format(const Difference& d, size_t most, size_t width) {
  std::string text;
  for (const RunDifference& run : d.runs) {
    text += paragraph(0, run.title, width);
    for (const std::string& setting : run.settings) text += paragraph(2, setting, width);
    if (!run.certainty.empty()) text += paragraph(2, run.certainty, width);
    if (run.changes.empty()) {
      text += fmt::format("  all {} values are equal\n\n", run.compared);
      continue;
    }
    text += "\n" + headlines_text(run, width) + "\n";
    if (!run.sentence.empty()) text += report::wrapped(run.sentence + ".", width) + "\n";
  }
  for (const std::string& setting : d.settings) text += paragraph(0, setting, width);
  if (!d.settings.empty()) text += "\n";
  for (const RunDifference& run : d.runs) {
    const std::span<const Change> changes = beyond_headlines(run);
    if (run.changes.empty() && run.only_a.empty() && run.only_b.empty()) continue;
    text += d.runs.size() == 1 ? "" : paragraph(0, run.title, width);
    text += fmt::format("  {} of {} values differ\n", run.changes.size(), run.compared);
    text += format(run.cycles, most, width);
    const size_t shown = most == 0 ? changes.size() : std::min(most, changes.size());
    text += changes_text(changes.first(shown), width);
    if (shown < changes.size())
      text += fmt::format("  and {} that matter less (`most`)\n", changes.size() - shown);
    text += list_text(2, "only in the first", run.only_a, most, width);
    text += list_text(2, "only in the second", run.only_b, most, width);
    text += "\n";
  }
  text += list_text(0, "runs only in the first", d.only_a, 0, width);
  text += list_text(0, "runs only in the second", d.only_b, 0, width);
  if (d.none()) text += "no difference\n";
  return text;
}

Json compare_json(const Difference& d) {
  Json json = {{"schema", "nearwarp.compare/1"}, {"settings", d.settings}};
  json["runs"] = Json::array();
  json["changes"] = Json::array();
  for (const RunDifference& run : d.runs) {
    Json one = {{"title", run.title},
                {"settings", run.settings},
                {"compared", run.compared},
                {"sentence", run.sentence},
                {"cycles", run.cycles.cycles}};
    if (!run.certainty.empty()) one["certainty"] = run.certainty;
    one.update(decomposition_json(run.cycles));
    one["only_first"] = run.only_a;
    one["only_second"] = run.only_b;
    json["runs"].push_back(std::move(one));
    // One list of all, as a table has it.
    for (const Change& c : run.changes) {
      Json change = {{"run", run.title},  {"name", c.name},    {"unit", c.unit},
                     {"first", c.before}, {"second", c.after}, {"relative", nullptr},
                     {"weight", c.weight}};
      if (c.before != 0) change["relative"] = c.relative();
      json["changes"].push_back(std::move(change));
    }
  }
  json["only_first"] = d.only_a;
  json["only_second"] = d.only_b;
  return json;
}

}  // namespace nearwarp::compare
