// The library's state: one simulated device per process, made at its first use and never destroyed
// (applications unregister their modules at exit, after the library's own objects would be gone).
#pragma once

#include <sys/types.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

#include "host/core/error.h"
#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/device_spec.h"
#include "host/functional/cudart/entry_points.h"
#include "host/functional/cudart/launches/check_log.h"
#include "host/functional/cudart/launches/execution_watch.h"
#include "host/functional/cudart/launches/recorder.h"
#include "host/functional/cudart/memory/memory.h"
#include "host/functional/cudart/memory/virtual_memory.h"
#include "host/functional/cudart/modules/modules.h"
#include "host/functional/cudart/process.h"
#include "host/functional/cudart/runtime/launch.h"
#include "host/functional/cudart/say.h"
#include "host/functional/cudart/status/failed_calls.h"
#include "host/functional/cudart/status/failure.h"
#include "host/functional/cudart/status/thread_state.h"
#include "host/functional/cudart/streams/graphs.h"
#include "host/functional/cudart/streams/streams.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/launch_order.h"

namespace nearwarp::cudart {

/// The pointer that is the primary context of a device.
void* primary_context(int device);

class Runtime final : public Process {
 public:
  std::recursive_mutex mutex;  ///< held by every API call
  Memory memory;
  Modules modules{memory};
  VirtualMemory virtual_memory;
  Streams streams;
  Graphs graphs{memory};
  runtime::LaunchOrder order;
  Status sticky = kSuccess;  ///< a kernel's fault: every later call returns it
  std::array<unsigned, kMostDevices> device_flags{};
  bool primary_used = false;  ///< by the runtime's interface; the driver's has contexts of its own
  FailedCalls failed_calls;
  /// The launch that the call under way asks for.
  struct Attempt {
    const KernelHandle* kernel = nullptr;  ///< nullptr: none
    LaunchConfig config{};
  } attempt;
  runtime::DeviceServices* services = nullptr;  ///< for kernels' calls; set when loaded

  const Settings& settings() override;
  runtime::VirtualDevice& device() override;
  bool has_device() const override { return device_ != nullptr; }
  int num_devices() { return static_cast<int>(settings().visible_devices.size()); }
  /// Throws Failure unless the application has such a device.
  void check_device(int device) {
    require(device >= 0 && device < num_devices(), kErrorInvalidDevice);
  }
  uint64_t free_memory_bytes() override;
  Recorder& recorder() { return recorder_; }

  /// Do the work of a stream now; if the stream is being captured, put it into the graph instead.
  void enqueue(Stream stream, NodeType type, Work work);
  /// A call in a stream that has nothing to do has its place in the order all the same.
  void touch(Stream stream);

  /// Memory of the device; what a graph's node has allocated stays until no graph needs it.
  void free(void* pointer);

  /// Execute a kernel; a fault becomes `sticky`.
  void launch(uint32_t module, const compiler::Kernel& kernel, const LaunchConfig& config,
              runtime::KernelArgs args, const LaunchKind& kind);

  std::vector<std::string> lacking_registers;  ///< kernels, and what they have of what they need

  /// Throws Failure after fork(), in the child of a process that had used the device, and where the
  /// environment hides it.
  void check_process();
  /// A call has failed.
  void note_failure(const CallSite& site, Status status, const std::string& why);
  /// Every call: the process uses the library.
  void note_call() {
    if (called_) return;
    called_ = true;
    failed_calls.forget();  // the parent's, if fork() made this process
  }
  /// After a call: it has made the primary context current where there was none.
  void note_primary_context();
  /// The process ends: the recording is complete.
  void end();
  /// In the child after fork(): what the parent had belongs to it alone. Another thread of the
  /// parent may have been inside of a call, so nothing is taken apart here.
  void forked() {
    forked_ = forked_ || device_ != nullptr;
    called_ = false;
  }

 private:
  void read_settings();
  void begin_logs();
  void keep_failed_calls();
  runtime::CallSummary calls() const;
  [[noreturn]] void stop(const std::string& why);

  double execution_seconds_ = 0;            ///< of all launches
  std::unordered_set<std::string> strays_;  ///< kernels whose accesses beside allocations were told
  bool settings_read_ = false, forked_ = false, failed_ = false, called_ = false;
  uint64_t launched_ = 0;  ///< kernels that the host has launched
  Settings settings_;
  Recorder recorder_{order};
  CheckLog check_;
  ExecutionWatch watch_;
  std::unique_ptr<runtime::VirtualDevice> device_;
};

/// The one of this process.
Runtime& the_runtime();

/// The calling thread's last error.
inline Status& last_error() { return thread_state().last_error; }

/// Set by entry points NAME_ptsz and NAME_ptds on their way to NAME (api/GenerateStubs.cmake).
extern "C" {
extern
    __attribute__((visibility("hidden"))) constinit thread_local bool nw_cudart_null_is_of_thread;
}

/// Runs the body of an API call: under the lock, with exceptions turned into statuses, and the
/// status kept for cudaGetLastError(). `body(Runtime&)` returns a Status.
template <class Body>
Status api(Body&& body, NW_CALL_SITE) {
  Runtime& r = the_runtime();
  const std::lock_guard lock(r.mutex);
  r.note_call();
  const ThreadState& thread = thread_state();
  const bool own_stream = std::exchange(nw_cudart_null_is_of_thread, false) ||
                          (thread.in_driver && thread.null_is_of_thread);
  // A host function of a graph may call again.
  const bool outer = std::exchange(r.streams.null_is_of_thread, own_stream);
  const Runtime::Attempt outer_attempt = std::exchange(r.attempt, {});
  Status status = r.sticky;
  if (status == kSuccess) {
    std::string why;
    try {
      r.check_process();
      if (!r.streams.captures.empty())
        r.streams.captures.check_call(whole_call(site).function, thread.capture_mode);
      status = body(r);
    } catch (const Failure& failure) {
      status = failure.status;
      why = failure.why;
    } catch (const Error& error) {
      say(error.what());
      status = kErrorUnknown;
      why = error.what();
    } catch (const std::bad_alloc&) {
      status = kErrorMemoryAllocation;
    } catch (const std::exception& error) {
      say(std::string("internal error: ") + error.what());
      status = kErrorUnknown;
    }
    if (status != kSuccess && status != kErrorNotReady && r.sticky == kSuccess)
      r.note_failure(site, status, why);
  }
  r.attempt = outer_attempt;
  r.streams.null_is_of_thread = outer;
  if (status != kSuccess && status != kErrorNotReady) last_error() = status;
  r.note_primary_context();
  return status;
}

/// A call that ends with `status`, since its arguments are wrong.
inline Status failed(Status status, NW_CALL_SITE) {
  return api([status](Runtime&) { return status; }, site);
}

}  // namespace nearwarp::cudart

/// Begins the definition of an entry point.
#define NW_API extern "C" __attribute__((visibility("default"))) nearwarp::cudart::Status
