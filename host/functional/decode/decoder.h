// Turns a Kernel into operations over rows (host/functional/instructions/decoded.h).
//
// Rows are given out as follows. A virtual register that lives across blocks has the row of its
// physical register (32- and 64-bit values apart: their lanes overlap differently, so lanes at
// different places of a divergent warp must not mix them). Block-local registers share a pool that
// every block reuses and are written without a mask. Immediates, parameters and special registers
// have constant rows; a register that only ever holds one of them is that row.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "host/core/error.h"
#include "host/functional/decode/decoded_kernel.h"

namespace nearwarp::runtime {

/// Which part of the clock a special register is: 0 low, 1 high, 2 both; -1 for other registers.
int clock_part(ptx::SpecialReg reg);

class Decoder {
 public:
  Decoder(const compiler::Kernel& kernel, std::string path, const SymbolAddress& symbol_address,
          bool checked);
  DecodedKernel run();

 private:
  using Instr = compiler::Instruction;
  /// A destination row and whether it may be written without a mask.
  struct Dest {
    uint16_t row = 0;
    bool local = false;
  };

  int32_t clock_operand(int part) const;  // imm of exec::kClock
  // decode_rows.cpp
  uint16_t new_rows(bool wide);
  uint16_t constant(uint64_t bits, bool wide);
  uint16_t special(ptx::SpecialReg reg);
  uint16_t parameter(uint32_t offset, uint32_t bytes, bool is_signed, bool wide);
  bool is_wide(compiler::RegId reg) const;
  bool is_predicate(compiler::RegId reg) const;
  uint32_t reg_bytes(compiler::RegId reg) const;
  void find_aliases();
  std::optional<uint16_t> alias_source(const Instr& in);
  void begin_block(const compiler::Block& block);
  void end_instruction(uint32_t position);
  uint16_t local_row(compiler::RegId reg);
  uint16_t take_pool(bool wide);
  void give_pool(uint16_t row, bool wide);
  uint16_t temporary(bool wide);
  uint16_t temporary_predicate();
  uint16_t source(const compiler::Operand& operand, bool wide);
  uint16_t source_reg(compiler::RegId reg);
  uint16_t predicate_operand(const compiler::Operand& operand);
  uint16_t predicate(compiler::RegId reg) const;
  Dest destination(compiler::RegId reg);
  uint16_t guard() const;
  bool guarded() const { return in_->guard != compiler::kNone; }
  [[noreturn]] void unsupported(const std::string& what) const;

  // decoder.cpp: emission
  void emit(const exec::Op& op);
  void emit_both(const exec::Op& full, const exec::Op& partial);
  /// A code of the fast tables (kName; kName + 1 is masked).
  void fast(uint16_t code, Dest d, uint16_t a, uint16_t b = 0, uint16_t c = 0, int32_t imm = 0);
  /// A code of the fast tables into a temporary, unguarded.
  uint16_t fast_temporary(uint16_t code, bool wide, uint16_t a, uint16_t b = 0, uint16_t c = 0,
                          int32_t imm = 0);
  /// A code that is always masked.
  void slow(uint16_t code, uint16_t d, uint16_t a, uint16_t b = 0, uint16_t c = 0, int32_t imm = 0);
  void slow_unguarded(uint16_t code, uint16_t d, uint16_t a, uint16_t b = 0, uint16_t c = 0,
                      int32_t imm = 0);
  void move(Dest d, uint16_t a, bool wide) { fast(wide ? exec::kMov64 : exec::kMov32, d, a); }

  // decoder.cpp: instructions
  void instruction(const Instr& in);
  void add_meeting(const Instr& in, Meeting* meeting);

  // decode_arithmetic.cpp
  bool arithmetic(const Instr& in);
  void add_sub(const Instr& in);
  void multiply(const Instr& in);
  void multiply24(const Instr& in);
  void divide(const Instr& in);
  void min_max(const Instr& in);
  void neg_abs(const Instr& in);
  void float_op(exec::FloatOp kind, const Instr& in);
  void carry(const Instr& in, bool mad);
  void transcendental(const Instr& in);

