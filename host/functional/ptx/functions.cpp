// Parses functions: formal parameters, scopes, statements.
#include <algorithm>

#include "host/functional/ptx/parser.h"

namespace nearwarp::ptx {
namespace {

constexpr uint64_t kMaxRange = 1u << 24;  // registers of one .reg %r<n>
constexpr size_t kMaxScopes = 64;         // nesting of { }
constexpr size_t kMaxInstructions = 1u << 23;

}  // namespace

void Parser::function(bool is_entry) {
  function_ = Function{};
  fn_ = &function_;
  scopes_.clear();
  loc_file_ = loc_line_ = 0;
  loc_caller_ = {};
  loc_callers_.clear();
  open_scope(lexer_.peek().line);
  fn_->is_entry = is_entry;
  fn_->is_weak = is_weak_;
  fn_->is_visible = is_visible_;
  while (accept(".attribute")) skip_parentheses();
  if (lexer_.peek().is('(')) fn_->returns = formals();
  const Token name = expect_name("the name of a function");
  fn_->name = name.text;
  fn_->line = name.line;
  if (lexer_.peek().is('(')) fn_->params = formals();
  performance_directives();
  if (!accept(';')) {
    expect('{', "before the body of a function");
    fn_->is_defined = true;
    body();
  }
  close_scope();

  const auto index = static_cast<uint32_t>(module_.functions.size());
  const auto [it, inserted] = module_.names.emplace(fn_->name, index | kFunctionBit);
  if (inserted) {
    module_.functions.push_back(std::move(function_));
  } else {
    if (!(it->second & kFunctionBit) ||
        (fn_->is_defined && module_.functions[it->second & ~kFunctionBit].is_defined)) {
      lexer_.fail(name.line, quoted(name.text) + " is defined twice");
    }
    if (fn_->is_defined) module_.functions[it->second & ~kFunctionBit] = std::move(function_);
  }
  fn_ = nullptr;
}

std::vector<FormalParam> Parser::formals() {
  std::vector<FormalParam> list;
  expect('(', "before parameters");
  while (!lexer_.peek().is(')')) {
    const uint32_t line = lexer_.peek().line;
    const DeclPrefix prefix = decl_prefix(false);
    FormalParam formal;
    if (prefix.is_register) {
      const Token name = expect_name("the name of a parameter");
      formal.is_register = true;
      formal.index = add_register(name.text, prefix.type);
      declare(name, {Entity::Kind::kRegister, formal.index});
    } else if (prefix.space == Space::kParam) {
      Token name = lexer_.peek();
      VariableDecl var = declarator(prefix);
      formal.index = static_cast<uint32_t>(fn_->variables.size());
      if (var.name != "_") declare(name, {Entity::Kind::kVariable, formal.index});
      fn_->variables.push_back(std::move(var));
    } else {
      lexer_.fail(line, "a parameter must be .param or .reg");
    }
    list.push_back(formal);
    if (!accept(',')) break;
  }
  expect(')', "after the parameters");
  return list;
}

// .maxntid 256, 1, 1 and the like: hints and limits that do not change what a program computes.
// Limits that bound occupancy are kept.
void Parser::performance_directives() {
  constexpr uint64_t kMaxBound = 0x7fffffff;
  while (lexer_.peek().kind == Token::Kind::kDirective) {
    static constexpr std::string_view kKnown[] = {".maxntid",
                                                  ".reqntid",
                                                  ".minnctapersm",
                                                  ".maxnctapersm",
                                                  ".maxnreg",
                                                  ".noreturn",
                                                  ".reqnctapercluster",
                                                  ".maxclusterrank",
                                                  ".explicitcluster",
                                                  ".blocksareclusters",
                                                  ".abi_preserve",
                                                  ".abi_preserve_control",
                                                  ".pragma",
                                                  ".unused"};
    const Token token = lexer_.peek();
    if (std::find(std::begin(kKnown), std::end(kKnown), token.text) == std::end(kKnown)) {
      unexpected("the body of the function");
    }
    lexer_.next();
    if (token.is(".pragma")) {
      skip_statement();
      continue;
    }
    uint64_t product = 1;
    uint32_t each[3] = {1, 1, 1}, count = 0;
    while (lexer_.peek().kind == Token::Kind::kInteger) {
      const uint64_t n = expect_integer("a bound of launches", kMaxBound);
      if (count < 3) each[count++] = static_cast<uint32_t>(n);
      product = std::min(product * n, kMaxBound);
      if (!accept(',')) break;
    }
    const auto bound = static_cast<uint32_t>(product);
    if (token.is(".maxntid") || token.is(".reqntid")) fn_->bounds.max_threads = bound;
    if (token.is(".minnctapersm")) fn_->bounds.min_blocks = bound;
    if (token.is(".maxnreg")) fn_->bounds.max_registers = bound;
    if (token.is(".reqnctapercluster")) std::copy(each, each + 3, fn_->bounds.cluster);
    if (token.is(".maxclusterrank")) fn_->bounds.max_cluster = bound;
    if (token.is(".explicitcluster")) fn_->bounds.explicit_cluster = true;
    if (token.is(".blocksareclusters")) fn_->bounds.blocks_are_clusters = true;
  }
}

void Parser::open_scope(uint32_t line) {
  if (scopes_.size() >= kMaxScopes) lexer_.fail(line, "'{' nested too deeply", "at most 64 levels");
  scopes_.emplace_back();
  scopes_.back().line = line;
}

// Labels that the scope does not have may be in an outer one.
void Parser::close_scope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (const Pending& pending : scope.pending) {
    const auto it = scope.labels.find(pending.name);
    if (it != scope.labels.end()) {
      if (pending.table == kNoIndex) {
        fn_->operands[pending.index].index = it->second;
      } else {
        fn_->tables[pending.table][pending.index] = it->second;
      }
    } else if (!scopes_.empty()) {
      scopes_.back().pending.push_back(pending);
    } else {
      lexer_.fail(pending.line, "undefined label " + quoted(pending.name));
    }
  }
}

