// Finds the lines of device memory that a memory record of a trace touches.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "device/trace/reader.h"
#include "host/functional/instructions/decoded.h"

namespace nearwarp::runtime {

inline constexpr uint32_t kSectorShift = 5;  ///< sectors of 32 bytes

/// Calls f(line, sectors) for the lines that a complete record touches, in the order of lanes; once
/// for consecutive lanes that touch the same line. Lines have 2^line_shift bytes and are numbered
/// from the beginning of device memory; `sectors` are bits. Lanes that access other memory are left
/// out.
template <class F>
void each_line(const uint64_t* words, uint32_t lanes, uint32_t line_shift, F&& f) {
  const uint32_t per_line_shift = line_shift - kSectorShift;
  const uint32_t per_line = 1u << per_line_shift;
  const int stride = trace::record_stride(words[0]);
  const auto first_lane = static_cast<uint32_t>(std::countr_zero(lanes));
  const uint32_t from_first = lanes >> first_lane;
  const uint64_t base = trace::record_base(words[0]);
  // Consecutive lanes with a stride of at most a sector touch all sectors between the first and
  // last.
  if (stride >= 0 && stride <= 1 << kSectorShift && (from_first & (from_first + 1)) == 0 &&
      base >= exec::kDeviceBase && base < trace::kSharedWindow - 32 * 32) {
    const uint64_t begin =
        base - exec::kDeviceBase + uint64_t{first_lane} * static_cast<uint32_t>(stride);
    const uint64_t last =
        begin + uint64_t(std::bit_width(from_first) - 1) * static_cast<uint32_t>(stride);
    const uint64_t first_sector = begin >> kSectorShift, last_sector = last >> kSectorShift;
    for (uint64_t line = first_sector >> per_line_shift; line <= last_sector >> per_line_shift;
         ++line) {
      const uint64_t at = line << per_line_shift;
      const auto low = static_cast<uint32_t>(at < first_sector ? first_sector - at : 0);
      const auto high = static_cast<uint32_t>(std::min<uint64_t>(last_sector - at, per_line - 1));
      f(line, (2u << high) - (1u << low));
    }
    return;
  }
  uint64_t address[32];
  trace::read_record(words, ~uint64_t{0}, lanes, address);
  constexpr uint64_t kNone = ~uint64_t{0};
  uint64_t line = kNone;
  uint32_t sectors = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint64_t at = address[std::countr_zero(lanes)];
    if ((at & trace::kSharedWindow) != 0 || at < exec::kDeviceBase) continue;
    const uint64_t offset = at - exec::kDeviceBase;
    if (offset >> line_shift != line && line != kNone) {
      f(line, sectors);
      sectors = 0;
    }
    line = offset >> line_shift;
    sectors |= 1u << (offset >> kSectorShift & (per_line - 1));
  }
  if (line != kNone) f(line, sectors);
}

}  // namespace nearwarp::runtime
