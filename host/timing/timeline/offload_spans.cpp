// Spans of what warps have executed elsewhere, made of the events that SMs note.
#include "host/timing/timeline/offload_spans.h"

#include <fmt/format.h>

#include <algorithm>

namespace nearwarp::timeline {

namespace {

template <class F>
void each_sm(sim::System& system, F&& f) {
  for (uint16_t i = 0; i < system.table.count; ++i)
    if (kernels::is_sm(system.component(i).kind))
      sim::with_sm(system, i, [&](auto& s) { f(i, s.log); });
}

}  // namespace

void OffloadSpans::listen(sim::System& system, bool on) {
  each_sm(system, [&](uint16_t endpoint, EventLog& log) {
    if (log.events.count != 0) logs_[endpoint] = log.events;
    log.events = on ? logs_[endpoint] : Ref<Event>{};
    log.count = 0;
  });
}

void OffloadSpans::take(sim::System& system, TraceWriter& out, bool write) {
  std::vector<Noted> noted;
  each_sm(system, [&](uint16_t endpoint, EventLog& log) {
    const Event* events = log.events.in(system.arena.base());
    for (uint32_t i = 0; i < log.count; ++i) noted.push_back({endpoint, events[i]});
    lost_ += log.lost;
    log.count = log.lost = 0;
  });
  std::stable_sort(noted.begin(), noted.end(),
                   [](const Noted& a, const Noted& b) { return a.event.tick < b.event.tick; });
  for (const Noted& n : noted) note(n, system, out, write);
}

void OffloadSpans::note(const Noted& n, sim::System& system, TraceWriter& out, bool write) {
  const Event& e = n.event;
  const WarpOf warp{n.endpoint, e.warp};
  switch (e.kind) {
    case EventKind::kDecided:
      under_way_[warp] = {};
      under_way_[warp].decided = e.tick;
      under_way_[warp].to = e.other;
      return;
    case EventKind::kSent:
      under_way_[warp].sent = e.tick;
      under_way_[warp].to = e.other;
      return;
    case EventKind::kStays:
      under_way_.erase(warp);
      return;
    case EventKind::kBack:
      came_back(warp, e.tick, system, out, write);
      return;
    case EventKind::kArrived: {
      const auto o = under_way_.find({e.other, e.other_warp});
      if (o == under_way_.end()) return;  // sent before SMs noted anything
      o->second.arrived = e.tick;
      o->second.guest = warp;
      home_of_[warp] = o->first;
      return;
    }
    case EventKind::kFinished:
    case EventKind::kAnswered: {
      const auto home = home_of_.find(warp);
      if (home == home_of_.end()) return;
      Offload& o = under_way_[home->second];
      (e.kind == EventKind::kFinished ? o.finished : o.answered) = e.tick;
      if (e.kind == EventKind::kAnswered) home_of_.erase(home);
      return;
    }
  }
}

void OffloadSpans::came_back(WarpOf warp, Tick at, sim::System& system, TraceWriter& out,
                             bool write_it) {
  const auto o = under_way_.find(warp);
  if (o == under_way_.end() || o->second.sent == kNotYet) return;
  offloads_ += 1;
  if (write_it) {
    write(warp, o->second, at, system, out);
  } else {
    left_out_ += 1;
  }
  under_way_.erase(o);
}

/// The stage in which an offload is at its end. Without an event of its arrival the stage is
/// "away".
const char* OffloadSpans::last_stage(const Offload& o) {
  if (o.sent == kNotYet) return "prepares";
  if (o.arrived == kNotYet) return "away";
  if (o.finished == kNotYet) return "executed elsewhere";
  return o.answered == kNotYet ? "results leave" : "on its way back";
}

void OffloadSpans::thread(WarpOf warp, TraceWriter& out) {
  if (!named_.insert(warp).second) return;
  out.thread(pid_ + warp.first, warp.second, fmt::format("warp {}", warp.second));
}

/// On the warp's thread the whole and within it, one after the other, its stages; on the guest's
/// what it did there.
void OffloadSpans::write(WarpOf warp, const Offload& o, Tick back, sim::System& system,
                         TraceWriter& out) {
  const std::string& to = system.nodes[o.to].name;
  const uint32_t pid = pid_ + warp.first;
  thread(warp, out);
  const Tick begin = o.decided == kNotYet ? o.sent : o.decided;
  out.span(pid, warp.second, "offloaded", cycle(begin), cycle(back), "to " + to);
  struct Stage {
    const char* name;
    Tick until;
  };
  const Stage stages[] = {{"prepares", o.sent},
                          {"on its way", o.arrived},
                          {"executed elsewhere", o.finished},
                          {"results leave", o.answered},
                          {last_stage(o), back}};
  Tick from = begin;
  for (const Stage& s : stages) {
    if (s.until == kNotYet) continue;
    out.span(pid, warp.second, s.name, cycle(from), cycle(s.until));
    from = s.until;
  }
  if (o.arrived == kNotYet) return;
  thread(o.guest, out);
  const uint32_t there = pid_ + o.guest.first;
  out.span(there, o.guest.second, "executes", cycle(o.arrived),
           cycle(o.answered == kNotYet ? back : o.answered),
           fmt::format("for warp {} of {}", warp.second, system.nodes[warp.first].name));
  out.arrow(offloads_, pid, warp.second, cycle(o.sent), there, o.guest.second, cycle(o.arrived));
}

void OffloadSpans::end(sim::System& system, Tick at, TraceWriter& out, bool write) {
  take(system, out, write);
  while (!under_way_.empty()) {
    const WarpOf warp = under_way_.begin()->first;
    came_back(warp, at, system, out, write);
    under_way_.erase(warp);
  }
  listen(system, false);
}

}  // namespace nearwarp::timeline
