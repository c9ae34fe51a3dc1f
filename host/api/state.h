// The insides of the public interface's objects.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/api/failure.h"
#include "host/api/nearwarp.h"
#include "host/config/config.h"
#include "host/recording/recording.h"
#include "host/timing/report/result.h"

namespace nearwarp {

struct Machine::State {
  config::MachineConfig config = {};
  std::string source;                     ///< a name or path; of a text: what it is called
  std::optional<std::string> text = {};   ///< contents, if it is a text instead of a file
  std::vector<std::string> changes = {};  ///< all of them
  std::vector<std::string> given = {};    ///< the same, with those that were passed over
};

struct Policy::State {
  config::PolicyConfig config = {};
  std::string source;
  std::optional<std::string> text = {};
  std::vector<std::string> changes = {};
  std::vector<std::string> given = {};
};

struct Program::State {
  runtime::Recording recording;
  std::string name;                         ///< what results call it
  std::string size = {};                    ///< size of a workload; else empty
  bool one_workload = false;                ///< it is one workload, whose launches are known
  std::vector<std::string> truncated = {};  ///< names of programs recorded only in part
  std::string cut_short = {};               ///< why it is not all of the program; empty: it is
};

/// A result is made of this.
struct Result::Whole {
  report::RunResult run;
  std::shared_ptr<const Machine::State> machine;
  bool one_workload = false;
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
    if (object.state_ == nullptr) throw EmptyObject();
    return *object.state_;
  }
  template <class T>
  static std::shared_ptr<const typename T::State> shared(const T& object) {
    of(object);
    return object.state_;
  }
};

/// The subject of a run.
struct RunOf {
  std::shared_ptr<const Program::State> program;
  std::shared_ptr<const Machine::State> machine;
  std::shared_ptr<const Policy::State> policy;
};
/// Changes of both, each once, in the order in which they were given.
std::vector<std::string> changes_of(const Machine::State& machine, const Policy::State& policy);
/// Result::json takes longer than all the rest.
enum class JsonText : uint8_t { kMade, kLeftOut };
/// A run's numbers as the public interface has them.
Result result_of(report::RunResult run, const RunOf& of, JsonText json = JsonText::kMade);
/// One of them; a failure names the nearest.
Expected<uint64_t> counter_of(const report::RunResult& run, std::string_view name);

}  // namespace nearwarp
