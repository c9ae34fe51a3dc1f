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
  Status sticky = kSuccess;  ///< status of a kernel's fault, which every later call returns
  std::array<unsigned, kMostDevices> device_flags{};
  bool primary_used =
      false;  ///< by a call of the runtime API; the driver API has contexts of its own
  FailedCalls failed_calls;
  /// The kernel launch that the present call asks for, for messages about its failure.
  struct Attempt {
    const KernelHandle* kernel = nullptr;  ///< nullptr: none
    LaunchConfig config{};
  } attempt;
  runtime::DeviceServices* services =
      nullptr;  ///< serves kernels' calls; set when the library is loaded

  const Settings& settings() override;
  runtime::VirtualDevice& device() override;
  bool has_device() const override { return device_ != nullptr; }
  int num_devices() { return static_cast<int>(settings().visible_devices.size()); }
  /// Throws Failure unless the application can see a device of this number.
  void check_device(int device) {
    require(device >= 0 && device < num_devices(), kErrorInvalidDevice);
  }
  uint64_t free_memory_bytes() override;
  Recorder& recorder() { return recorder_; }

  /// Execute work of a stream at once, or add it to the graph if the stream is being captured.
  void enqueue(Stream stream, NodeType type, Work work);
  /// Give a call without any work its place in the order of the stream.
  void touch(Stream stream);

  /// Frees device memory. Memory of a graph's allocation node stays reserved until no graph needs
  /// it.
  void free(void* pointer);

  /// Execute a kernel. The status of a fault is stored in `sticky`.
  void launch(uint32_t module, const compiler::Kernel& kernel, const LaunchConfig& config,
              runtime::KernelArgs args, const LaunchKind& kind);

  std::vector<std::string> lacking_registers;  ///< kernels, and what they have of what they need

  /// Throws Failure after fork(), in the child of a process that had used the device, and where the
  /// environment hides it.
  void check_process();
  /// Keep a failed call for the report at the end of the process.
  void note_failure(const CallSite& site, Status status, const std::string& why);
  /// Note at the beginning of every call that this process uses the library.
  void note_call() {
    if (called_) return;
    called_ = true;
    failed_calls.forget();  // the parent's, if fork() made this process
  }
  /// Note at the end of every call of the runtime API that it has made the primary context current,
  /// if the thread had no context.
  void note_primary_context();
  /// Complete the recording and the reports, as the process ends.
  void end();
  /// Note in the child of a fork() that the device and the recording are the parent's. They are not
  /// destroyed, since another thread of the parent may have been inside a call.
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

  double execution_seconds_ = 0;  ///< host seconds in which kernels ran
  std::unordered_set<std::string>
      strays_;  ///< kernels with a message on accesses beside allocations
  bool settings_read_ = false, forked_ = false, failed_ = false, called_ = false;
  uint64_t launched_ = 0;  ///< kernels that the host has launched
  Settings settings_;
  Recorder recorder_{order};
  CheckLog check_;
  ExecutionWatch watch_;
  std::unique_ptr<runtime::VirtualDevice> device_;
};

/// The only Runtime of this process.
Runtime& the_runtime();

/// The calling thread's last error.
inline Status& last_error() { return thread_state().last_error; }

/// Is stream 0 the thread's own in the next call? Entry points NAME_ptsz and NAME_ptds set it
/// before they call NAME (api/GenerateStubs.cmake).
extern "C" {
extern
    __attribute__((visibility("hidden"))) constinit thread_local bool nw_cudart_null_is_of_thread;
}

/// Runs the body of an API call under the lock, turns exceptions into statuses, and keeps the
/// status for cudaGetLastError(). `body(Runtime&)` returns a Status.
template <class Body>
Status api(Body&& body, NW_CALL_SITE) {
  Runtime& r = the_runtime();
  const std::lock_guard lock(r.mutex);
  r.note_call();
  const ThreadState& thread = thread_state();
  const bool own_stream = std::exchange(nw_cudart_null_is_of_thread, false) ||
                          (thread.in_driver && thread.null_is_of_thread);
  // Saved, since a host function that the call executes may call the library itself.
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

/// Ends a call whose arguments are wrong with `status`.
inline Status failed(Status status, NW_CALL_SITE) {
  return api([status](Runtime&) { return status; }, site);
}

}  // namespace nearwarp::cudart

/// Begins the definition of an entry point.
#define NW_API extern "C" __attribute__((visibility("default"))) nearwarp::cudart::Status
