// The place of a line within a memory channel: bank, row and column, in any order of address bits.
#pragma once

#include "device/core/address_map.h"

namespace nearwarp {

/// Bank, group and row are runs of consecutive bits of the line address. Banks of one group have
/// consecutive numbers. All counts are powers of two.
struct ChannelMap {
  uint8_t bank_shift = 0, bank_bits = 0;  ///< banks within a group
  uint8_t group_shift = 0, group_bits = 0;
  uint8_t row_shift = 0, row_bits = 0;
  uint8_t hash = 0;  ///< 1: XOR the row's bits into bank and group, to spread strides over banks

  NW_HD NW_INLINE BankLocation locate(LineAddr line) const {
    BankLocation at;
    at.row = line >> row_shift & low_bits32(row_bits);
    const uint32_t bank = line >> bank_shift & low_bits32(bank_bits);
    const uint32_t group = line >> group_shift & low_bits32(group_bits);
    at.bank = group << bank_bits | bank;
    if (hash != 0) at.bank ^= AddressMap::fold(at.row, bank_bits + uint32_t{group_bits});
    return at;
  }
  /// The first line of a row.
  NW_HD NW_INLINE LineAddr line_of(uint32_t bank, uint32_t row) const {
    row &= low_bits32(row_bits);
    if (hash != 0) bank ^= AddressMap::fold(row, bank_bits + uint32_t{group_bits});
    const uint32_t group = bank >> bank_bits;
    bank &= low_bits32(bank_bits);
    return row << row_shift | group << group_shift | bank << bank_shift;
  }
};

}  // namespace nearwarp
