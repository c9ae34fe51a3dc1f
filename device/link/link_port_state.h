// The state of a link port: see link_port.h.
#pragma once

#include "device/core/mechanisms.h"
#include "device/noc/switch_state.h"

namespace nearwarp {

struct LinkPortParams {
  SwitchParams ports;
  uint32_t monitor = 0;                        ///< 0: no monitor
  uint32_t interval_ticks = 0;                 ///< a multiple of the period
  uint32_t threshold_percent = 100;            ///< a direction is busy from this utilisation on
  Endpoint endpoint{};                         ///< this port
  Endpoint front_end{};                        ///< endpoint of the busy messages
  uint16_t control_bytes = 0;                  ///< weight of a busy message
  PacketKind status_kind = PacketKind::kNone;  ///< kind of a busy message
};

struct LinkPortCounters {
  uint64_t intervals = 0;  ///< evaluated, i.e. with traffic or busy before
  uint64_t tx_busy_intervals = 0, rx_busy_intervals = 0;
  uint64_t messages = 0;
};

struct LinkPortState {
  SwitchState ports;
  Ref<Channel> tx, rx;           ///< the link's two directions
  Ref<Channel> control;          ///< to the front end; unused without a monitor
  uint64_t tx_busy_before = 0;   ///< TX busy ticks at the last evaluation
  uint64_t rx_bytes_before = 0;  ///< RX bytes at the last evaluation
  uint32_t busy_bits = 0;        ///< bit 0: TX, bit 1: RX
  uint32_t told_bits = 0;        ///< what the front end knows
  // Mechanisms.
  Attachments attached;
  Ref<uint8_t> passed_by;  ///< by input: those that have let its head pass, while others have not
  uint32_t last_sent = memory_hooks::kNoContender;  ///< the contender that sent last
  uint64_t sent_last = 0;  ///< output ports by which the last packet was one of theirs
  LinkPortCounters counters;
};

}  // namespace nearwarp
