// Contexts of the driver API: live contexts, and each thread's stack of them.
#include "host/functional/cudriver/contexts.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "host/functional/cudart/device_spec.h"
#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

/// The primary context of a device.
struct Primary {
  Context context;
  uint64_t references = 0;
};

struct State {
  State() {
    for (size_t device = 0; device < primaries.size(); ++device)
      primaries[device].context = {0, device + 1, 0, static_cast<Device>(device)};
  }
  std::mutex mutex;
  bool initialized = false;
  unsigned long long next_id = cudart::kMostDevices + 1;
  std::array<Primary, cudart::kMostDevices> primaries;
  std::unordered_map<const void*, std::unique_ptr<Context>> contexts;  ///< all but primary ones
};

State& state() {
  static State* const all = new State;  // never destroyed, since destructors of applications call
  return *all;
}

Primary& primary(Device device) { return state().primaries.at(static_cast<size_t>(device)); }

/// The calling thread's stack of contexts below the current one, which is in the thread's state.
std::vector<void*>& below() {
  thread_local std::vector<void*> stack;
  return stack;
}

/// The live context of a handle; nullptr if there is none. The caller holds the mutex.
Context* find(void* context) {
  for (Primary& primary : state().primaries)
    if (context == nw_driver_primary_context(primary.context.device))
      return primary.references != 0 || nw_driver_runtime_used() ? &primary.context : nullptr;
  const auto it = state().contexts.find(context);
  return it == state().contexts.end() ? nullptr : it->second.get();
}

/// While it lives, `device` is the calling thread's device.
class OnDevice {
 public:
  explicit OnDevice(Device device) { nw_driver_thread()->device = device; }
  ~OnDevice() { nw_driver_thread()->device = before_; }
  OnDevice(const OnDevice&) = delete;

 private:
  const int before_ = nw_driver_thread()->device;
};

/// Resets a device without contexts, which frees all of their resources. The caller holds the
/// mutex.
void reset_if_unused(Device device) {
  const bool is_used = std::any_of(state().contexts.begin(), state().contexts.end(),
                                   [&](const auto& c) { return c.second->device == device; });
  if (is_used || primary(device).references != 0 || nw_driver_runtime_used()) return;
  const OnDevice scope(device);
  check(cudaDeviceReset());
}

/// Makes a context and its device current in the calling thread. The caller holds the mutex.
void make_current(void* context) {
  nw_driver_thread()->context = context;
  const Context* const found = context == nullptr ? nullptr : find(context);
  if (found != nullptr) nw_driver_thread()->device = found->device;
}

/// Removes the current context from the calling thread's stack. The caller holds the mutex.
void* pop() {
  void* const top = current_context();
  require(top != nullptr, kErrorInvalidContext);
  void* next = nullptr;
  if (!below().empty()) {
    next = below().back();
    below().pop_back();
  }
  make_current(next);
  return top;
}

}  // namespace

void initialize() {
  const std::lock_guard lock(state().mutex);
  state().initialized = true;
}

void check_initialized() {
  const std::lock_guard lock(state().mutex);
  require(state().initialized || nw_driver_has_device(), kErrorInitialization);
}

void check_device(Device device) {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  require(device >= 0 && device < count, kErrorInvalidDevice);
}

void check_context() {
  void* const context = current_context();
  require(context != nullptr, kErrorInvalidContext);
  const std::lock_guard lock(state().mutex);
  require(find(context) != nullptr, kErrorContextIsDestroyed);
}

void* current_context() { return nw_driver_thread()->context; }

Context& checked_context(void* context) {
  const std::lock_guard lock(state().mutex);
  Context* const found = find(context == nullptr ? current_context() : context);
  require(found != nullptr, kErrorInvalidContext);
  return *found;
}

void* create_context(unsigned flags, Device device) {
  check(cudaInitDevice(device, 0, 0));
  void* context = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    auto made = std::make_unique<Context>(Context{flags, state().next_id++, 0, device});
    context = made.get();
    state().contexts.emplace(context, std::move(made));
  }
  push_context(context);
  return context;
}

void destroy_context(void* context) {
  const std::lock_guard lock(state().mutex);
  const auto it = state().contexts.find(context);
  require(it != state().contexts.end(), kErrorInvalidContext);
  const Device device = it->second->device;
  state().contexts.erase(it);
  std::erase(below(), context);  // a later pop makes a live context current
  if (current_context() == context) pop();
  reset_if_unused(device);
}

void push_context(void* context) {
  checked_context(context);
  if (current_context() != nullptr) below().push_back(current_context());
  const std::lock_guard lock(state().mutex);
  make_current(context);
}

void* pop_context() {
  const std::lock_guard lock(state().mutex);
  return pop();
}

void set_context(void* context) {
  if (context != nullptr) {
    checked_context(context);
    const std::lock_guard lock(state().mutex);
    make_current(context);
  } else if (current_context() != nullptr) {
    pop_context();
  }
}

void* retain_primary_context(Device device) {
  check(cudaInitDevice(device, 0, 0));
  const std::lock_guard lock(state().mutex);
  ++primary(device).references;
  return nw_driver_primary_context(device);
}

void release_primary_context(Device device) {
  const std::lock_guard lock(state().mutex);
  require(primary(device).references != 0, kErrorInvalidContext);
  --primary(device).references;
  reset_if_unused(device);
}

void reset_primary_context(Device device) {
  const OnDevice scope(device);
  check(cudaDeviceReset());
}

Context& primary_context(Device device) { return primary(device).context; }

bool primary_context_active(Device device) {
  const std::lock_guard lock(state().mutex);
  return find(nw_driver_primary_context(device)) != nullptr;
}

}  // namespace nearwarp::cudriver
