// Results as CSV (RFC 4180).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nearwarp::report {

/// A field, in quotation marks if it needs them.
std::string csv_field(std::string_view text);

/// Fields of a line; quoted ones may have commas in them.
std::vector<std::string> csv_fields(const std::string& line);

/// Rows of CSV, made field by field.
class CsvRows {
 public:
  /// Further fields of the row: texts, as csv_field(); numbers, in as few digits as tell them
  /// apart; an optional number that is not there is an empty field.
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

/// The elements of the array `rows` of one of our JSON documents, a row each, after a row of names.
/// Columns are what any of them has that is a number, a text or a switch, named by the members
/// joined by dots ("counters.l2.read_hits": a counter is its value); lists are left out.
std::string csv_text(const std::string& document, const char* rows);

}  // namespace nearwarp::report
