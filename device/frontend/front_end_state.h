// State of the GPU's front end: a hub that meets every SM through a pair of control channels, the
// thread-block dispatcher, and room for mechanisms.
#pragma once

#include "device/core/fault.h"
#include "device/core/step.h"
#include "device/sm/kernel_image.h"
#include "device/sm/sm_state.h"

namespace nearwarp::frontend {

using sm::LaunchInfo;
using sm::SystemView;

struct FrontEndParams {
  uint32_t period = 1;  ///< ticks per core cycle
  uint32_t num_sms = 0;
  uint32_t launch_gap =
      1;  ///< core cycles from the last block's end (or time 0) to the next launch
  uint32_t outbox_entries = 0;  ///< per SM
  uint16_t endpoint = 0;
  PacketKind word_kind = PacketKind::kNone;  ///< in which SMs are told of the word
};

/// A message that waits for its SM's control channel.
struct Outgoing {
  uint32_t tag = 0;
  PacketKind kind = PacketKind::kNone;
};

struct Outbox {
  uint32_t head = 0, count = 0;
  uint32_t free_blocks = 0;  ///< block slots that the current launch may still use on this SM
  bool news = false;         ///< the word has changed since the SM was told
  uint32_t told = 0;         ///< the word as the SM knows it
};

struct FrontEndCounters {
  uint64_t blocks_dispatched = 0, blocks_done = 0;
};

/// The thread-block dispatcher's part.
struct DispatchState {
  uint32_t launch = 0;       ///< current or next launch
  bool running = false;      ///< its blocks are being dispatched
  Tick launch_at = 0;        ///< when the next launch begins
  uint32_t next_block = 0;   ///< next to be dispatched
  uint32_t blocks_left = 0;  ///< of the launch, not yet done
  uint32_t free_total = 0;   ///< sum of free_blocks
  uint32_t next_sm = 0;      ///< round robin
  uint8_t held_by = 0;       ///< mechanisms that want nothing to be dispatched, as bits
  Ref<uint32_t> done_log;    ///< thread blocks done since the host looked last
  uint32_t num_done = 0;
  Ref<Tick> launch_end;  ///< by launch: when its last block was done
};

struct FrontEndState {
  Ref<Ref<Channel>> to_sm, from_sm;  ///< by SM
  Ref<Ref<Channel>> from_monitor;    ///< by stack: who watches its link; count 0 without monitors
  Ref<Outbox> outbox;                ///< by SM
  Ref<Outgoing> outgoing;            ///< num_sms x outbox_entries
  uint32_t outgoing_total = 0;
  uint32_t word = 0;           ///< what all SMs are told when it changes; only the latest counts
  uint32_t words_to_tell = 0;  ///< SMs with news
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
