// Decodes mnemonics: `mad.wide.s32` into an opcode, modifiers and the pattern of the operands.
#pragma once

#include <string>
#include <string_view>

#include "host/functional/ptx/types.h"

namespace nearwarp::ptx {

/// A decoded mnemonic.
///
/// `operands` has a letter per operand, in the order of the text:
///   D  destination of the instruction's type        a  source of the instruction's type
///   W  destination, twice as wide after mul.wide    w  source as wide as W
///   I  32-bit destination                           s  source of src_type
///   J  I with an optional predicate after `|`       u  32-bit source
///   E  D with an optional predicate after `|`       p  predicate source
///   P  predicate destination                        A  address in brackets
///   Q  P with an optional second after `|`          L  label      T  table of labels
/// and `?` before an operand that may be missing. mov, ld, ldu and st take vectors in braces for D
/// and a; call has a syntax of its own ("C").
struct Mnemonic {
  Opcode op = Opcode::kNop;
  Modifiers mod;
  std::string_view operands;
  std::string problem;  ///< why the instruction is unsupported; empty if it is supported
};

/// Decode the full text of a mnemonic. Never throws; see Mnemonic::problem.
Mnemonic decode_mnemonic(std::string_view text);

/// Type of a suffix such as "u32"; kNone for other words.
Type type_by_name(std::string_view name);
/// "u32"; empty for kNone.
std::string_view name_of(Type type);
std::string_view name_of(Space space);
/// The first word of the opcode's mnemonic.
std::string_view name_of(Opcode op);
/// A mnemonic's text, with its parts in a canonical order (for messages and listings).
std::string spell(Opcode op, const Modifiers& mod);

/// Finds a special register by its name, with % and part, as in "%tid.x"; false if none is
/// supported.
bool special_by_name(std::string_view name, SpecialReg* reg);
/// Is it the name of a special register of PTX that is not supported?
bool is_unsupported_special(std::string_view name);
std::string_view name_of(SpecialReg reg);
/// Natural type of a special register: u32 or u64.
Type type_of(SpecialReg reg);

}  // namespace nearwarp::ptx
