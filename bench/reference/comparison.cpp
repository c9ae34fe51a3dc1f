#include "bench/reference/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/reference/slopes.h"
#include "host/timing/report/csv.h"

namespace nearwarp::reference {
namespace {

const Row* find(const std::vector<Row>& rows, const std::string& run) {
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.figures.run == run; });
  return at == rows.end() ? nullptr : &*at;
}

std::string deviation_text(const std::vector<Row>& rows) {
  std::vector<double> a, b;
  for (const Row& r : rows) {
    a.push_back(r.ours.cycles);
    b.push_back(r.theirs.cycles);
  }
  const Deviation d = deviation(a, b);
  std::string text = fmt::format(
      "cycles of {} runs: geometric mean of the ratios {:.3f}, mean deviation a factor of {:.3f},\n"
      "largest {} ({})",
      rows.size(), d.geometric_mean, d.mean_factor, ratio_text(a[d.largest], b[d.largest]),
      rows[d.largest].name);
  if (rows.size() > 1) text += fmt::format(", correlation of the logarithms {:.4f}", d.correlation);
  return text + "\n";
}

}  // namespace

std::string ratio_text(double a, double b) { return b > 0 ? fmt::format("{:.3f}", a / b) : ""; }

std::string runs_text(const std::vector<Row>& rows) {
  std::string text = fmt::format("{:16}", "");
  for (const Quantity& q : kQuantities)
    text += fmt::format("{:>{}}", q.name, q.value == &Counts::cycles ? 24 : 17);
  text += fmt::format("\n{:16}{:>9}{:>9}{:>6}", "", "ours", "ref.", "ratio");
  for (size_t i = 1; i < kQuantities.size(); ++i) text += fmt::format("{:>9}{:>8}", "ours", "ref.");
  text += "\n" + std::string(16 + 24 + 17 * (kQuantities.size() - 1), '-') + "\n";
  for (const Row& r : rows) {
    text += fmt::format("{:16}", r.name);
    for (const Quantity& q : kQuantities) {
      const double a = r.ours.*q.value, b = r.theirs.*q.value;
      text += q.value == &Counts::cycles ? fmt::format("{:9.0f}{:9.0f}{:6.2f}", a, b, a / b)
                                         : fmt::format("{:9.0f}{:8.0f}", a, b);
    }
    text += '\n';
  }
  return text + "\n" + deviation_text(rows);
}

std::string slopes_text(const std::vector<Row>& rows) {
  std::string text;
  for (const Slope& s : kSlopes) {
    const Row *longer = find(rows, s.longer), *shorter = find(rows, s.shorter);
    if (longer == nullptr || shorter == nullptr) continue;
    const double steps = more_steps(longer->figures, shorter->figures);
    const double a = (longer->ours.cycles - shorter->ours.cycles) / steps,
                 b = (longer->theirs.cycles - shorter->theirs.cycles) / steps;
    text += fmt::format("{:24}{:10.1f}{:10.1f}{:8.2f}\n", s.what, a, b, a / b);
  }
  if (text.empty()) return text;
  return fmt::format("{:24}{:>10}{:>10}{:>8}\n", "cycles per step", "ours", "ref.", "ratio") +
         std::string(52, '-') + "\n" + text;
}

std::string runs_csv(const std::vector<Row>& rows) {
  report::CsvRows csv;
  csv.add("config", "run", "program", "arguments");
  for (const Quantity& q : kQuantities) {
    std::string name = q.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    csv.add(name, name + "_reference", name + "_ratio");
  }
  csv.end_row();
  for (const Row& r : rows) {
    csv.add(r.figures.config, r.figures.run, r.figures.program,
            fmt::format("{}", fmt::join(r.figures.arguments, " ")));
    for (const Quantity& q : kQuantities) {
      const double a = r.ours.*q.value, b = r.theirs.*q.value;
      csv.add(fmt::format("{:.0f}", a), fmt::format("{:.0f}", b), ratio_text(a, b));
    }
    csv.end_row();
  }
  return csv.text();
}

}  // namespace nearwarp::reference
