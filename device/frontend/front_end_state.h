// State of the GPU's front end: a hub that meets every SM through a pair of control channels, the
// thread-block dispatcher, and room for mechanisms.
#pragma once

#include "device/core/dispatch_messages.h"
#include "device/core/fault.h"
#include "device/core/step.h"
#include "device/sm/kernel_image.h"
#include "device/sm/sm_state.h"

namespace nearwarp::frontend {

using sm::LaunchInfo;
using sm::SystemView;

/// Launches that are in flight at once, at most.
inline constexpr uint32_t kMaxRunning = 32;
inline constexpr uint32_t kNoLaunch = 0xffffffffu;

/// Which thread block runs where, and when: a machine's limits and a policy's choices.
struct DispatchParams {
  uint32_t max_running = 1;    ///< launches in flight at once; at most kMaxRunning
  uint32_t groups = 1;         ///< of SMs, each with its own queue of thread blocks
  bool steal = false;          ///< a group whose queue is empty takes from the longest one
  bool one_at_a_time = false;  ///< an SM holds blocks of one launch at a time
  bool from_first = false;     ///< SMs take turns from the first one on when a launch begins
  bool fill = false;  ///< a block goes to the first SM with room, one a cycle; else SMs take turns
  uint32_t gpcs = 0;  ///< groups of SMs, on one of which a cluster runs; 0: no launch has clusters
};

struct FrontEndParams {
  uint32_t period = 1;  ///< ticks per core cycle
  uint32_t num_sms = 0;
  /// Core cycles from the end of the last launch that one waits for (or time 0) to its beginning.
  uint32_t launch_gap = 1;
  uint32_t outbox_entries = 0;  ///< per SM
  Endpoint endpoint{};
  PacketKind word_kind = PacketKind::kNone;  ///< kind of packets that tell SMs the status word
  DispatchParams dispatch;
};

/// A message that waits for its SM's control channel.
struct Outgoing {
  uint32_t tag = 0;
  PacketKind kind = PacketKind::kNone;
};

struct Outbox {
  uint32_t head = 0, count = 0;
  uint32_t takes = 0;  ///< mask over DispatchState::running: the SM has room for a block of it
  bool word_changed = false;  ///< the word has changed since the SM was told
  uint32_t told = 0;          ///< the word as the SM knows it
};

struct FrontEndCounters {
  uint64_t blocks_dispatched = 0, blocks_done = 0;
};

/// A launch on its way: it waits for others, stands in line, runs, has ended.
struct LaunchState {
  uint32_t waits_for = 0;     ///< launches that have not ended
  uint32_t next = kNoLaunch;  ///< in line
  uint32_t number = 0;        ///< from 1 on, in the order in which launches begin
  uint32_t blocks_left = 0;   ///< not yet done
  uint32_t left_out = 0;      ///< its first thread blocks, which are not simulated
  Tick ready = kNever;        ///< when it may begin
  Tick end = kNever;          ///< when its last block was done
};

/// The resources that an SM has left, as the dispatcher keeps account.
struct SmRoom {
  sm::SmResources free;
  uint32_t blocks = 0;          ///< on it
  uint32_t launch = kNoLaunch;  ///< of the last block
  uint32_t group = 0;           ///< below DispatchParams::groups
  uint32_t stack = 0;           ///< its SM lies in; of effect where launches are bound to stacks
  uint32_t gpc = 0;             ///< below DispatchParams::gpcs

