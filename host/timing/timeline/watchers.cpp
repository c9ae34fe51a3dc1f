// Several that look at a run, as one.
#include "host/timing/timeline/watchers.h"

#include <algorithm>

namespace nearwarp::timeline {

uint32_t Watchers::log_events() const {
  uint32_t most = 0;
  for (const sim::RunWatcher* w : all_) most = std::max(most, w->log_events());
  return most;
}

void Watchers::begin(sim::Replay& run) {
  for (sim::RunWatcher* w : all_) w->begin(run);
}

Tick Watchers::next_look() const {
  Tick next = kNever;
  for (const sim::RunWatcher* w : all_) next = std::min(next, w->next_look());
  return next;
}

void Watchers::look(sim::Replay& run) {
  const Tick now = next_look();
  for (sim::RunWatcher* w : all_)
    if (w->next_look() == now) w->look(run);
}

void Watchers::end(sim::Replay& run, const report::RunResult& result) {
  for (sim::RunWatcher* w : all_) w->end(run, result);
}

}  // namespace nearwarp::timeline
