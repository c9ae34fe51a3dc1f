#include "host/cli/unknown_workload.h"

#include <fmt/format.h>

#include <vector>

#include "bench/workloads/workload.h"
#include "host/config/nearest.h"

namespace nearwarp::cli {

UsageError unknown_workload(const std::string& name, const std::string& besides) {
  if (name.find('/') != std::string::npos)
    return UsageError(fmt::format(
        "there is no file '{}' - 'nearwarp list workloads' has what comes with the program", name));
  std::vector<std::string> names;
  for (const auto& workload : workloads::all()) names.push_back(workload->name());
  std::string near;
  for (const std::string& other : config::nearest_names(name.substr(0, name.find(':')), names, 3))
    near += fmt::format("{}'{}'", near.empty() ? "did you mean " : " or ", other);
  if (!near.empty()) near += "? ";
  return UsageError(fmt::format("unknown workload '{}' - {}'nearwarp list workloads' has all{}",
                                name, near, besides));
}

}  // namespace nearwarp::cli
