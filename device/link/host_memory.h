// The CPU's memory behind PCI-E, which the GPU accesses while data has not been copied yet.
//
// TOM's learning phase runs all code on the main GPU with data in the CPU's memory (sections 3.2.3
// and 5.1). Each link port has such a component behind it, for the lines of its L2 slices: requests
// come from the port, replies go there. Two channels, one per direction, have PCI-E's latency and
// bandwidth, and as many slots as the bus can have requests in flight. The memory itself answers at
// once, since the measured round trip includes its latency.
#pragma once

#include "device/core/bits.h"
#include "device/core/fault.h"
#include "device/core/packet.h"
#include "device/core/step.h"

namespace nearwarp {

struct HostMemoryParams {
  uint32_t period = 1;  ///< ticks per cycle of the port; one request is answered per cycle
  uint16_t header_bytes = 0, line_bytes = 0, sector_bytes = 0;
  Endpoint endpoint{};
};

struct HostMemoryCounters {
  uint64_t reads = 0, writes = 0, atomics = 0;
};

struct HostMemoryState {
  Ref<Channel> in, out;
  HostMemoryCounters counters;
  Fault fault;
};

/// The answer to a request, of kind PacketKind::kNone if the request's kind is unknown.
NW_HD inline Packet answer_of(const HostMemoryParams& p, const Packet& request) {
  Packet r;
  r.line = request.line;
  r.tag = request.tag;
  r.sectors = request.sectors;
  r.src = p.endpoint;
  r.dst = request.src;
  uint32_t bytes = p.header_bytes;
  switch (request.kind) {
    case PacketKind::kRead:
      r.kind = PacketKind::kReadReply;
      bytes += p.line_bytes;
      break;
    case PacketKind::kWrite:
      r.kind = PacketKind::kWriteAck;
      break;
    case PacketKind::kAtomic:
      r.kind = PacketKind::kAtomicReply;
      bytes += population_count(request.sectors) * p.sector_bytes;
      break;
    default:
      break;
  }
  r.bytes = static_cast<uint16_t>(bytes);
  return r;
}

/// Step the CPU's memory through a window.
///
/// Reads:  requests from the link port; sends replies there.
/// Units:  times in ticks of the machine's base clock.
NW_HD NW_APART inline StepResult step_host_memory(const HostMemoryParams& p, HostMemoryState& s,
                                                  std::byte* base, const Window& window,
                                                  Horizon& horizon) {
  Channel& in = *s.in.in(base);
  Channel& out = *s.out.in(base);
  bool poll = false;
  const auto next_event = [&](Tick from) -> Tick {
    const Tick arrival = head_arrival(in, base);
    poll = false;
    if (arrival >= kNever) return kNever;
    const Tick credit = credit_tick(out, base);
    if (credit >= kNever) {
      poll = true;
      return kNever;
    }
    return cycle_at_or_after(max_tick(max_tick(arrival, credit), from), p.period) * p.period;
  };
  Tick t = next_event(window.begin);
  while (t < window.end) {
    const Packet r = answer_of(p, front(in, base));
    s.counters.reads += r.kind == PacketKind::kReadReply ? 1 : 0;
    s.counters.writes += r.kind == PacketKind::kWriteAck ? 1 : 0;
    s.counters.atomics += r.kind == PacketKind::kAtomicReply ? 1 : 0;
    pop(in, base, t, horizon);
    if (r.kind == PacketKind::kNone) {
      record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, t);
    } else {
      send(out, base, t, r, horizon);
    }
    t = next_event(t + 1);
  }
  StepResult result;
  result.wake = max_tick(t, window.end);
  result.poll = poll;
  return result;
}

}  // namespace nearwarp
