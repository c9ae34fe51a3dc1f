// Failed calls of the application. <<<>>> returns no status, so an application that never asks for
// the last error does not learn that a kernel never ran; the library reports it at the end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/status/thread_state.h"

namespace nearwarp::cudart {

/// An entry point, and the place of its call in the application.
struct CallSite {
  const char* function = nullptr;
  const void* caller = nullptr;  ///< return address
};
/// The last parameter of functions that run the bodies of entry points: the entry point that calls.
#define NW_CALL_SITE \
  nearwarp::cudart::CallSite site = {__builtin_FUNCTION(), __builtin_return_address(0)}

/// While it lives, calls by this thread of other entry points count as parts of the call at `site`.
class OuterCall {
 public:
  explicit OuterCall(NW_CALL_SITE) : site_(site) {
    if (thread_state().outer_call == nullptr) thread_state().outer_call = &site_;
  }
  ~OuterCall() {
    if (thread_state().outer_call == &site_) thread_state().outer_call = nullptr;
  }
  OuterCall(const OuterCall&) = delete;
  OuterCall& operator=(const OuterCall&) = delete;

 private:
  CallSite site_;
};

/// The call of the application that the call at `site` is a part of, or is itself.
inline const CallSite& whole_call(const CallSite& site) {
  const CallSite* const outer = thread_state().outer_call;
  return outer != nullptr ? *outer : site;
}

struct FailedCall {
  CallSite site;
  Status status = kSuccess;
  bool driver = false;    ///< it is a call of the driver API, which has no last error
  std::string kernel;     ///< demangled name of the kernel, if the call is a launch
  std::string arguments;  ///< the launch's arguments as text
  std::string why;        ///< the reason; may be empty
};

class FailedCalls {
 public:
  /// Returns whether it is a launch of a new kind, which is worth keeping at once.
  bool add(const FailedCall& call, ThreadState& thread);
  /// Mark all failures of a thread as seen, since it has asked for its last error and got one.
  void looked_at(ThreadState& thread);

  /// Sentences on failures that the application has not asked for: one for each kind of failure,
  /// with its first place and their number.
  std::vector<std::string> unseen() const { return texts(false, true, true); }
  /// Only launches among these, which are always errors of the program: it may have checked the
  /// statuses that other calls returned, but launches return none.
  std::vector<std::string> unseen_launches() const { return texts(false, true, false); }
  std::vector<std::string> unseen_others() const { return texts(false, false, true); }
  /// Sentences on failed launches of which the application has learned.
  std::vector<std::string> seen() const { return texts(true, true, false); }

  /// Forgets all failures; threads keep their numbers.
  void forget();

 private:
  struct Kind {
    FailedCall first;
    uint64_t count = 0, unseen = 0;
    bool is_launch = false;
  };
  std::vector<std::string> texts(bool seen, bool launches, bool others) const;

  std::deque<Kind> kinds_;
  std::map<std::tuple<std::string, Status, std::string, std::string>, Kind*> known_;
  std::unordered_map<uint32_t, std::map<Kind*, uint64_t>>
      pending_;  // by thread: its unseen failures
  uint32_t threads_ = 0;
};

}  // namespace nearwarp::cudart
