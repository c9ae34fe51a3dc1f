// A source of memory traffic: streams of accesses with their patterns and pacing, and what became
// of the reads.
//
// It stands in front of one memory channel in place of a machine. Channels have a latency, so that
// both can be stepped apart from each other; the source and the memory make up for it exactly: the
// memory sends a reply ahead of its data by a known time, and an access whose time is known is sent
// ahead of it.
#pragma once

#include "device/core/channel.h"
#include "device/core/step.h"
#include "device/dram/traffic_state.h"

namespace nearwarp {

namespace traffic_detail {

NW_HD NW_INLINE uint32_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return static_cast<uint32_t>((z ^ z >> 31) >> 32);
}

NW_HD NW_INLINE LineAddr next_line(const TrafficParams& p, TrafficStream& s) {
  switch (s.params.pattern) {
    case TrafficPattern::kRandom:
      return static_cast<LineAddr>(next_random(s.random) * p.lines >> 32);
    case TrafficPattern::kConflict:
      return p.map.line_of(0, static_cast<uint32_t>(s.position) * p.row_step);
    default:
      return static_cast<LineAddr>((s.params.first_line + s.position * s.params.stride_lines) %
                                   p.lines);
  }
}

NW_HD NW_INLINE uint32_t next_is_write(TrafficStream& s) {
  const StreamParams& p = s.params;
  if (p.writes_num == 0) return 0;
  if (p.pattern == TrafficPattern::kRandom) {
    return uint64_t{next_random(s.random)} * p.writes_den >> 32 < p.writes_num ? 1 : 0;
  }
  s.write_share += p.writes_num;
  if (s.write_share < p.writes_den) return 0;
  s.write_share -= p.writes_den;
  return 1;
}

/// Decide on the next access; none after the last one of a trace.
NW_HD NW_INLINE void begin_access(const TrafficParams& p, TrafficStream& s, std::byte* base) {
  s.begun = 1;
  if (s.params.pattern == TrafficPattern::kTrace) {
    if (s.position == s.trace.count) {
      s.begun = 0;
      return;
    }
    const TrafficAccess& a = s.trace.in(base)[s.position];
    s.line = a.line;
    s.is_write = a.write;
    s.birth = a.cycle;
  } else {
    s.line = next_line(p, s);
    s.is_write = next_is_write(s);
    if (s.params.pacing == TrafficPacing::kOpen) {
      do s.birth += 1;
      while (next_random(s.random) >= s.params.arrival_threshold);
    }
  }
  s.position += 1;
}

/// When a stream's next access may be sent, `now` or later, credits and turns apart; kNever: not
/// before something comes back.
NW_HD NW_INLINE Tick send_time(const TrafficParams& p, const TrafficStream& s, Tick now) {
  if (s.begun == 0) return kNever;
  if (s.params.pacing == TrafficPacing::kOpen) {
    const Tick at = s.birth * p.period;
    return at > p.request_latency ? max_tick(at - p.request_latency, now) : now;
  }
  if (s.params.pacing == TrafficPacing::kWindow && s.is_write == 0 &&
      s.outstanding >= s.params.window) {
    return kNever;
  }
  return now;
}

/// When the first access of all streams may be sent; as send_time().
NW_HD NW_INLINE Tick first_send_time(const TrafficParams& p, const TrafficState& s, std::byte* base,
                                     Tick now) {
  Tick first = kNever;
  if (s.stopped != 0) return first;
  for (uint32_t i = 0; i < s.streams.count; ++i)
    first = min_tick(first, send_time(p, s.streams.in(base)[i], now));
  return first;
}
/// The first stream after the last one that may send at `now`; one does.
NW_HD NW_INLINE uint32_t next_stream(const TrafficParams& p, const TrafficState& s, std::byte* base,
                                     Tick now) {
  uint32_t i = s.last;
  do i = i + 1 >= s.streams.count ? 0 : i + 1;
  while (send_time(p, s.streams.in(base)[i], now) > now);
  return i;
}

NW_HD NW_INLINE void send_access(const TrafficParams& p, TrafficState& source, std::byte* base,
                                 uint32_t stream, Tick now, Horizon& horizon) {
  TrafficStream& s = source.streams.in(base)[stream];
  source.last = stream;
  Packet q;
  q.kind = s.is_write != 0 ? PacketKind::kWrite : PacketKind::kRead;
  q.line = s.line;
  q.tag = static_cast<uint32_t>(s.birth);
  q.sectors = p.sectors;
  q.src = endpoint_of(p.endpoint + stream);  // comes back as the reply's destination
  q.dst = endpoint_of(p.first_memory + s.line % p.memories);
  q.bytes = static_cast<uint16_t>(p.header_bytes + (s.is_write != 0 ? p.line_bytes : 0));
  send(*source.out.in(base), base, now, q, horizon);
  s.counters.writes_sent += s.is_write;
  s.counters.reads_sent += 1 - s.is_write;
  s.outstanding += 1 - s.is_write;
  begin_access(p, s, base);
}

NW_HD NW_INLINE void take_reply(const TrafficParams& p, TrafficState& source, std::byte* base,
                                Tick now, Horizon& horizon) {
  Channel& in = *source.in.in(base);
  const Packet& q = front(in, base);
  const uint32_t stream = node_of(q.dst) - p.endpoint;
  if (q.kind != PacketKind::kReadReply || stream >= source.streams.count) {
    record_fault(source.fault, kFaultUnexpectedPacket, 0, now);
  } else {
    TrafficStream& s = source.streams.in(base)[stream];
    const Tick done = now - p.reply_latency + p.reply_lead;
    // Latency counts from being taken in, or, where accesses have a time of their own, from that.
    const uint64_t cycles = s.params.pacing == TrafficPacing::kOpen
                                ? static_cast<uint32_t>(cycle_at_or_after(done, p.period)) - q.tag
                                : cycle_at_or_after(done - q.taken_in(), p.period);
    s.histogram.in(base)[latency_bucket(cycles)] += 1;
    s.counters.reads_done += 1;
    s.counters.latency_cycles += cycles;
    if (cycles < s.counters.latency_min) s.counters.latency_min = cycles;
    if (cycles > s.counters.latency_max) s.counters.latency_max = cycles;
    s.outstanding -= 1;
  }
  pop(in, base, now, horizon);
}

/// The step; for result_of().
NW_HD inline uint64_t run(const TrafficParams& p, TrafficState& s, std::byte* base, Window window,
                          Horizon& horizon) {
  const Channel& out = *s.out.in(base);
  const Channel& in = *s.in.in(base);
  for (uint32_t i = 0; i < s.streams.count; ++i) {
    TrafficStream& stream = s.streams.in(base)[i];
    if (stream.position == 0) begin_access(p, stream, base);
  }
  Tick now = window.begin;
  while (true) {
    const Tick reply = head_arrival(in, base);
    Tick at = first_send_time(p, s, base, now);
    const bool wanted = at < kNever;
    if (wanted) at = max_tick(at, credit_tick(out, base));
    if (reply >= window.end && at >= window.end) {
      const bool blocked = wanted && at >= kNever;
      return min_tick(min_tick(at, reply), kNever) | (blocked ? kPollBit : 0);
    }
    if (reply <= at) {
      now = max_tick(now, reply);
      take_reply(p, s, base, now, horizon);
    } else {
      now = at;
      send_access(p, s, base, next_stream(p, s, base, now), now, horizon);
    }
  }
}

}  // namespace traffic_detail

/// Step a source of traffic through a window.
///
/// Reads:  replies of the memory channel; sends accesses to it.
/// State:  by stream the next access, counters, the histogram of latencies.
/// Units:  times in ticks; latencies in command-clock cycles.
NW_HD NW_APART inline StepResult step_traffic(const TrafficParams& p, TrafficState& s,
                                              std::byte* base, Window window, Horizon& horizon) {
  StepResult result = result_of(traffic_detail::run(p, s, base, window, horizon));
  if (result.wake < kNever) result.wake = max_tick(result.wake, window.end);
  return result;
}

}  // namespace nearwarp
