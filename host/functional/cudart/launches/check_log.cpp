// Writes the race detector's findings to a file or to standard error.
#include "host/functional/cudart/launches/check_log.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "host/core/json_as_text.h"
#include "host/functional/cudart/launches/recorder.h"
#include "host/functional/cudart/say.h"
#include "host/functional/racecheck/report.h"

namespace nearwarp::cudart {

namespace {

constexpr size_t kMostShown = 100;  // most findings that are printed to standard error

}  // namespace

void CheckLog::begin(const Settings& settings) {
  if (settings.check.empty()) return;
  racecheck::Checker::Options options;
  options.kernels = settings.kernels;
  options.misuse = settings.check_misuse;
  options.unwritten = settings.check_unwritten;
  checker_ = std::make_unique<racecheck::Checker>(options);
  checker_->findings().program = program_name();
  if (settings.check == "-") return;
  path_ = unused_name(settings.check, "check");
  write();  // kept if the process ends before its first launch
  any_written_ = false;
}

/// All findings, with the failed calls.
racecheck::Findings CheckLog::all() const {
  racecheck::Findings all = checker_->findings();
  all.errors.insert(all.errors.end(), failed_calls_.begin(), failed_calls_.end());
  return all;
}

/// Replaces the file atomically, so that readers find a whole one.
void CheckLog::write() {
  if (path_.empty()) return;
  const std::string next = path_ + ".part";
  std::ofstream file(next);
  file << json_as_text(racecheck::to_json(all())) << "\n";
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(next, path_, failed);
  if (!file || failed) {
    say("cannot write what was found to " + path_ + " - free some space or set $TMPDIR");
    path_.clear();
  }
  written_ = checker_->findings().entries();
  any_written_ = true;
}

void CheckLog::launched() {
  if (checker_ == nullptr) return;
  checker_->end_launch();
  if (!any_written_ || checker_->findings().entries() > written_) write();
}

void CheckLog::fault(const std::string& message) {
  if (checker_ == nullptr) return;
  checker_->end_launch();
  checker_->findings().errors.push_back(message);
  write();
}

void CheckLog::failed_calls(const std::vector<std::string>& calls) {
  if (checker_ == nullptr) return;
  failed_calls_ = calls;
  write();
  any_written_ = false;  // the next launch writes the file again
}

void CheckLog::end() {
  if (checker_ == nullptr) return;
  write();
  if (!path_.empty()) return;
  const std::string text = racecheck::format_text(all(), kMostShown);
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
}

}  // namespace nearwarp::cudart
