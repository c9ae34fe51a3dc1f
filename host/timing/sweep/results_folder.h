// A folder of a sweep's results: a file for the whole sweep, and one for each part that runs alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/timing/sweep/plan.h"

namespace nearwarp::sweep {

/// The paths of the files.
struct ResultsFolder {
  std::filesystem::path folder;
  std::string stem;  ///< beginning of the files' names, such as "sweep"

  std::string whole() const;                   ///< sweep.jsonl
  std::string part(const Shard& shard) const;  ///< sweep-1-of-4.jsonl; whole() if there is one part
  std::vector<std::string> parts() const;      ///< the parts' files that exist, sorted
};

/// Add the results of parts, if there are any, to the file of the whole; `order` as in MergeRules.
/// Returns whether the last line of that file was cut off, and is dropped. Throws nearwarp::Error
/// as merge() does, and if a sweep is writing the file.
bool join_parts(const ResultsFolder& folder, const std::vector<std::string>& order);

}  // namespace nearwarp::sweep
