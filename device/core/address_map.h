// Where a cache line lives: stack, vault, bank, row, and the L2 slice in front of it.
//
// Source: TOM, section 5.1: consecutive cache lines are spread over stacks and vaults, and a
// subset of the higher-order bits is XORed into the stack index [after Chatterjee et al. and
// Zhang et al.]; the paper does not name the bits.
#pragma once

#include "device/core/bits.h"
#include "device/core/types.h"

namespace nearwarp {

struct Location {
  uint32_t stack, vault, bank, row, column;
};
/// Where a line lies within one vault or memory channel.
struct BankLocation {
  uint32_t bank, row;
};

/// AddressMap::row_tag of maps with consecutive bits: beyond every row of the baseline.
inline constexpr uint32_t kConsecutiveRowTag = 1u << 30;

/// Powers of two are taken as bits of the line address. Other counts (six partitions of a discrete
/// GPU, say) are taken by division, and hashed by rotation instead of XOR: `stacks`, not 0, says
/// so, and that stacks, vaults and slices have the counts beside it instead of those in bits. Only
/// then may there be chunks, a polynomial, and banks of slices.
struct AddressMap {
  static constexpr uint32_t kMaxPolynomialBits = 8;

  uint32_t stack_bits = 2;
  uint32_t vault_bits = 4;
  uint32_t column_bits = 5;  ///< lines per row
  uint32_t bank_bits = 4;
  uint32_t slice_bits = 2;  ///< L2 slices per stack
  uint32_t stacks = 0;      ///< 0: all counts are powers of two
  uint32_t vaults = 0;      ///< of a stack
  uint32_t slices = 0;      ///< of a stack; vaults are a multiple of them
  /// Runs of 2^chunk_bits lines stay together: they have stack and slice in common.
  uint32_t chunk_bits = 0;
  /// 0: no polynomial. Else bit i of stack * vaults + vault is the parity of the bits polynomial[i]
  /// of the chunk's number [Rau, "Pseudo-randomly interleaved memory", ISCA 1991].
  uint32_t polynomial_bits = 0;
  uint32_t polynomial[kMaxPolynomialBits] = {};
  /// The lowest bits of a bank's number that are vault / channels: slices before one channel then
  /// have banks of their own; 0: they share rows.
  uint32_t slice_bank_bits = 0;
  uint32_t channels = 1;  ///< of a stack, where slice_bank_bits is not 0
  /// Bit of the line address at which the stack index begins (0: consecutive lines go to
  /// consecutive stacks).
  uint32_t stack_shift = 0;
  /// Bit of the line's number within its stack at which the vault's begins (0: consecutive lines of
  /// a stack go to consecutive vaults). Where counts are powers of two and slices are not told
  /// apart.
  uint32_t vault_shift = 0;
  /// XOR higher-order bits into the stack and vault indices?
  uint32_t hash = 1;
  /// Does `hash` reach the stack index too? Not where consecutive address bits choose the stack.
  uint32_t hash_stack = 1;
  /// Set in every row number, so that lines under different maps never seem to share a row.
  uint32_t row_tag = 0;
  /// Bits of a line that say where it lies; a number of its map above them does not (see
  /// device/core/translation.h).
  uint32_t line_mask = 0xffffffffu;

  /// The line's number within its stack: the line address without its stack bits.
  NW_HD NW_INLINE uint32_t within_stack(LineAddr line) const {
    return stacks != 0 ? divided_within_stack(line) : bits_within_stack(line);
  }
  /// The line's number within its L2 slice, likewise.
  NW_HD NW_INLINE uint32_t within_slice(LineAddr line) const {
    if (stacks != 0) return divided(divided_within_stack(line), slices);
    return bits_within_stack(line) >> slice_bits;
  }
  NW_HD NW_INLINE uint32_t stack_of(LineAddr line) const {
    if (stacks != 0) return rotated_stack(line);
    const uint32_t mask = low_bits32(stack_bits);
    const uint32_t index = line >> stack_shift & mask;
    if (hash == 0 || hash_stack == 0) return index;
    return (index ^ fold(bits_within_stack(line) >> vault_bits, stack_bits)) & mask;
  }
  NW_HD NW_INLINE uint32_t vault_of(LineAddr line) const {
    return stacks != 0 ? rotated_vault(line) : bits_vault(line);
  }
  NW_HD NW_INLINE uint32_t slice_in_stack(LineAddr line) const {
    if (stacks != 0) return rotated_vault(line) % slices;
    return bits_vault(line) & low_bits32(slice_bits);
  }
  NW_HD NW_INLINE Location locate(LineAddr line) const {
    const BankLocation in_vault = bank_of(line);
    Location at;
    at.stack = stack_of(line);
    at.vault = vault_of(line);
    at.bank = in_vault.bank;
    at.row = in_vault.row;
    at.column = within_vault(line) & low_bits32(column_bits);
    return at;
  }
  /// Bank and row of a line, as locate() says them.
  NW_HD NW_INLINE BankLocation bank_of(LineAddr line) const {
    const uint32_t row_bank = within_vault(line) >> column_bits;
    BankLocation at;
    at.row = row_bank >> bank_bits;
    // Rows that differ in their low bits only go to different banks.
    at.bank = (row_bank ^ (hash == 0 ? 0 : fold(at.row, bank_bits))) & low_bits32(bank_bits);
    if (slice_bank_bits != 0) at.bank = bank_of_slice(at.bank, line);
    at.row |= row_tag;
    return at;
  }
  /// The line's number within its vault, likewise.
  NW_HD NW_INLINE uint32_t within_vault(LineAddr line) const {
    return stacks != 0 ? divided(divided_within_stack(line), vaults)
                       : bits_within_vault(bits_within_stack(line));
  }
  /// The exclusive or of all parts of `bits` bits. Two neighbours are put together, then two such
  /// pairs, and so on.
  NW_HD NW_INLINE static uint32_t fold(uint32_t value, uint32_t bits) {
    if (bits == 0) return 0;
    uint64_t folded = value;
    for (uint32_t shift = bits; folded >> shift != 0; shift *= 2) folded ^= folded >> shift;
    return static_cast<uint32_t>(folded) & low_bits32(bits);
  }

