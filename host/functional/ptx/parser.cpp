// Parses the module level of PTX: header directives, debugging directives, linkage.
#include "host/functional/ptx/parser.h"

#include <algorithm>

namespace nearwarp::ptx {
namespace {

constexpr uint64_t kMaxFileIndex = 100000;

}  // namespace

Module parse(std::string_view text, std::string_view path) { return Parser(text, path).run(); }

bool Parser::accept(char c) {
  if (!lexer_.peek().is(c)) return false;
  lexer_.next();
  return true;
}

bool Parser::accept(std::string_view directive) {
  if (!lexer_.peek().is(directive)) return false;
  lexer_.next();
  return true;
}

void Parser::unexpected(const char* wanted) {
  const Token& token = lexer_.peek();
  lexer_.fail(token.line, "unexpected " + describe(token), std::string("expected ") + wanted);
}

Token Parser::expect(char c, const char* where) {
  if (!lexer_.peek().is(c)) {
    const std::string wanted = std::string("'") + c + "' " + where;
    unexpected(wanted.c_str());
  }
  return lexer_.next();
}

Token Parser::expect_name(const char* what) {
  if (lexer_.peek().kind != Token::Kind::kName) unexpected(what);
  return lexer_.next();
}

uint64_t Parser::expect_integer(const char* what, uint64_t limit) {
  if (lexer_.peek().kind != Token::Kind::kInteger) unexpected(what);
  const Token token = lexer_.next();
  if (token.value > limit) {
    lexer_.fail(token.line, std::string(what) + " " + std::string(token.text) + " is too large",
                "at most " + std::to_string(limit));
  }
  return token.value;
}

Module Parser::run() {
  module_.path = lexer_.path();
  if (!accept(".version")) unexpected(".version at the beginning of a PTX module");
  const Token version = lexer_.next();
  if (version.kind != Token::Kind::kFloat64) {
    lexer_.fail(version.line, "malformed .version " + describe(version),
                "for example .version 9.0");
  }
  const size_t dot = version.text.find('.');
  for (size_t i = 0; i < version.text.size(); ++i) {
    if (i == dot) continue;
    uint32_t& part = i < dot ? module_.version_major : module_.version_minor;
    part = std::min<uint32_t>(part * 10 + static_cast<uint32_t>(version.text[i] - '0'), 9999);
  }
  while (lexer_.peek().kind != Token::Kind::kEnd) top_level();
  return std::move(module_);
}

void Parser::top_level() {
  const Token token = lexer_.peek();
  if (token.is(';')) {
    lexer_.next();
  } else if (accept(".target")) {
    module_.target = expect_name("a target such as sm_75").text;
    while (accept(',')) expect_name("a target option");
  } else if (accept(".address_size")) {
    module_.address_size = static_cast<uint32_t>(expect_integer(".address_size", 64));
    if (module_.address_size != 64) {
      lexer_.fail(token.line, "32-bit PTX is not supported", "compile with -m64");
    }
  } else if (token.is(".file")) {
    file_directive();
  } else if (token.is(".section")) {
    section_directive();
  } else if (token.is(".loc")) {
    loc_directive();
  } else if (token.is(".alias")) {
    alias_directive();
  } else if (token.is(".pragma")) {
    skip_statement();
  } else if (token.kind == Token::Kind::kDirective) {
    linkage_item();
  } else {
    unexpected("a directive");
  }
}

void Parser::linkage_item() {
  is_weak_ = is_visible_ = false;
  bool is_extern = false;
  for (;;) {
    if (accept(".extern")) {
      is_extern = true;
    } else if (accept(".weak") || accept(".common")) {
      is_weak_ = is_visible_ = true;
    } else if (accept(".visible")) {
      is_visible_ = true;
    } else {
      break;
    }
  }
  if (accept(".entry")) {
    function(true);
  } else if (accept(".func")) {
    function(false);
  } else {
    const uint32_t line = lexer_.peek().line;
    const DeclPrefix prefix = decl_prefix(is_extern);
    if (prefix.is_register) {
      lexer_.fail(line, "a register outside of a function", "declare it inside the function");
    }
    module_variables(prefix);
  }
}

void Parser::file_directive() {
  lexer_.next();
  const uint64_t index = expect_integer("a file index", kMaxFileIndex);
  if (lexer_.peek().kind != Token::Kind::kString) unexpected("a file name in quotes");
  if (module_.source_files.size() <= index) module_.source_files.resize(index + 1);
  module_.source_files[index] = std::string(lexer_.next().text);
  while (accept(',')) expect_integer("a time stamp or size", UINT64_MAX);
}

void Parser::loc_directive() {
  lexer_.next();
  loc_file_ = static_cast<uint32_t>(expect_integer("a file index", kMaxFileIndex));
  loc_line_ = static_cast<uint32_t>(expect_integer("a line number", UINT32_MAX));
  const auto column = static_cast<uint32_t>(expect_integer("a column", UINT32_MAX));
  loc_caller_ = {};
  while (accept(',')) {
    const Token attribute = expect_name("function_name or inlined_at");
    if (attribute.text == "function_name") {
      expect_name("a label");
      if (accept('+')) expect_integer("an offset", UINT32_MAX);
    } else {
      uint32_t at[3];
      for (uint32_t& n : at) n = static_cast<uint32_t>(expect_integer("a number", UINT32_MAX));
      // Directives of a chain of calls stand in order, the outermost first.
      const auto outer = loc_callers_.find({at[0], at[1], at[2]});
      loc_caller_ = outer != loc_callers_.end() && outer->second.second != 0 ? outer->second
                                                                             : Line{at[0], at[1]};
    }
  }
  loc_callers_[{loc_file_, loc_line_, column}] = loc_caller_;
}

// .alias name, function; both are declared before.
void Parser::alias_directive() {
  lexer_.next();
  const Token alias = expect_name("the name of a function");
  expect(',', "after the alias");
  const Token target = expect_name("the name of a function");
  expect(';', "after the alias");
  const auto it = module_.names.find(target.text);
  if (it == module_.names.end() || !(it->second & kFunctionBit)) {
    lexer_.fail(target.line, describe(target) + " is no function", "a function defined before");
  }
  module_.names[alias.text] = it->second;
}

void Parser::section_directive() {
  lexer_.next();
  if (lexer_.peek().kind != Token::Kind::kDirective && lexer_.peek().kind != Token::Kind::kName) {
    unexpected("a section name");
  }
  lexer_.next();
  expect('{', "after a section name");
  lexer_.skip_braces();
}

// Skips to the end of a statement whose contents do not matter.
void Parser::skip_statement() {
  const uint32_t line = lexer_.peek().line;
  while (!lexer_.peek().is(';')) {
    if (lexer_.peek().kind == Token::Kind::kEnd) {
      lexer_.fail(line, "unexpected end of the file", "a ';' ends each statement");
    }
    lexer_.next();
  }
  lexer_.next();
}

void Parser::skip_parentheses() {
  expect('(', "");
  while (!accept(')')) {
    if (lexer_.peek().kind == Token::Kind::kEnd) unexpected("')'");
    lexer_.next();
  }
}

}  // namespace nearwarp::ptx
