// Gives a machine's vaults the timings of a DRAM standard.
#pragma once

#include <string>
#include <string_view>

#include "host/config/dram.h"
#include "host/config/dram_clock.h"
#include "host/config/machine.h"

namespace nearwarp::config {

/// Take the timings of the standard that a machine names. Must be called before overrides of single
/// timings. `standard` is the value of an override of dram.standard; empty: there is none. Throws
/// if the file lists timings as well, or if there is no such standard.
void take_standard(MachineConfig& machine, std::string_view standard, Places& places);

/// Reads the file of a standard. Timings in nanoseconds are not converted to cycles yet.
DramConfig read_dram(const std::string& name_or_path);

}  // namespace nearwarp::config
