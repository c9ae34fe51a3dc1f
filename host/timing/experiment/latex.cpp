// A figure's numbers as a table of LaTeX.
#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>

#include "host/timing/experiment/tables.h"

namespace nearwarp::experiment {
namespace {

/// Escapes characters that mean something to LaTeX.
std::string latex_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\textbackslash{}";
    else if (c == '~' || c == '^')
      result += fmt::format("\\{}{{}}", c);
    else if (std::string("&%$#_{}").find(c) != std::string::npos)
      result += fmt::format("\\{}", c);
    else
      result += c;
  }
  return result;
}

std::string latex_number(double value) {
  return fmt::format("{:.{}f}", value, value >= 1000 ? 0 : value >= 10 ? 1 : 3);
}

}  // namespace

std::string chart_latex(const Chart& chart) {
  const bool stacked = chart.figure->kind == Kind::kStacked;
  const bool with_series = stacked && chart.series.size() > 1;
  const std::vector<std::string>& columns = stacked ? chart.parts : chart.series;
  std::map<std::tuple<size_t, size_t, size_t>, double> values;
  for (const Cell& c : chart.cells) values[{c.x, c.series, c.part}] = c.value;
  std::string text = fmt::format(
      "% {}{}\n\\begin{{tabular}}{{l{}{}}}\n  \\hline\n  {}{}", chart.figure->title,
      chart.unit.empty() ? "" : fmt::format(" [{}]", chart.unit), with_series ? "l" : "",
      std::string(columns.size(), 'r'), latex_escaped(chart.x_name),
      with_series ? " & " + latex_escaped(chart.series_name) : "");
  for (const std::string& column : columns)
    text += " & " + latex_escaped(column.empty() ? chart.unit : column);
  text += " \\\\\n  \\hline\n";
  const size_t rows = chart.x.size();
  for (size_t i = 0; i < rows; ++i) {
    // The mean over all others comes first.
    const size_t x = !chart.has_summary ? i : i == 0 ? rows - 1 : i - 1;
    for (size_t s = 0; s < (stacked ? chart.series.size() : 1); ++s) {
      std::string cells;
      bool any = false;
      for (size_t column = 0; column < columns.size(); ++column) {
        const auto at = stacked ? values.find({x, s, column}) : values.find({x, column, 0});
        any |= at != values.end();
        cells += " & " + (at == values.end() ? "--" : latex_number(at->second));
      }
      if (any)
        text += fmt::format("  {}{}{} \\\\\n", latex_escaped(chart.x[x]),
                            with_series ? " & " + latex_escaped(chart.series[s]) : "", cells);
    }
    if (chart.has_summary && i == 0) text += "  \\hline\n";
  }
  return text + "  \\hline\n\\end{tabular}\n";
}

}  // namespace nearwarp::experiment
