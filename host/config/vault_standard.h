// A machine's vaults with the timings of a DRAM standard.
#pragma once

#include <string>
#include <string_view>

#include "host/config/dram.h"
#include "host/config/dram_clock.h"
#include "host/config/machine.h"

namespace nearwarp::config {

/// Take the timings of the standard that a machine names, before single ones are overridden.
/// `standard`: what --set dram.standard says, empty if it is not given. Throws if the file lists
/// timings besides, or if there is no such standard.
void take_standard(MachineConfig& machine, std::string_view standard, Places& places);

/// A standard as its file has it: timings in nanoseconds are not cycles yet.
DramConfig read_dram(const std::string& name_or_path);

}  // namespace nearwarp::config
