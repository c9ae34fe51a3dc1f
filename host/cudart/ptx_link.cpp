// Links the PTX of several translation units.
//
// Text is cut into tokens and these into statements of the module's level: directives, variables,
// functions. Statements are taken over as they are but for renamed names and numbers of files.
#include "host/cudart/ptx_link.h"

#include <fmt/format.h>

#include <cctype>
#include <set>
#include <string_view>
#include <unordered_map>

#include "host/core/error.h"

namespace nearwarp::cudart {

namespace {

constexpr int kFilesPerUnit = 1000;  // numbers of .file are made different by this

enum class Linkage { kLocal, kExtern, kVisible, kWeak };
enum class Kind { kHeader, kVariable, kDeclaration, kFunction, kFile, kDropped };

struct Statement {
  Kind kind = Kind::kDropped;
  Linkage linkage = Linkage::kLocal;
  std::string name;
  std::vector<std::string_view> tokens;  ///< with the blanks and comments between them
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
bool is_blank(std::string_view token) {
  return std::isspace(static_cast<unsigned char>(token[0])) || token.starts_with("//") ||
         token.starts_with("/*");
}
bool is_name(std::string_view token) {
  const char c = token[0];
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

size_t end_of(std::string_view text, size_t at, std::string_view mark) {
  const size_t found = text.find(mark, at);
  return found == std::string_view::npos ? text.size() : found + mark.size();
}

std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text.substr(at, 2) == "//") {
      end = end_of(text, at, "\n");
    } else if (text.substr(at, 2) == "/*") {
      end = end_of(text, at + 2, "*/");
    } else if (text[at] == '"') {
      end = end_of(text, at + 1, "\"");
    } else if (is_word(text[at])) {
      while (end < text.size() && is_word(text[end])) ++end;
    } else if (std::isspace(static_cast<unsigned char>(text[at]))) {
      while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end]))) ++end;
    }
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

/// What a statement is, and of which name, by its tokens.
void classify(Statement& s) {
  int depth = 0;
  bool is_function = false, has_body = false;
  for (const std::string_view t : s.tokens) {
    if (t == "{") has_body = true;
    if (t == "(" || t == "{") ++depth;
    if (t == ")" || t == "}") --depth;
    if (depth != 0 || is_blank(t)) continue;
    if (t == ".extern") s.linkage = Linkage::kExtern;
    if (t == ".visible") s.linkage = Linkage::kVisible;
    if (t == ".weak" || t == ".common") s.linkage = Linkage::kWeak;
    if (t == ".func" || t == ".entry") is_function = true;
    if (t == ".global" || t == ".const" || t == ".shared") s.kind = Kind::kVariable;
    if (t == ".version" || t == ".target" || t == ".address_size") s.kind = Kind::kHeader;
    if (t == ".file") s.kind = Kind::kFile;
    if (s.name.empty() && is_name(t)) s.name = t;
  }
  if (is_function) s.kind = has_body ? Kind::kFunction : Kind::kDeclaration;
}

/// Directives that end with their line; all others end with ';' or a body.
bool ends_with_line(std::string_view token) {
  return token == ".version" || token == ".target" || token == ".address_size" || token == ".file";
}

std::vector<Statement> statements_of(const std::string& text) {
  std::vector<Statement> statements;
  Statement current;
  int braces = 0, parentheses = 0;
  bool line_directive = false, started = false, is_section = false, initialiser = false;
  const auto finish = [&] {
    classify(current);
    if (is_section) current.kind = Kind::kDropped;
    statements.push_back(std::move(current));
    current = Statement{};
    line_directive = started = is_section = initialiser = false;
  };
  for (const std::string_view t : tokens_of(text)) {
    if (started && line_directive && is_blank(t) && t.find('\n') != t.npos) finish();
    if (!started && is_blank(t)) continue;
    if (!started) {
      started = true;
      line_directive = ends_with_line(t);
      is_section = t == ".section";
    }
    current.tokens.push_back(t);
    if (t == "(") ++parentheses;
    if (t == ")") --parentheses;
    if (t == "=") initialiser = true;
    if (t == "{") ++braces;
    if (t == "}" && --braces == 0 && !initialiser) finish();
    if (t == ";" && braces == 0 && parentheses == 0) finish();
    if (braces < 0) throw Error("cannot link PTX: a '}' has no '{'");
  }
  if (line_directive) finish();
  if (started || braces != 0) throw Error("cannot link PTX: its text ends within a statement");
  return statements;
}

