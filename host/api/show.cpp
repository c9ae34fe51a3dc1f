// A file with the values in effect, as TOML that can be loaded.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "host/api/failure.h"
#include "host/api/nearwarp/catalogue.h"
#include "host/config/area.h"
#include "host/config/config.h"
#include "host/config/dram_clock.h"
#include "host/config/file_comments.h"
#include "host/config/find.h"
#include "host/config/nearest.h"
#include "host/config/overrides.h"
#include "host/config/schema.h"
#include "host/core/json_as_text.h"
#include "host/core/wrapped.h"
#include "host/timing/experiment/definition.h"
#include "host/timing/report/json.h"

namespace nearwarp {
namespace {

/// A kind of file, and how its files are shown.
struct Shown {
  std::string path;                          ///< path of the file
  std::vector<config::KeyDescription> keys;  ///< keys with the values in effect
  std::string note;                          ///< a note for the first line of the text
  /// Where a value comes from that neither the file nor --set has; empty: the key's default.
  std::function<std::string(const std::string& key)> elsewhere = [](const auto&) { return ""; };
};

/// `text` as comment lines of at most 80 columns.
std::string comment(const std::string& text) { return "# " + wrapped(text, 78, "# ") + "\n"; }

/// A file's own comment lines; wrapped if they are wider.
std::string comments(const std::vector<std::string>& lines) {
  std::string text, whole;
  bool fit = true;
  for (const std::string& line : lines) {
    text += (line.empty() ? "#" : "# " + line) + "\n";
    whole += (whole.empty() ? "" : " ") + line;
    fit = fit && line.size() <= 78;
  }
  return fit ? text : comment(whole);
}

/// Its values' sources are the file's; what --set changes says so.
class FileText {
 public:
  FileText(const Shown& shown, const std::vector<std::string>& changes)
      : shown_(shown), file_(config::read_comments(shown.path)), changes_(changes) {}

  std::string of(const std::string& title) {
    std::string text = comment(title);
    if (!file_.head.empty()) text += "#\n" + comments(file_.head);
    std::string section;
    for (const config::KeyDescription& key : shown_.keys) {
      const size_t dot = key.key.rfind('.');
      if (key.key.substr(0, dot) != section) {
        section = key.key.substr(0, dot);
        text += "\n" + header(section);
      }
      text += key_text(key);
    }
    return text;
  }

 private:
  /// With the comments of sections around it that have no keys of their own.
  std::string header(const std::string& section) {
    std::string text;
    for (size_t end = section.find('.');; end = section.find('.', end + 1)) {
      const std::string path = section.substr(0, end);
      const config::Remark& r = file_.by_path[path];
      if (headed_.insert(path).second) {
        text += comments(r.before);
        if (path != section && !r.behind.empty())
          text += comment(fmt::format("[{}]: {}", path, r.behind));
      }
      if (path != section) continue;
      return text + with_remark(fmt::format("[{}]", section), r.behind);
    }
  }

  std::string key_text(const config::KeyDescription& key) {
    const config::Remark& r = file_.by_path[key.key];
    const std::string meaning = comment(
        fmt::format("{} ({}{}{})", key.doc, key.unit, key.unit.empty() ? "" : ": ", key.range));
    // A file that this command has printed has the meanings already.
    std::string before = comments(r.before);
    if (!before.ends_with(meaning)) before += meaning;
    if (key.value.starts_with("[\"")) return before + list_text(key, r);
    return before +
           with_remark(fmt::format("{} = {}", key.key.substr(key.key.rfind('.') + 1), key.value),
                       source(key.key, r));
  }

  /// A list of texts, a line for each; no text has a quotation mark in it.
  std::string list_text(const config::KeyDescription& key, const config::Remark& r) {
    const std::string own = source(key.key, r);
    std::string text =
        with_remark(fmt::format("{} = [", key.key.substr(key.key.rfind('.') + 1)), own);
    size_t index = 0;
    for (size_t at = 1; at < key.value.size();) {
      const size_t end = key.value.find('"', at + 1) + 1;
      const bool last = key.value[end] == ']';
      // The file's remarks are on its own texts.
      const std::string remark = change_of(key.key).empty()
                                     ? file_.by_path[config::element_of(key.key, index++)].behind
                                     : "";
      text += with_remark(fmt::format("  {}{}", key.value.substr(at, end - at), last ? "" : ","),
                          remark);
      at = end + 2;
    }
    return text + "]\n";
  }

  static std::string with_remark(const std::string& text, const std::string& remark) {
    constexpr size_t kColumn = 39;  // as in the files that come with the program
    if (remark.empty()) return text + "\n";
    return fmt::format("{:<{}}# {}\n", text, std::max(kColumn, text.size() + 1), remark);
  }

  std::string source(const std::string& key, const config::Remark& r) const {
    if (const std::string change = change_of(key); !change.empty()) {
      std::string text = "set";
      if (!r.value.empty()) text += fmt::format(", the file has {}", r.value);
      if (!r.behind.empty()) text += ": " + r.behind;
      return text;
    }
    if (!r.value.empty()) return r.behind;
    const std::string from = shown_.elsewhere(key);
    return from.empty() ? "default" : from;
  }

