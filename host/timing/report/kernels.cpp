// Costs of a program's kernels.
#include "host/timing/report/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "host/core/demangle.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/section.h"

namespace nearwarp::report {
namespace {

constexpr size_t kNameWidth = 36;

void add(const KernelSummary& from, KernelSummary& to) {
  to.launches += from.launches;
  to.distinct += from.distinct;
  to.simulated += from.simulated;
  to.estimated_cycles += from.estimated_cycles;
  to.cycles += from.cycles;
  to.warp_instructions += from.warp_instructions;
  to.thread_instructions += from.thread_instructions;
  to.instances += from.instances;
  to.offloaded += from.offloaded;
  if (to.code.empty()) to.code = from.code;
  if (from.registers < to.registers || from.registers_source.empty()) return;
  to.registers = from.registers;
  to.registers_source = from.registers_source;
}

std::string table(const RunResult& run, std::vector<KernelSummary> kernels, size_t width) {
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.cycles > b.cycles; });
  KernelSummary rest;
  const size_t shown = kernels.size() <= kMostKernels ? kernels.size() : kMostKernels - 1;
  for (size_t i = shown; i < kernels.size(); ++i) add(kernels[i], rest);
  std::vector<std::string> names;
  for (size_t i = 0; i < shown; ++i) names.push_back(short_name(kernels[i].kernel));
  if (shown < kernels.size()) {
    names.push_back(fmt::format("{} other kernels", kernels.size() - shown));
    kernels.resize(shown);
    kernels.push_back(rest);
  }
  std::vector<Column> columns;
  for (const char* head : {"launches", "distinct", "cycles", "[%]", "IPC", "offl. [%]"})
    columns.push_back({head, {}});
  for (const KernelSummary& k : kernels) {
    const std::string cells[] = {grouped(k.launches),
                                 grouped(k.distinct),
                                 grouped(k.cycles),
                                 percent(k.cycles, run.cycles),
                                 fmt::format("{:.2f}", k.ipc()),
                                 percent(k.offloaded, k.instances)};
    for (size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return fmt::format("Kernels under {}:\n\n", run.policy) + columns_text(names, columns, width);
}

/// Says how many launches were simulated; empty if all were.
std::string left_out(const std::vector<KernelSummary>& kernels, size_t width) {
  KernelSummary all;
  for (const KernelSummary& k : kernels) add(k, all);
  if (all.simulated == all.launches) return "";
  return "\n" + wrapped(fmt::format("{} of {} launches were simulated, the others repeat them: all "
                                    "figures are of these. With the others, each taken to be as "
                                    "the last one that it repeats: about {} cycles.",
                                    grouped(all.simulated), grouped(all.launches),
                                    grouped(all.estimated_cycles)),
                        width);
}

}  // namespace

std::string short_name(const std::string& kernel) {
  std::string name = demangled(kernel);
  if (name.starts_with("void ")) name.erase(0, 5);
  if (name.size() <= kNameWidth) return name;
  std::string bare;
  int depth = 0;
  for (const char c : name) {
    if (c == '<' || c == '(') ++depth;
    if (depth == 0) bare += c;
    if (c == '>' || c == ')') --depth;
  }
  const size_t scope = bare.rfind("::");
  if (scope != bare.npos) bare.erase(0, scope + 2);
  if (!bare.empty()) name = bare;
  return fitted(name, kNameWidth);
}

std::vector<KernelSummary> summarize_kernels(const RunResult& run) {
  std::vector<KernelSummary> kernels;
  std::unordered_map<std::string, size_t> index;
  const auto entry = [&](const std::string& kernel) -> KernelSummary& {
    const auto [it, is_new] = index.try_emplace(kernel, kernels.size());
    if (is_new) kernels.emplace_back().kernel = kernel;
    return kernels[it->second];
  };
  std::set<uint64_t> alike;  // launches that others repeat, and of these not all need be there
  std::map<std::string, double> parts_of_launches;  // by kernel: that launches stand for, too
  for (const KernelRow& row : run.kernels) {
    const auto weighted = [&](uint64_t n) {
      return row.weight == 1
                 ? n
                 : static_cast<uint64_t>(std::llround(row.weight * static_cast<double>(n)));
    };
    KernelSummary one;
    one.launches = row.stands_for;
    one.distinct = alike.insert(row.alike).second ? 1 : 0;
    one.simulated = 1;
    one.cycles = weighted(row.cycles);
    one.estimated_cycles = one.cycles * row.stands_for;
    one.warp_instructions = weighted(row.warp_instructions);
    one.thread_instructions = weighted(row.thread_instructions);
    if (row.weight != 1) parts_of_launches[row.kernel] += row.weight - 1;
    one.registers = row.registers;
    one.registers_source = row.registers_source;
    one.code = row.code;
    add(one, entry(row.kernel));
  }
  for (const auto& [kernel, more] : parts_of_launches)
    entry(kernel).launches += static_cast<uint64_t>(std::llround(more));
  for (const MechanismReport* m : mechanism_reports()) {
    if (m->work == nullptr) continue;
    for (const KernelWork& work : m->work(run)) {
      KernelSummary& k = entry(work.kernel);
      k.instances += work.instances;
      k.offloaded += work.offloaded;
    }
  }
  return kernels;
}

std::string format_kernels(std::span<const RunResult> runs, size_t width) {
  std::string text;
  for (const RunResult& run : runs) {
    std::vector<KernelSummary> kernels = summarize_kernels(run);
    if (run.kernels.size() < 2) continue;
    const bool sampled = run.launches.has_value() && run.launches->sample.has_value();
    const std::string rest = sampled ? "" : left_out(kernels, width);
    text += (text.empty() ? "" : "\n") + table(run, std::move(kernels), width) + rest;
  }
  if (!text.empty())
    text += "\n" + wrapped(
                       "distinct: the other launches repeat one of these, with the same paths and "
                       "addresses; [%]: of all cycles, more where launches overlap; offl.: "
                       "of the times that warps came to code that may be executed elsewhere, "
                       "those that it was.",
                       width);
  return text;
}

}  // namespace nearwarp::report