using Renames = std::unordered_map<std::string_view, std::string>;

/// The statement's text, renamed; `.extern` is left out if the name is defined somewhere.
std::string text_of(const Statement& s, const Renames& renames, int unit, bool is_defined) {
  std::string text;
  bool number_follows = false;
  for (const std::string_view t : s.tokens) {
    if (t.starts_with("//")) continue;
    if (t == ".extern" && is_defined) {
      text += ".visible";
      continue;
    }
    const auto renamed = renames.find(t);
    if (renamed != renames.end()) {
      text += renamed->second;
    } else if (number_follows && std::isdigit(static_cast<unsigned char>(t[0]))) {
      text += std::to_string(std::stol(std::string(t)) + unit * kFilesPerUnit);
    } else {
      text += t;
    }
    if (!is_blank(t)) number_follows = t == ".file" || t == ".loc" || t == "inlined_at";
  }
  return text + "\n";
}

}  // namespace

std::string link_ptx(const std::vector<std::string>& units) {
  std::vector<std::vector<Statement>> all;
  std::unordered_map<std::string, size_t> definitions;  // name -> unit
  std::unordered_map<std::string, std::set<size_t>> users;
  for (const std::string& unit : units) {
    const size_t number = all.size();
    all.push_back(statements_of(unit));
    for (const Statement& s : all.back()) {
      if (s.name.empty() || s.kind == Kind::kHeader) continue;
      users[s.name].insert(number);
      const bool is_declaration = s.kind == Kind::kDeclaration || s.linkage == Linkage::kExtern;
      if (is_declaration || s.linkage == Linkage::kLocal) continue;
      const auto [it, is_new] = definitions.try_emplace(s.name, number);
      if (!is_new && it->second != number && s.linkage == Linkage::kVisible)
        throw Error(
            fmt::format("cannot link PTX: '{}' is defined by two translation units", s.name));
    }
  }
  std::string header, files, variables, declarations, functions;
  std::set<std::string> declared, placed;
  for (size_t u = 0; u < all.size(); ++u) {
    Renames renames;  // of what belongs to this unit alone
    for (const Statement& s : all[u])
      if (s.linkage == Linkage::kLocal && !s.name.empty() && users[s.name].size() > 1 &&
          (s.kind == Kind::kVariable || s.kind == Kind::kFunction))
        renames[s.name] = fmt::format("{}$unit{}", s.name, u);
    for (const Statement& s : all[u]) {
      const bool is_defined = definitions.contains(s.name);
      const std::string text = text_of(s, renames, static_cast<int>(u), is_defined);
      const bool is_local = s.linkage == Linkage::kLocal;
      switch (s.kind) {
        case Kind::kHeader:
          if (u == 0) header += text;
          break;
        case Kind::kFile:
          files += text;
          break;
        case Kind::kVariable:
          if (s.linkage == Linkage::kExtern ? !is_defined && declared.insert(s.name).second
                                            : is_local || placed.insert(s.name).second)
            variables += text;
          break;
        case Kind::kDeclaration:
          if (is_local || declared.insert(s.name).second) declarations += text;
          break;
        case Kind::kFunction:
          if (is_local || placed.insert(s.name).second) functions += text;
          break;
        case Kind::kDropped:
          break;
      }
    }
  }
  return header + files + declarations + variables + functions;
}

}  // namespace nearwarp::cudart
