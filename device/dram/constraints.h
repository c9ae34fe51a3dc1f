// Constraints between DRAM commands as rows of a table: so many cycles from one command to another
// within a scope. VaultParams has fields for the usual constraints; these are the others.
// device/dram/vault_rows.h puts them into effect.
#pragma once

#include <cstdint>

namespace nearwarp {

/// Commands; and the end of a write's data, from which some constraints count.
enum class DramCommand : uint8_t { kActivate, kPrecharge, kRead, kWrite, kRefresh, kWriteData };
inline constexpr uint32_t kDramTargets = 5;  ///< all of them but kWriteData may be waited for

/// The part of a channel within which a constraint holds, from the largest to the smallest.
enum class DramScope : uint8_t { kChannel, kPseudoChannel, kRank, kBankGroup, kBank };
inline constexpr uint32_t kDramScopes = 5;

inline constexpr uint32_t kMaxDramRows = 32;
inline constexpr uint32_t kMaxDramBuses = 4;     ///< pseudo channels with data lines of their own
inline constexpr uint32_t kMaxDramWindows = 16;  ///< parts that count activations by themselves

struct DramRow {
  uint32_t cycles = 0;
  DramCommand from = DramCommand::kActivate, to = DramCommand::kActivate;
  DramScope scope = DramScope::kChannel;
  uint8_t others = 0;  ///< it holds in the other ranks, and not in the command's own
};

struct DramRows {
  DramRow row[kMaxDramRows];
  uint32_t count = 0;
  /// At most four activations in so many cycles, counted in each part of `window_scope`; 0: none.
  uint32_t window_cycles = 0;
  DramScope window_scope = DramScope::kChannel;
  uint8_t scopes[kDramTargets] = {};                 ///< by target: scopes of its rows, as bits
  uint8_t shift[kDramScopes] = {31, 31, 31, 31, 0};  ///< a bank's part is its index >> shift
};

/// Which banks a refresh command takes: a part of them, the parts in turn.
struct DramRefresh {
  uint64_t banks = 0;  ///< of the first part
  uint8_t parts = 1;   ///< 1: all banks at once
  /// Part i is the first one shifted by i % inner * step + i / inner * outer banks.
  uint8_t inner = 1, step = 0, outer = 0;
};

}  // namespace nearwarp
