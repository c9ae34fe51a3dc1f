// Looks for races as the environment asks.
#include "host/functional/cudart/launches/check_log.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "host/functional/cudart/launches/recorder.h"
#include "host/functional/cudart/say.h"
#include "host/functional/racecheck/report.h"

namespace nearwarp::cudart {

namespace {

constexpr size_t kMostShown = 100;  // of a process that nobody asked how many to show

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
  write();  // should the process not live until a launch has ended
  any_written_ = false;
}

/// All findings, the calls that failed included.
racecheck::Findings CheckLog::all() const {
  racecheck::Findings all = checker_->findings();
  all.errors.insert(all.errors.end(), failed_calls_.begin(), failed_calls_.end());
  return all;
}

/// A reader finds the whole file, or the one before it.
void CheckLog::write() {
  if (path_.empty()) return;
  const std::string next = path_ + ".part";
  std::ofstream file(next);
  file << racecheck::to_json(all()).dump() << "\n";
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
  any_written_ = false;  // the next launch is to be in the file, too
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
