// The sources of configurations' values: a remark in a file, a standard, a default, a change.
#pragma once

#include <string>
#include <vector>

#include "host/api/nearwarp.h"

namespace nearwarp {

/// Sets Key::source of keys that have values. `path`: the file that the values were read from;
/// empty: they are from a text. `standard`: the standard that a machine has its DRAM timings from,
/// or "none". `changes`: "key=value".
void set_sources(std::vector<Key>& keys, const std::string& path, const std::string& standard,
                 const std::vector<std::string>& changes);

}  // namespace nearwarp
