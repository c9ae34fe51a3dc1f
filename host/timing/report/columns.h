// Text laid out for people: columns side by side, words wrapped, digits grouped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp::report {

struct Column {
  std::string head;
  std::vector<std::string> cells;
  size_t width() const {
    size_t widest = head.size();
    for (const std::string& cell : cells) widest = std::max(widest, cell.size());
    return widest;
  }
};

/// Columns side by side as far as they fit into `width`, the rest in further blocks; `names` label
/// the rows, and `corner`, above them, says what they are.
std::string columns_text(const std::vector<std::string>& names, std::vector<Column> columns,
                         size_t width, const std::string& corner = {});

/// Words wrapped to `width` columns, with a line feed at the end.
std::string wrapped(const std::string& text, size_t width);

/// 1234567 as "1,234,567".
std::string grouped(uint64_t value);

/// `part` of `whole` in percent, "12.3"; "-" of nothing.
std::string percent(uint64_t part, uint64_t whole);

/// `sum` over `count` without decimals; "-" of nothing.
std::string mean(uint64_t sum, uint64_t count);

/// `text` cut to `width` columns, the cut marked.
std::string fitted(const std::string& text, size_t width);

/// The file names of "folder/a.cu:1-2, folder/a.cu:5" without their folders.
std::string without_folders(const std::string& sources);

}  // namespace nearwarp::report
