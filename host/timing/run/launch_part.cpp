// Some launches of a program on a machine.
#include "host/timing/run/launch_part.h"

#include <algorithm>

#include "device/frontend/dispatcher.h"

namespace nearwarp::sim {

std::string why_no_parts(const config::PolicyConfig& policy) {
  if (policy.mapping == "tmap")
    return "its mapping of data is learnt in the program's first launches, and each part would "
           "learn another - tom-oracle has the best mapping known beforehand";
  if (policy.mapping == "fta" && policy.pages.before_touch != "known")
    return "its pages move when they are touched first, so where they lie depends on all launches "
           "before - with pages.before_touch=known they lie there from the beginning";
  return "";
}

uint32_t next_sm_of(const runtime::Recording& recording, const config::PolicyConfig& policy,
                    uint32_t launch, uint32_t num_sms) {
  if (policy.dispatch.sms != "in-turn" || policy.dispatch.first_sm != "next") return 0;
  uint64_t blocks = 0;
  for (uint32_t i = 0; i < launch; ++i) blocks += recording.launches[i].blocks_recorded;
  return static_cast<uint32_t>(blocks % num_sms);
}

PartWatch::PartWatch(const runtime::LaunchPart& part, const ImageTables& image) {
  // Launches without thread blocks are not in the image.
  const auto at = [&](uint32_t launch) {
    const auto& known = image.recorded_launch;
    return static_cast<uint32_t>(std::lower_bound(known.begin(), known.end(), launch) -
                                 known.begin());
  };
  begin_ = at(part.begin);
  first_ = at(part.first);
  end_ = at(part.end);
  all_ = static_cast<uint32_t>(image.launches.size());
  if (first_ == begin_) looks_ = 1;
}

void PartWatch::select(System& system, const ImageTables& image) const {
  frontend::DispatchState& d = system.front_end().dispatch;
  const frontend::FrontEndParams& p = system.front_end_params();
  std::byte* base = system.arena.base();
  frontend::LaunchState* launches = d.launches.in(base);
  d.line_head = d.line_tail = frontend::kNoLaunch;
  for (uint32_t i = 0; i < all_; ++i) {
    launches[i].ready = kNever;
    launches[i].next = frontend::kNoLaunch;
    // Those after the part wait for more than there is.
    if (i >= end_) launches[i].waits_for = ~0u;
  }
  for (uint32_t i = 0; i < begin_; ++i)
    for (uint32_t k = 0; k < image.launches[i].num_waiting; ++k)
      launches[image.waiting[image.launches[i].first_waiting + k]].waits_for -= 1;
  for (uint32_t i = begin_; i < end_; ++i)
    if (launches[i].waits_for == 0)
      frontend::dispatcher::stand_in_line(d, base, i, Tick{p.launch_gap} * p.period);
  d.ended = all_ - (end_ - begin_);
}

uint64_t PartWatch::warp_instructions(const runtime::Recording& recording,
                                      const ImageTables& image) const {
  uint64_t sum = 0;
  for (uint32_t i = begin_; i < end_; ++i)
    sum += recording.launches[image.recorded_launch[i]].warp_instructions;
  return sum;
}

/// Beyond the program's last launch a run ends by itself.
bool PartWatch::looks_more() const { return looks_ == 0 || (looks_ == 1 && end_ != all_); }

uint32_t PartWatch::launches_left(const frontend::DispatchState& d) const {
  const uint32_t after = looks_ == 0 ? end_ - first_ : 0;  // that come after it
  return all_ - after - d.ended;
}

bool PartWatch::is_near(System& system, Tick window) const {
  const frontend::FrontEndParams& p = system.front_end_params();
  // Every launch that may be in flight can end in a window, and others that wait for it, a gap later.
  const Tick in_window = p.dispatch.max_running * (1 + window / (Tick{p.launch_gap} * p.period));
  return looks_more() && launches_left(system.front_end().dispatch) <= in_window;
}

Tick PartWatch::next_look(System& system) const {
  const frontend::DispatchState& d = system.front_end().dispatch;
  const frontend::LaunchState* launches = d.launches.in(system.arena.base());
  if (!looks_more() || launches_left(d) != 0) return kNever;
  if (looks_ == 0) return launches[d.line_head].ready;
  Tick last = 0;
  for (uint32_t i = begin_; i < end_; ++i) last = std::max(last, launches[i].end);
  return last + Tick{system.front_end_params().launch_gap} * system.front_end_params().period;
}

}  // namespace nearwarp::sim
