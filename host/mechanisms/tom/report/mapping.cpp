// How a policy's data mapping came about, for people.
#include <fmt/format.h>

#include "host/mechanisms/tom/report/sections.h"
#include "host/timing/report/columns.h"

namespace nearwarp::tom {
namespace {

using namespace report;

std::string bits_text(uint32_t first, uint32_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}:{}", first, last);
}

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) / 1e6);
}

std::vector<std::string> labels(const MappingReport& first) {
  std::vector<std::string> names;
  const uint32_t more = first.last_bit - first.first_bit;
  for (const MappingScore& s : first.scores)
    names.push_back(
        fmt::format("bits {} at destination [%]", bits_text(s.first_bit, s.first_bit + more)));
  for (const char* name :
       {"chosen bits", "instances seen", "  of all", "line accesses seen", "learning [cycles]",
        "standstill [cycles]", "ranges remapped", "  of all", "remapped [MB]"})
    names.push_back(name);
  return names;
}

Column column(const RunResult& run) {
  const MappingReport& m = *mapping_of(run);
  Column c;
  c.head = run.policy;
  for (const MappingScore& s : m.scores)
    c.cells.push_back(percent(s.at_destination, m.seen_accesses));
  c.cells.push_back(m.applied ? bits_text(m.first_bit, m.last_bit) : "none");
  c.cells.push_back(grouped(m.seen_instances));
  c.cells.push_back(grouped(m.total_instances));
  c.cells.push_back(grouped(m.seen_accesses));
  // The phase has no time in a part of a program that begins later.
  const bool learnt = m.learnt && m.applied && m.resume_cycle != 0;
  c.cells.push_back(learnt ? grouped(m.interrupt_cycle) : "-");
  c.cells.push_back(learnt ? grouped(m.resume_cycle - m.interrupt_cycle) : "-");
  uint64_t ranges = 0, bytes = 0;
  for (const MappedRange& r : m.ranges) {
    ranges += r.remapped ? 1 : 0;
    bytes += r.remapped ? r.bytes : 0;
  }
  c.cells.push_back(grouped(ranges));
  c.cells.push_back(grouped(m.ranges.size()));
  c.cells.push_back(megabytes(bytes));
  return c;
}

/// "a, b and 2 more"; "2 ranges" if they have no names.
std::string names_of(const MappingReport& m, bool remapped) {
  std::string text;
  uint64_t more = 0;
  for (const MappedRange& r : m.ranges) {
    if (r.remapped != remapped) continue;
    if (r.name.empty() || text.size() > 200) {
      more += 1;
    } else {
      text += (text.empty() ? "" : ", ") + r.name;
    }
  }
  if (more == 0) return text.empty() ? "nothing" : text;
  if (text.empty()) return fmt::format("{} range{}", more, more == 1 ? "" : "s");
  return text + fmt::format(" and {} more", more);
}

std::string remark(const RunResult& run) {
  const MappingReport& m = *mapping_of(run);
  if (!m.applied) {
    if (m.total_instances == 0)
      return "no candidate instance makes a memory access, so nothing is remapped.";
    return fmt::format("the {} ended while the mapping was still being learnt, over PCI-E.",
                       run.partial ? "run" : "program");
  }
  std::string text =
      fmt::format("bits {} choose the stack for {}; baseline mapping for {}.",
                  bits_text(m.first_bit, m.last_bit), names_of(m, true), names_of(m, false));
  if (m.by_few()) text += " " + few_instances_text(m) + ".";
  if (m.learnt && m.resume_cycle != 0 && run.cycles != 0)
    text += fmt::format(" Learning and remapping took {:.0f} % of the run.",
                        100 * run.learning_share());
  if (m.ranges_left_out != 0)
    text +=
        fmt::format(" {} allocations did not fit the memory allocation table.", m.ranges_left_out);
  return text;
}

}  // namespace

std::string few_instances_text(const MappingReport& m) {
  return fmt::format("Only {} of {} instance{} decided: the choice is luck, not learning",
                     grouped(m.seen_instances), grouped(m.total_instances),
                     m.total_instances == 1 ? "" : "s");
}

std::string format_mapping(std::span<const RunResult> runs, size_t width) {
  std::vector<Column> columns;
  const MappingReport* first = nullptr;
  for (const RunResult& run : runs) {
    if (!mapping_of(run).has_value()) continue;
    if (first == nullptr) first = &*mapping_of(run);
    columns.push_back(column(run));
  }
  if (first == nullptr) return "";
  std::string text = wrapped(
      "Data mapping. For each choice of address bits: share of candidate instances' "
      "accesses that go to the stack of the instance's first access.",
      width);
  text += "\n" + columns_text(labels(*first), std::move(columns), width) + "\n";
  for (const RunResult& run : runs)
    if (mapping_of(run).has_value()) text += wrapped(run.policy + ": " + remark(run), width);
  return text;
}

}  // namespace nearwarp::tom
