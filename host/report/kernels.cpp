// What a program's kernels took.
#include "host/report/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "host/core/demangle.h"
#include "host/report/columns.h"

namespace nearwarp::report {
namespace {

constexpr size_t kMostKernels = 24;  // of a table
constexpr size_t kNameWidth = 36;

/// Where space is short, without parameters, template arguments and namespaces.
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
  return name.size() <= kNameWidth ? name : name.substr(0, kNameWidth - 2) + "..";
}

void add(const KernelSummary& from, KernelSummary& to) {
  to.launches += from.launches;
  to.cycles += from.cycles;
  to.warp_instructions += from.warp_instructions;
  to.thread_instructions += from.thread_instructions;
  to.instances += from.instances;
  to.offloaded += from.offloaded;
}

std::string table(const RunResult& run, std::vector<KernelSummary> kernels) {
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
  std::vector<Column> columns(5);
  const char* heads[] = {"launches", "cycles", "[%]", "IPC", "offl. [%]"};
  for (size_t i = 0; i < columns.size(); ++i) columns[i].head = heads[i];
  for (const KernelSummary& k : kernels) {
    const auto percent = [](uint64_t part, uint64_t whole) {
      return whole == 0 ? std::string("-")
                        : fmt::format("{:.1f}",
                                      100 * static_cast<double>(part) / static_cast<double>(whole));
    };
    columns[0].cells.push_back(grouped(k.launches));
    columns[1].cells.push_back(grouped(k.cycles));
    columns[2].cells.push_back(percent(k.cycles, run.cycles));
    columns[3].cells.push_back(fmt::format("{:.2f}", k.ipc()));
    columns[4].cells.push_back(percent(k.offloaded, k.instances));
  }
  return fmt::format("Kernels under {}:\n\n", run.policy) + columns_text(names, columns, 80);
}

}  // namespace

std::vector<KernelSummary> summarize_kernels(const RunResult& run) {
  std::vector<KernelSummary> kernels;
  std::unordered_map<std::string, size_t> index;
  const auto entry = [&](const std::string& kernel) -> KernelSummary& {
    const auto [it, is_new] = index.try_emplace(kernel, kernels.size());
    if (is_new) kernels.emplace_back().kernel = kernel;
    return kernels[it->second];
  };
  for (const KernelRow& row : run.kernels)
    add({row.kernel, 1, row.cycles, row.warp_instructions, row.thread_instructions, 0, 0},
        entry(row.kernel));
  for (const CandidateRow& row : run.candidates) {
    KernelSummary& k = entry(row.kernel);
    k.instances += row.instances;
    k.offloaded += row.offloaded;
  }
  return kernels;
}

std::string format_kernels(std::span<const RunResult> runs) {
  std::string text;
  for (const RunResult& run : runs) {
    std::vector<KernelSummary> kernels = summarize_kernels(run);
    if (kernels.size() < 2) continue;
    text += (text.empty() ? "" : "\n") + table(run, std::move(kernels));
  }
  if (!text.empty())
    text += "\n" + wrapped(
                       "[%]: of all cycles; offl.: offloaded instances of the kernel's "
                       "offloading candidates.",
                       80);
  return text;
}

}  // namespace nearwarp::report
