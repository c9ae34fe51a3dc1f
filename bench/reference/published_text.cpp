// Ours beside what is published: tables, CSV, and a page with a scatter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/reference/published.h"
#include "host/timing/report/csv.h"

namespace nearwarp::reference {
namespace {

/// Rows of a class and role together.
struct Group {
  std::string name;
  std::vector<PublishedRow> rows;

  double mean_error() const {
    double sum = 0;
    for (const PublishedRow& r : rows) sum += std::abs(r.error());
    return sum / static_cast<double>(rows.size());
  }
  double largest_error() const {
    double most = 0;
    for (const PublishedRow& r : rows) most = std::max(most, std::abs(r.error()));
    return most;
  }
  /// The correlation of logarithms; below -1 where it is not known: of fewer than three numbers, or
  /// equal ones, or of several units, whose sizes alone would correlate.
  double correlation() const {
    const auto other = [&](const PublishedRow& r) {
      return r.published.unit != rows.front().published.unit;
    };
    if (std::any_of(rows.begin(), rows.end(), other)) return -2;
    const auto n = static_cast<double>(rows.size());
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (const PublishedRow& r : rows) {
      const double a = std::log(r.published.value), b = std::log(r.ours);
      x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
    }
    const double vx = n * xx - x * x, vy = n * yy - y * y;
    return rows.size() < 3 || vx <= 1e-9 || vy <= 1e-9 ? -2 : (n * xy - x * y) / std::sqrt(vx * vy);
  }
};

std::vector<Group> groups_of(const std::vector<PublishedRow>& rows) {
  std::vector<Group> groups;
  const auto add = [&](const std::string& name, auto&& is_in) {
    Group g{name, {}};
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(g.rows), is_in);
    if (!g.rows.empty()) groups.push_back(std::move(g));
  };
  for (const bool set : {true, false})
    for (const char* const of : {"latency", "bandwidth"})
      add(fmt::format("{}, {}", of, set ? "set" : "check"), [&](const PublishedRow& r) {
        return r.published.set == set && r.published.what_class == of;
      });
  add("all that only check", [](const PublishedRow& r) { return !r.published.set; });
  return groups;
}

std::string correlation_text(const Group& g) {
  const double r = g.correlation();
  return r < -1 ? "-" : fmt::format("{:.3f}", r);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

/// Points in a square of logarithmic axes, theirs to the right and ours upwards.
std::string scatter(const std::vector<PublishedRow>& rows, const std::string& of) {
  constexpr double kSide = 320, kEdge = 48;
  double least = 1e300, most = 0;
  for (const PublishedRow& r : rows) {
    if (r.published.what_class != of) continue;
    least = std::min({least, r.ours, r.published.value});
    most = std::max({most, r.ours, r.published.value});
  }
  if (most == 0) return {};
  const double low = std::floor(std::log10(least)), high = std::ceil(std::log10(most) + 1e-9);
  const auto at = [&](double value) { return (std::log10(value) - low) / (high - low) * kSide; };
  std::string svg = fmt::format(
      "<figure><svg viewBox=\"0 0 {0} {0}\" width=\"{0}\" role=\"img\" aria-label=\"{1}\">\n"
      "<rect x=\"{2}\" y=\"0\" width=\"{3}\" height=\"{3}\" fill=\"none\" stroke=\"#888\"/>\n"
      "<line x1=\"{2}\" y1=\"{3}\" x2=\"{0}\" y2=\"0\" stroke=\"#888\"/>\n",
      kSide + kEdge, of, kEdge, kSide);
  for (double e = low; e <= high; ++e) {
    const double p = at(std::pow(10, e));
    svg += fmt::format(
        "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{:g}</text>\n"
        "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{:g}</text>\n",
        kEdge + p, kSide + 16, std::pow(10, e), kEdge - 4, kSide - p + 4, std::pow(10, e));
  }
  for (const PublishedRow& r : rows) {
    if (r.published.what_class != of) continue;
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{}: published {:g}, ours "
        "{:g} {}</title></circle>\n",
        kEdge + at(r.published.value), kSide - at(r.ours),
        r.published.set ? "none\" stroke=\"#06c" : "#c30", escaped(r.published.what),
        r.published.value, r.ours, r.published.unit);
  }
  return svg + fmt::format(
                   "</svg><figcaption>{}: published to the right, ours upwards; rings were used "
                   "to set constants, dots were not</figcaption></figure>\n",
                   of);
}

}  // namespace

std::string published_text(const std::vector<PublishedRow>& rows) {
  std::string out = fmt::format("{:<46} {:<5} {:>9} {:>9} {:>6}\n{:-<79}\n", "", "role",
                                "published", "ours", "error", "");
  for (const PublishedRow& r : rows) {
    const Published& p = r.published;
    out += fmt::format("{:<46} {:<5} {:>9.1f} {:>9.1f} {:>+5.0f}%\n",
                       fmt::format("{} [{}]", p.what, p.unit), p.set ? "set" : "check", p.value,
                       r.ours, 100 * r.error());
  }
  out += fmt::format("\n{:<24} {:>7} {:>20} {:>10} {:>13}\n{:-<79}\n", "", "numbers",
                     "mean absolute error", "largest", "correlation", "");
  for (const Group& g : groups_of(rows))
    out += fmt::format("{:<24} {:>7} {:>19.1f}% {:>9.1f}% {:>13}\n", g.name, g.rows.size(),
                       100 * g.mean_error(), 100 * g.largest_error(), correlation_text(g));
  return out;
}

std::string published_csv(const std::vector<PublishedRow>& rows) {
  report::CsvRows csv;
  csv.add("machine", "class", "what", "role", "unit", "published", "ours", "error", "source");
  csv.end_row();
  for (const PublishedRow& r : rows) {
    const Published& p = r.published;
    csv.add(p.machine, p.what_class, p.what, p.set ? "set" : "check", p.unit, p.value,
            fmt::format("{:.3f}", r.ours), fmt::format("{:.4f}", r.error()), p.source);
    csv.end_row();
  }
  return csv.text();
}

std::string published_page(const std::string& title, const std::vector<PublishedRow>& rows) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<style>body{{font:15px sans-serif;max-width:60em;margin:2em auto}}table{{border-collapse:"
      "collapse}}td,th{{padding:.2em .6em;border-bottom:1px solid #ccc;text-align:left}}"
      "figure{{display:inline-block;margin:1em}}text{{font-size:12px}}</style>\n<h1>{0}</h1>\n"
      "<p>Published numbers are others' measurements of real GPUs; none was measured here.</p>\n",
      escaped(title));
  for (const char* const of : {"latency", "bandwidth"}) out += scatter(rows, of);
  out += "<table><tr><th><th>numbers<th>mean absolute error<th>largest<th>correlation\n";
  for (const Group& g : groups_of(rows))
    out += fmt::format("<tr><td>{}<td>{}<td>{:.1f} %<td>{:.1f} %<td>{}\n", g.name, g.rows.size(),
                       100 * g.mean_error(), 100 * g.largest_error(), correlation_text(g));
  out += "</table>\n<table><tr><th>number<th>role<th>published<th>ours<th>error<th>source\n";
  for (const PublishedRow& r : rows) {
    const Published& p = r.published;
    out += fmt::format("<tr><td>{} [{}]<td>{}<td>{:g}<td>{:.1f}<td>{:+.1f} %<td>{}\n",
                       escaped(p.what), p.unit, p.set ? "set" : "check", p.value, r.ours,
                       100 * r.error(), escaped(p.source));
  }
  return out + "</table>\n</html>\n";
}

}  // namespace nearwarp::reference
