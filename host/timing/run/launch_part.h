// Some launches of a program on a machine that begins cold a few launches before them, or warm.
//
// The results of a part are what a run's counters gain from the moment at which the part's first
// launch may begin (a launch gap after the end of the last one before) to the moment at which the
// one after its last may; if there is none, to the end. Parts of one run that follow each other so
// add up to it exactly. Cycles are from end to end of launches.
//
// A part of a launch's thread blocks has what counters gain from a launch gap after the
// dispatch of those before the first to a launch gap after the dispatch of those before the end:
// the machine is as full at the end as it was at the beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// The launch (an index into Recording::launches) after which it is not known which SM gets the
/// next thread block, where that decides how far data is away; nothing: it is known of all before
/// `end`, or matters little. Thread blocks of a launch that fit on the machine at once go to one SM
/// after the other; those for which there is no room yet go where others end first. A launch whose
/// thread blocks no SM has room for is one of these, too: its run fails.
std::optional<uint32_t> first_unknown_sm(const runtime::Recording& recording,
                                         const config::MachineConfig& machine,
                                         const config::PolicyConfig& policy, uint32_t end);

/// Launches that are simulated before each part unless a number is given, so that the machine has
/// what caches filled from traces do not show: one under a policy that does nothing near memory, on
/// a machine whose SMs all ask the same memory and fetch without caches; four under a policy that
/// decides by how busy the machine is, since its decisions depend on those of launches before; else
/// two (docs/launches-measured.md has how far off that is).
uint32_t launches_before(const config::MachineConfig& machine, const config::PolicyConfig& policy);

/// The SM that gets the first thread block of a part, if each block before it went to the SM after
/// that of the one before; 0 where a policy does not go on with the next SM.
uint32_t next_sm_of(const runtime::Recording& recording, const config::PolicyConfig& policy,
                    const runtime::LaunchPart& part, uint32_t num_sms);

/// Before the first window of a part that does not begin with the program: when memory refreshes
/// next. When it would is not known, and it does at the same time everywhere; parts have it at
/// times that are spread evenly over the interval, so that refreshes meet as many launches as in
/// the whole program.
void set_refreshes(System& system, const runtime::LaunchPart& part);

/// A part's results begin, are divided or end there.
struct PartMoment {
  uint32_t launches = 0;  ///< of those that are simulated, so many have ended
  uint64_t blocks = 0;    ///< if not 0: so many thread blocks have been dispatched
};

/// A piece of a part that is reported as one, from one moment to another; without one, from the
/// run's beginning or to its end.
struct PartPiece {
  std::optional<size_t> from, to;  ///< indices into PartWatch::moments()
  runtime::LaunchRange launches;
};

/// Where a run of a part stands; indices into ImageTables::launches.
class PartWatch {
 public:
  PartWatch(const runtime::LaunchPart& part, const runtime::Recording& recording,
            const ImageTables& image);

  /// Before the first window: only the part's launches are to be dispatched, and of the first one
  /// only the part's thread blocks, as the program's first would be.
  void select(System& system, const ImageTables& image) const;
  /// The tick at which results have to be taken next, once it is known; kNever else. To be asked
  /// between windows, and whenever a launch has ended.
  Tick next_look(System& system) const;
  /// How many windows of so many ticks may be stepped until this is asked again, so that none of
  /// them goes beyond that tick before it is known; 0: only windows no longer than System::window,
  /// and so than a launch gap, do not. Launches need cycles, each in some window, to get all of
  /// their thread blocks and to issue all of their instructions.
  uint64_t windows_apart(System& system, Tick window) const;
  /// The end of the launch, or the dispatch of the thread block, after which results are to be
  /// taken now.
  Tick moment(System& system) const;
  /// Results have been taken.
  void looked() { looks_ += 1; }
  /// Nothing is reported of what would come.
  bool is_over() const { return stops_ && looks_ == moments_.size(); }

  /// Results have been taken at all moments, and nothing is reported of what comes after these.
  bool is_known() const { return !looks_more() && pieces_.back().to.has_value(); }

  const std::vector<PartMoment>& moments() const { return moments_; }
  const std::vector<PartPiece>& pieces() const { return pieces_; }

 private:
  bool looks_more() const { return looks_ != moments_.size(); }
  /// How much later than a program's first launch the part's may begin: monitors measure over
  /// intervals that begin with the machine, and a part's launches would all have the same place in
  /// them. So they begin at times that are spread evenly over an interval.
  Tick later(System& system) const;
  /// Launches that have to end before results are taken next.
  uint32_t launches_left(const frontend::DispatchState& d) const;

  uint32_t begin_ = 0, end_ = 0, all_ = 0;
  uint32_t left_out_ = 0;  ///< thread blocks of the first launch
  uint32_t phase_ = 0;     ///< where it begins in monitors' intervals, in 2^-32 of one
  bool in_order_ = true;   ///< each launch waits for the one before
  bool stops_ = false;     ///< the run ends with the last moment
  std::vector<PartMoment> moments_;
  std::vector<PartPiece> pieces_;
  /// By launch from `begin` on: thread blocks, and cycles that it needs at least, of those before
  /// it.
  std::vector<uint64_t> blocks_, cycles_;
  size_t looks_ = 0;
};

}  // namespace nearwarp::sim
