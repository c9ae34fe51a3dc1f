// Descriptions of probe programs, which bench/probes turns into recordings.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "device/core/types.h"
#include "host/recording/recording.h"

namespace nearwarp::probe {

/// Where the data of every probe program begins, above the first address of device memory: that of
/// a device's first allocation.
inline constexpr uint64_t kDataOffset = uint64_t{2} << 20;

/// Bytes that a warp accesses at once, and accesses of a round.
inline constexpr uint32_t kUnitBytes = 128;
inline constexpr uint32_t kRound = 8;
/// Bytes of a sector that a lane wants a word of.
inline constexpr uint32_t kSectorBytes = 32;
/// Lines that a list has room for, of all warps together.
inline constexpr uint32_t kMaxListed = 16384;

/// One thread's accesses, each with the address that the one before has got.
struct Chase {
  enum class Kind : uint8_t { kLoads, kAtomics, kShared, kDistributed } kind = Kind::kLoads;
  /// The lines that it comes by, and again from the first one on. (Line 0 is that of the first
  /// address of device memory.) kShared, kDistributed: of no effect.
  std::vector<LineAddr> visits;
  uint32_t steps = 0;  ///< a multiple of `round`
  /// kRound, or 2 * kRound (not of atomics): between two runs of as many rounds are steps alone,
  /// and nothing of the loop around them.
  uint32_t round = kRound;
};

/// Whole warps' accesses to units in a row, in rounds of a chunk of kRound units. Warp w of block b
/// begins with chunk (b % sms) * sm_offset + (b / sms) * block_offset + w and goes on by `stride`,
/// modulo the working set.
struct Stream {
  enum class Kind : uint8_t { kRead, kWrite, kCopy } kind = Kind::kRead;
  uint32_t blocks = 1, block_warps = 1;
  uint32_t sms = 1, sm_offset = 0, block_offset = 0, stride = 1;
  uint32_t chunks = 1;        ///< of the working set, a power of two
  uint32_t first_rounds = 0;  ///< of kRead: behind them the warps of a block wait for each other
  uint32_t rounds = 1;        ///< beside them
};

/// Every warp reads the same four chunks in every round, from when all of its block are there.
struct Resident {
  uint32_t blocks = 1, block_warps = 4;
  uint32_t rounds = 1;
};

/// Every lane reads a word of kRound random sectors a round.
struct RandomSectors {
  uint32_t blocks = 1, block_warps = 1;
  uint32_t sectors = 1;  ///< a power of two
  uint32_t rounds = 1;
};

/// Whole warps' accesses to the first words of lines from lists, as many for each warp: the next
/// kRound of them a round.
struct Listed {
  bool write = false;
  uint32_t blocks = 1, block_warps = 1;
  uint32_t each = kRound;       ///< a multiple of kRound
  std::vector<LineAddr> lines;  ///< `each` of a warp after those of the one before; see Chase
  uint32_t rounds = 1;
};

/// Work of near-bank units: whole warps' accesses to words in a row, as many at a time as there are
/// threads, or additions of which each waits for the one before.
struct Near {
  enum class Kind : uint8_t {
    kRead,   ///< values are used near the banks
    kWrite,  ///< of a value that moves there once for a round
    kDown,   ///< one load after the other, whose value is used on the logic die
    kChain,
  } kind = Kind::kRead;
  uint32_t blocks = 1, block_warps = 1;
  bool again = false;   ///< the same words again and again, in rows that are open
  uint32_t rounds = 1;  ///< of kRound accesses or additions
};

struct Program {
  std::variant<Chase, Stream, Resident, RandomSectors, Listed, Near> what;
  uint32_t line_bytes = kUnitBytes;  ///< a power of two
  /// Allocated behind the data: a machine that begins with data in its L2 has these there instead.
  uint64_t ballast_bytes = 0;
};

/// The work of a program: steps of a chase, else bytes that it wanted to read and write.
uint64_t work_of(const Program& program);

/// Executes a program.
using Record = std::function<runtime::Recording(const Program& program)>;

}  // namespace nearwarp::probe
