// Collects the application's runtime and driver calls that failed, and describes them in messages.
#include "host/functional/cudart/status/failed_calls.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "host/functional/cudart/status/error_names.h"

namespace nearwarp::cudart {

namespace {

/// The name by which the application called the function, e.g. cudaMalloc or cuMemAlloc.
std::string name_of(const FailedCall& call) {
  std::string name = call.site.function;
  if (name.starts_with("__")) name.erase(0, 2);  // what <<<>>> calls
  constexpr std::string_view kRuntime = "cuda";
  if (call.driver && name.starts_with(kRuntime)) name = "cu" + name.substr(kRuntime.size());
  return name;
}

/// The place of a call, "app+0x1234", in addr2line's form; empty if this library called itself.
std::string place_of(const void* caller) {
  Dl_info there, here;
  if (caller == nullptr || dladdr(caller, &there) == 0 || there.dli_fname == nullptr) return "";
  if (dladdr(reinterpret_cast<const void*>(&place_of), &here) != 0 &&
      here.dli_fbase == there.dli_fbase)
    return "";
  const std::string path = there.dli_fname;
  // `caller` is the return address, which is behind the call: one byte less is inside of it.
  const auto offset =
      reinterpret_cast<uintptr_t>(caller) - reinterpret_cast<uintptr_t>(there.dli_fbase) - 1;
  return fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1), offset);
}

std::string text_of(const FailedCall& call, uint64_t count, const char* asked) {
  const bool launch = !call.kernel.empty();
  std::string text = launch ? fmt::format("a launch of kernel {}", call.kernel) : name_of(call);
  text += fmt::format(" failed with {} ({})", error_name(call.status), error_text(call.status));
  if (!call.why.empty()) text += ": " + call.why;
  if (launch) text += fmt::format("; {}, {}", name_of(call), call.arguments);
  const std::string place = place_of(call.site.caller);
  if (!place.empty()) text += ", called at " + place;
  return text + fmt::format("; {}{}", count == 1 ? "once" : fmt::format("{} times", count), asked);
}

}  // namespace

bool FailedCalls::add(const FailedCall& call, ThreadState& thread) {
  const std::string name = name_of(call);
  const bool is_launch = (name.starts_with("cudaLaunch") || name.starts_with("cuLaunch") ||
                          name == "cudaGraphLaunch" || name == "cuGraphLaunch") &&
                         !name.ends_with("HostFunc");
  // The driver's interface reports statuses only as return values, which the application may have
  // checked, so they are not counted; but a kernel that could not be launched is always reported.
  if (call.driver && !is_launch) return false;
  // The reason is part of the kind; but since numbers in it can make every call a new kind, it is
  // so only for the first kMostKinds.
  constexpr size_t kMostKinds = 100;
  Kind*& kind = known_[{name, call.status, call.kernel,
                        kinds_.size() < kMostKinds ? call.why : std::string()}];
  const bool is_new = kind == nullptr;
  if (is_new) {
    kind = &kinds_.emplace_back();
    kind->first = call;
    kind->is_launch = is_launch;
  }
  ++kind->count;
  ++kind->unseen;
  if (!call.driver) {
    if (thread.number == 0) thread.number = ++threads_;
    ++pending_[thread.number][kind];
  }
  return is_new && is_launch;
}

void FailedCalls::looked_at(ThreadState& thread) {
  const auto it = pending_.find(thread.number);
  if (it == pending_.end()) return;
  for (const auto& [kind, count] : it->second) kind->unseen -= count;
  pending_.erase(it);
}

void FailedCalls::forget() {
  pending_.clear();
  known_.clear();
  kinds_.clear();
}

std::vector<std::string> FailedCalls::texts(bool seen, bool launches, bool others) const {
  std::vector<std::string> all;
  for (const Kind& kind : kinds_) {
    const uint64_t count = seen ? kind.count - kind.unseen : kind.unseen;
    if (count == 0 || !(kind.is_launch ? launches : others)) continue;
    all.push_back(text_of(kind.first, count,
                          seen ? ", and the application asked for the error"
                          : kind.first.driver
                              ? ""
                              : ", and cudaGetLastError() was not called after it"));
  }
  return all;
}

}  // namespace nearwarp::cudart
