#include "host/cli/programs/unknown_workload.h"

#include <fmt/format.h>

#include <vector>

#include "host/api/nearwarp.h"
#include "host/cli/expected.h"
#include "host/cli/wrong_file.h"
#include "host/config/nearest.h"

namespace nearwarp::cli {

UsageError unknown_workload(const std::string& name, const std::string& besides) {
  if (name.find('/') != std::string::npos)
    return UsageError(fmt::format(
        "there is no file '{}' - 'nearwarp list workloads' has what comes with the program", name));
  std::vector<std::string> names;
  for (const WorkloadName& workload : workload_names()) names.push_back(workload.name);
  const std::string near = config::did_you_mean(name.substr(0, name.find(':')), names, 3);
  return UsageError(fmt::format("unknown workload '{}' - {}'nearwarp list workloads' has all{}",
                                name, near, besides));
}

void check_workload(const std::string& name, const std::string& command) {
  if (taken(is_workload(name))) return;
  if (name.ends_with("kernelslist") || name.ends_with(".trace"))
    throw UsageError(fmt::format(
        "'{}' is what Accel-Sim's tracer writes first - give the kernelslist.g that its "
        "post-traces-processing makes of it",
        name));
  if (const std::string advice = wrong_file(name, command); !advice.empty())
    throw UsageError(advice);
  throw unknown_workload(name);
}

}  // namespace nearwarp::cli
