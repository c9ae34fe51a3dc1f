// Parses operands and constant expressions.
#include <bit>

#include "host/functional/ptx/parser.h"

namespace nearwarp::ptx {
namespace {

constexpr size_t kMaxOperands = 16;
constexpr size_t kMaxElements = 128;  // in braces: results of a warpgroup's matrix product
constexpr int kMaxDepth = 64;         // nesting of constant expressions
constexpr int kMultiplicative = 10;

// The precedence of a binary operator of constant expressions; 0 for other tokens.
int precedence(const Token& token) {
  if (token.kind != Token::Kind::kPunct) return 0;
  switch (token.text[0]) {
    case '*':
    case '/':
    case '%':
      return kMultiplicative;
    case '+':
    case '-':
      return 9;
    case '<':
    case '>':
      return 8;  // shifts: the sign comes twice
    case '&':
      return 7;
    case '^':
      return 6;
    default:
      return 0;
  }
}

}  // namespace

void Parser::set_problem(const std::string& what) {
  if (problem_.empty()) problem_ = what;
}

void Parser::operand_list(Instruction* instr) {
  std::vector<Operand> list;
  if (!lexer_.peek().is(';')) {
    do {
      if (list.size() == kMaxOperands) lexer_.fail(instr->line, "too many operands");
      const size_t position = list.size();
      const bool is_label = position < instr->format.size() &&
                            (instr->format[position] == 'L' || instr->format[position] == 'T');
      list.push_back(is_label ? label_operand() : operand());
    } while (accept(','));
  }
  instr->first_operand = static_cast<uint32_t>(fn_->operands.size());
  instr->num_operands = static_cast<uint32_t>(list.size());
  for (const Operand& op : list) {
    if (op.kind == Operand::Kind::kLabel) {
      scopes_.back().pending.push_back(
          {op.name, instr->line, kNoIndex, static_cast<uint32_t>(fn_->operands.size())});
    }
    fn_->operands.push_back(op);
  }
}

Operand Parser::label_operand() {
  const Token name = expect_name("a label");
  Operand op;
  op.kind = Operand::Kind::kLabel;
  op.name = name.text;
  if (const Entity* entity = lookup(name.text)) {
    if (entity->kind == Entity::Kind::kTable) {
      op.kind = Operand::Kind::kTable;
      op.index = entity->index;
    }
  }
  return op;
}

Operand Parser::operand() {
  const Token token = lexer_.peek();
  if (token.is('{')) return vector_operand();
  if (token.is('[')) return address_operand();
  if (token.is('!')) {
    lexer_.next();
    if (lexer_.peek().kind != Token::Kind::kName) unexpected("a predicate after '!'");
    Operand op = name_operand();
    op.negated = true;
    return op;
  }
  if (token.kind == Token::Kind::kName && token.text != "WARP_SZ") {
    Operand first = name_operand();
    if (!lexer_.peek().is('|')) return first;
    lexer_.next();
    if (lexer_.peek().kind != Token::Kind::kName) unexpected("a destination after '|'");
    const Operand second = name_operand();
    Operand pair;
    pair.kind = Operand::Kind::kPair;
    pair.index = static_cast<uint32_t>(fn_->operands.size());
    pair.count = 2;
    fn_->operands.push_back(first);
    fn_->operands.push_back(second);
    return pair;
  }
  return constant();
}

Operand Parser::name_operand() {
  const Token name = lexer_.next();
  Operand op;
  op.name = name.text;
  if (name.text == "_") return op;
  if (const Entity* entity = lookup(name.text)) {
    switch (entity->kind) {
      case Entity::Kind::kRegister:
        op.kind = Operand::Kind::kRegister;
        op.index = entity->index;
        op.count = part_selector();
        return op;
      case Entity::Kind::kVariable:
        op.kind = Operand::Kind::kVariable;
        op.index = entity->index;
        op.value = addend();
        return op;
      case Entity::Kind::kModuleVariable:
        op.kind = Operand::Kind::kName;
        op.value = addend();
        return op;
      case Entity::Kind::kTable:
        lexer_.fail(name.line, "the table of labels " + describe(name) + " is no value");
      case Entity::Kind::kUnsupported:
        set_problem("vector registers are not supported");
        while (lexer_.peek().kind == Token::Kind::kDirective) lexer_.next();
        return op;
    }
  }
  if (name.text[0] == '%') {
    if (special_by_name(name.text, &op.special)) {
      op.kind = Operand::Kind::kSpecial;
    } else if (is_unsupported_special(name.text)) {
      set_problem("the special register " + std::string(name.text).substr(0, 60) +
                  " is not supported");
    } else {
      lexer_.fail(name.line, "undeclared register " + describe(name));
    }
    return op;
  }
  op.kind = Operand::Kind::kName;
  op.value = addend();
  return op;
}

Operand Parser::vector_operand() {
  const Token open = lexer_.next();
  Operand list[kMaxElements];
  uint32_t count = 0;
  do {
    if (count == kMaxElements) lexer_.fail(open.line, "too many elements in braces");
    if (lexer_.peek().is('{') || lexer_.peek().is('[')) unexpected("a register or a constant");
    list[count++] = operand();
  } while (accept(','));
  expect('}', "after the elements");
  Operand op;
  op.kind = Operand::Kind::kVector;
  op.index = static_cast<uint32_t>(fn_->operands.size());
  op.count = count;
  fn_->operands.insert(fn_->operands.end(), list, list + count);
  return op;
}

// Parses [reg], [reg+8], [name+-8], [name] or [0x100], or begins a texture operand.
Operand Parser::address_operand() {
  lexer_.next();
  Operand op;
  op.kind = Operand::Kind::kAddress;
  if (lexer_.peek().kind == Token::Kind::kName) {
    const Token token = lexer_.peek();
    const Operand base = name_operand();
    op.base = base.kind;
    op.index = base.index;
    op.name = base.name;
    op.value = base.kind == Operand::Kind::kRegister ? addend() : base.value;
    if (base.kind == Operand::Kind::kSpecial ||
        (base.kind == Operand::Kind::kBlank && problem_.empty())) {
      lexer_.fail(token.line, describe(token) + " is no address");
    }
  } else {
    const Operand value = constant();
    if (value.kind != Operand::Kind::kInteger) unexpected("an address");
    op.value = value.value;
  }
  if (op.base == Operand::Kind::kRegister && accept(',')) return texture_operand(op.index);
  if (op.base == Operand::Kind::kName && accept(',')) {
    set_problem("textures by name are not supported, only texture objects");
    if (lexer_.peek().is('[')) unexpected("coordinates");
    operand();
  }
  expect(']', "after an address");
  return op;
}

// Parses [handle, {x, y}] from the coordinates on; the result is a vector of handle and
// coordinates.
Operand Parser::texture_operand(uint32_t handle) {
  std::vector<Operand> list(1);
  list[0].kind = Operand::Kind::kRegister;
  list[0].index = handle;
  if (lexer_.peek().is('[')) unexpected("coordinates");  // not nested, so no recursion
  const Operand coordinates = operand();
  if (coordinates.kind == Operand::Kind::kVector) {
    const auto first = fn_->operands.begin() + coordinates.index;
    list.insert(list.end(), first, first + coordinates.count);
  } else {
    list.push_back(coordinates);
  }
  expect(']', "after the coordinates");
  Operand op;
  op.kind = Operand::Kind::kVector;
  op.index = static_cast<uint32_t>(fn_->operands.size());
  op.count = static_cast<uint32_t>(list.size());
  fn_->operands.insert(fn_->operands.end(), list.begin(), list.end());
  return op;
}

// Parses .b0 to .b3, .h0 or .h1 after an operand of a video instruction; returns 1 to 6, 0 for
// none.
uint32_t Parser::part_selector() {
  static constexpr std::string_view kParts[] = {".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
  if (lexer_.peek().kind != Token::Kind::kDirective) return 0;
  for (uint32_t i = 0; i < std::size(kParts); ++i) {
    if (!lexer_.peek().is(kParts[i])) continue;
    lexer_.next();
    return i + 1;
  }
  return 0;
}

// Parses +8, -8, +-8, +4+4 or nothing, and returns the sum.
int64_t Parser::addend() {
  uint64_t sum = 0;
  while (lexer_.peek().is('+') || lexer_.peek().is('-')) {
    const bool minus = lexer_.next().is('-');
    const Operand term = constant_binary(kMultiplicative);
    if (term.kind != Operand::Kind::kInteger) unexpected("an integer");
    const auto value = static_cast<uint64_t>(term.value);
    sum = minus ? sum - value : sum + value;
  }
  return static_cast<int64_t>(sum);
}

Operand Parser::constant() { return constant_binary(1); }

Operand Parser::constant_binary(int min_precedence) {
  Operand left = constant_unary();
  for (;;) {
    const int level = precedence(lexer_.peek());
    if (level == 0 || level < min_precedence) return left;
    const Token sign = lexer_.next();
    if (sign.is('<') || sign.is('>')) expect(sign.text[0], "of a shift");
    const Operand right = constant_binary(level + 1);
    if (left.kind != Operand::Kind::kInteger || right.kind != Operand::Kind::kInteger) {
      lexer_.fail(sign.line, "arithmetic on floating-point constants is not supported");
    }
    const auto a = static_cast<uint64_t>(left.value), b = static_cast<uint64_t>(right.value);
    uint64_t result = 0;
    switch (sign.text[0]) {
      case '*':
        result = a * b;
        break;
      case '<':
        result = b < 64 ? a << b : 0;
        break;
      case '>':
        result = b < 64 ? static_cast<uint64_t>(left.value >> b) : 0;
        break;
      case '&':
        result = a & b;
        break;
      case '^':
        result = a ^ b;
        break;
      case '+':
        result = a + b;
        break;
      case '-':
        result = a - b;
        break;
      default:
        if (right.value == 0) lexer_.fail(sign.line, "division by zero in a constant");
        if (right.value == -1) {
          result = sign.is('/') ? 0 - a : 0;
        } else {
          result = static_cast<uint64_t>(sign.is('/') ? left.value / right.value
                                                      : left.value % right.value);
        }
    }
    left.value = static_cast<int64_t>(result);
  }
}

Operand Parser::constant_unary() {
  const Token token = lexer_.peek();
  if (++depth_ > kMaxDepth) lexer_.fail(token.line, "a constant expression is nested too deeply");
  Operand op;
  op.kind = Operand::Kind::kInteger;
  if (token.is('(')) {
    lexer_.next();
    if (accept(".s64") || accept(".u64")) {
      expect(')', "after a cast");
      op = constant_unary();
    } else {
      op = constant();
      expect(')', "in a constant expression");
    }
  } else if (token.is('-') || token.is('+') || token.is('~')) {
    lexer_.next();
    op = constant_unary();
    if (op.kind != Operand::Kind::kInteger) {
      if (token.is('~')) lexer_.fail(token.line, "'~' before a floating-point constant");
      const int sign = op.kind == Operand::Kind::kFloat32 ? 31 : 63;
      if (token.is('-')) op.value ^= static_cast<int64_t>(uint64_t{1} << sign);
    } else if (token.is('-')) {
      op.value = static_cast<int64_t>(0 - static_cast<uint64_t>(op.value));
    } else if (token.is('~')) {
      op.value = ~op.value;
    }
  } else if (token.kind == Token::Kind::kName && token.text == "WARP_SZ") {
    lexer_.next();
    op.value = 32;
  } else if (token.kind == Token::Kind::kInteger || token.kind == Token::Kind::kFloat32 ||
             token.kind == Token::Kind::kFloat64) {
    lexer_.next();
    op.value = static_cast<int64_t>(token.value);
    if (token.kind == Token::Kind::kFloat32) op.kind = Operand::Kind::kFloat32;
    if (token.kind == Token::Kind::kFloat64) op.kind = Operand::Kind::kFloat64;
  } else {
    unexpected("an operand");
  }
  --depth_;
  return op;
}

// Parses the operands of `call (returns), target, (args), prototype;`. The prototype of an indirect
// call is ignored, since the arguments tell the same.
void Parser::call_operands(Instruction* instr) {
  Call call;
  if (lexer_.peek().is('(')) {
    std::tie(call.first_return, call.num_returns) = argument_list();
    expect(',', "after the return values");
  }
  if (lexer_.peek().kind != Token::Kind::kName) unexpected("the name of a function");
  call.target = name_operand();
  if (accept(',')) {
    if (lexer_.peek().is('(')) {
      std::tie(call.first_arg, call.num_args) = argument_list();
      if (accept(',')) expect_name("a prototype");
    } else {
      expect_name("a prototype");
    }
  }
  instr->call = static_cast<uint32_t>(fn_->calls.size());
  fn_->calls.push_back(call);
}

std::pair<uint32_t, uint32_t> Parser::argument_list() {
  expect('(', "before arguments");
  std::vector<Operand> list;
  while (!lexer_.peek().is(')')) {
    list.push_back(operand());
    if (!accept(',')) break;
  }
  expect(')', "after the arguments");
  const auto first = static_cast<uint32_t>(fn_->operands.size());
  fn_->operands.insert(fn_->operands.end(), list.begin(), list.end());
  return {first, static_cast<uint32_t>(list.size())};
}

}  // namespace nearwarp::ptx
