// Lowers one entry of a PTX module to straight-line code with labels, device functions inlined.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/functional/compiler/call_graph.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/ptx/module.h"

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

/// A copy of an instruction that is a part of another instruction.
inline Instruction implied(Instruction like) {
  like.implied = true;
  return like;
}

/// Does the function itself ask for room on the stack?
bool allocates(const ptx::Function& fn);

class Lowering {
 public:
  /// `module_allocates`: whether a function of the module asks for room on the stack (allocates()).
  /// `call_graph`: the module's, made when an entry first needs it.
  Lowering(const ptx::Module& module, const ptx::Function& entry, bool module_allocates,
           std::optional<CallGraph>* call_graph);
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
    enum class Kind : uint8_t { kUnbound, kSymbol, kObject, kStack } kind = Kind::kUnbound;
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
    uint32_t owner = kNone;  // the subroutine whose code this is part of; kNone: the entry's
  };
  // A function that is not inlined, emitted once (lower_subroutines.cpp).
  struct Subroutine {
    const ptx::Function* fn = nullptr;
    uint32_t index = 0;  // into Module::functions
    uint64_t frame_bytes = 0;
    std::vector<uint64_t> variables;  // offsets in the frame of parameters, results and locals
    std::vector<uint64_t> registers;  // and of registers that calls of its own must not change
    std::vector<std::vector<uint32_t>> live;  // such registers, by call
    uint32_t entry_label = kNone, return_label = kNone;
    std::vector<uint32_t> sites;  // labels to return to
  };
  static constexpr uint32_t kObjectBit = 0x80000000u;  // in symbol indices before resolve_objects()

  void emit_function(Frame* frame);
  void emit(Frame* frame, const ptx::Instruction& in);
  void emit_call(Frame* frame, const ptx::Instruction& in);
  void emit_system_call(Frame* frame, const ptx::Instruction& in, const ptx::Function& callee,
                        ptx::SystemCall which);
  void select_parts(const Frame& frame, const ptx::Instruction& in, Instruction* out);
  void clamp_at_zero(const ptx::Instruction& in, Instruction& out);
  void limit_sources(Instruction* out);
  void expand_pack(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void split_atomic(const Instruction& vector);
  void split_access(Instruction access);
  void emit_return(Frame* frame, const ptx::Instruction& in);
  void check_call(const Frame& frame, const ptx::Instruction& in, const ptx::Function& callee);
  void pass(Frame* frame, Frame* callee, const ptx::Instruction& in, const ptx::Operand& actual,
            const ptx::FormalParam& formal);
  void take_return(Frame* frame, Frame* callee, const ptx::Instruction& in,
                   const ptx::Operand& actual, const ptx::FormalParam& formal);
  Frame make_frame(const ptx::Function& fn, uint32_t depth, uint64_t local_base);
  Instruction start(const ptx::Instruction& in) const;

  void direct_call(Frame* frame, const ptx::Instruction& in, const ptx::Function& callee,
                   uint32_t index);

  // lower_subroutines.cpp
  const CallGraph& call_graph();
  bool is_called(uint32_t function);
  uint32_t subroutine(const ptx::Function& fn, uint32_t index);
  void call_subroutine(Frame* frame, const ptx::Instruction& in, const ptx::Function& callee,
                       uint32_t callee_index);
  void copy_actual(Frame* frame, const ptx::Instruction& in, const Instruction& like,
                   const ptx::Operand& actual, const ptx::VariableDecl& formal, uint64_t offset,
                   RegId base, bool to_stack);
  void keep_registers(Frame* frame, const Instruction& like, uint32_t call, bool save);
  void stack_access(const Instruction& like, ptx::Opcode op, RegId base, uint64_t offset,
                    ptx::Type type, RegId data);
  void emit_subroutines();
  void finish_subroutines();
  void emit_indirect_call(Frame* frame, const ptx::Instruction& in);

  // lower_stack.cpp
  void make_stack();
  RegId stack_top();
  void set_register(const Instruction& like, RegId to, ptx::Opcode op, ptx::Type type,
                    std::vector<Operand> srcs, const ptx::Modifiers& mod = {});
  void expand_stack(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void begin_stack();

  // lower_operands.cpp
  void operands(Frame* frame, const ptx::Instruction& in, Instruction* out);
  void destination(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op, char letter,
                   Instruction* out);
  void add_destination(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op,
                       ptx::Type type, Instruction* out);
  void source(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op, ptx::Type type,
              Instruction* out);
  void loose_operand(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op, char letter,
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

  // lower_families.cpp: instructions that others stand for
  bool expand(Frame* frame, const ptx::Instruction& in);
  RegId compute(const Instruction& like, ptx::Opcode op, ptx::Type type, std::vector<Operand> srcs,
                const ptx::Modifiers& mod = {});
  /// setp: `a how b` into `result`, or into a new predicate. Returns where it is.
  RegId compare(const Instruction& like, ptx::Compare how, ptx::Type type, const Operand& a,
                const Operand& b, RegId result = kNone);
  void access(const Instruction& like, ptx::Opcode op, ptx::Space space, ptx::Type type,
              Address address, const std::vector<RegId>& registers);
  // lower_mbarrier.cpp
  Operand bytes_change(const Instruction& like, const Operand& bytes, uint64_t others);
  void arrive(const Instruction& like, ptx::Space space, const Address& at,
              const std::vector<RegId>& before, const Operand& change, bool ends_copies);
  void expand_pending_count(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_bulk_copy(Frame* frame, const ptx::Instruction& in, const Instruction& like);

  RegId shared_address(Frame* frame, const ptx::Instruction& in, const Instruction& like,
                       const ptx::Operand& op);
  RegId shuffle_from(const Instruction& like, RegId value, RegId lane);
  void expand_wmma(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_copy(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  // lower_shared_matrix.cpp
  void expand_shared_matrix(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_byte_matrix(Frame* frame, const ptx::Instruction& in, const Instruction& like,
                          const ptx::Operand& list, RegId base);
  void expand_transpose(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  // lower_bytes.cpp
  /// False if the mov has no bytes in braces.
  bool expand_bytes(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_random_rounding(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  // lower_tensor.cpp
  void expand_tensor_copy(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_bulk_reduction(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_counted_word(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_map_copy(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_map_field(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void copied(const Instruction& asking, const Operand& bytes, RegId barrier, const Operand& blocks,
              bool multicast, bool ends_box = false);
  uint32_t new_label();
  void place_label(uint32_t label);
  void branch(const Instruction& like, uint32_t label, RegId guard = kNone, bool negated = false);
  // lower_warp_matrix.cpp
  void expand_warp_matrix(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_groups(const ptx::Instruction& in, const Instruction& like, const Operand& pending);
  // lower_wide.cpp
  void expand_pairs(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_wide(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  std::pair<RegId, RegId> halves(Frame* frame, const ptx::Instruction& in, const ptx::Operand& op);
  void expand_cluster_address(Frame* frame, const ptx::Instruction& in, const Instruction& like);
  void expand_mbarrier(Frame* frame, const ptx::Instruction& in, const Instruction& like);

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
  std::optional<CallGraph>* call_graph_;
  std::vector<bool> called_;  // rather than inlined, by function
  std::vector<Subroutine> subroutines_;
  std::map<RegId, std::pair<RegId, RegId>> halves_;  // of 128-bit registers
  RegId stack_pointer_ = kNone;
  RegId stack_top_ = kNone;       // behind all that is on the stack, where alloca gives room
  bool grows_by_alloca_ = false;  // a function of the module asks for room
  uint32_t stack_symbol_ = kNone;
  uint32_t instances_ = 0;
  uint64_t local_end_ = 0;
};

/// Cuts flat code into the kernel's blocks, removing what cannot be reached.
void build_blocks(FlatCode code, Kernel* kernel);

}  // namespace nearwarp::compiler
