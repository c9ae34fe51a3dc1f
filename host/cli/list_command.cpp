// nearwarp list: what workloads, machines, policies, energy files there are.
#include <fmt/format.h>

#include <algorithm>

#include "bench/workloads/workload.h"
#include "host/cli/commands.h"
#include "host/config/area.h"
#include "host/config/config.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/timing/experiment/definition.h"

namespace nearwarp::cli {
namespace {

constexpr size_t kColumns = 80;

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
                        wrapped(row.text, kColumns - indent.size(), indent));
  }
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
    rows.push_back({workload->name(), workload->description()});
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

}  // namespace

int list_command(const Words& words) {
  CommandLine line("list", "KIND",
                   "List what there is.\n"
                   "KIND: workloads, machines, policies, energy, area, dram, experiments");
  line.parse(words, 1, 1);
  if (line.help_wanted()) {
    print(line.help());
    return 0;
  }
  const std::string& what = line.positional()[0];
  if (what == "workloads") {
    print(rows_text(workload_rows()));
  } else if (what == "machines") {
    print(rows_text(config_rows(config::machine_names(),
                                [](const std::string& n) { return config::load_machine(n); })));
  } else if (what == "policies") {
    print(rows_text(config_rows(config::policy_names(),
                                [](const std::string& n) { return config::load_policy(n); })));
  } else if (what == "energy") {
    print(rows_text(config_rows(config::energy_names(),
                                [](const std::string& n) { return config::load_energy(n); })));
  } else if (what == "area") {
    print(rows_text(config_rows(config::area_names(),
                                [](const std::string& n) { return config::load_area(n); })));
  } else if (what == "dram") {
    print(rows_text(config_rows(config::dram_names(),
                                [](const std::string& n) { return config::load_dram(n); })));
  } else if (what == "experiments") {
    print(rows_text(config_rows(experiment::experiment_names(), [](const std::string& n) {
      return experiment::load_experiment(n);
    })));
  } else {
    throw UsageError(fmt::format(
        "cannot list '{}'{}", what,
        config::suggestion(
            what, {"workloads", "machines", "policies", "energy", "area", "dram", "experiments"})));
  }
  return 0;
}

}  // namespace nearwarp::cli