void Parser::declare(const Token& name, Entity entity) {
  if (!scopes_.back().names.emplace(name.text, entity).second) {
    lexer_.fail(name.line, quoted(name.text) + " is declared twice");
  }
}

uint32_t Parser::add_register(std::string_view name, Type type) {
  fn_->registers.push_back({std::string(name), type});
  return static_cast<uint32_t>(fn_->registers.size() - 1);
}

const Parser::Entity* Parser::lookup(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto it = scope->names.find(name);
    if (it != scope->names.end()) return &it->second;
    if (const Entity* entity = lookup_range(&*scope, name)) return entity;
  }
  return nullptr;
}

// %r7 of .reg %r<10>: entered into the scope's names when first met.
const Parser::Entity* Parser::lookup_range(Scope* scope, std::string_view name) {
  if (scope->ranges.empty() || name.back() < '0' || name.back() > '9') return nullptr;
  uint64_t number = 0, scale = 1;
  for (size_t split = name.size() - 1; split > 0; --split) {
    const char c = name[split];
    if (c < '0' || c > '9' || scale > kMaxRange) return nullptr;
    number += scale * static_cast<uint64_t>(c - '0');
    scale *= 10;
    if (c == '0' && split + 1 < name.size()) continue;  // %r07 is not %r7
    for (const Range& range : scope->ranges) {
      if (range.prefix == name.substr(0, split) && number < range.count) {
        const Entity entity = {Entity::Kind::kRegister, add_register(name, range.type)};
        return &scope->names.emplace(name, entity).first->second;
      }
    }
  }
  return nullptr;
}

void Parser::body() {
  const uint32_t first_line = lexer_.peek().line;
  for (;;) {
    const Token token = lexer_.peek();
    if (token.kind == Token::Kind::kEnd) {
      lexer_.fail(token.line,
                  "the file ends inside the function " + quoted(fn_->name) +
                      " that begins on line " + std::to_string(first_line),
                  "the PTX is incomplete");
    }
    if (token.is('{')) {
      lexer_.next();
      open_scope(token.line);
    } else if (token.is('}')) {
      lexer_.next();
      if (scopes_.size() == 1) {
        fn_->end_line = token.line;
        return;
      }
      close_scope();
    } else if (token.is(';')) {
      lexer_.next();
    } else if (token.kind == Token::Kind::kDirective) {
      body_directive();
    } else if (token.kind == Token::Kind::kName || token.is('@')) {
      statement();
    } else {
      unexpected("a statement");
    }
    if (fn_->instructions.size() > kMaxInstructions) {
      lexer_.fail(token.line, "the function has more than 8 million instructions");
    }
  }
}

void Parser::body_directive() {
  const Token token = lexer_.peek();
  if (token.is(".loc")) {
    loc_directive();
  } else if (token.is(".file")) {
    file_directive();
  } else if (token.is(".section")) {
    section_directive();
  } else if (token.is(".pragma")) {
    skip_statement();
  } else {
    local_declaration();
  }
}

