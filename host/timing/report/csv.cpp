// Reads and writes CSV, and makes it of JSON documents.
#include "host/timing/report/csv.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace nearwarp::report {
namespace {

using Json = nlohmann::ordered_json;

/// A table whose columns are in the order in which their names first come up. A row has its fields
/// by column.
struct Table {
  std::vector<std::string> names;
  std::map<std::string, size_t> places;
  std::vector<std::map<size_t, std::string>> rows;

  void put(const std::string& name, const Json& value) {
    const auto [at, is_new] = places.try_emplace(name, names.size());
    if (is_new) names.push_back(name);
    rows.back()[at->second] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  void add(const std::string& path, const Json& value) {
    if (value.is_null() || value.is_array()) return;
    if (!value.is_object()) return put(path, value);
    if (value.contains("value") && value.contains("unit")) return put(path, value.at("value"));
    for (const auto& [name, part] : value.items())
      add(path.empty() ? name : path + "." + name, part);
  }
};

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

void CsvRows::put(std::string_view text) {
  if (!begins_) text_ += ',';
  begins_ = false;
  text_ += csv_field(text);
}

void CsvRows::put(double number) { put(fmt::format("{}", number)); }
void CsvRows::put_count(uint64_t number) { put(fmt::format("{}", number)); }

std::string csv_text(const std::string& document, const char* rows) {
  Table table;
  const Json json = Json::parse(document);
  for (const Json& element : json.at(rows)) {
    table.rows.emplace_back();
    table.add("", element);
  }
  CsvRows csv;
  for (const std::string& name : table.names) csv.add(name);
  csv.end_row();
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < table.names.size(); ++i) {
      const auto at = row.find(i);
      csv.add(at == row.end() ? std::string() : at->second);
    }
    csv.end_row();
  }
  return csv.text();
}

}  // namespace nearwarp::report
