// Where values of configurations come from.
#pragma once

#include <string>
#include <vector>

#include "host/api/nearwarp.h"

namespace nearwarp {

/// Sets Key::source of keys that have values. `path`: the file that they were read from; empty: a
/// text. `standard`: of a machine, whose DRAM timings these are. `changes`: "key=value".
void set_sources(std::vector<Key>& keys, const std::string& path, const std::string& standard,
                 const std::vector<std::string>& changes);

}  // namespace nearwarp