  /// The last --set of a key; empty if there is none.
  std::string change_of(const std::string& key) const {
    std::string last;
    for (const std::string& change : changes_)
      if (config::split_override(change).key == key) last = change;
    return last;
  }

  const Shown& shown_;
  config::FileComments file_;
  const std::vector<std::string>& changes_;
  std::set<std::string> headed_;
};

/// A machine's file names its energy file and has none of its keys: --set must not seem to work.
void refuse_energy_keys(const config::MachineConfig& machine,
                        const std::vector<std::string>& changes) {
  for (const std::string& change : changes) {
    const std::string_view key = config::split_override(change).key;
    if (config::find_key<config::EnergyConfig>(key) == nullptr) continue;
    throw UsageError(
        fmt::format("{} is no key of a machine file (`set` {}) - it is one of the energy file, "
                    "{}, and set there",
                    key, change, machine.energy_model));
  }
}

/// The text lists all timings, so it names no standard; and it may be put anywhere.
Shown show_machine(const std::string& name, const std::vector<std::string>& changes) {
  const config::MachineConfig machine = config::load_machine(name, changes);
  refuse_energy_keys(machine, changes);
  Shown shown{machine.path, config::describe(machine), ""};
  for (config::KeyDescription& key : shown.keys)
    if (key.key == "energy.model" && config::is_path(machine.energy_model))
      key.value = fmt::format(
          "\"{}\"", std::filesystem::absolute(machine.energy.path).lexically_normal().string());
  if (machine.dram.standard == "none") return shown;
  for (config::KeyDescription& key : shown.keys)
    if (key.key == "dram.standard") key.value = "\"none\"";
  const std::string standard = machine.dram.standard;
  shown.note = ", timings of " + standard;
  shown.elsewhere = [standard](const std::string& key) {
    return key.starts_with("dram.t") || key == "dram.constraints" ? standard : std::string();
  };
  return shown;
}

template <class Config>
Shown shown_as(const Config& config) {
  return {config.path, config::describe(config), ""};
}

Shown shown_file(const std::string& kind, const std::string& name,
                 const std::vector<std::string>& changes) {
  if (kind == "machine") return show_machine(name, changes);
  if (kind == "policy") return shown_as(config::load_policy(name, changes));
  if (kind == "energy") return shown_as(config::load_energy(name, changes));
  if (kind == "area") return shown_as(config::load_area(name, changes));
  if (kind == "dram") return shown_as(config::load_dram(name, changes));
  throw UsageError(fmt::format("cannot show '{}'{}", kind, config::suggestion(kind, file_kinds())));
}

/// nearwarp.show/1.
std::string document_of(const ShownFile& file) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", "nearwarp.show/1"}, {"kind", file.kind},       {"name", file.name},
               {"path", file.path},           {"changes", file.changes}, {"keys", Json::object()}};
  for (const Key& key : file.keys) {
    json["keys"][key.name] = {{"value", report::value_json(key.value)},
                              {"unit", key.unit},
                              {"range", key.range},
                              {"meaning", key.doc}};
  }
  return json_as_text(json, 1) + "\n";
}

std::string document_of(const experiment::Experiment& e) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", "nearwarp.show/1"},
               {"kind", "experiment"},
               {"name", e.name},
               {"path", e.path},
               {"title", e.title},
               {"description", e.description},
               {"source", e.source},
               {"size", e.size},
               {"studies", Json::array()},
               {"figures", Json::array()}};
  for (const experiment::Study& s : e.studies)
    json["studies"].push_back({{"name", s.name},
                               {"about", s.about},
                               {"workloads", s.workloads},
                               {"machines", s.machines},
                               {"policies", s.policies},
                               {"set", s.set}});
  for (const experiment::Figure& f : e.figures)
    json["figures"].push_back(
        {{"name", f.name}, {"title", f.title}, {"about", f.about}, {"studies", f.studies}});
  return json_as_text(json, 1) + "\n";
}

ShownFile shown_experiment(ShownFile file) {
  if (!file.changes.empty())
    throw UsageError("an experiment has no keys (`set`) - copy the file and change that");
  const experiment::Experiment e = experiment::load_experiment(file.name);
  file.path = e.path;
  file.text = e.text;
  file.document = document_of(e);
  return file;
}

}  // namespace

Expected<ShownFile> show(const std::string& kind, const std::string& name, Texts changes) {
  return guarded([&] {
    ShownFile file;
    file.kind = kind;
    file.name = name;
    file.changes.assign(changes.begin(), changes.end());
    if (kind == "experiment") return shown_experiment(std::move(file));
    const Shown shown = shown_file(kind, name, file.changes);
    file.path = shown.path;
    for (const config::KeyDescription& k : shown.keys)
      file.keys.push_back({k.key, k.value, k.unit, k.doc, k.range, {}});
    std::string title = fmt::format("{} {}, from {}{}", kind, name, shown.path, shown.note);
    for (const std::string& change : file.changes) title += ", " + change;
    file.text = FileText(shown, file.changes).of(title);
    file.document = document_of(file);
    return file;
  });
}

}  // namespace nearwarp
