// Fills a machine's caches as they are at a launch of a program, or inside one, from the traces of
// the launches before.
//
// The earlier thread blocks of a launch that has begun are walked backwards in pieces, and then the
// launches before it, each from its first thread block to its last, until all sets of the L2 have
// as many lines as ways, or nothing new is found, or a given number of warp-instructions has been
// walked. Then lines go in with the one used last as the most recent. An SM gets the thread blocks
// that the dispatcher would give it if each one went to the SM after that of the one before, or to
// its group.
//
// L2 slices: lines of loads and atomics, of stores too where they stay; all of them clean, and
// without those that a launch would drop (L2SliceParams::at_launch). With translation that takes
// time: page-table lines in the L2, and in every TLB the pages used last by its SM, or its group.
// Instruction caches of SMs that have run a kernel: its lines used last, of launches that were not
// walked all of their code. Rows of memory are those used last (warm_rows.h). L1s and constant
// caches are emptied by every launch. What a policy executes elsewhere is taken to be executed on
// SMs.
#pragma once

#include <cstdint>

#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::sim {

/// The part of a program before a system begins; indices into Recording::launches.
struct Before {
  uint32_t first = 0;   ///< the first launch that has left something
  uint32_t launch = 0;  ///< it begins with this one,
  uint32_t block = 0;   ///< and with this thread block of it
};

/// Before the first window: fill the system's caches as what was before leaves them. `most`:
/// warp-instructions that are walked at most, to the end of a launch. Returns the launches that
/// were walked, the one with which it begins not included.
uint32_t warm_caches(const runtime::Recording& recording, const ImageTables& image,
                     const Before& before, uint64_t most, System& system);

}  // namespace nearwarp::sim
