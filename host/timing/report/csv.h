// Reading and writing of CSV (RFC 4180).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nearwarp::report {

/// A text as a field, in quotation marks if it needs them.
std::string csv_field(std::string_view text);

/// The fields of a line. Quoted ones may have commas, but no line feeds.
std::vector<std::string> csv_fields(const std::string& line);

/// Writes rows of CSV, field by field.
class CsvRows {
 public:
  /// Add fields to the row: texts as csv_field() writes them; numbers in as few digits as tell them
  /// apart; an empty field for an optional number without a value.
  template <class... Fields>
  void add(const Fields&... fields) {
    (put(fields), ...);
  }
  void add_empty(size_t fields) {
    for (size_t i = 0; i < fields; ++i) put(std::string_view());
  }
  void end_row() {
    text_ += '\n';
    begins_ = true;
  }
  const std::string& text() const { return text_; }

 private:
  void put(std::string_view text);
  void put(double number);
  void put(std::unsigned_integral auto number) { put_count(number); }
  void put(const std::optional<double>& number) {
    if (number) return put(*number);
    put(std::string_view());
  }
  void put_count(uint64_t number);

  std::string text_;
  bool begins_ = true;
};

/// The elements of the array `rows` of a JSON document of nearwarp, a row each, after a row of
/// names. There is a column for every number, text and truth value that an element has, named by
/// its path joined by dots, such as "counters.l2.read_hits" for a counter's value. Lists are left
/// out. Throws nlohmann::json::exception if the document is no JSON or has no such array.
std::string csv_text(const std::string& document, const char* rows);

}  // namespace nearwarp::report