  // decode_bits.cpp
  bool bits(const Instr& in);
  void logic(const Instr& in);
  void shift(const Instr& in);
  void compare(const Instr& in);
  void select(const Instr& in);
  void move_instruction(const Instr& in);
  void pack(const Instr& in);
  void unpack(const Instr& in);
  void convert(const Instr& in);
  void convert_address(const Instr& in);
  uint16_t compare_codes(const Instr& in, ptx::Type type);

  // decode_extended.cpp
  bool extended(const Instr& in);
  void convert_pair(const Instr& in);
  void convert_small(const Instr& in);
  void compare_half(const Instr& in);
  void extended_operation(const Instr& in);

  // decode_memory.cpp
  bool memory(const Instr& in);
  void load(const Instr& in);
  void store(const Instr& in);
  void atomic(const Instr& in);
  void warp_level(const Instr& in);
  void address(const Instr& in, exec::MemDesc* desc, uint16_t* row, int32_t* imm);
  exec::MemDesc describe(const Instr& in);

  // decode_checked.cpp: for the race detector
  void check_access(const Instr& in, const exec::MemDesc& desc, exec::Op* full, exec::Op* partial);
  void check_sync(const Instr& in);
  void find_product_registers();
  void check_touch(const Instr& in);
  bool result_is_used(const Instr& in) const;
  static exec::Shuffle shuffle_mode(ptx::ShflMode mode);
  static exec::AtomOp atom_op(ptx::AtomicOp op);
  void emit_sync(racecheck::SyncRules rules);
  uint16_t share_access(uint16_t last);

  // decode_shared.cpp
  void know_address(const Instr& in);

  // decode_control.cpp
  void control(const Instr& in, const compiler::Block& block, bool* ended);
  BarrierDesc barrier(const Instr& in);
  void phase_wait(const Instr& in, exec::Op* op);
  void system_call(const Instr& in);

  const compiler::Kernel& kernel_;
  std::string path_;
  const SymbolAddress& symbol_address_;
  const bool checked_;
  std::vector<bool> product_registers_;  ///< see find_product_registers(); empty: no products
  std::unordered_map<std::string, uint16_t> alike_;  ///< see share_access()
  DecodedKernel out_;
  std::vector<exec::Op> full_, partial_;  // of the block being decoded
  const Instr* in_ = nullptr;
  uint32_t instr_id_ = 0;
  uint32_t block_end_ = 0;  ///< the instruction after those of the basic block
  uint32_t trace_words_ = 0;

  uint32_t next_row_ = 0;
  uint16_t discard_row_ = 0;
  uint16_t discard_predicate_ = 0;
  uint32_t temporary_predicates_ = 0, most_temporary_predicates_ = 0;
  std::map<std::pair<uint64_t, bool>, uint16_t> constants_;
  std::map<ptx::SpecialReg, uint16_t> specials_;
  std::map<std::tuple<uint32_t, uint32_t, bool, bool>, uint16_t> parameters_;
  std::map<std::pair<uint32_t, bool>, uint16_t> physical_rows_;
  std::vector<uint32_t> num_defs_;
  std::vector<uint16_t> alias_;       // per register: constant row that it always equals
  std::vector<uint16_t> local_rows_;  // per register, in the current block
  std::vector<uint16_t> local_alias_;
  std::vector<uint32_t> last_use_;
  std::vector<compiler::RegId> local_regs_;  // with an entry in local_rows_ or local_alias_
  std::vector<uint16_t> pool_[2];            // free rows: narrow, wide
  std::vector<std::pair<uint16_t, bool>> temporaries_;
  /// In the current block, by register and width of the words: the load from shared memory that
  /// had the register's value as its address first; and by access, which of them it stands for.
  std::unordered_map<uint64_t, uint16_t> known_;
  std::unordered_map<uint16_t, uint64_t> stands_for_;
};

}  // namespace nearwarp::runtime
