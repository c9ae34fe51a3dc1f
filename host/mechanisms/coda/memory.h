// The physical memory that CODA's pages lie in, and the virtual pages that want some.
#pragma once

#include <cstdint>
#include <vector>

#include "host/mechanisms/mechanism.h"

namespace nearwarp::coda {

/// The map of pages in mode CGP; map 0 is that of FGP.
inline constexpr uint32_t kCgpMap = 1;

/// Groups of physical pages in front of local memory, with `units` rows each.
uint32_t page_groups(const sim::RunSubject& subject, uint32_t units = 1);

/// [application]: its virtual pages from the beginning of device memory to the end of its last
/// allocation.
std::vector<uint64_t> pages_by_application(const runtime::Recording& recording,
                                           uint64_t page_bytes);

/// Have map kCgpMap of the system, whose graph asked for so many, put each page in one stack.
void make_cgp_map(sim::System& system);
/// Have maps kCgpMap + i do so, with 2^shifts[i] lines in a row behind one near-bank unit.
void make_cgp_maps(sim::System& system, const std::vector<uint32_t>& shifts);

}  // namespace nearwarp::coda
