// The functions of the caller's options, as what is executed, read or studied asks them.
#pragma once

#include <functional>
#include <string>

#include "host/api/by_caller.h"
#include "host/api/nearwarp.h"
#include "host/core/pace.h"
#include "host/programs/observer.h"

namespace nearwarp {

/// Asks and tells what the options for programs say.
class Asked final : public programs::Observer {
 public:
  using Progress = std::function<bool(const Activity&)>;
  explicit Asked(const ProgramOptions& options) : Asked(options.progress, options.tell) {}
  explicit Asked(const Progress& progress, const std::function<void(const std::string&)>& tell = {})
      : progress_(progress), tell_(tell) {}
  void tell(const std::string& message) override {
    if (tell_) by_caller([&] { tell_(message); });
  }
  bool progress(const std::string& what, uint64_t done, uint64_t total, const char* unit) override {
    if (!progress_ || !(pace_.is_due() || done == total)) return true;
    return by_caller([&] { return progress_({what, done, total, unit}); });
  }

 private:
  const Progress& progress_;
  std::function<void(const std::string&)> tell_;
  Pace pace_;
};

/// Asks and tells what the options for applications say.
class AskedOfApplication final : public programs::Observer {
 public:
  explicit AskedOfApplication(const ApplicationOptions& options) : options_(options) {}
  void tell(const std::string& message) override {
    if (options_.tell) by_caller([&] { options_.tell(message); });
  }
  bool go_on() override { return !options_.go_on || by_caller(options_.go_on); }

 private:
  const ApplicationOptions& options_;
};

}  // namespace nearwarp
