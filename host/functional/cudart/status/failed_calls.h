// Which of the application's calls failed. <<<>>> hands no status back, and who does not ask for
// the last error does not learn that a kernel never ran.
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

/// An entry point, and where the application has called it.
struct CallSite {
  const char* function = nullptr;
  const void* caller = nullptr;  ///< return address
};
/// As the last parameter of a function that runs the body of entry points: theirs.
#define NW_CALL_SITE \
  nearwarp::cudart::CallSite site = {__builtin_FUNCTION(), __builtin_return_address(0)}

/// While it lives, what the calling thread asks of other entry points belongs to this call of one.
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

/// The entry point that the application has called, on whose way the one at `site` is.
inline const CallSite& whole_call(const CallSite& site) {
  const CallSite* const outer = thread_state().outer_call;
  return outer != nullptr ? *outer : site;
}

/// A call that failed, and how.
struct FailedCall {
  CallSite site;
  Status status = kSuccess;
  bool driver = false;    ///< of the driver's interface, which has no last error
  std::string kernel;     ///< of a launch, demangled
  std::string arguments;  ///< of a launch
  std::string why;        ///< may be empty
};

class FailedCalls {
 public:
  /// Returns whether it is a launch of a new kind, which is worth keeping at once.
  bool add(const FailedCall& call, ThreadState& thread);
  /// The thread has asked for its last error and got one: it knows that something failed.
  void looked_at(ThreadState& thread);

  /// Failures that nobody looked at, in words: each kind once, with its first place, and how often.
  std::vector<std::string> unseen() const { return texts(false, true, true); }
  /// Launches among these: no program wants a kernel that never ran. The status that other calls
  /// return it may have looked at.
  std::vector<std::string> unseen_launches() const { return texts(false, true, false); }
  std::vector<std::string> unseen_others() const { return texts(false, false, true); }
  /// Launches that failed, where the application knows it.
  std::vector<std::string> seen() const { return texts(true, true, false); }

  /// Nothing has failed so far. (Threads keep their numbers.)
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
  std::unordered_map<uint32_t, std::map<Kind*, uint64_t>> pending_;  // by thread: how often
  uint32_t threads_ = 0;
};

}  // namespace nearwarp::cudart
