// Reads measured values for a figure from a file of CSV.
#include "host/timing/experiment/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>

#include "host/core/error_parts.h"
#include "host/timing/report/csv.h"

namespace nearwarp::experiment {
namespace {

constexpr const char* kRight =
    "the first line is x,series,part,value,source, of which x and value are needed";

}  // namespace

std::vector<Published> read_measured(const std::string& path) {
  std::ifstream in(path);
  if (!in)
    throw file_error(path, fmt::format("cannot read the measured values ({})", path), kRight);
  std::string line;
  std::getline(in, line);
  std::map<std::string, size_t> columns;
  for (const std::string& name : report::csv_fields(line)) columns.emplace(name, columns.size());
  for (const char* needed : {"x", "value"})
    if (!columns.contains(needed))
      throw Error(
          fmt::format("measured values have no column '{}' ({}:1) - {}", needed, path, kRight));
  std::vector<Published> values;
  for (int number = 2; std::getline(in, line); ++number) {
    if (line.empty() || line == "\r") continue;
    const std::vector<std::string> fields = report::csv_fields(line);
    const auto field = [&](const char* name) {
      const auto at = columns.find(name);
      return at == columns.end() || at->second >= fields.size() ? "" : fields[at->second];
    };
    Published p{field("x"), field("series"), field("part"), 0, field("source")};
    if (p.source.empty()) p.source = path.substr(path.rfind('/') + 1);
    const std::string text = field("value");
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, p.value);
    if (error != std::errc() || stopped != end || !std::isfinite(p.value))
      throw Error(
          fmt::format("a measured value is '{}' ({}:{}) - write a number", text, path, number));
    values.push_back(std::move(p));
  }
  if (values.empty())
    throw Error(fmt::format("the file has no measured values ({}) - {}", path, kRight));
  return values;
}

}  // namespace nearwarp::experiment
