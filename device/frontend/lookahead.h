// Lookahead: the messages that the front end can still send, by its state. Who steps SMs ahead of
// it (kernels/safe_times.h) asks. Machines with mechanisms are none of these.
#pragma once

#include "device/frontend/dispatcher.h"

namespace nearwarp::frontend {

/// The front end between two steps.
struct Lookahead {
  const FrontEndParams& p;
  const FrontEndState& s;
  std::byte* base;

  /// One launch is in flight, and nothing waits to be sent.
  bool is_calm() const {
    return s.dispatch.num_running == 1 && s.dispatch.sms_that_take == 0 && s.outgoing_total == 0 &&
           s.sms_to_tell == 0 && s.attached == 0 && p.dispatch.gpcs == 0;
  }

  /// No message of another SM can make the front end send anything to SM `i`: it has thread blocks
  /// of the only launch in flight, which so cannot end before it has said that they have, and room
  /// for no more. (Whether it has room for a block changes with its own messages, and where
  /// launches end and begin.)
  bool heeds_only_itself(uint32_t i) const {
    return s.dispatch.num_running == 1 && s.dispatch.rooms.in(base)[i].blocks != 0 &&
           s.outbox.in(base)[i].takes == 0 && s.outgoing_total == 0 && s.sms_to_tell == 0 &&
           s.attached == 0 && p.dispatch.gpcs == 0;  // blocks of a cluster meet at barriers
  }

  /// When a further launch can begin without a message's coming; kNever if none is in line.
  Tick next_launch() const { return frontend::next_launch(*this); }

  /// When the oldest message of SM `i` arrives, or did; kNever if none is under way.
  Tick message_of(uint32_t i) const { return head_arrival(*s.from_sm.in(base)[i].in(base), base); }
  /// The tick of the first message that is under way to the SM.
  Tick message_to(uint32_t i) const { return head_arrival(*s.to_sm.in(base)[i].in(base), base); }
};

}  // namespace nearwarp::frontend
