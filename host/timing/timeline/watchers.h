// Several that look at a run, as one.
#pragma once

#include <vector>

#include "host/timing/run/replay.h"

namespace nearwarp::timeline {

/// Each is told in the order in which they were added.
class Watchers final : public sim::RunWatcher {
 public:
  void add(sim::RunWatcher* watcher) { all_.push_back(watcher); }
  bool empty() const { return all_.empty(); }

  uint32_t log_events() const override;
  void begin(sim::Replay& run) override;
  Tick next_look() const override;
  void look(sim::Replay& run) override;
  void end(sim::Replay& run, const report::RunResult& result) override;

 private:
  std::vector<sim::RunWatcher*> all_;
};

}  // namespace nearwarp::timeline
