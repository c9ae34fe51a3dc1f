// Comments of configuration files: all that they say beside their values.
#include "host/config/file_comments.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "host/config/dram_clock.h"
#include "host/config/toml_errors.h"

namespace nearwarp::config {
namespace {

/// Where the line's comment begins; npos: nowhere. Values are on one line each.
size_t comment_begin(const std::string& line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '"' && c == '\\') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      return i;
    }
  }
  return std::string::npos;
}

/// The comment without "# "; empty if there is none.
std::string comment_of(const std::string& line) {
  const size_t at = comment_begin(line);
  if (at == std::string::npos) return "";
  std::string text = line.substr(at + 1);
  if (text.starts_with(' ')) text.erase(0, 1);
  text.erase(text.find_last_not_of(" \t\r") + 1);
  return text;
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t\r") == std::string::npos;
}
bool is_comment(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string::npos && line[first] == '#';
}

class Reader {
 public:
  explicit Reader(std::vector<std::string> lines) : lines_(std::move(lines)) {}

  FileComments read(const toml::table& table) {
    read_head();
    read_table(table, "", false);
    return std::move(comments_);
  }

 private:
  /// Comment lines at the top that a blank line separates from what follows.
  void read_head() {
    size_t end = 0;
    while (end < lines_.size() && is_comment(lines_[end])) ++end;
    if (end < lines_.size() && !is_blank(lines_[end])) return;
    for (size_t i = 0; i < end; ++i) comments_.head.push_back(comment_of(lines_[i]));
    first_ = end;
  }

  /// Comment lines above the line with this index, blank lines between them left out.
  std::vector<std::string> above(size_t line) const {
    size_t begin = line;
    while (begin > first_ && (is_comment(lines_[begin - 1]) || is_blank(lines_[begin - 1])))
      --begin;
    std::vector<std::string> texts;
    for (size_t i = begin; i < line; ++i)
      if (!is_blank(lines_[i])) texts.push_back(comment_of(lines_[i]));
    return texts;
  }

  void add(const std::string& path, size_t line) {
    Remark& remark = comments_.by_path[path];
    remark.before = above(line - 1);
    remark.behind = comment_of(lines_[line - 1]);
  }

  /// `is_inline`: comments are the table's, and not its keys'.
  void read_table(const toml::table& table, const std::string& prefix, bool is_inline) {
    for (const auto& [name, node] : table) {
      const std::string path = prefix + std::string(name.str());
      if (const toml::table* inner = node.as_table()) {
        const size_t line = (inner->is_inline() ? name.source() : node.source()).begin.line;
        // A section's place is also that of those around it that the file does not name.
        if (!is_inline && (inner->is_inline() || lines_[line - 1].starts_with("[" + path + "]")))
          add(path, line);
        read_table(*inner, path + ".", is_inline || inner->is_inline());
        continue;
      }
      if (!is_inline) add(path, name.source().begin.line);
      if (const toml::array* list = node.as_array(); list != nullptr && !is_inline)
        for (size_t i = 0; i < list->size(); ++i)
          if (const auto line = list->get(i)->source().begin.line; line != name.source().begin.line)
            add(element_of(path, i), line);
      std::ostringstream value;
      node.visit([&](const auto& n) { value << n; });
      comments_.by_path[path].value = value.str();
    }
  }

  std::vector<std::string> lines_;
  size_t first_ = 0;  ///< behind the head
  FileComments comments_;
};

}  // namespace

FileComments read_comments(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw unreadable(path);
  std::vector<std::string> lines;
  std::istringstream stream(text.str());
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  try {
    const toml::table table = toml::parse(text.str(), path);
    return Reader(std::move(lines)).read(table);
  } catch (const toml::parse_error& error) {
    throw not_toml(path, error);
  }
}

}  // namespace nearwarp::config
