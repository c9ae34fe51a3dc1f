// Lowers one entry of a PTX module to straight-line code with labels, device functions inlined.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/compiler/kernel.h"
#include "host/ptx/module.h"

namespace nearwarp::compiler {

/// Thrown inside the compiler when a kernel needs something unsupported; ends up in
/// Kernel::unsupported.
struct Unsupported {
  std::string message;
};

/// Instructions in the order of the text. Until build_blocks(), Instruction::targets hold indices
/// into `labels`, which hold indices of instructions.
struct FlatCode {
  std::vector<Instruction> instructions;
  std::vector<uint32_t> labels;
};

class Lowering {
 public:
  Lowering(const ptx::Module& module, const ptx::Function& entry);
  /// Fills everything of the kernel but blocks, loops, liveness and allocation.
  FlatCode run(Kernel* kernel);

 private:
  // A .param variable outside of the kernel's parameters: what a call passes or returns. The
  // caller's name and the callee's stand for one object.
  struct Object {
    uint64_t size;
    uint32_t align;
    bool address_taken;
  };
  struct Binding {
    enum class Kind : uint8_t { kUnbound, kSymbol, kObject } kind = Kind::kUnbound;
    uint32_t index = 0;
  };
  // One inlined instance of a function; the first is the entry itself.
  struct Frame {
    const ptx::Function* fn;
    std::vector<RegId> registers;
    std::vector<Binding> variables;
    uint32_t first_label;
    uint32_t return_label;  // kNone in the entry
    uint32_t instance;
    uint32_t depth;
    uint64_t local_base;
    uint64_t local_end;
  };
  static constexpr uint32_t kObjectBit = 0x80000000u;  // in symbol indices before resolve_objects()

  void emit_function(Frame* frame);
  void emit(Frame* frame, const ptx::Instruction& in);
  void emit_call(Frame* frame, const ptx::Instruction& in);
  void emit_system_call(Frame* frame, const ptx::Instruction& in, const ptx::Function& callee,
                        ptx::SystemCall which);
  void emit_return(Frame* frame, const ptx::Instruction& in);
  void check_call(const Frame& frame, const ptx::Instruction& in, const ptx::Function& callee);
  void pass(Frame* frame, Frame* callee, const ptx::Instruction& in, const ptx::Operand& actual,
            const ptx::FormalParam& formal);
  void take_return(Frame* frame, Frame* callee, const ptx::Instruction& in,
                   const ptx::Operand& actual, const ptx::FormalParam& formal);
  Frame make_frame(const ptx::Function& fn, uint32_t depth, uint64_t local_base);
  Instruction start(const ptx::Instruction& in) const;

  // lower_operands.cpp
  void operands(Frame* frame, const ptx::Instruction& in, Instruction* out);
  void destination(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op, char letter,
                   Instruction* out);
  void add_destination(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op,
                       ptx::Type type, Instruction* out);
  void source(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op, ptx::Type type,
              Instruction* out);
  Operand value(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op, ptx::Type type);
  uint64_t immediate(const ptx::Instruction& in, const ptx::Operand& op, ptx::Type type);
  void address(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op, Instruction* out);
  void branch_targets(Frame* frame, const ptx::Operand& op, Instruction* out);
  RegId reg(Frame* frame, uint32_t index);
  RegId new_register(const char* name, ptx::Type type);
  void check_width(const ptx::Instruction& in, const Frame& frame, const ptx::Operand& op,
                   ptx::Type type);
  uint32_t symbol_of_variable(Frame* frame, const ptx::Instruction& in, uint32_t index);
  uint32_t symbol_of_name(const ptx::Instruction& in, std::string_view name);
  uint32_t add_symbol(const ptx::VariableDecl& var, ptx::Space space);

  // lower_calls.cpp: what calls pass becomes registers or local memory.
  void resolve_objects(FlatCode* code);
  uint32_t add_object(const ptx::VariableDecl& var);

  void layout_shared();

  [[noreturn]] void fail(const ptx::Instruction& in, const std::string& what,
                         const std::string& right = {}) const;
  [[noreturn]] void refuse(const ptx::Instruction& in, const std::string& what,
                           const std::string& right = {}) const;
  std::string message(const ptx::Instruction& in, const std::string& what,
                      const std::string& right) const;

  const ptx::Module& module_;
  const ptx::Function& entry_;
  Kernel* kernel_ = nullptr;
  FlatCode code_;
  std::vector<Object> objects_;
  std::map<std::pair<const void*, uint32_t>, uint32_t> shared_symbols_;  // (function, variable)
  std::map<uint32_t, uint32_t> module_symbols_;                          // variable -> symbol
  std::vector<uint32_t> symbol_align_;
  std::vector<bool> symbol_extern_;
  std::vector<const ptx::Function*> stack_;
  uint32_t instances_ = 0;
  uint64_t local_end_ = 0;
};

/// Cuts flat code into the kernel's blocks, removing what cannot be reached.
void build_blocks(FlatCode code, Kernel* kernel);

}  // namespace nearwarp::compiler
