// Passes recorded launches to the journal, and to the simulation of events' times, as the
// environment demands.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <unordered_map>

#include "host/functional/cudart/device_spec.h"
#include "host/functional/cudart/launches/event_times.h"
#include "host/recording/launch_order.h"
#include "host/recording/recording_journal.h"

namespace nearwarp::cudart {

class Recorder final : public runtime::RecordingSink {
 public:
  /// `order` knows for each launch which earlier ones it waits for.
  explicit Recorder(runtime::LaunchOrder& order) : order_(order) {}
  /// Opens the journal. Throws nearwarp::Error for a wrong regular expression, and for a file that
  /// cannot be written.
  void begin(const Settings& settings);
  bool active() const { return journal_ != nullptr || event_times_.active(); }
  EventTimes& event_times() { return event_times_; }
  /// Is a kernel of this (mangled) name to be recorded?
  bool wanted(const std::string& kernel);

  void allocation(const runtime::Allocation& allocation) override;
  void kernel(const compiler::Kernel& kernel) override;
  void chunk(const runtime::TraceChunk& chunk) override;
  void launch(const runtime::LaunchRecord& launch, double execution_seconds) override;
  void truncated() override;
  void fault(const std::string& message);
  void calls(const runtime::CallSummary& calls);
  void end();

 private:
  /// Calls `write` with the journal. An error, such as a full disk, ends the recording but not the
  /// application.
  template <class Write>
  void attempt(Write&& write);

  runtime::LaunchOrder& order_;
  std::unique_ptr<runtime::JournalWriter> journal_;
  EventTimes event_times_;
  std::optional<std::regex> kernels_;
  /// The answers of wanted() so far: a search in a long name takes milliseconds.
  std::unordered_map<std::string, bool> wanted_;
  uint32_t sm_shared_bytes_ = 0;  ///< the machine's shared memory per SM
};

/// The path of a new file "PROCESS.NUMBER.suffix" of this process in `folder`.
std::string unused_name(const std::string& folder, const char* suffix);

/// File name of the running program, without folders.
std::string program_name();

}  // namespace nearwarp::cudart
