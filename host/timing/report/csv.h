// Results as CSV (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nearwarp::report {

/// A field, in quotation marks if it needs them.
std::string csv_field(std::string_view text);

/// Fields of a line; quoted ones may have commas in them.
std::vector<std::string> csv_fields(const std::string& line);

/// The elements of the array `rows` of one of our JSON documents, a row each, after a row of names.
/// Columns are what any of them has that is a number, a text or a switch, named by the members
/// joined by dots ("counters.l2.read_hits": a counter is its value); lists are left out.
std::string csv_text(const std::string& document, const char* rows);

}  // namespace nearwarp::report
