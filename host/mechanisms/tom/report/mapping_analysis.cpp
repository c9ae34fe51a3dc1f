// The analysis of memory mappings, printed as tables.
#include "host/mechanisms/tom/report/mapping_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "host/timing/report/columns.h"
#include "host/timing/report/table.h"

namespace nearwarp::tom {

using namespace report;
namespace {

std::string percent(double part, double whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f}", 100 * part / whole);
}

/// The name of a mapping by its lowest stack bit: "bits 7:8", or "baseline".
std::string name_of(const MappingAnalysis& a, uint32_t first_bit) {
  if (first_bit == 0) return "baseline";
  const auto bits = static_cast<uint32_t>(std::countr_zero(a.stacks));
  if (bits < 2) return fmt::format("bit {}", first_bit);
  return fmt::format("bits {}:{}", first_bit, first_bit + bits - 1);
}

std::string mean_stacks(const MappingAnalysis& a, const MappingQuality& q) {
  if (a.instances == 0) return "-";
  uint64_t sum = 0;
  for (size_t n = 0; n < q.stacks.size(); ++n) sum += (n + 1) * q.stacks[n];
  return fmt::format("{:.2f}", static_cast<double>(sum) / static_cast<double>(a.instances));
}

std::string rule(size_t width) { return std::string(width, '-') + "\n"; }

std::string heading(const MappingAnalysis& a) {
  std::string text = fmt::format("{}, size {}, on machine {} ({} stacks, lines of {} bytes)\n",
                                 a.workload, a.size, a.machine, a.stacks, a.line_bytes);
  for (const std::string& change : a.overrides) text += fitted("  " + change, 80) + "\n";
  text += fmt::format(
      "{} warp-instructions in {} launch{}\n{} instances of {} offloading candidates, {} line "
      "accesses\n",
      grouped(a.warp_instructions), a.launches, a.launches == 1 ? "" : "es", grouped(a.instances),
      a.candidates.size(), grouped(a.accesses));
  return text;
}

std::string mappings_text(const MappingAnalysis& a) {
  std::string text = fmt::format("{:<14}{:>16}{:>21}{:>17}\n", "mapping", "one stack [%]",
                                 "at destination [%]", "stacks touched");
  text += rule(68);
  const auto row = [&](const MappingQuality& q, bool best) {
    text += fmt::format("{:<14}{:>16}{:>21}{:>17}{}\n", name_of(a, q.first_bit),
                        percent(q.one_stack, a.instances), percent(q.at_destination, a.accesses),
                        mean_stacks(a, q), best ? "  best" : "");
  };
  row(a.baseline, false);
  for (size_t m = 0; m < a.mappings.size(); ++m)
    row(a.mappings[m], a.instances != 0 && m == a.best);
  return text +
         "\none stack: instances all of whose accesses go to one stack; at destination:\n"
         "accesses to the stack of their instance's first one; best: most of these; stacks\n"
         "touched: mean over instances.\n";
}

std::string choices_text(const MappingAnalysis& a) {
  std::string text = fmt::format("{:<14}{:>12}  {:<12}{:>16}{:>21}\n", "chosen from", "instances",
                                 "mapping", "one stack [%]", "at destination [%]");
  text += rule(77);
  const auto row = [&](const std::string& from, uint64_t n, uint32_t bit, uint64_t one_stack,
                       uint64_t at_destination) {
    text += fmt::format("{:<14}{:>12}  {:<12}{:>16}{:>21}\n", from, grouped(n), name_of(a, bit),
                        percent(one_stack, a.instances), percent(at_destination, a.accesses));
  };
  for (const MappingChoice& c : a.choices) {
    row(fmt::format("first {:g} %", c.permille / 10.0), c.instances, c.first_bit, c.one_stack,
        c.at_destination);
  }
  const MappingQuality& best = a.mappings[a.best];
  row("all", a.instances, best.first_bit, best.one_stack, best.at_destination);
  return text + "\nThe percentages are over all instances.\n";
}

std::string patterns_text(const MappingAnalysis& a) {
  std::string text = fmt::format("{:<20} {:>3}  {:<24}{:>10}{:>10}  {}\n", "kernel", "id", "lines",
                                 "instances", "fixed [%]", "category");
  text += rule(80);
  for (const CandidatePattern& c : a.candidates) {
    const bool comparable = c.instances != 0 && c.category != "single access";
    text += fmt::format("{:<20} {:>3}  {:<24}{:>10}{:>10}  {}\n", fitted(c.kernel, 20), c.id,
                        fitted(without_folders(c.source_lines), 24), grouped(c.instances),
                        comparable ? percent(c.fixed_share, 1.0) : "-",
                        c.instances == 0                ? "-"
                        : c.category == "single access" ? "single"
                                                        : c.category);
  }
  uint64_t candidates = 0;
  for (const CategoryRow& row : a.categories) candidates += row.candidates;
  text += fmt::format("\n{:<20}{:>14}{:>8}{:>16}{:>8}\n", "fixed offset", "candidates", "[%]",
                      "instances", "[%]");
  text += rule(66);
  for (const CategoryRow& row : a.categories) {
    text += fmt::format("{:<20}{:>14}{:>8}{:>16}{:>8}\n", row.name, row.candidates,
                        percent(row.candidates, candidates), grouped(row.instances),
                        percent(row.instances, a.instances));
  }
  return text +
         "\nfixed: share of a candidate's accesses that lie at the expected offset from an\n"
         "earlier access of the same instance; single access: there is no earlier one.\n";
}

}  // namespace

std::string format_mapping_analysis(const MappingAnalysis& a) {
  std::string text = heading(a);
  if (a.candidates.empty()) return text + "\nThe program has no offloading candidates.\n";
  text += "\n" + mappings_text(a);
  if (a.instances == 0) {
    text += "\nNo instance counts: conditions do not hold, or candidates access no memory.\n";
  } else {
    text += "\n" + choices_text(a);
  }
  return text + "\n" + patterns_text(a);
}

}  // namespace nearwarp::tom
