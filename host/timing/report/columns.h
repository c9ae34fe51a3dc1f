// Layout of text for a terminal: columns side by side, wrapped words, grouped digits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp::report {

/// A column of a table: its heading, and a cell for each row.
struct Column {
  std::string head;
  std::vector<std::string> cells;
  size_t widest_cell() const {
    size_t widest = 0;
    for (const std::string& cell : cells) widest = std::max(widest, cell.size());
    return widest;
  }
  size_t width() const { return std::max(head.size(), widest_cell()); }
};

/// A table of columns. Those that do not fit into `width` go into further tables below. `names`
/// label the rows; `corner` is the heading of the names.
std::string columns_text(const std::vector<std::string>& names, std::vector<Column> columns,
                         size_t width, const std::string& corner = {});

/// Words wrapped to `width` columns, with a line feed at the end.
std::string wrapped(const std::string& text, size_t width);

/// A number with grouped digits, such as "1,234,567".
std::string grouped(uint64_t value);

/// `part` of `whole` in percent, such as "12.3"; "-" if `whole` is 0.
std::string percent(uint64_t part, uint64_t whole);

/// `sum` over `count` without decimals; "-" if `count` is 0.
std::string mean(uint64_t sum, uint64_t count);

/// `text`, or its beginning and ".." if it has more than `width` characters.
std::string fitted(const std::string& text, size_t width);

/// The file names of "folder/a.cu:1-2, folder/a.cu:5" without their folders.
std::string without_folders(const std::string& sources);

}  // namespace nearwarp::report
