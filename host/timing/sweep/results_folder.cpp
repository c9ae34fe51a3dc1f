// A folder of results: a file for the whole, and one for each part that is run by itself.
#include "host/timing/sweep/results_folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/error_parts.h"
#include "host/timing/sweep/merge.h"
#include "host/timing/sweep/results_file.h"

namespace nearwarp::sweep {

namespace fs = std::filesystem;

std::string ResultsFolder::whole() const { return folder / (stem + ".jsonl"); }

std::string ResultsFolder::part(const Shard& shard) const {
  if (shard.parts == 1) return whole();
  return folder / fmt::format("{}-{}-of-{}.jsonl", stem, shard.part, shard.parts);
}

std::vector<std::string> ResultsFolder::parts() const {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(stem + "-") && name.find("-of-") != std::string::npos &&
        name.ends_with(".jsonl"))
      paths.push_back(entry.path());
  }
  if (failed)
    throw file_error(folder.string(), fmt::format("cannot read the folder '{}': {}",
                                                  folder.string(), failed.message()));
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool join_parts(const ResultsFolder& folder, const std::vector<std::string>& order) {
  std::vector<std::string> inputs = folder.parts();
  if (inputs.empty()) return false;
  const ResultsFile nobody_else_writes(folder.whole());
  inputs.insert(inputs.begin(), folder.whole());
  merge(inputs, folder.whole(), {order, true});
  return nobody_else_writes.dropped_torn_line();
}

}  // namespace nearwarp::sweep
