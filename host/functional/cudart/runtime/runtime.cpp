// The library's device, its settings, launches and the end of the process.
#include "host/functional/cudart/runtime/runtime.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "host/core/demangle.h"
#include "host/functional/cudart/memory/address_range.h"
#include "host/functional/exec/cpu_check.h"

namespace nearwarp::cudart {

namespace {

constexpr double kLaunchMicroseconds = 2;  // the least time of a launch, for events (estimated)

Status status_of(runtime::DeviceFault::Kind kind) {
  using Kind = runtime::DeviceFault::Kind;
  switch (kind) {
    case Kind::kIllegalAddress:
      return kErrorIllegalAddress;
    case Kind::kMisalignedAddress:
      return kErrorMisalignedAddress;
    case Kind::kStackOverflow:
      return kErrorHardwareStackError;
    case Kind::kAssert:
      return kErrorAssert;
    default:
      return kErrorLaunchFailure;
  }
}

}  // namespace

Runtime& the_runtime() {
  static Runtime* const runtime = [] {
    pthread_atfork(nullptr, nullptr, [] { the_runtime().forked(); });
    return new Runtime;  // never destroyed: modules are unregistered at exit
  }();
  return *runtime;
}

extern "C" {
constinit thread_local bool nw_cudart_null_is_of_thread = false;
}

void Runtime::read_settings() {
  if (settings_read_) return;
  settings_read_ = true;
  try {
    settings_ = settings_from_environment();
  } catch (const Error& error) {
    say(error.what());
    failed_ = true;
  }
}

const Settings& Runtime::settings() {
  read_settings();
  return settings_;
}

/// Begins the recording and the race checker's findings of this process.
void Runtime::begin_logs() {
  recorder_.begin(settings_);
  check_.begin(settings_);
}

runtime::VirtualDevice& Runtime::device() {
  if (device_ != nullptr) return *device_;
  read_settings();
  if (failed_) throw Failure{kErrorInitialization};
  try {
    if (!runtime::cpu_supports_build()) throw Error(runtime::cpu_requirement());
    begin_logs();
    runtime::VirtualDevice::Options options;
    options.record_traces = recorder_.active();
    options.max_thread_instructions = recorder_.active() ? settings_.max_thread_instructions : 0;
    options.execute_beyond_limit = true;
    options.max_trace_bytes = settings_.max_trace_bytes;
    options.traces_too_long = [this](const std::string& kernel) {
      say(fmt::format(
          "the thread blocks of kernel {} that run together left more than {} MiB of "
          "traces (`max_trace_bytes`; --trace-memory) - from here on, what is executed is "
          "not recorded",
          demangled(kernel), settings_.max_trace_bytes >> 20));
    };
    options.same_addresses = true;
    options.memory_bytes = settings_.device.memory_bytes;
    options.mapped_bytes = kMappedBytes;
    options.sink = &recorder_;
    options.execution = settings_.execution;
    watch_.set_limit(settings_.time_limit_seconds);
    options.progress = [](uint64_t executed, void* self) {
      std::string message;
      auto* const runtime = static_cast<Runtime*>(self);
      const bool go_on = runtime->watch_.look(executed, ExecutionWatch::Clock::now(), &message);
      if (!message.empty()) say(message);
      return go_on;
    };
    options.progress_context = this;
    options.checker = check_.checker();
    if (!settings_.strict_bounds)
      options.stray = [this](const std::string& kernel, const std::string& message) {
        if (strays_.insert(kernel).second)
          say(message +
              " - a GPU lets this pass, since the page is mapped, and so it does here, without "
              "`strict_bounds` (--strict-bounds)");
      };
    options.services = services;
    options.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    release_address_range();
    device_ = std::make_unique<runtime::VirtualDevice>(options);
  } catch (const Error& error) {
    say(error.what());
    failed_ = true;
    throw Failure{kErrorInitialization};
  }
  return *device_;
}

void Runtime::check_process() {
  read_settings();
  if (settings_.visible_devices.empty()) {
    say_once(
        "CUDA_VISIBLE_DEVICES hides all simulated GPUs - unset it, or name some of those from 0 "
        "on, "
        "each once; there is one without --devices");
    throw Failure{kErrorNoDevice};
  }
  if (forked_) {
    say_once(
        "a process that fork() made uses the GPU that its parent had used before, which CUDA does "
        "not allow - fork first, or start another program");
    throw Failure{kErrorInitialization};
  }
}

void* primary_context(int device) {
  static std::array<char, kMostDevices> contexts;  // only their addresses are used
  return &contexts.at(static_cast<size_t>(device));
}

void Runtime::note_primary_context() {
  ThreadState& thread = thread_state();
  if (thread.in_driver || device_ == nullptr) return;
  void* const primary = primary_context(thread.device);
  if (thread.context == nullptr) thread.context = primary;
  if (thread.context == primary) primary_used = true;
}

void Runtime::note_failure(const CallSite& site, Status status, const std::string& why) {
  ThreadState& thread = thread_state();
  FailedCall call{whole_call(site), status, thread.in_driver, "", "", why};
  if (attempt.kernel != nullptr) {
    const LaunchConfig& c = attempt.config;
    call.kernel = demangled(attempt.kernel->name);
    call.arguments = fmt::format(
        "grid ({},{},{}), blocks of ({},{},{}), {} bytes of dynamic shared memory", c.grid.x,
        c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, c.dynamic_shared_bytes);
  }
  if (failed_calls.add(call, thread)) keep_failed_calls();
}

/// Writes the failed calls to the logs, so that they are kept if the process is killed.
void Runtime::keep_failed_calls() {
  recorder_.calls(calls());
  check_.failed_calls(failed_calls.unseen_launches());
}

runtime::CallSummary Runtime::calls() const {
  return {failed_calls.unseen(), failed_calls.seen(), launched_};
}

void Runtime::enqueue(Stream stream, NodeType type, Work work) {
  StreamState* const s = streams.use(stream);
  if (s == nullptr || s->capture == nullptr) {
    memory.take_pageable();
    const runtime::LaunchOrder::Work in_order(order, streams.order(stream));
    work(*this);
    // A copy of pageable memory may be synchronous even if its name says otherwise ("API
    // synchronization behavior" in CUDA's reference); here it always is.
    const bool pageable = memory.take_pageable() && type == NodeType::kCopy;
    if (pageable || thread_state().synchronous) order.host_waited(order.now());
    return;
  }
  s->tail = {graphs.add(*s->capture->graph, type, std::move(work), s->tail.data(), s->tail.size())};
}

void Runtime::touch(Stream stream) {
  const StreamState* const s = streams.use(stream);
  if (s == nullptr || s->capture == nullptr)
    const runtime::LaunchOrder::Work in_order(order, streams.order(stream));
}

uint64_t Runtime::free_memory_bytes() {
  const uint64_t used = device().used_memory_bytes() + virtual_memory.bytes();
  return device().memory_bytes() - std::min(used, device().memory_bytes());
}

void Runtime::free(void* pointer) {
  if (const auto of_graph = graphs.memory(pointer); of_graph != nullptr)
    graphs.free(*of_graph);
  else if (const auto address = reinterpret_cast<uint64_t>(pointer);
           virtual_memory.is_open(address, VirtualMemory::Opened::kFromPool))
    virtual_memory.close(*this, address, VirtualMemory::Opened::kFromPool);
  else
    memory.free(*this, pointer, false);
}

void Runtime::launch(uint32_t module, const compiler::Kernel& kernel, const LaunchConfig& config,
                     runtime::KernelArgs args, const LaunchKind& kind) {
  const uint64_t before = device().warp_instructions();
  const runtime::Dim3 grid{config.grid.x, config.grid.y, config.grid.z};
  const runtime::Dim3 block{config.block.x, config.block.y, config.block.z};
  memory.copy_in(*this);
  const auto start = std::chrono::steady_clock::now();
  watch_.begin_launch(kernel.name, before, start);
  if (launched_++ == 0) recorder_.calls(calls());  // kept if the process is killed
  try {
    const auto shared = static_cast<uint32_t>(config.dynamic_shared_bytes);
    const bool record = recorder_.active() && recorder_.wanted(kernel.name);
    device().launch_clusters(module, kernel.name, grid, block,
                             {kind.cluster.x, kind.cluster.y, kind.cluster.z}, shared, args,
                             kind.cooperative, record);
  } catch (const Interrupted& interrupt) {
    stop(interrupt.what());
  } catch (const runtime::DeviceFault& fault) {
    sticky = status_of(fault.kind());
    say(fault.what());
    recorder_.fault(fault.what());
    check_.fault(fault.what());
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  watch_.end_launch(now);
  execution_seconds_ += std::chrono::duration<double>(now - start).count();
  check_.launched();
  memory.copy_out(*this);
  const double instructions = static_cast<double>(device().warp_instructions() - before);
  streams.pass(recorder_.event_times().take().value_or(
      kLaunchMicroseconds + instructions / spec().sms / spec().clock_mhz));
}

/// Ends the process, since a limit of execution has been reached and its results would be wrong.
/// The recording up to now is kept.
void Runtime::stop(const std::string& why) {
  say(fmt::format(
      "a limit of execution has been reached ({}, the application's launch number {}, with {} "
      "thread-instructions in all): the application ends here, and what was executed before is "
      "reported",
      why, launched_, device_->thread_instructions()));
  keep_failed_calls();
  recorder_.end();
  check_.end();
  std::fflush(stdout);
  _exit(kStoppedStatus);
}

void Runtime::end() {
  if (forked_ || failed_ || !called_) return;
  read_settings();
  const bool reported = !settings_.spool.empty() || !settings_.record.empty();
  if (device_ == nullptr) {
    // The process only made queries, or failed early. Logs in a folder that collects those of
    // several processes are written all the same; a named file is not, since it may be another
    // process's.
    const bool collects = !settings_.check.empty() && settings_.check != "-";
    if (!settings_.record.empty() || (settings_.spool.empty() && !collects)) return;
    try {
      begin_logs();
    } catch (const Error& error) {
      say(error.what());
      return;
    }
  }
  if (lacking_registers.size() > 1) {
    std::string names;
    for (size_t i = 1; i < lacking_registers.size(); ++i)
      names += (i == 1 ? "" : ", ") + lacking_registers[i];
    say(fmt::format("the same for {} more kernel{}, with so many registers of those needed: {}",
                    lacking_registers.size() - 1, lacking_registers.size() == 2 ? "" : "s", names));
  }
  keep_failed_calls();
  recorder_.end();
  check_.end();
  if (!reported) {
    // With the race checker, its report has the failed launches.
    for (const std::string& text :
         check_.checker() == nullptr ? failed_calls.unseen() : failed_calls.unseen_others())
      say(text);
    for (const std::string& text : failed_calls.seen()) say(text);
  }
  if (!reported && check_.checker() == nullptr)
    say(fmt::format(
        "executed {} thread-instructions ({} warp-instructions) in {:.2f} s on a simulated GPU; "
        "'nearwarp run -- APPLICATION' also tells how long they take there",
        device_->thread_instructions(), device_->warp_instructions(), execution_seconds_));
}

}  // namespace nearwarp::cudart

/// Ends the library, after the application's own destructors.
__attribute__((destructor)) static void end_of_process() { nearwarp::cudart::the_runtime().end(); }
