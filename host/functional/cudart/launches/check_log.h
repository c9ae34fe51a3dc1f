// Runs the race detector if the environment demands it, and writes its findings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/functional/cudart/device_spec.h"
#include "host/functional/racecheck/checker.h"

namespace nearwarp::cudart {

class CheckLog {
 public:
  /// Throws nearwarp::Error for a wrong regular expression.
  void begin(const Settings& settings);
  /// The race detector; nullptr if it is not used.
  racecheck::Checker* checker() const { return checker_.get(); }
  /// Writes new findings after a launch, so that they are kept if the process is killed.
  void launched();
  void fault(const std::string& message);
  /// Replaces the sentences on failed calls by these.
  void failed_calls(const std::vector<std::string>& calls);
  void end();

 private:
  racecheck::Findings all() const;
  void write();

  std::unique_ptr<racecheck::Checker> checker_;
  std::string path_;  // empty: to standard error, at the end
  std::vector<std::string> failed_calls_;
  size_t written_ = 0;  // entries in the file
  bool any_written_ = false;
};

}  // namespace nearwarp::cudart
