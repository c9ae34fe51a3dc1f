// Several programs on one machine: an address space for each, with frames of its own.
#pragma once

#include "host/config/machine.h"
#include "host/timing/machine/graph.h"
#include "host/timing/machine/system.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::sim {

/// Page tables for the image's programs, if there are several. Throws nearwarp::Error if a
/// program's memory is too large for its share of the lines that pages can be mapped to.
void add_address_spaces(const ImageTables& image, const config::MachineConfig& machine,
                        Graph& graph);

/// Each program gets an equal part of the physical memory: below its middle what it has allocated,
/// in the same order, above it the rest (local memory).
void map_address_spaces(const ImageTables& image, System& system);

}  // namespace nearwarp::sim
