// A folder of results: a file for the whole, and one for each part that is run by itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/timing/sweep/plan.h"

namespace nearwarp::sweep {

struct ResultsFolder {
  std::filesystem::path folder;
  std::string stem;  ///< of its files' names, e.g. "sweep"

  std::string whole() const;                   ///< sweep.jsonl
  std::string part(const Shard& shard) const;  ///< sweep-1-of-4.jsonl; of a single one, the whole
  std::vector<std::string> parts() const;      ///< that are there, of any number, sorted
};

/// Joins what parts have found to the whole's file, if there are any; `order` as in MergeRules.
/// Returns whether the whole's last line was cut off, and is dropped. Throws nearwarp::Error as
/// merge() does, and if a sweep is writing the whole's file.
bool join_parts(const ResultsFolder& folder, const std::vector<std::string>& order);

}  // namespace nearwarp::sweep
