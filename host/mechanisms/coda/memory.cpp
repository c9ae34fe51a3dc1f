// The physical memory that CODA's pages lie in, and the virtual pages that are placed in it.
#include "host/mechanisms/coda/memory.h"

#include <algorithm>
#include <bit>

#include "host/functional/instructions/decoded.h"
#include "host/timing/machine/baseline_map.h"

namespace nearwarp::coda {

uint32_t page_groups(const sim::RunSubject& subject, uint32_t units) {
  // The local memory of a single program lies at its own addresses; with several programs, each has
  // its local memory in the upper half of its part of the memory (sim::map_address_spaces()).
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
  // The lowest bits of the page's number choose the stack (section 4.2). In a stack, a page group
  // has the same lines in both modes, so DRAM rows may hold lines of both.
  for (uint32_t k = 0; k < shifts.size(); ++k) {
    AddressMap& map = system.map.others.in(system.arena.base())[kCgpMap + k - 1];
    map = consecutive_bits_map(system.map.baseline, system.page_tables.translation.page_shift);
    map.vault_shift = shifts[k];
    map.row_tag = 0;
    map.line_mask = kMaxMappedLines - 1;
  }
}

}  // namespace nearwarp::coda
