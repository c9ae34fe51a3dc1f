// The physical memory that CODA's pages lie in, and the virtual pages that want some.
#include "host/mechanisms/coda/memory.h"

#include <algorithm>
#include <bit>

#include "host/functional/instructions/decoded.h"
#include "host/timing/machine/baseline_map.h"

namespace nearwarp::coda {

uint32_t page_groups(const sim::RunSubject& subject, uint32_t units) {
  // Local memory of one program is at its addresses, of several in the upper halves of their parts
  // (sim::map_address_spaces()).
  const auto programs = static_cast<uint32_t>(subject.recording.applications.size());
  uint64_t lines = programs < 2 ? kMaxMappedLines : kMaxMappedLines / std::bit_ceil(programs) / 2;
  const uint32_t line = subject.machine.l1.line_bytes;
  for (const runtime::LaunchRecord& launch : subject.recording.launches)
    if (programs < 2 && launch.local_base != 0)
      lines = std::min(lines, (launch.local_base - exec::kDeviceBase) / line);
  return static_cast<uint32_t>(lines * line / subject.machine.memory.page_bytes /
                               (sim::mapped_stacks(subject.machine) * units));
}

std::vector<uint64_t> pages_by_application(const runtime::Recording& recording,
                                           uint64_t page_bytes) {
  std::vector<uint64_t> pages(1, 0);
  for (const runtime::Allocation& a : recording.allocations) {
    if (a.application >= pages.size()) pages.resize(a.application + 1);
    const uint64_t end = a.address + a.bytes - exec::kDeviceBase;
    pages[a.application] = std::max(pages[a.application], (end + page_bytes - 1) / page_bytes);
  }
  return pages;
}

void make_cgp_map(sim::System& system) { make_cgp_maps(system, {system.map.baseline.vault_shift}); }

void make_cgp_maps(sim::System& system, const std::vector<uint32_t>& shifts) {
  // Section 4.2: the lowest bits of the page's number choose the stack. Within it, a group has the
  // same lines in both modes, so rows may hold lines of both.
  for (uint32_t k = 0; k < shifts.size(); ++k) {
    AddressMap& map = system.map.others.in(system.arena.base())[kCgpMap + k - 1];
    map = consecutive_bits_map(system.map.baseline, system.page_tables.translation.page_shift);
    map.vault_shift = shifts[k];
    map.row_tag = 0;
    map.line_mask = kMaxMappedLines - 1;
  }
}

}  // namespace nearwarp::coda
