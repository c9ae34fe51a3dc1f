// The jobs submitted for a folder of results: kept there, so that another command goes on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace nearwarp::cli {

struct SubmittedPart {
  std::string job;           ///< the last one that it was submitted with
  uint32_t submissions = 0;  ///< how often it was
  /// Size of the part's results when it was submitted first: failures before are not of these jobs.
  uint64_t results_bytes = 0;
};

struct SlurmRecord {
  std::string sweep;  ///< a hash of all points
  uint32_t parts = 0;
  std::map<uint32_t, SubmittedPart> submitted;  ///< by part

  std::set<std::string> jobs() const;
};

/// Nothing if there is no such file; throws nearwarp::Error if it holds something else.
std::optional<SlurmRecord> load_record(const std::string& path);
void save_record(const SlurmRecord& record, const std::string& path);

}  // namespace nearwarp::cli
