// State that each thread of the application has.
#include "host/functional/cudart/status/thread_state.h"

namespace nearwarp::cudart {

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

}  // namespace nearwarp::cudart
