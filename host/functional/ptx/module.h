// The syntax tree of a PTX module. Names are views into the text, which must outlive the module.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/functional/ptx/types.h"

namespace nearwarp::ptx {

inline constexpr uint32_t kNoIndex = 0xffffffffu;

/// An operand as the text has it. The kind decides which of the other members are used, and how.
struct Operand {
  enum class Kind : uint8_t {
    kBlank,     ///< `_`
    kRegister,  ///< index into Function::registers; `count` selects the part of it that a video
                ///< instruction reads: 0 for all, 1 to 4 for bytes b0 to b3, 5 and 6 for halves h0
                ///< and h1
    kVariable,  ///< index into Function::variables, plus `value` bytes
    kName,      ///< a module-level name, plus `value` bytes
    kSpecial,
    kInteger,  ///< value
    kFloat32,  ///< value: bits
    kFloat64,  ///< value: bits
    kVector,   ///< {a,b}: `count` operands from Function::operands[index]
    kPair,     ///< a|b: the two operands from Function::operands[index]
    kAddress,  ///< [base + value]; `base` is kRegister, kVariable, kName or kBlank (absolute)
    kLabel,    ///< index into Function::labels
    kTable,    ///< index into Function::tables
  };
  Kind kind = Kind::kBlank;
  Kind base = Kind::kBlank;
  bool negated = false;
  SpecialReg special = SpecialReg::kTidX;
  uint32_t index = 0;
  uint32_t count = 0;
  std::string_view name;
  int64_t value = 0;
};

/// A call: `call (returns), target, (args)`.
struct Call {
  Operand target;                              ///< kName, or kRegister if indirect
  uint32_t first_return = 0, num_returns = 0;  ///< in Function::operands
  uint32_t first_arg = 0, num_args = 0;
};

struct Instruction {
  Opcode op = Opcode::kNop;
  Modifiers mod;
  std::string_view format;    ///< the pattern of its operands, Mnemonic::operands
  std::string_view text;      ///< the statement, for messages
  uint32_t guard = kNoIndex;  ///< register
  bool guard_negated = false;
  uint32_t line = 0;
  uint32_t source_file = 0, source_line = 0;
  uint32_t caller_file = 0, caller_line = 0;     ///< as in compiler::Instruction
  uint32_t first_operand = 0, num_operands = 0;  ///< in Function::operands
  uint32_t call = kNoIndex;                      ///< index into Function::calls
  uint32_t problem = kNoIndex;  ///< index into Function::problems, if it is unsupported
};

struct RegisterDecl {
  std::string name;
  Type type = Type::kNone;
};

/// One address in an initialiser: `target + addend` at byte `offset`.
struct AddressInit {
  uint64_t offset = 0;
  std::string_view target;
  int64_t addend = 0;
};

/// .global, .const, .shared, .local or .param variable.
struct VariableDecl {
  std::string_view name;
  Space space = Space::kNone;
  Type type = Type::kNone;  ///< element type; kNone for textures, samplers and surfaces
  uint32_t align = 1;       ///< bytes
  uint64_t size = 0;        ///< bytes; 0 for x[]
  bool is_array = false;
  bool is_extern = false;
  bool is_weak = false, is_visible = false;
  uint32_t line = 0;
  std::vector<uint8_t> init;
  std::vector<AddressInit> addresses;
};

/// A formal parameter or return value of a function: a .param variable or a register.
struct FormalParam {
  bool is_register = false;
  uint32_t index = 0;  ///< into Function::variables or Function::registers
};

/// A label; `instruction` is the index of the instruction that follows it.
struct Label {
  std::string_view name;
  uint32_t instruction = 0;
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool is_defined = false;
  bool is_weak = false, is_visible = false;
  uint32_t line = 0;
  uint32_t end_line = 0;
  LaunchBounds bounds;
  std::vector<FormalParam> params;
  std::vector<FormalParam> returns;
  std::vector<RegisterDecl>
      registers;  ///< only those that instructions use, in the order of first use
  std::vector<VariableDecl> variables;  ///< parameters, locals, shared, call parameters
  std::vector<Label> labels;
  std::vector<std::vector<uint32_t>> tables;  ///< .branchtargets: indices into `labels`
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<Call> calls;
  std::vector<std::string> problems;
};

struct Module {
  std::string path;
  uint32_t version_major = 0, version_minor = 0;
  std::string_view target;
  uint32_t address_size = 32;
  std::vector<VariableDecl> variables;
  std::vector<Function> functions;
  /// Index into `variables`, or into `functions` with kFunctionBit.
  std::unordered_map<std::string_view, uint32_t> names;
  std::vector<std::string> source_files;  ///< by .file index
  std::list<std::string> own_names;       ///< text of names that link() made, viewed elsewhere
};
inline constexpr uint32_t kFunctionBit = 0x80000000u;

/// Join modules into one, as a linker does: declarations find the definitions of other modules, and
/// the first of several weak definitions is used. The texts must outlive the result. Throws
/// nearwarp::Error for names that are defined twice.
Module link(std::vector<Module> modules);

/// Parse a module. `text` must outlive the result; `path` is used in messages.
/// Throws nearwarp::Error naming file and line for anything malformed. Instructions that are well
/// formed but unsupported are kept with Instruction::problem set.
Module parse(std::string_view text, std::string_view path);

}  // namespace nearwarp::ptx
