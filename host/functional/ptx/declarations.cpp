// Parses declarations of variables and their initialisers.
#include <algorithm>
#include <bit>
#include <cstring>

#include "host/functional/ptx/parser.h"

namespace nearwarp::ptx {
namespace {

constexpr uint64_t kMaxAlign = 65536;
constexpr uint64_t kMaxInitialised = uint64_t{256} << 20;  // bytes of all initialised variables

// The most bytes of a variable; a larger one is a mistake, which would only exhaust memory.
uint64_t max_size(Space space) {
  switch (space) {
    case Space::kShared:
      return uint64_t{1} << 20;
    case Space::kLocal:
      return uint64_t{1} << 24;
    case Space::kParam:
      return uint64_t{1} << 16;
    case Space::kConst:
      return uint64_t{1} << 20;
    default:
      return uint64_t{1} << 40;
  }
}

Space space_by_directive(std::string_view text) {
  if (text == ".global") return Space::kGlobal;
  if (text == ".const") return Space::kConst;
  if (text == ".shared") return Space::kShared;
  if (text == ".local") return Space::kLocal;
  if (text == ".param") return Space::kParam;
  return Space::kNone;
}

bool is_opaque_type(std::string_view text) {
  return text == ".texref" || text == ".samplerref" || text == ".surfref";
}

}  // namespace

// Parses a declaration up to the name: `.global .align 4 .b8`, `.param .u64 .ptr .global .align 4`.
Parser::DeclPrefix Parser::decl_prefix(bool is_extern) {
  DeclPrefix prefix;
  prefix.is_extern = is_extern;
  bool is_pointer = false;
  for (; lexer_.peek().kind == Token::Kind::kDirective;) {
    const Token token = lexer_.next();
    const std::string_view word = token.text.substr(1);
    if (token.is(".align")) {
      const uint64_t align = expect_integer("an alignment", kMaxAlign);
      if (!std::has_single_bit(align)) {
        lexer_.fail(token.line, "the alignment " + std::to_string(align) + " is no power of two");
      }
      if (!is_pointer) prefix.align = static_cast<uint32_t>(align);
    } else if (token.is(".ptr")) {
      is_pointer = true;  // the following words describe the memory that it points to
    } else if (token.is(".attribute")) {
      skip_parentheses();
    } else if (token.is(".v2") || token.is(".v4")) {
      prefix.vector = token.is(".v2") ? 2 : 4;
    } else if (token.is(".reg") && prefix.space == Space::kNone) {
      prefix.is_register = true;
    } else if (const Space space = space_by_directive(token.text); space != Space::kNone) {
      if (is_pointer) continue;
      if (prefix.space != Space::kNone || prefix.is_register) {
        lexer_.fail(token.line, "a variable with two state spaces");
      }
      prefix.space = space;
    } else if (const Type type = type_by_name(word); type != Type::kNone) {
      prefix.type = type;
    } else if (is_opaque_type(token.text)) {
      prefix.is_opaque = true;
    } else {
      lexer_.fail(token.line, "unexpected " + describe(token),
                  "a declaration such as .global .align 4 .b8 name[16]");
    }
  }
  const uint32_t line = lexer_.peek().line;
  if (prefix.space == Space::kNone && !prefix.is_register) {
    lexer_.fail(line, "a declaration without a state space",
                ".reg, .global, .const, .shared, .local or .param");
  }
  if (prefix.type == Type::kNone && !prefix.is_opaque) {
    lexer_.fail(line, "a declaration without a type", "for example .b32 before the name");
  }
  if (prefix.type == Type::kPred && !prefix.is_register) {
    lexer_.fail(line, "a predicate variable outside of the registers", "use .b8");
  }
  return prefix;
}

// Parses a name, its dimensions and its initialiser.
VariableDecl Parser::declarator(const DeclPrefix& prefix) {
  const Token name = expect_name("the name of a variable");
  VariableDecl var;
  var.name = name.text;
  var.line = name.line;
  var.space = prefix.space;
  var.type = prefix.type;
  var.is_extern = prefix.is_extern;
  var.is_weak = is_weak_;
  var.is_visible = is_visible_;
  const unsigned element = prefix.is_opaque ? 8 : size_of(prefix.type);
  std::vector<uint64_t> dims;
  while (accept('[')) {
    var.is_array = true;
    if (accept(']')) {
      if (!dims.empty()) lexer_.fail(name.line, "only the first dimension may be empty");
      dims.push_back(0);
      continue;
    }
    const Operand size = constant();
    if (size.kind != Operand::Kind::kInteger || size.value < 0) {
      lexer_.fail(name.line, "malformed array size of " + quoted(name.text));
    }
    dims.push_back(static_cast<uint64_t>(size.value));
    expect(']', "after an array size");
    if (dims.size() > 16) lexer_.fail(name.line, "more than 16 dimensions");
  }
  if (prefix.vector > 1) dims.push_back(prefix.vector);
  var.align = prefix.align != 0 ? prefix.align : element * prefix.vector;
  var.size = element;
  for (const uint64_t dim : dims) {
    if (dim != 0 && var.size > max_size(prefix.space) / dim) {
      lexer_.fail(name.line, "the variable " + quoted(name.text) + " is too large",
                  "at most " + std::to_string(max_size(prefix.space)) + " bytes");
    }
    var.size *= dim;
  }
  if (accept('=')) {
    if (prefix.space != Space::kGlobal && prefix.space != Space::kConst) {
      lexer_.fail(name.line, "an initialiser outside of .global and .const");
    }
    if (prefix.is_opaque) {
      if (accept('{')) lexer_.skip_braces();
    } else {
      initialiser(&var, dims);
    }
  } else if (var.size == 0 && !prefix.is_extern && prefix.space != Space::kParam) {
    lexer_.fail(name.line, "the array " + quoted(name.text) + " has no size",
                "only .extern arrays may leave it out");
  }
  return var;
}

void Parser::initialiser(VariableDecl* var, std::vector<uint64_t> dims) {
  if (dims.empty()) {
    const bool braces = accept('{');
    var->init.assign(var->size, 0);
    init_bytes_ += var->size;
    init_value(var, 0);
    if (braces) expect('}', "after an initialiser");
    return;
  }
  if (init_bytes_ + var->size > kMaxInitialised) {
    lexer_.fail(var->line, "the initialised variables are too large", "at most 256 MiB");
  }
  init_bytes_ += var->size;
  if (!lexer_.peek().is('{')) unexpected("'{' before the values of an array");
  var->init.assign(var->size, 0);
  init_list(var, dims, 0, 0);
  var->size = var->init.size();
}

// Parses {v, v, ...} or {{...}, {...}}: the elements of dims[level...] from byte `offset` on.
void Parser::init_list(VariableDecl* var, const std::vector<uint64_t>& dims, size_t level,
                       uint64_t offset) {
  const Token open = expect('{', "");
  const uint64_t element = size_of(var->type);
  uint64_t inner = element;
  for (size_t i = level + 1; i < dims.size(); ++i) inner *= dims[i];
  const bool unsized = level == 0 && dims[0] == 0;
  if (inner == 0) lexer_.fail(open.line, "the elements of " + quoted(var->name) + " have no size");
  const uint64_t end = unsized ? kMaxInitialised : offset + inner * dims[level];
  while (!lexer_.peek().is('}')) {
    const bool nested = lexer_.peek().is('{');
    const uint64_t step = nested ? inner : element;
    if (nested && level + 1 >= dims.size()) {
      lexer_.fail(open.line, "too many braces in the initialiser of " + quoted(var->name));
    }
    if (step == 0 || offset + step > end) {
      lexer_.fail(lexer_.peek().line, "too many values in the initialiser of " + quoted(var->name));
    }
    if (unsized && var->init.size() < offset + step) {
      var->init.resize((offset + inner) / inner * inner);
      init_bytes_ += inner;
      if (init_bytes_ > kMaxInitialised) {
        lexer_.fail(open.line, "the initialised variables are too large", "at most 256 MiB");
      }
    }
    if (nested) {
      init_list(var, dims, level + 1, offset);
    } else {
      init_value(var, offset);
    }
    offset += step;
    if (!accept(',')) break;
  }
  expect('}', "after the values of an array");
}

void Parser::init_value(VariableDecl* var, uint64_t offset) {
  const auto bytes = size_of(var->type);
  const uint32_t line = lexer_.peek().line;
  if (lexer_.peek().kind == Token::Kind::kName && lexer_.peek().text != "WARP_SZ") {
    init_address(var, offset);
    return;
  }
  const Operand value = constant();
  uint64_t bits = static_cast<uint64_t>(value.value);
  if (lexer_.peek().is('(') && value.kind == Operand::Kind::kInteger) {
    init_address_byte(var, offset, bits);
    return;
  }
  if (value.kind == Operand::Kind::kInteger) {
    if (var->type == Type::kF32) {
      bits = std::bit_cast<uint32_t>(static_cast<float>(value.value));
    } else if (var->type == Type::kF64) {
      bits = std::bit_cast<uint64_t>(static_cast<double>(value.value));
    }
  } else {
    const double number = value.kind == Operand::Kind::kFloat64
                              ? std::bit_cast<double>(bits)
                              : std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (bytes == 4) {
      if (value.kind == Operand::Kind::kFloat64) {
        bits = std::bit_cast<uint32_t>(static_cast<float>(number));
      }
    } else if (bytes == 8) {
      bits = std::bit_cast<uint64_t>(number);
    } else {
      lexer_.fail(line, "a floating-point value in an initialiser of type ." +
                            std::string(name_of(var->type)));
    }
  }
  put_value(var, offset, bits, bytes, line);
}

// Parses name, name+4, generic(name) or generic(name)+4.
AddressInit Parser::address_value(uint64_t offset) {
  Token name = expect_name("the name of a variable");
  if (name.text == "generic" && accept('(')) {
    name = expect_name("a variable");
    expect(')', "after the variable");
  }
  return {offset, name.text, addend()};
}

void Parser::init_address(VariableDecl* var, uint64_t offset) {
  const uint32_t line = lexer_.peek().line;
  const AddressInit address = address_value(offset);
  if (size_of(var->type) != 8) {
    lexer_.fail(line, "an address in an initialiser of type ." + std::string(name_of(var->type)),
                "addresses need .u64 or .b64");
  }
  var->addresses.push_back(address);
}

// Parses 0xFF(name), 0xFF00(name), ...: the bytes of an address in a packed structure, one after
// the other. The first one adds the address, and the others are compared with it.
void Parser::init_address_byte(VariableDecl* var, uint64_t offset, uint64_t mask) {
  const uint32_t line = lexer_.peek().line;
  expect('(', "after a mask");
  AddressInit address = address_value(offset);
  expect(')', "after a masked address");
  unsigned byte = 0;
  while (byte < 7 && mask != uint64_t{0xff} << 8 * byte) ++byte;
  bool fits = size_of(var->type) == 1 && mask == uint64_t{0xff} << 8 * byte;
  if (fits && byte == 0) {
    fits = offset + 8 <= var->init.size();
    var->addresses.push_back(address);
  } else if (fits) {
    const AddressInit* first = var->addresses.empty() ? nullptr : &var->addresses.back();
    fits = first && first->offset + byte == offset && first->target == address.target &&
           first->addend == address.addend;
  }
  if (!fits) lexer_.fail(line, "a masked address", "all eight bytes of it, from 0xFF(name) on");
}

void Parser::put_value(VariableDecl* var, uint64_t offset, uint64_t bits, unsigned bytes,
                       uint32_t line) {
  if (offset + bytes > var->init.size() || bytes > 8) {
    lexer_.fail(line, "too many values in the initialiser of " + quoted(var->name));
  }
  std::memcpy(var->init.data() + offset, &bits, bytes);
}

void Parser::module_variables(const DeclPrefix& prefix) {
  if (prefix.space == Space::kParam) unexpected("a .global, .const or .shared variable");
  do {
    add_module_variable(declarator(prefix));
  } while (accept(','));
  expect(';', "after a declaration");
}

void Parser::add_module_variable(VariableDecl var) {
  const auto index = static_cast<uint32_t>(module_.variables.size());
  const auto [it, inserted] = module_.names.emplace(var.name, index);
  if (inserted) {
    module_.variables.push_back(std::move(var));
    return;
  }
  const bool is_function = it->second & kFunctionBit;
  if (is_function || (!var.is_extern && !module_.variables[it->second].is_extern)) {
    lexer_.fail(var.line, quoted(var.name) + " is declared twice");
  }
  if (!var.is_extern) module_.variables[it->second] = std::move(var);
}

}  // namespace nearwarp::ptx
