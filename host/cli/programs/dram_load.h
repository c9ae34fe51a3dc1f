// The accesses that the options of 'nearwarp dram' ask for.
#pragma once

#include <string>
#include <vector>

#include "host/api/nearwarp/parts.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

/// Declare the options that say what is accessed.
void declare_load(CommandLine& line);

/// Loads to run on a standard, each with the words that tell it from the others (none where there
/// is one only): one for each value of --rate or --outstanding. Throws UsageError.
struct NamedLoad {
  std::vector<MemoryStream> streams;
  std::string name;
};
std::vector<NamedLoad> loads_of(const CommandLine& line, const MemoryStandard& standard);

}  // namespace nearwarp::cli
