// The table of registers per thread, by kernel.
#include "host/timing/report/registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "host/timing/report/columns.h"
#include "host/timing/report/kernels.h"

namespace nearwarp::report {

namespace {

std::string rows(const RunResult& run, size_t width) {
  const std::vector<KernelSummary> kernels = summarize_kernels(run);
  std::vector<std::string> names;
  Column registers{"registers", {}}, from{"counted by", {}}, code{"code", {}};
  const size_t shown = kernels.size() <= kMostKernels ? kernels.size() : kMostKernels - 1;
  bool any_code = false;  // kernels that come from traces have no code
  for (size_t i = 0; i < shown; ++i) {
    names.push_back(short_name(kernels[i].kernel));
    registers.cells.push_back(std::to_string(kernels[i].registers));
    from.cells.push_back(kernels[i].registers_source);
    code.cells.push_back(kernels[i].code);
    any_code = any_code || !kernels[i].code.empty();
  }
  if (names.empty()) return "";
  std::vector<Column> columns = {std::move(registers), std::move(from)};
  if (any_code) columns.push_back(std::move(code));
  std::string text = columns_text(names, std::move(columns), width);
  if (shown < kernels.size())
    text += fmt::format("({} other kernels: the document has all)\n", kernels.size() - shown);
  return text;
}

}  // namespace

std::string format_registers(std::span<const RunResult> runs, size_t width) {
  // Policies with the same numbers share a table.
  std::vector<std::pair<std::string, std::vector<std::string>>> tables;
  for (const RunResult& run : runs) {
    std::string text = rows(run, width);
    if (text.empty()) continue;
    const auto at = std::find_if(tables.begin(), tables.end(),
                                 [&](const auto& table) { return table.first == text; });
    if (at != tables.end())
      at->second.push_back(run.policy);
    else
      tables.push_back({std::move(text), {run.policy}});
  }
  std::string text;
  for (const auto& [table, policies] : tables) {
    const std::string under =
        tables.size() == 1 ? "" : fmt::format(" under {}", fmt::join(policies, ", "));
    if (!text.empty()) text += "\n";
    text += wrapped(
        fmt::format("Registers per thread{}, by which thread blocks are placed:", under), width);
    text += "\n" + table;
  }
  return text;
}

}  // namespace nearwarp::report
