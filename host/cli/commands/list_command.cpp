// nearwarp list: what workloads, machines, policies, energy files there are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/api/nearwarp/catalogue.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/cli/terminal.h"
#include "host/core/error.h"
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

std::vector<Row> rows_of(const std::vector<CatalogueEntry>& entries) {
  std::vector<Row> rows;
  for (const CatalogueEntry& entry : entries) {
    rows.push_back({entry.name, entry.text()});
    if (!entry.source.empty()) rows.push_back({"", fmt::format("[{}]", entry.source)});
  }
  return rows;
}

CommandLine declare_list() {
  const std::string kinds = fmt::format("{}", fmt::join(catalogue_kinds(), ", "));
  CommandLine line("list", "KIND", "List what there is.\nKIND: " + kinds);
  line.value("json", "write the list to this file (docs/json.md)", "FILE");
  line.offer("", [](const Typed&) { return candidates(catalogue_kinds()); });
  return line;
}

int run_list(const CommandLine& line, const Words& /*application*/) {
  const std::string kinds = fmt::format("{}", fmt::join(catalogue_kinds(), ", "));
  if (line.positional().empty())
    throw UsageError(fmt::format("'nearwarp list' needs a KIND - one of {}", kinds));
  const std::string& what = line.positional()[0];
  const std::vector<CatalogueEntry> entries = taken(catalogue(what));
  if (line.given("json")) report::write_file(line.text("json"), taken(catalogue_document(what)));
  print(rows_text(rows_of(entries)));
  return 0;
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
