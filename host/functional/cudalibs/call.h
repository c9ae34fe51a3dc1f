// How entry points of CUDA's libraries here end: what they throw becomes their status.
#pragma once

#include "host/functional/cudalibs/kernels.h"

namespace nearwarp::cudalibs {

/// A library's words for how calls end.
template <class Status>
struct Ends {
  Status success, no_memory, not_launched, internal_error;
};

/// Runs f(), the body of an entry point. A library's Failure has the `status` that ends the call.
template <class Failure, class Status, class F>
Status status_of(const Ends<Status>& ends, F&& f) noexcept {
  try {
    f();
    return ends.success;
  } catch (const Failure& failure) {
    return failure.status;
  } catch (const Problem& problem) {
    return problem == Problem::kMemory ? ends.no_memory : ends.not_launched;
  } catch (...) {
    return ends.internal_error;
  }
}

}  // namespace nearwarp::cudalibs
