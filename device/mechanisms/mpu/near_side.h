// The near-bank units of a core, and the TSVs to them (MPU, section IV-B).
//
// Packets that come down the TSVs are taken in queued. An instruction waits at the head for an
// operand collector of its warp's unit, then in it for the unit's ALU; when it has been executed, a
// commit packet goes up the TSVs to the scoreboard in the subcore. Moves of registers take no time
// at this end.
#pragma once

#include "device/mechanisms/mpu/packets.h"
#include "device/mechanisms/mpu/sm_state.h"
#include "device/sm/lsu.h"

namespace nearwarp::mpu {

template <class O>
NW_HD NW_INLINE WarpSide& side_of(O& o, uint32_t warp) {
  return o.s.warps.in(o.v.base)[warp];
}
template <class O>
NW_HD NW_INLINE NearOp& op_of(O& o, uint32_t index) {
  return o.s.ops.in(o.v.base)[index];
}
/// Index in `ops` from which on its entries belong to load entries of the SM.
template <class O>
NW_HD NW_INLINE uint32_t first_load(const O& o) {
  return o.s.warps.count * kNearOps;
}

// --- queues of packets for the TSVs ---

NW_HD NW_INLINE QueuedPacket queued_packet(PacketKind kind, uint32_t bytes, const NearMessage& m) {
  return {static_cast<uint16_t>(kind), static_cast<uint16_t>(bytes), static_cast<uint16_t>(m.tag()),
          static_cast<uint16_t>(m.reply_bytes)};
}
template <class O>
NW_HD inline void put(O& o, const Ref<QueuedPacket>& ring, uint32_t head, uint32_t& count,
                      const QueuedPacket& queued) {
  NW_ASSERT(count < ring.count);
  const uint32_t at = head + count;
  ring.in(o.v.base)[at < ring.count ? at : at - ring.count] = queued;
  count += 1;
}
template <class O>
NW_HD inline void send_down(O& o, PacketKind kind, uint32_t bytes, const NearMessage& m) {
  put(o, o.s.down, o.s.down_head, o.s.down_count, queued_packet(kind, bytes, m));
}
template <class O>
NW_HD inline void send_up(O& o, PacketKind kind, uint32_t bytes, const NearMessage& m) {
  put(o, o.s.up, o.s.up_head, o.s.up_count, queued_packet(kind, bytes, m));
}

/// Send packets of a queue for as long as the channel has room.
template <class O>
NW_HD inline void drain(O& o, const Ref<QueuedPacket>& ring, uint32_t& head, uint32_t& count,
                        Channel& out, Tick tick) {
  auto& v = o.v;
  while (count != 0 && can_send(out, v.base, tick)) {
    const QueuedPacket& queued = ring.in(v.base)[head];
    Packet p;
    p.kind = static_cast<PacketKind>(queued.kind);
    p.src = p.dst = v.s.endpoint;
    p.tag = queued.tag;
    p.bytes = queued.bytes;
    p.extra = queued.reply_bytes;
    head = head + 1 == ring.count ? 0 : head + 1;
    count -= 1;
    send(out, v.base, tick, p, v.horizon);
  }
}

// --- a timing wheel of what takes time near the banks ---

/// Put entry `index` of `ops` into the wheel, in the slot of the cycle in which it is due. An entry
/// that is due later than the wheel reaches goes into the last slot, and in again from there.
template <class O>
NW_HD inline void set_due(O& o, uint32_t index, uint32_t now) {
  NearOp& op = op_of(o, index);
  const uint32_t last = now + kNearWheelSlots - 1;
  const uint32_t at = op.due < last ? op.due : last;
  const uint32_t slot = at % kNearWheelSlots;
  op.next = (o.s.wheel_used >> slot & 1) != 0 ? o.s.wheel[slot] : kNoOp;
  o.s.wheel[slot] = index;
  o.s.wheel_used |= sm::bit(slot);
  if (at < o.s.next_due) o.s.next_due = at;
}

/// Finish what is due in this cycle: instructions send their commits up; data of loads that the
/// subcore has received goes down to the near-bank register file.
template <class O>
NW_HD inline void run_due(O& o, uint32_t now) {
  const uint32_t slot = now % kNearWheelSlots;
  if ((o.s.wheel_used >> slot & 1) != 0) {
    uint32_t index = o.s.wheel[slot];
    o.s.wheel_used &= ~sm::bit(slot);
    while (index != kNoOp) {
      const NearOp op = op_of(o, index);
      const uint32_t loads = first_load(o);
      if (op.due > now) {
        set_due(o, index, now);
      } else if (index < loads) {
        send_up(o, kCommit, o.p.word_bytes, {index / kNearOps, index % kNearOps});
      } else {
        const sm::LoadEntry& e = o.v.load_entries[index - loads];
        const uint32_t words = o.v.instr(e.pc).register_writes;
        send_down(o, kLoadedToNear, o.p.word_bytes + words * 4 * sm::kWarpSize,
                  {e.warp, index - loads});
      }
      index = op.next;
    }
  }
  const uint32_t from = (now + 1) % kNearWheelSlots;
  const uint64_t used = o.s.wheel_used;
  o.s.next_due =
      used == 0
          ? kNotDue
          : now + 1 + count_trailing_zeros(from == 0 ? used : used >> from | used << (64 - from));
}

/// A register has come to where its warp wants it; with the last one the warp goes on.
template <class O>
NW_HD NW_APART void moved(O& o, uint32_t warp, uint32_t now);

/// Latency of an operation from its operand collector on, `cycles` being its latency from the issue
/// on: the stages before the collector are in the subcore, on the other side of the TSVs.
template <class O>
NW_HD NW_INLINE uint32_t without_front(const O& o, uint32_t cycles) {
  return cycles > o.p.front_cycles ? cycles - o.p.front_cycles : cycles;
}

/// Execute an instruction that has an operand collector: it takes the unit's ALU as soon as that is
/// free.
template <class O>
NW_HD inline void execute_near(O& o, uint32_t warp, uint32_t number, uint32_t now) {
  const uint32_t index = warp * kNearOps + number;
  NearOp& op = op_of(o, index);
  const sm::ImageInstr& in = o.v.instr(op.pc);
  NearUnit& unit = o.s.units[warp % o.p.units];
  const uint32_t begin = unit.port_free > now ? unit.port_free : now;
  unit.port_free = begin + in.interval;
  unit.port_cycles += in.interval;
  o.s.counters.near_alu += begin - now;
  const uint32_t latency = without_front(o, in.latency);
  o.s.counters.near_executing += latency;
  unit.starts[unit.oldest] = begin;
  unit.oldest = unit.oldest + 1 == o.p.collectors ? 0 : unit.oldest + 1;
  op.due = begin + latency;
  set_due(o, index, now);
}

/// Count the cycles until an instruction is taken: on the way over the TSVs until `arrived`, then
/// waiting for an operand collector.
template <class O>
NW_HD NW_INLINE void count_way_down(O& o, const NearOp& op, uint32_t arrived, uint32_t now) {
  o.s.counters.near_tsv += arrived - op.since;
  o.s.counters.near_collector += now - arrived;
}

/// Take a packet that has come down in cycle `arrived`. Returns false if it is an instruction for
/// which no operand collector is free; it stays at the head.
template <class O>
NW_HD inline bool take_down(O& o, const Packet& p, uint32_t arrived, uint32_t now) {
  const auto [warp, number, reply_bytes] = NearMessage::of(p);
  if (p.kind == kNearInstruction) {
    const NearUnit& unit = o.s.units[warp % o.p.units];
    if (unit.starts[unit.oldest] > now) {
      o.s.refused_until = unit.starts[unit.oldest];
      return false;
    }
    count_way_down(o, op_of(o, warp * kNearOps + number), arrived, now);
    execute_near(o, warp, number, now);
  } else if (p.kind == kNearShared) {
    const uint32_t index = warp * kNearOps + number;
    NearOp& op = op_of(o, index);
    count_way_down(o, op, arrived, now);
    o.s.counters.near_executing += op.latency;
    op.due = now + op.latency;
    set_due(o, index, now);
  } else if (p.kind == kRegisterWanted) {
    send_up(o, kRegisterToFar, reply_bytes, {warp});
  } else if (p.kind == kRegisterToNear) {
    moved(o, warp, now);
  } else {
    NW_ASSERT(p.kind == kLoadedToNear);
    o.s.counters.loaded_to_near += 1;
    o.v.s.free_loads |= sm::bit(number);
    sm::set_results(o.v, warp, o.v.instr(o.v.load_entries[number].pc), now);
    sm::operation_ended(o.v, warp, now);
  }
  return true;
}

/// Step the near side through a cycle: take packets, finish what is due, send what waits for the
/// TSVs in both directions.
template <class O>
NW_HD NW_APART void step_near_side(O& o, uint32_t now) {
  auto& v = o.v;
  const Tick tick = v.tick(now);
  Channel& in = *o.s.down_in.in(v.base);
  o.s.refused_until = 0;
  while (has_packet(in, v.base, tick)) {
    const Packet p = front(in, v.base);
    const auto arrived =
        static_cast<uint32_t>(cycle_at_or_after(head_arrival(in, v.base), v.p.period));
    if (!take_down(o, p, arrived, now)) break;
    pop(in, v.base, tick, v.horizon);
  }
  run_due(o, now);
  drain(o, o.s.down, o.s.down_head, o.s.down_count, *o.s.down_out.in(v.base), tick);
  drain(o, o.s.up, o.s.up_head, o.s.up_count, *o.s.up_out.in(v.base), tick);
}

/// When the near side wants to be stepped; `poll`: a credit that is not known yet may change that.
template <class O>
NW_HD inline Tick near_side_tick(const O& o, bool& poll) {
  const auto& v = o.v;
  Tick t = head_arrival(*o.s.down_in.in(v.base), v.base);
  if (t < kNever && o.s.refused_until != 0) t = max_tick(t, v.tick(o.s.refused_until));
  if (o.s.next_due != kNotDue) t = min_tick(t, v.tick(o.s.next_due));
  const auto sends = [&](uint32_t waiting, const Ref<Channel>& out) {
    if (waiting == 0) return;
    const Tick at = send_tick(*out.in(v.base), v.base);
    poll |= at >= kNever;
    t = min_tick(t, at);
  };
  sends(o.s.down_count, o.s.down_out);
  sends(o.s.up_count, o.s.up_out);
  return t;
}

}  // namespace nearwarp::mpu
