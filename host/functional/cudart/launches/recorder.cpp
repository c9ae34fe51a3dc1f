// Passes recorded launches on, with their order.
#include "host/functional/cudart/launches/recorder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "host/core/demangle.h"
#include "host/core/error.h"
#include "host/functional/cudart/say.h"

namespace nearwarp::cudart {

std::string program_name() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
  if (n <= 0) return "application";
  const std::string whole(path, static_cast<size_t>(n));
  return whole.substr(whole.rfind('/') + 1);
}

/// The process id alone is not enough, since exec() runs another program in the same process.
std::string unused_name(const std::string& folder, const char* suffix) {
  for (int i = 0;; ++i) {
    std::string path = fmt::format("{}/{}.{}.{}", folder, getpid(), i, suffix);
    if (access(path.c_str(), F_OK) != 0) return path;
  }
}

void Recorder::begin(const Settings& settings) {
  sm_shared_bytes_ = settings.device.sm_shared_bytes;
  if (!settings.kernels.empty()) {
    try {
      kernels_.emplace(settings.kernels);
    } catch (const std::regex_error& error) {
      throw Error(fmt::format("'{}' is no regular expression: {} ({})", settings.kernels,
                              error.what(), kKernelsVariable));
    }
  }
  std::string path = settings.record;
  if (path.empty() && !settings.spool.empty()) path = unused_name(settings.spool, "journal");
  event_times_.begin(settings.event_times);
  if (!path.empty()) journal_ = std::make_unique<runtime::JournalWriter>(path, program_name());
}

bool Recorder::wanted(const std::string& kernel) {
  if (!kernels_.has_value()) return true;
  const auto [known, is_new] = wanted_.try_emplace(kernel, false);
  if (is_new)
    known->second =
        std::regex_search(kernel, *kernels_) || std::regex_search(demangled(kernel), *kernels_);
  return known->second;
}

template <class Write>
void Recorder::attempt(Write&& write) {
  if (journal_ == nullptr) return;
  try {
    write(*journal_);
  } catch (const Error& error) {
    journal_.reset();
    say(std::string(error.what()) + "; what follows is executed, but not recorded");
  }
}

void Recorder::allocation(const runtime::Allocation& allocation) {
  attempt([&](auto& journal) { journal.allocation(allocation); });
}
void Recorder::kernel(const compiler::Kernel& kernel) {
  event_times_.kernel(kernel);
  attempt([&](auto& journal) { journal.kernel(kernel); });
}
void Recorder::chunk(const runtime::TraceChunk& chunk) {
  event_times_.chunk(chunk);
  attempt([&](auto& journal) { journal.chunk(chunk); });
}
void Recorder::launch(const runtime::LaunchRecord& launch, double execution_seconds) {
  // A block that needs more shared memory than an SM has is recorded as if it needed all of that.
  runtime::LaunchRecord granted = launch;
  granted.shared_bytes = std::min(granted.shared_bytes, sm_shared_bytes_);
  event_times_.launch(granted, execution_seconds);  // simulates launches one after the other
  // Launches by this kernel come next, and each waits for the one before. CUDA would let children
  // in several streams overlap. The stream's next work waits for all of them.
  order_.launched(granted);
  attempt([&](auto& journal) { journal.launch(granted, execution_seconds); });
}
void Recorder::truncated() {
  attempt([](auto& journal) { journal.truncated(); });
}
void Recorder::fault(const std::string& message) {
  attempt([&](auto& journal) { journal.fault(message); });
}
void Recorder::calls(const runtime::CallSummary& calls) {
  attempt([&](auto& journal) { journal.calls(calls); });
}
void Recorder::end() {
  attempt([](auto& journal) { journal.end(); });
}

}  // namespace nearwarp::cudart