  NW_HD bool may_run(const LaunchInfo& launch) const {
    return launch.stacks == 0 || (launch.stacks >> stack & 1) != 0;
  }
};

inline constexpr uint16_t kNoCluster = 0xffff;

/// A cluster whose thread blocks have their places, until the last of them has ended.
struct ClusterState {
  uint32_t launch = kNoLaunch;
  uint32_t first = 0;       ///< its first thread block, in its launch
  uint32_t unsent = 0;      ///< ranks that have not been sent to their SMs yet
  uint32_t live = 0;        ///< ranks that have not ended
  uint32_t at_barrier = 0;  ///< ranks that wait for the others
  SmId sm[kMaxClusterBlocks] = {};
  ClusterPlaces places;
  uint16_t next_free = kNoCluster;
};

/// A group of SMs.
struct Gpc {
  SmId sms[kMaxGpcSms] = {};
  uint16_t count = 0;
  uint16_t next = 0;           ///< round robin: the place that gets the next block of a cluster
  uint16_t open = kNoCluster;  ///< the cluster whose blocks are being sent
};

/// The thread-block dispatcher's part.
struct DispatchState {
  Ref<LaunchState> launches;                              ///< by launch
  uint32_t line_head = kNoLaunch, line_tail = kNoLaunch;  ///< those that may begin, by `ready`
  uint32_t begun = 0, ended = 0;                          ///< launches
  Ref<uint32_t> running;  ///< launches in flight, the oldest first; DispatchParams::max_running
  uint32_t num_running = 0;
  // By place in `running` and group: place * groups + group.
  Ref<uint32_t> taken;         ///< thread blocks that have been dispatched from the queue
  Ref<uint32_t> ready;         ///< those whose traces the host has made ready
  uint32_t margin = 0;         ///< of these, that a window can take at most
  Ref<SmRoom> rooms;           ///< by SM
  uint32_t sms_that_take = 0;  ///< SMs whose Outbox::takes is not 0
  uint32_t next_sm = 0;        ///< round robin
  uint32_t cleaning = 0;       ///< L2 slices that write back before anything is dispatched
  Ref<Gpc> gpcs;
  Ref<ClusterState> clusters;
  uint16_t free_cluster = kNoCluster;  ///< the first of them that is in no use
  uint32_t next_gpc = 0;               ///< round robin
  bool cluster_sent = false;           ///< all blocks of a cluster: its GPC may get the next one
  uint8_t held_by = 0;                 ///< mechanisms that want nothing to be dispatched, as bits
  bool host_wanted = false;  ///< for launches, blocks that ended, traces that run short, marks
  Ref<uint32_t> done_log;    ///< thread blocks done since the host looked last
  uint32_t num_done = 0;
  /// Numbers of thread blocks, over all launches, whose dispatch the host waits for, and when so
  /// many had been dispatched.
  static constexpr uint32_t kMarks = 3;
  uint64_t marks[kMarks] = {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};
  Tick marked[kMarks] = {kNever, kNever, kNever};
};

struct FrontEndState {
  Ref<Ref<Channel>> to_sm, from_sm;  ///< by SM
  /// L2 slices that want to know when launches begin, and those that answer.
  Ref<Ref<Channel>> to_slice, from_slice;
  Ref<Ref<Channel>> from_monitor;  ///< by stack: who watches its link; count 0 without monitors
  Ref<Outbox> outbox;              ///< by SM
  Ref<Outgoing> outgoing;          ///< num_sms x outbox_entries
  uint32_t outgoing_total = 0;
  /// The status word, a mechanism's: SMs are told when it changes, and need only the latest value.
  uint32_t word = 0;
  uint32_t sms_to_tell = 0;  ///< SMs whose Outbox::word_changed is set
  DispatchState dispatch;
  // Mechanisms, by their number in the family's list.
  uint8_t attached = 0;
  uint8_t host_wanted_by = 0;  ///< those that wait for the host before the next window, as bits
  uint32_t mechanism_state[sm::kMaxMechanisms] = {}, mechanism_params[sm::kMaxMechanisms] = {};
  FrontEndCounters counters;
  Fault fault;
};

/// The front end during a step.
template <class List>
struct FrontEndView {
  using Mechanisms = List;
  const FrontEndParams& p;
  FrontEndState& s;
  const SystemView& system;
  std::byte* base;
};

}  // namespace nearwarp::frontend
