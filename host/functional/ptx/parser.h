// The recursive-descent parser behind ptx::parse(); only its own sources include this.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/functional/ptx/lexer.h"
#include "host/functional/ptx/mnemonic.h"
#include "host/functional/ptx/module.h"

namespace nearwarp::ptx {

class Parser {
 public:
  Parser(std::string_view text, std::string_view path) : lexer_(text, path) {}
  Module run();

 private:
  // The thing that a name in a function's scope stands for.
  struct Entity {
    enum class Kind : uint8_t { kRegister, kVariable, kModuleVariable, kTable, kUnsupported };
    Kind kind;
    uint32_t index;
  };
  struct Range {  // .reg .b32 %r<10>
    std::string_view prefix;
    Type type;
    uint32_t count;
  };
  // A label or table that was named before it was seen.
  struct Pending {
    std::string_view name;
    uint32_t line;
    uint32_t table;  // kNoIndex: operands[index], else tables[table][index]
    uint32_t index;
  };
  struct Scope {
    std::unordered_map<std::string_view, Entity> names;
    std::vector<Range> ranges;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::vector<Pending> pending;
    uint32_t line = 0;
  };

  // parser.cpp: the module level and what all levels share.
  void top_level();
  void linkage_item();
  void file_directive();
  void loc_directive();
  void section_directive();
  void alias_directive();
  void skip_statement();
  void skip_parentheses();
  Token expect(char c, const char* where);
  Token expect_name(const char* what);
  uint64_t expect_integer(const char* what, uint64_t limit);
  bool accept(char c);
  bool accept(std::string_view directive);
  [[noreturn]] void unexpected(const char* wanted);

  // declarations.cpp: variables and initialisers.
  struct DeclPrefix {
    Space space = Space::kNone;
    Type type = Type::kNone;
    uint32_t align = 0;
    uint32_t vector = 1;
    bool is_register = false;
    bool is_opaque = false;  // .texref, .samplerref, .surfref
    bool is_extern = false;
  };
  DeclPrefix decl_prefix(bool is_extern);
  VariableDecl declarator(const DeclPrefix& prefix);
  void initialiser(VariableDecl* var, std::vector<uint64_t> dims);
  void init_list(VariableDecl* var, const std::vector<uint64_t>& dims, size_t level,
                 uint64_t offset);
  void init_value(VariableDecl* var, uint64_t offset);
  void init_address(VariableDecl* var, uint64_t offset);
  void init_address_byte(VariableDecl* var, uint64_t offset, uint64_t mask);
  AddressInit address_value(uint64_t offset);
  void put_value(VariableDecl* var, uint64_t offset, uint64_t bits, unsigned bytes, uint32_t line);
  void module_variables(const DeclPrefix& prefix);
  void add_module_variable(VariableDecl var);

  // functions.cpp: functions, scopes, statements.
  void function(bool is_entry);
  std::vector<FormalParam> formals();
  void performance_directives();
  void body();
  void body_directive();
  void local_declaration();
  void register_declaration(const DeclPrefix& prefix);
  void statement();
  void label(const Token& name);
  void branch_targets(const Token& name);
  void open_scope(uint32_t line);
  void close_scope();
  void declare(const Token& name, Entity entity);
  const Entity* lookup(std::string_view name);
  const Entity* lookup_range(Scope* scope, std::string_view name);
  uint32_t add_register(std::string_view name, Type type);

  // operands.cpp: operands and constants.
  void operand_list(Instruction* instr);
  Operand operand();
  Operand name_operand();
  Operand vector_operand();
  Operand address_operand();
  Operand texture_operand(uint32_t handle);
  uint32_t part_selector();
  Operand label_operand();
  void call_operands(Instruction* instr);
  std::pair<uint32_t, uint32_t> argument_list();
  int64_t addend();
  Operand constant();
  Operand constant_binary(int min_precedence);
  Operand constant_unary();
  void set_problem(const std::string& what);

  Lexer lexer_;
  Module module_;
  Function* fn_ = nullptr;  ///< the function being parsed
  Function function_;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string_view, Mnemonic> mnemonics_;  ///< decoded once each
  std::string problem_;                                       ///< of the statement being parsed
  bool is_weak_ = false, is_visible_ = false;                 ///< linkage of the item being parsed
  /// A position in the source: file, line.
  using Line = std::pair<uint32_t, uint32_t>;
  uint32_t loc_file_ = 0, loc_line_ = 0;
  Line loc_caller_;  // of the outermost function, into which the others were inlined; 0: the same
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Line> loc_callers_;  // by file, line, column
  int depth_ = 0;  ///< nesting of constant expressions
  uint64_t init_bytes_ = 0;
};

}  // namespace nearwarp::ptx
