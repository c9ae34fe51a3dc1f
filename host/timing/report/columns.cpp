// Text laid out for people: columns side by side, words wrapped, digits grouped.
#include "host/timing/report/columns.h"

#include <fmt/format.h>

namespace nearwarp::report {
namespace {

constexpr size_t kGap = 2;

/// `text` cut to `width` columns, the cut marked.
std::string fitted(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 2) + "..";
}

}  // namespace

std::string columns_text(const std::vector<std::string>& names, std::vector<Column> columns,
                         size_t width) {
  size_t name_width = 0;
  for (const std::string& name : names) name_width = std::max(name_width, name.size());
  std::string text;
  for (size_t begin = 0; begin < columns.size();) {
    size_t end = begin, used = name_width;
    while (end < columns.size() && (end == begin || used + kGap + columns[end].width() <= width)) {
      used += kGap + columns[end].width();
      end += 1;
    }
    if (used > width) columns[begin].head = fitted(columns[begin].head, width - name_width - kGap);
    if (begin > 0) text += '\n';
    text.append(name_width, ' ');
    used = name_width;
    for (size_t c = begin; c < end; ++c) {
      text += fmt::format("  {:>{}}", columns[c].head, columns[c].width());
      used += kGap + columns[c].width();
    }
    text += '\n';
    text.append(used, '-');
    text += '\n';
    for (size_t row = 0; row < names.size(); ++row) {
      text += fmt::format("{:<{}}", names[row], name_width);
      for (size_t c = begin; c < end; ++c) {
        text += fmt::format("  {:>{}}", columns[c].cells[row], columns[c].width());
      }
      text += "\n";
    }
    begin = end;
  }
  return text;
}

std::string wrapped(const std::string& text, size_t width) {
  std::string result, line, word;
  const auto flush = [&] {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    word.clear();
  };
  for (const char c : text) {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      flush();
    }
  }
  if (!word.empty()) flush();
  return result + line + "\n";
}

std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace nearwarp::report
