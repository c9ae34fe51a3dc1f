// The accesses that the options of 'nearwarp dram' ask for.
#pragma once

#include <string>
#include <vector>

#include "host/api/nearwarp/parts.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

/// Declare the options that say what is accessed.
void declare_load(CommandLine& line);

/// Streams of accesses that run together, with the words that tell them from other loads.
struct NamedLoad {
  std::vector<MemoryStream> streams;
  std::string name;  ///< empty if there is one load only
};
/// The loads that the options ask for: one for each value of --rate or --outstanding. Throws
/// UsageError.
std::vector<NamedLoad> loads_of(const CommandLine& line, const MemoryStandard& standard);

}  // namespace nearwarp::cli
