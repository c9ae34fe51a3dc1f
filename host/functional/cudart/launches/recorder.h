// Passes on what is recorded to the journal, and to who simulates it at once, as the environment
// asks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <string>

#include "host/functional/cudart/device_spec.h"
#include "host/functional/cudart/launches/event_times.h"
#include "host/recording/launch_order.h"
#include "host/recording/recording_journal.h"

namespace nearwarp::cudart {

class Recorder final : public runtime::RecordingSink {
 public:
  /// `order` says of each launch what it waits for.
  explicit Recorder(runtime::LaunchOrder& order) : order_(order) {}
  /// Throws nearwarp::Error for a pattern that is none, or a file that cannot be written.
  void begin(const Settings& settings);
  bool active() const { return journal_ != nullptr || event_times_.active(); }
  EventTimes& event_times() { return event_times_; }
  /// Is a kernel of this (mangled) name to be recorded?
  bool wanted(const std::string& kernel) const;

  void allocation(const runtime::Allocation& allocation) override;
  void kernel(const compiler::Kernel& kernel) override;
  void chunk(const runtime::TraceChunk& chunk) override;
  void launch(const runtime::LaunchRecord& launch, double execution_seconds) override;
  void truncated() override;
  void fault(const std::string& message);
  void calls(const runtime::CallSummary& calls);
  void end();

 private:
  /// A full disk ends the recording, not the application.
  template <class Write>
  void attempt(Write&& write);

  runtime::LaunchOrder& order_;
  std::unique_ptr<runtime::JournalWriter> journal_;
  EventTimes event_times_;
  std::optional<std::regex> kernels_;
  uint32_t sm_shared_bytes_ = 0;  ///< of the machine
};

/// A file in `folder` for this process that is not there yet: "PROCESS.NUMBER.suffix".
std::string unused_name(const std::string& folder, const char* suffix);

/// File name of the running program, without folders.
std::string program_name();

}  // namespace nearwarp::cudart
