// A record, in a folder of results, of the jobs that were submitted for it: a later command goes on
// with them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace nearwarp::cli {

struct SubmittedPart {
  std::string job;           ///< the last job that has this part
  uint32_t submissions = 0;  ///< how often the part was submitted
  /// Size of the part's file of results when the part was first submitted: failures before that
  /// place are not of these jobs.
  uint64_t results_bytes = 0;
};

struct SlurmRecord {
  std::string sweep;  ///< a hash of all points
  uint32_t parts = 0;
  std::map<uint32_t, SubmittedPart> submitted;  ///< by part

  std::set<std::string> jobs() const;
};

/// Reads a record; empty if there is no such file. Throws nearwarp::Error if it holds something
/// else.
std::optional<SlurmRecord> load_record(const std::string& path);
void save_record(const SlurmRecord& record, const std::string& path);

}  // namespace nearwarp::cli
