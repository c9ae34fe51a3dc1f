// Contexts of the driver's interface.
#include "host/functional/cudriver/contexts.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

struct State {
  std::mutex mutex;
  bool initialized = false;
  unsigned long long next_id = 2;
  Context primary{0, 1, 0};
  uint64_t primary_references = 0;
  std::unordered_map<const void*, std::unique_ptr<Context>> contexts;  ///< without the primary one
};

State& state() {
  static State* const all = new State;  // applications call until the very end
  return *all;
}

/// The current context is in the thread's state; those below it are here.
std::vector<void*>& below() {
  thread_local std::vector<void*> stack;
  return stack;
}

/// Under the lock; nullptr if it does not live.
Context* find(void* context) {
  if (context == nw_driver_primary_context())
    return state().primary_references != 0 || nw_driver_runtime_used() ? &state().primary : nullptr;
  const auto it = state().contexts.find(context);
  return it == state().contexts.end() ? nullptr : it->second.get();
}

/// The last context frees what all had.
void reset_if_unused() {
  if (state().contexts.empty() && state().primary_references == 0 && !nw_driver_runtime_used())
    check(cudaDeviceReset());
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

void* create_context(unsigned flags) {
  check(cudaFree(nullptr));  // makes the device
  void* context = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    auto made = std::make_unique<Context>(Context{flags, state().next_id++, 0});
    context = made.get();
    state().contexts.emplace(context, std::move(made));
  }
  push_context(context);
  return context;
}

void destroy_context(void* context) {
  const std::lock_guard lock(state().mutex);
  require(state().contexts.contains(context), kErrorInvalidContext);
  if (current_context() == context) pop_context();
  state().contexts.erase(context);
  reset_if_unused();
}

void push_context(void* context) {
  checked_context(context);
  if (current_context() != nullptr) below().push_back(current_context());
  nw_driver_thread()->context = context;
}

void* pop_context() {
  void* const top = current_context();
  require(top != nullptr, kErrorInvalidContext);
  void* next = nullptr;
  if (!below().empty()) {
    next = below().back();
    below().pop_back();
  }
  nw_driver_thread()->context = next;
  return top;
}

void set_context(void* context) {
  if (context != nullptr) {
    checked_context(context);
    nw_driver_thread()->context = context;
  } else if (current_context() != nullptr) {
    pop_context();
  }
}

void* retain_primary_context() {
  check(cudaFree(nullptr));
  const std::lock_guard lock(state().mutex);
  ++state().primary_references;
  return nw_driver_primary_context();
}

void release_primary_context() {
  const std::lock_guard lock(state().mutex);
  require(state().primary_references != 0, kErrorInvalidContext);
  --state().primary_references;
  reset_if_unused();
}

void reset_primary_context() { check(cudaDeviceReset()); }

Context& primary_context() { return state().primary; }

bool primary_context_active() {
  const std::lock_guard lock(state().mutex);
  return find(nw_driver_primary_context()) != nullptr;
}

}  // namespace nearwarp::cudriver
