// Some launches of a program on a machine that begins cold a few launches before them, or warm.
//
// The results of a part are what a run's counters gain from the moment at which the part's first
// launch may begin (a launch gap after the end of the last one before) to the moment at which the
// one after its last may; if there is none, to the end. Parts of one run that follow each other so
// add up to it exactly. Cycles are from end to end of launches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/recording/launch_cuts.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::sim {

/// Why parts of programs cannot be simulated by themselves under a policy; empty if they can.
std::string why_no_parts(const config::PolicyConfig& policy);

/// The SM that gets the first thread block of a launch, if each block before it went to the SM
/// after that of the one before; 0 where a policy does not go on with the next SM.
uint32_t next_sm_of(const runtime::Recording& recording, const config::PolicyConfig& policy,
                    uint32_t launch, uint32_t num_sms);

/// Before the first window of a part that begins with this launch: when memory refreshes next. When
/// it would is not known, and it does at the same time everywhere; parts have it at times that are
/// spread evenly over the interval, so that refreshes meet as many launches as in the whole
/// program.
void set_refreshes(System& system, uint32_t launch);

/// Where a run of a part stands; indices into ImageTables::launches.
class PartWatch {
 public:
  PartWatch(const runtime::LaunchPart& part, const runtime::Recording& recording,
            const ImageTables& image);

  /// Before the first window: only the part's launches are to be dispatched, the first one as the
  /// program's first would be.
  void select(System& system, const ImageTables& image) const;
  /// Warp-instructions of the launches that are simulated.
  uint64_t warp_instructions(const runtime::Recording& recording, const ImageTables& image) const;

  /// The tick at which results have to be taken next, once it is known; kNever else. To be asked
  /// between windows, and whenever a launch has ended.
  Tick next_look(System& system) const;
  /// How many windows of so many ticks may be stepped until this is asked again, so that none of
  /// them goes beyond that tick before it is known; 0: only windows no longer than System::window,
  /// and so than a launch gap, do not. Launches need cycles, each in some window, to get all of
  /// their thread blocks and to issue all of their instructions.
  uint64_t windows_apart(System& system, Tick window) const;
  /// Results have been taken.
  void looked() { looks_ += 1; }
  bool before_first() const { return looks_ == 0; }

 private:
  bool looks_more() const;
  /// Launches that have to end before results are taken next.
  uint32_t launches_left(const frontend::DispatchState& d) const;

  uint32_t begin_ = 0, first_ = 0, end_ = 0, all_ = 0;
  bool in_order_ = true;  ///< each launch waits for the one before
  /// By launch from `begin` on: thread blocks, and cycles that it needs at least, of those before
  /// it.
  std::vector<uint64_t> blocks_, cycles_;
  int looks_ = 0;  // 1: at the beginning of the part's first launch, 2: of that after its last
};

}  // namespace nearwarp::sim
