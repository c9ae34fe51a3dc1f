// Studies of a recording: results kept with it for every run of it.
#pragma once

#include <any>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace nearwarp::runtime {

/// Results of analyses that read a recording's traces, which may take as long as a run does. Points
/// of a sweep that ask the same get the same answer, also at the same time from several threads.
class Studies {
 public:
  static constexpr size_t kMost = 64;  ///< kept; after that, the oldest ones are forgotten

  /// The result of make() for `key`, which names the analysis and says everything that it depends
  /// on but the recording. T is the same for all calls with this key. Others that ask for it wait
  /// until it is there. What make() throws is passed on, and the next one tries again.
  template <class T, class Make>
  std::shared_ptr<const T> of(const std::string& key, Make&& make) {
    const std::shared_ptr<Study> study = entry(key);
    const std::lock_guard lock(study->mutex);
    if (!study->result.has_value()) {
      study->result = std::make_shared<const T>(std::forward<Make>(make)());
      const std::lock_guard counting(mutex_);
      made_ += 1;
    }
    return std::any_cast<const std::shared_ptr<const T>&>(study->result);
  }

  /// Analyses that have been made.
  uint64_t made() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }

 private:
  struct Study {
    std::mutex mutex;
    std::any result;
  };

  std::shared_ptr<Study> entry(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = by_key_.try_emplace(key);
    if (!is_new) return at->second;
    std::shared_ptr<Study> study = at->second = std::make_shared<Study>();
    by_age_.push_back(key);
    if (by_age_.size() > kMost) {
      by_key_.erase(by_age_.front());
      by_age_.pop_front();
    }
    return study;
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Study>> by_key_;
  std::deque<std::string> by_age_;
  uint64_t made_ = 0;
};

}  // namespace nearwarp::runtime
