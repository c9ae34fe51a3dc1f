// Lays out text for a terminal.
#include "host/timing/report/columns.h"

#include <fmt/format.h>

namespace nearwarp::report {
namespace {

constexpr size_t kGap = 2;  // blanks between two columns

}  // namespace

std::string columns_text(const std::vector<std::string>& names, std::vector<Column> columns,
                         size_t width, const std::string& corner) {
  size_t name_width = corner.size();
  for (const std::string& name : names) name_width = std::max(name_width, name.size());
  std::string text;
  for (size_t begin = 0; begin < columns.size();) {
    size_t end = begin, used = name_width;
    while (end < columns.size() && (end == begin || used + kGap + columns[end].width() <= width)) {
      used += kGap + columns[end].width();
      end += 1;
    }
    if (used > width) {
      // The cells take their room whatever the heading does.
      const size_t left = width > name_width + kGap ? width - name_width - kGap : 0;
      std::string& head = columns[begin].head;
      head = fitted(head, std::max(left, columns[begin].widest_cell()));
    }
    if (begin > 0) text += '\n';
    text += fmt::format("{:<{}}", corner, name_width);
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

std::string percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f}", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string mean(uint64_t sum, uint64_t count) {
  if (count == 0) return "-";
  return fmt::format("{:.0f}", static_cast<double>(sum) / static_cast<double>(count));
}

std::string fitted(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  return width < 2 ? text.substr(0, width) : text.substr(0, width - 2) + "..";
}

std::string without_folders(const std::string& sources) {
  std::string text;
  for (size_t at = 0; at < sources.size();) {
    const size_t end = std::min(sources.find(", ", at), sources.size());
    const std::string one = sources.substr(at, end - at);
    const size_t slash = one.rfind('/');
    text += (text.empty() ? "" : ", ") + (slash == std::string::npos ? one : one.substr(slash + 1));
    at = end + 2;
  }
  return text;
}

}  // namespace nearwarp::report