  // --- powers of two ---

  NW_HD NW_INLINE uint32_t bits_within_stack(LineAddr line) const {
    const uint32_t low = line & low_bits32(stack_shift);
    return ((line & line_mask) >> (stack_shift + stack_bits)) << stack_shift | low;
  }
  /// `within`: a line's number within its stack.
  NW_HD NW_INLINE uint32_t bits_within_vault(uint32_t within) const {
    const uint32_t low = within & low_bits32(vault_shift);
    return within >> (vault_shift + vault_bits) << vault_shift | low;
  }
  NW_HD NW_INLINE uint32_t bits_vault(LineAddr line) const {
    const uint32_t w = bits_within_stack(line) >> vault_shift;
    const uint32_t mask = low_bits32(vault_bits);
    if (hash == 0) return w & mask;
    return (w ^ fold(w >> (vault_bits + column_bits), vault_bits)) & mask;
  }

  // --- other counts ---

  /// `within`: a line's number within its stack. Its number within one of `parts` parts of that,
  /// which its chunks go to in turns.
  NW_HD NW_RARE uint32_t divided(uint32_t within, uint32_t parts) const {
    const uint32_t low = within & low_bits32(chunk_bits);
    return (within >> chunk_bits) / parts << chunk_bits | low;
  }
  NW_HD NW_RARE uint32_t divided_within_stack(LineAddr line) const {
    const uint32_t shift = stack_shift + chunk_bits;  // one of them is 0
    const uint32_t low = line & low_bits32(shift);
    return ((line & line_mask) >> shift) / stacks << shift | low;
  }
  /// The bank that a line has among those of its slice alone.
  NW_HD NW_RARE uint32_t bank_of_slice(uint32_t bank, LineAddr line) const {
    return bank << slice_bank_bits | vault_of(line) / channels;
  }
  NW_HD NW_RARE uint32_t rotated_stack(LineAddr line) const {
    if (polynomial_bits != 0) return remainder(line) / vaults;
    const uint32_t index = ((line & line_mask) >> (stack_shift + chunk_bits)) % stacks;
    if (hash == 0 || hash_stack == 0) return index;
    return (index + turn((divided_within_stack(line) >> chunk_bits) / vaults)) % stacks;
  }
  NW_HD NW_RARE uint32_t rotated_vault(LineAddr line) const {
    if (polynomial_bits != 0) return remainder(line) % vaults;
    const uint32_t w = divided_within_stack(line) >> chunk_bits, index = w % vaults;
    return hash == 0 ? index : (index + turn(w / vaults >> column_bits)) % vaults;
  }
  /// Remainder of the chunk's number by the polynomial: stack * vaults + vault.
  NW_HD NW_RARE uint32_t remainder(LineAddr line) const {
    const uint32_t chunk = (line & line_mask) >> chunk_bits;
    uint32_t index = 0;
    for (uint32_t i = 0; i < polynomial_bits; ++i)
      index |= (population_count(chunk & polynomial[i]) & 1) << i;
    return index;
  }
  /// How far what repeats with `number` is turned: any run of numbers meets all turns about as
  /// often, strides of powers of two included. (Multiplicative hashing: 2^32 / golden ratio.)
  NW_HD NW_INLINE static uint32_t turn(uint32_t number) { return number * 0x9e3779b1u >> 16; }
};

/// `baseline` with consecutive address bits, beginning at bit `shift` of the line address, as the
/// stack index. Vaults, banks and rows are chosen from the other bits as before.
NW_HD inline AddressMap consecutive_bits_map(const AddressMap& baseline, uint32_t shift) {
  AddressMap map = baseline;
  map.stack_shift = shift;
  map.hash_stack = 0;
  map.row_tag = kConsecutiveRowTag;
  return map;
}

/// `baseline` with all lines in one stack, for SMs that find all data in their own: vaults, banks
/// and rows are chosen from all bits, so that lines apart stay apart, and never seem to share a row
/// with lines of the baseline.
NW_HD inline AddressMap one_stack_map(const AddressMap& baseline) {
  AddressMap map = baseline;
  map.stack_bits = 0;
  map.stacks = baseline.stacks == 0 ? 0 : 1;
  map.polynomial_bits = 0;
  map.row_tag = kConsecutiveRowTag;
  return map;
}

}  // namespace nearwarp
