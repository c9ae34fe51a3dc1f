// Fills the L2 before a run begins.
#include "host/timing/run/preload.h"

#include "device/cache/l2_slice.h"
#include "host/functional/instructions/decoded.h"

namespace nearwarp::sim {

namespace {

/// The sectors of line number `line` that the bytes from `begin` to `end` (from the first line on)
/// touch.
uint32_t touched_sectors(const L2SliceParams& p, uint64_t line, uint64_t begin, uint64_t end) {
  uint32_t sectors = 0;
  for (uint32_t k = 0; k < p.line_bytes / p.sector_bytes; ++k) {
    const uint64_t at = line * p.line_bytes + uint64_t{k} * p.sector_bytes;
    if (at < end && at + p.sector_bytes > begin) sectors |= 1u << k;
  }
  return sectors;
}

}  // namespace

void preload_l2(std::span<const runtime::Allocation> allocations,
                const config::MachineConfig& machine, System& system) {
  std::byte* base = system.arena.base();
  const auto& sm = system.params<const sm::SmParams>(system.sms.at(0));
  for (const runtime::Allocation& a : allocations) {
    const uint64_t begin = a.address - exec::kDeviceBase, end = begin + a.bytes;
    for (uint64_t n = begin / machine.l1.line_bytes; n * machine.l1.line_bytes < end; ++n) {
      const LineAddr line =
          translate(system.page_tables.translation, base, a.application, static_cast<LineAddr>(n));
      const uint32_t slice = node_of(sm.homes.of(system.map.of(line, base), line, base));
      const auto& p = system.params<const L2SliceParams>(slice);
      l2_detail::preload(p, system.state<L2SliceState>(slice), base,
                         l2_detail::set_of(p, base, line), line, touched_sectors(p, n, begin, end));
    }
  }
}

}  // namespace nearwarp::sim
