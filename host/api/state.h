// What the public interface's objects are made of.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/api/nearwarp.h"
#include "host/config/config.h"
#include "host/recording/recording.h"
#include "host/timing/report/result.h"

namespace nearwarp {

struct Machine::State {
  config::MachineConfig config = {};
  std::string source;                     ///< a name or path; of a text: what it is called
  std::optional<std::string> text = {};   ///< of a file
  std::vector<std::string> changes = {};  ///< all of them
};

struct Policy::State {
  config::PolicyConfig config = {};
  std::string source;
  std::optional<std::string> text = {};
  std::vector<std::string> changes = {};
};

struct Program::State {
  runtime::Recording recording;
};

/// Makes objects of their state, and finds it in them.
struct Access {
  template <class T>
  static T make(std::shared_ptr<const typename T::State> state) {
    T object;
    object.state_ = std::move(state);
    return object;
  }
  template <class T>
  static const typename T::State& of(const T& object) {
    if (object.state_ == nullptr)
      throw std::logic_error("an empty object of nearwarp was used - load or make one first");
    return *object.state_;
  }
  template <class T>
  static std::shared_ptr<const typename T::State> shared(const T& object) {
    of(object);
    return object.state_;
  }
};

/// A run's numbers as the public interface has them.
Result result_of(const report::RunResult& run);
/// One of them; a failure names the nearest.
Expected<uint64_t> counter_of(const report::RunResult& run, std::string_view name);

}  // namespace nearwarp