void Parser::local_declaration() {
  bool is_extern = false;
  while (lexer_.peek().is(".extern") || lexer_.peek().is(".visible") || lexer_.peek().is(".weak")) {
    is_extern = lexer_.next().is(".extern") || is_extern;
  }
  const DeclPrefix prefix = decl_prefix(is_extern);
  if (prefix.is_register) {
    register_declaration(prefix);
    return;
  }
  do {
    const Token name = lexer_.peek();
    VariableDecl var = declarator(prefix);
    if (var.space == Space::kGlobal || var.space == Space::kConst) {
      declare(name, {Entity::Kind::kModuleVariable, 0});
      add_module_variable(std::move(var));
    } else {
      declare(name, {Entity::Kind::kVariable, static_cast<uint32_t>(fn_->variables.size())});
      fn_->variables.push_back(std::move(var));
    }
  } while (accept(','));
  expect(';', "after a declaration");
}

void Parser::register_declaration(const DeclPrefix& prefix) {
  do {
    const Token name = expect_name("the name of a register");
    if (accept('<')) {
      const uint64_t count = expect_integer("a number of registers", kMaxRange);
      expect('>', "after the number of registers");
      for (const Range& range : scopes_.back().ranges) {
        if (range.prefix == name.text) {
          lexer_.fail(name.line, quoted(name.text) + " is declared twice");
        }
      }
      if (prefix.vector > 1) lexer_.fail(name.line, "vector registers are not supported");
      scopes_.back().ranges.push_back({name.text, prefix.type, static_cast<uint32_t>(count)});
    } else if (prefix.vector > 1) {
      declare(name, {Entity::Kind::kUnsupported, 0});
    } else {
      declare(name, {Entity::Kind::kRegister, add_register(name.text, prefix.type)});
    }
  } while (accept(','));
  expect(';', "after a declaration");
}

void Parser::label(const Token& name) {
  if (lexer_.peek().is(".branchtargets")) {
    branch_targets(name);
    return;
  }
  if (lexer_.peek().is(".callprototype") || lexer_.peek().is(".calltargets")) {
    skip_statement();
    return;
  }
  const auto index = static_cast<uint32_t>(fn_->labels.size());
  if (!scopes_.back().labels.emplace(name.text, index).second) {
    lexer_.fail(name.line, "the label " + quoted(name.text) + " is defined twice");
  }
  fn_->labels.push_back({name.text, static_cast<uint32_t>(fn_->instructions.size())});
}

void Parser::branch_targets(const Token& name) {
  lexer_.next();
  const auto table = static_cast<uint32_t>(fn_->tables.size());
  declare(name, {Entity::Kind::kTable, table});
  fn_->tables.emplace_back();
  do {
    const Token target = expect_name("a label");
    scopes_.back().pending.push_back(
        {target.text, target.line, table, static_cast<uint32_t>(fn_->tables[table].size())});
    fn_->tables[table].push_back(kNoIndex);
  } while (accept(','));
  expect(';', "after the labels");
}

void Parser::statement() {
  const size_t begin = lexer_.token_offset();
  Instruction instr;
  instr.line = lexer_.peek().line;
  instr.source_file = loc_file_;
  instr.source_line = loc_line_;
  instr.caller_file = loc_caller_.first;
  instr.caller_line = loc_caller_.second;
  problem_.clear();
  if (accept('@')) {
    instr.guard_negated = accept('!');
    const Token name = expect_name("a predicate register");
    const Entity* entity = lookup(name.text);
    if (!entity || entity->kind != Entity::Kind::kRegister ||
        fn_->registers[entity->index].type != Type::kPred) {
      lexer_.fail(name.line, "the guard " + describe(name) + " is no predicate register");
    }
    instr.guard = entity->index;
  }
  if (lexer_.peek().kind != Token::Kind::kName) unexpected("an instruction");
  const Token name = lexer_.next_mnemonic();
  if (instr.guard == kNoIndex && lexer_.peek().is(':')) {
    lexer_.next();
    label(name);
    return;
  }
  auto [it, fresh] = mnemonics_.try_emplace(name.text);
  if (fresh) it->second = decode_mnemonic(name.text);
  const Mnemonic& mnemonic = it->second;
  instr.op = mnemonic.op;
  instr.mod = mnemonic.mod;
  instr.format = mnemonic.operands;
  if (!mnemonic.problem.empty()) {
    problem_ = mnemonic.problem;
    while (!lexer_.peek().is(';')) {
      if (lexer_.peek().kind == Token::Kind::kEnd) unexpected("';' after an instruction");
      lexer_.next();
    }
  } else if (mnemonic.op == Opcode::kCall) {
    call_operands(&instr);
  } else {
    operand_list(&instr);
  }
  if (!lexer_.peek().is(';')) unexpected("',' or ';' after an operand");
  instr.text = lexer_.text().substr(begin, lexer_.token_offset() - begin);
  lexer_.next();
  if (!problem_.empty()) {
    instr.problem = static_cast<uint32_t>(fn_->problems.size());
    fn_->problems.push_back(problem_);
  }
  fn_->instructions.push_back(std::move(instr));
}

}  // namespace nearwarp::ptx
