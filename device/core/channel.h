// Channels: the only way in which components meet.
//
// A channel has one producer, one consumer, a latency, a bandwidth and a ring of slots. A slot
// carries what both directions tell: the packet with its arrival time, and the time at which the
// producer may use the slot again (the credit, whose way back has a latency too). So neither side
// reads the other's counters, and because arrival and credit lie at least a window ahead of the
// moment they are written, it makes no difference whether a reader in the same window sees them.
#pragma once

#include <cstddef>

#include "device/core/packet.h"
#include "device/core/types.h"

namespace nearwarp {

/// Relaxed accesses to the two words of a slot that both sides touch. On a GPU of the scope of a
/// thread block, so that its first cache may answer: a copy that is there may be one of before what
/// another block of the team writes in this window, and that makes no difference; the barrier at
/// the window's end does away with it.
NW_HD NW_INLINE Tick load_shared_tick(const Tick* p) {
#if defined(__CUDA_ARCH__)
  Tick t;
  asm volatile("ld.relaxed.cta.u64 %0, [%1];" : "=l"(t) : "l"(p));
  return t;
#else
  return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}
NW_HD NW_INLINE void store_shared_tick(Tick* p, Tick t) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.cta.u64 [%0], %1;" : : "l"(p), "l"(t));
#else
  __atomic_store_n(p, t, __ATOMIC_RELAXED);
#endif
}
/// Lower a word that others lower at the same time: the order does not show.
NW_HD NW_INLINE void lower_shared_tick(Tick* p, Tick t) {
#if defined(__CUDA_ARCH__)
  atomicMin(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(t));
#else
  Tick seen = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (t < seen &&
         !__atomic_compare_exchange_n(p, &seen, t, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

struct Slot {
  Packet packet;
  Tick arrive = kNever;  ///< when the packet reaches the consumer; kNever: the slot is empty
  Tick credit = 0;       ///< when the producer may fill the slot again; kNever: it is in use
};

/// Where a ring's slots lie: arena offsets of the first one, and beyond the last.
struct SlotRange {
  uint32_t begin = 0, end = 0;
};

/// A channel's fixed properties and both ends' private words. Each end finds what it asks for in a
/// cache line of 64 bytes that the other one does not write to.
struct Channel {
  // The producer's line.
  uint32_t latency = 1;             ///< ticks from the end of the transfer to the arrival
  uint32_t credit_latency = 1;      ///< ticks from the consumer's release to the producer's credit
  uint32_t ticks_per_byte_num = 0;  ///< transfer time per byte as a fraction; 0: unlimited
  uint32_t ticks_per_byte_den = 1;
  struct Producer {
    SlotRange slots;
    Tick free_at = 0;  ///< the transfer in progress ends then
    Tick busy = 0;     ///< ticks spent in transfers
    uint64_t packets = 0, bytes = 0;
    uint32_t tail = 0;  ///< arena offset of the slot for the next packet
    /// The consumer's name for a backend: CpuNotes::consumer_at() on the CPU, a seat of a batch on
    /// a device.
    uint32_t waking = 0;
  } producer_side;
  // The consumer's.
  struct Consumer {
    SlotRange slots;
    uint64_t packets = 0, bytes = 0;
    uint32_t head = 0;                         ///< arena offset of the oldest packet's slot
    uint32_t latency = 1, credit_latency = 1;  ///< as above
    uint32_t waking = 0;                       ///< what a backend on the CPU calls the producer
  };
  alignas(64) Consumer consumer_side;
  Ref<Slot> slots;
  uint16_t producer = 0, consumer = 0;  ///< component numbers
};
static_assert(sizeof(Channel) == 128 && offsetof(Channel, consumer_side) == 64);

NW_HD NW_INLINE Slot& slot_at(std::byte* base, uint32_t offset) {
  return *reinterpret_cast<Slot*>(base + offset);
}
/// Offset of the slot after the one at `offset`.
NW_HD NW_INLINE uint32_t next_slot(const SlotRange& slots, uint32_t offset) {
  const uint32_t next = offset + static_cast<uint32_t>(sizeof(Slot));
  return next == slots.end ? slots.begin : next;
}

/// Inputs of a component, as bits.
struct InputBits {
  uint64_t words[2] = {};
};

/// Channels note here, for backends on the CPU, what was sent to whom. Every component has a place.
struct CpuNotes {
  /// Set to 1 for every consumer of something sent.
  uint8_t* sent_to = nullptr;
  // The `count` places from `first` on are a cluster: one thread steps them in windows of their
  // own, so their due ticks are updated at once instead.
  uint32_t first = 0, count = 0;
  Tick* due = nullptr;        ///< by place
  Tick* block_due = nullptr;  ///< by place >> block_shift: the earliest `due`; null: not kept
  uint32_t block_shift = 0;
  const uint8_t* waiting = nullptr;  ///< by place: 1 if it waits for a credit that was not known
  InputBits* unseen = nullptr;       ///< by place: see unseen_now
  /// For the component that is being stepped: an input whose bit is clear has no packet that the
  /// component does not know of. A component that finds an input empty clears its bit. Null: every
  /// input has to be looked at.
  InputBits* unseen_now = nullptr;
  /// The tick up to which a component may be stepped ahead of others (kernels/safe_times.h);
  /// kNever: it is not stepped ahead.
  Tick safe_until = kNever;

  /// Channel::Producer::waking: a consumer's place, and the channel's number among its inputs.
  static constexpr uint32_t kPlaceBits = 24;
  static constexpr uint32_t consumer_at(uint32_t place, uint32_t input) {
    return place | (input < 0xff ? input : 0xff) << kPlaceBits;
  }

  /// Note that a place of this thread's cluster is due at `t` at the latest.
  NW_INLINE void make_due(uint32_t place, Tick t) const {
    due[place] = min_tick(due[place], t);
    if (block_due == nullptr) return;
    Tick& earliest = block_due[place >> block_shift];
    earliest = min_tick(earliest, t);
  }
  static constexpr uint32_t place_of(uint32_t waking) { return waking & ((1u << kPlaceBits) - 1); }

  NW_INLINE void note_sent_to(uint32_t consumer) const {
    // Several threads may note the same consumer at the same time.
    __atomic_store_n(sent_to + place_of(consumer), uint8_t{1}, __ATOMIC_RELAXED);
  }
  /// Note a packet for a member of the cluster that is being stepped. False: it is for another.
  NW_INLINE bool note_sent_to_member(uint32_t consumer, Tick arrive) const {
    const uint32_t place = place_of(consumer), input = consumer >> kPlaceBits;
    if (place - first >= count) return false;
    make_due(place, arrive);
    unseen[place].words[input / 64 % 2] |= uint64_t{1} << (input % 64);
    return true;
  }
  NW_INLINE void note_credit_to_member(uint32_t place, Tick credit) const {
    if (place - first < count && waiting[place] != 0) make_due(place, credit);
  }
};

/// Collects, for one thread and window, the earliest moment that anything sent or released in it
/// can be felt elsewhere.
struct Horizon {
  Tick next = kNever;
  // For a cluster, whose windows are shorter than the machine's: what is felt beyond the machine's
  // window, which something earlier inside of it must not hide.
  Tick window_end = kNever, beyond = kNever;
  CpuNotes* cpu = nullptr;      ///< null: arrivals are not noted
  CpuNotes* cluster = nullptr;  ///< the same while a cluster is stepped; null otherwise
  /// By seat of a batch on a device: when the first of what has been sent there arrives. Null:
  /// that is not noted.
  Tick* arrivals = nullptr;
  NW_HD NW_INLINE void note(Tick t) {
    next = min_tick(next, t);
    if (t >= window_end) beyond = min_tick(beyond, t);
  }
  /// Something has been sent to a consumer, and arrives there.
  NW_HD NW_INLINE void note_sent_to(uint32_t consumer, Tick arrive) const {
#if !defined(__CUDA_ARCH__)
    if (cluster != nullptr && cluster->note_sent_to_member(consumer, arrive)) return;
    if (cpu != nullptr) return cpu->note_sent_to(consumer);
#endif
    if (arrivals != nullptr) lower_shared_tick(arrivals + consumer, arrive);
  }
  /// A producer gets a credit.
  NW_HD NW_INLINE void note_credit_to([[maybe_unused]] uint32_t producer,
                                      [[maybe_unused]] Tick credit) const {
#if !defined(__CUDA_ARCH__)
    if (cluster != nullptr) cluster->note_credit_to_member(producer, credit);
#endif
  }
  /// Is anything known of the inputs of the component that is stepped?
  NW_HD NW_INLINE bool knows_inputs() const {
#if !defined(__CUDA_ARCH__)
    return cpu != nullptr && cpu->unseen_now != nullptr;
#else
    return false;
#endif
  }
  /// Bits of word `w` of the inputs of the component that is stepped: others have no packets.
  NW_HD NW_INLINE uint64_t unseen([[maybe_unused]] uint32_t w) const {
#if !defined(__CUDA_ARCH__)
    if (cpu != nullptr && cpu->unseen_now != nullptr) return cpu->unseen_now->words[w];
#endif
    return ~uint64_t{0};
  }
  /// Input `i` of that word has none.
  NW_HD NW_INLINE void found_empty([[maybe_unused]] uint32_t w, [[maybe_unused]] uint32_t i) const {
#if !defined(__CUDA_ARCH__)
    if (cpu != nullptr && cpu->unseen_now != nullptr)
      cpu->unseen_now->words[w] &= ~(uint64_t{1} << i);
#endif
  }
  /// Where a step that began with the window's end `end` has to stop: there, or at its safe time.
  NW_HD NW_INLINE Tick end_of_step(Tick end) const {
#if defined(__CUDA_ARCH__)
    return end;
#else
    return cpu == nullptr ? end : min_tick(end, cpu->safe_until);
#endif
  }
  /// Shortens an end that is counted in cycles of `period` ticks.
  NW_HD NW_INLINE void shorten([[maybe_unused]] uint32_t& end,
                               [[maybe_unused]] uint32_t period) const {
#if !defined(__CUDA_ARCH__)
    if (cpu != nullptr && cpu->safe_until < Tick{end} * period)
      end = static_cast<uint32_t>(cycle_at_or_after(cpu->safe_until, period));
#endif
  }
};

/// Ticks that `bytes` occupy the channel.
NW_HD NW_INLINE Tick transfer_ticks(const Channel& c, uint32_t bytes) {
  if (c.ticks_per_byte_num == 0) return 0;
  return (Tick{bytes} * c.ticks_per_byte_num + c.ticks_per_byte_den - 1) / c.ticks_per_byte_den;
}

// --- producer's side ---

/// Earliest tick at which there is a slot for the next packet; kNever while no credit is known.
NW_HD NW_INLINE Tick credit_tick(const Channel& c, std::byte* base) {
  return load_shared_tick(&slot_at(base, c.producer_side.tail).credit);
}
/// Earliest tick at which the next packet can be sent; kNever while no credit is known. A value at
/// or beyond the window's end means "poll at the next window".
NW_HD NW_INLINE Tick send_tick(const Channel& c, std::byte* base) {
  const Slot& s = slot_at(base, c.producer_side.tail);
  return max_tick(c.producer_side.free_at, load_shared_tick(&s.credit));
}
/// Can a packet be sent at `now`?
NW_HD NW_INLINE bool can_send(const Channel& c, std::byte* base, Tick now) {
  return send_tick(c, base) <= now;
}
/// Send; the caller has checked can_send(), or has_credits() for several packets in a row.
/// `serialisation` is the time between the packet's first and last flit at the producer: it runs
/// beside the transfer and delays the arrival if it is the longer of the two, but does not occupy
/// the channel.
NW_HD NW_INLINE void send(Channel& c, std::byte* base, Tick now, const Packet& p, Horizon& horizon,
                          Tick serialisation = 0) {
  Slot& s = slot_at(base, c.producer_side.tail);
  NW_ASSERT(load_shared_tick(&s.credit) <= now);
  const Tick took = transfer_ticks(c, p.bytes);
  const Tick begin = max_tick(now, c.producer_side.free_at);
  c.producer_side.free_at = begin + took;
  c.producer_side.busy += took;
  c.producer_side.packets += 1;
  c.producer_side.bytes += p.bytes;
  c.producer_side.tail = next_slot(c.producer_side.slots, c.producer_side.tail);
  const Tick arrive = begin + max_tick(took, serialisation) + c.latency;
  s.packet = p;
  store_shared_tick(&s.credit, kNever);
  store_shared_tick(&s.arrive, arrive);
  horizon.note(arrive);
  horizon.note_sent_to(c.producer_side.waking, arrive);
}
/// Something has been sent at `now` over `there`, which the other end may answer over `back`, or by
/// the credit: it is not safe to go any further.
NW_HD NW_INLINE void expect_answer([[maybe_unused]] const Channel& there,
                                   [[maybe_unused]] const Channel& back, [[maybe_unused]] Tick now,
                                   [[maybe_unused]] Horizon& horizon) {
#if !defined(__CUDA_ARCH__)
  if (horizon.cpu == nullptr || horizon.cpu->safe_until >= kNever) return;
  const uint32_t reply = back.consumer_side.latency, credit = there.credit_latency;
  const Tick answer = reply < credit ? reply : credit;
  horizon.cpu->safe_until = min_tick(horizon.cpu->safe_until, now + there.latency + answer);
#endif
}
/// Could `n` (at most slots.count) packets be sent at `now`, bandwidth apart?
NW_HD NW_INLINE bool has_credits(const Channel& c, std::byte* base, Tick now, uint32_t n) {
  uint32_t at = c.producer_side.tail;
  for (uint32_t i = 0; i < n; ++i) {
    if (load_shared_tick(&slot_at(base, at).credit) > now) return false;
    at = next_slot(c.producer_side.slots, at);
  }
  return true;
}

// --- consumer's side ---

/// Arrival time of the oldest packet; kNever if the channel is empty.
NW_HD NW_INLINE Tick head_arrival(const Channel& c, std::byte* base) {
  return load_shared_tick(&slot_at(base, c.consumer_side.head).arrive);
}
/// Has a packet arrived by `now`?
NW_HD NW_INLINE bool has_packet(const Channel& c, std::byte* base, Tick now) {
  return head_arrival(c, base) <= now;
}
/// The oldest packet; valid until pop().
NW_HD NW_INLINE const Packet& front(const Channel& c, std::byte* base) {
  return slot_at(base, c.consumer_side.head).packet;
}
/// Release the oldest packet's slot at `now`.
NW_HD NW_INLINE void pop(Channel& c, std::byte* base, Tick now, Horizon& horizon) {
  Slot& s = slot_at(base, c.consumer_side.head);
  NW_ASSERT(load_shared_tick(&s.arrive) <= now);
  c.consumer_side.packets += 1;
  c.consumer_side.bytes += s.packet.bytes;
  c.consumer_side.head = next_slot(c.consumer_side.slots, c.consumer_side.head);
  const Tick credit = now + c.consumer_side.credit_latency;
  store_shared_tick(&s.arrive, kNever);
  store_shared_tick(&s.credit, credit);
  horizon.note(credit);
  horizon.note_credit_to(c.consumer_side.waking, credit);
}

}  // namespace nearwarp
