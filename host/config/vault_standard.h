// A machine's vaults with the timings of a DRAM standard.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "host/config/machine.h"

namespace nearwarp::config {

/// Where each key got its value: "file:line" or "--set key=value".
using Places = std::map<std::string, std::string, std::less<>>;

/// Take the timings of the standard that a machine names, before single ones are overridden.
/// `standard`: what --set dram.standard says, empty if it is not given. Throws if the file lists
/// timings besides, or if there is no such standard.
void take_standard(MachineConfig& machine, std::string_view standard, Places& places);

/// A standard counts cycles of its own clock: throws if the machine's is another, unless --set says
/// so on purpose.
void check_standard_clock(const MachineConfig& machine, const Places& places);

}  // namespace nearwarp::config
