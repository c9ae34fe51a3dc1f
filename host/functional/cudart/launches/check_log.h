// Looks for races as the environment asks, and tells what was found.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/functional/cudart/device_spec.h"
#include "host/functional/racecheck/checker.h"

namespace nearwarp::cudart {

class CheckLog {
 public:
  /// Throws nearwarp::Error for a pattern that is none.
  void begin(const Settings& settings);
  /// nullptr: races are not looked for.
  racecheck::Checker* checker() const { return checker_.get(); }
  /// A launch has ended: what it added is kept, should the process end without notice.
  void launched();
  void fault(const std::string& message);
  /// Calls that failed, in words, all of them so far.
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
