// nearwarp list: what workloads, machines, policies, energy files there are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/workloads/workload.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/terminal.h"
#include "host/config/area.h"
#include "host/config/config.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/timing/experiment/definition.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

struct Row {
  std::string name, text;
};

std::string rows_text(const std::vector<Row>& rows) {
  size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.name.size());
  std::string text;
  const std::string indent(width + 2, ' ');
  for (const Row& row : rows) {
    text += fmt::format("{:<{}}  {}\n", row.name, width,
                        wrapped(row.text, output_width() - indent.size(), indent));
  }
  return text;
}

/// nearwarp.list/1. A row without a name goes on with the one before it.
std::string rows_json(const std::string& kind, const std::vector<Row>& rows) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", "nearwarp.list/1"}, {"kind", kind}, {"entries", Json::array()}};
  for (const Row& row : rows) {
    if (row.name.empty())
      json["entries"].back()["source"] = row.text.substr(1, row.text.size() - 2);
    else
      json["entries"].push_back({{"name", row.name}, {"description", row.text}});
  }
  return json.dump(1) + "\n";
}

/// What its name may set: "; NAME:batch=1 to 64".
std::string parameters_of(const workloads::Workload& workload) {
  std::string text;
  for (const workloads::Parameter& p : workload.parameters())
    text += fmt::format("{} :{}= ({})", text.empty() ? ";" : ",", p.name, workloads::range_of(p));
  return text;
}

std::vector<Row> workload_rows() {
  std::vector<Row> rows;
  std::string rolled;
  for (const auto& workload : workloads::all()) {
    if (workload->rolled()) {
      rolled += (rolled.empty() ? "" : ", ") + workload->variant_of();
      continue;
    }
    rows.push_back({workload->name(), workload->description() + parameters_of(*workload)});
    if (!workload->source().empty()) rows.push_back({"", fmt::format("[{}]", workload->source())});
  }
  rows.push_back({"NAME-rolled", "NAME compiled without unrolling its loops: of " + rolled});
  return rows;
}

/// A file that does not load is listed with its error, and does not hide the others.
template <class Load>
std::vector<Row> config_rows(const std::vector<std::string>& names, Load load) {
  std::vector<Row> rows;
  for (const std::string& name : names) {
    try {
      rows.push_back({name, load(name).description});
    } catch (const Error& error) {
      rows.push_back({name, fmt::format("(invalid: {})", error.what())});
    }
  }
  return rows;
}

/// What there is to list, in the order of the help.
struct Kind {
  const char* name;
  std::vector<Row> (*rows)();
};
constexpr Kind kKinds[] = {
    {"workloads", workload_rows},
    {"machines",
     [] {
       return config_rows(config::machine_names(),
                          [](const std::string& n) { return config::load_machine(n); });
     }},
    {"policies",
     [] {
       return config_rows(config::policy_names(),
                          [](const std::string& n) { return config::load_policy(n); });
     }},
    {"energy",
     [] {
       return config_rows(config::energy_names(),
                          [](const std::string& n) { return config::load_energy(n); });
     }},
    {"area",
     [] {
       return config_rows(config::area_names(),
                          [](const std::string& n) { return config::load_area(n); });
     }},
    {"dram",
     [] {
       return config_rows(config::dram_names(),
                          [](const std::string& n) { return config::load_dram(n); });
     }},
    {"experiments",
     [] {
       return config_rows(experiment::experiment_names(),
                          [](const std::string& n) { return experiment::load_experiment(n); });
     }},
};

}  // namespace

Words list_kinds() {
  Words names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

namespace {

CommandLine declare_list() {
  const std::string kinds = fmt::format("{}", fmt::join(list_kinds(), ", "));
  CommandLine line("list", "KIND", "List what there is.\nKIND: " + kinds);
  line.value("json", "write the list to this file (docs/json.md)", "FILE");
  line.offer("", [](const Typed&) { return candidates(list_kinds()); });
  return line;
}

int run_list(const CommandLine& line, const Words& /*application*/) {
  const std::string kinds = fmt::format("{}", fmt::join(list_kinds(), ", "));
  if (line.positional().empty())
    throw UsageError(fmt::format("'nearwarp list' needs a KIND - one of {}", kinds));
  const std::string& what = line.positional()[0];
  for (const Kind& kind : kKinds) {
    if (what != kind.name) continue;
    const std::vector<Row> rows = kind.rows();
    if (line.given("json")) report::write_file(line.text("json"), rows_json(kind.name, rows));
    print(rows_text(rows));
    return 0;
  }
  throw UsageError(fmt::format("cannot list '{}'{}", what, config::suggestion(what, list_kinds())));
}

}  // namespace

Command list_command() {
  return {.name = "list",
          .uses = {{"KIND", "workloads, machines, policies, ..."}},
          .declare = declare_list,
          .least = 0,
          .most = 1,
          .run = run_list};
}

}  // namespace nearwarp::cli
