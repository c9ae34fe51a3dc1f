// Counts the sectors, lines and bytes that an access of a warp touches.
#include "host/timing/profile/access.h"

#include <algorithm>
#include <bit>

namespace nearwarp::profile {
namespace {

constexpr uint32_t kSectorShift = std::countr_zero(report::kSectorBytes);

/// The number of pieces of 2^shift bytes that a range touches, without those before piece `next`,
/// which is set to the piece behind the range.
uint64_t new_pieces(uint64_t first_byte, uint64_t last_byte, uint32_t shift, uint64_t& next) {
  const uint64_t first = std::max(first_byte >> shift, next), end = (last_byte >> shift) + 1;
  if (end <= first) return 0;
  next = end;
  return end - first;
}

}  // namespace

report::AccessCounts count_access(const uint64_t* address, uint32_t mask, uint32_t bytes,
                                  uint32_t line_shift) {
  uint64_t sorted[32];
  uint32_t n = 0;
  bool ascending = true;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    sorted[n] = address[std::countr_zero(m)];
    ascending &= n == 0 || sorted[n] >= sorted[n - 1];
    ++n;
  }
  if (!ascending) std::sort(sorted, sorted + n);
  report::AccessCounts counts;
  counts.accesses = 1;
  counts.lanes = n;
  uint64_t next_byte = 0, next_sector = 0, next_line = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint64_t first = sorted[i], last = first + bytes - 1;
    counts.bytes += new_pieces(first, last, 0, next_byte);
    counts.sectors += new_pieces(first, last, kSectorShift, next_sector);
    counts.lines += new_pieces(first, last, line_shift, next_line);
  }
  return counts;
}

}  // namespace nearwarp::profile
