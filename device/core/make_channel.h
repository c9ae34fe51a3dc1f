// Lays out a channel in an arena, for machines and for tests. Host only.
#pragma once

#include <numeric>

#include "device/core/channel.h"

namespace nearwarp {

/// Parameters of a channel. Times are in ticks.
struct ChannelSpec {
  uint32_t slots = 8;
  uint32_t latency = 1;
  uint32_t credit_latency = 1;
  uint32_t num = 0, den = 1;            ///< ticks per byte as a fraction; 0: unlimited
  uint16_t producer = 0, consumer = 0;  ///< endpoints, for reports
};

/// The ticks that a byte takes, as a fraction; `mbps`: 10^6 bytes per second, not 0.
struct TicksPerByte {
  uint32_t num = 0, den = 1;
};
inline TicksPerByte ticks_per_byte(uint64_t base_mhz, uint32_t mbps) {
  const uint64_t g = std::gcd(base_mhz, uint64_t{mbps});
  return {static_cast<uint32_t>(base_mhz / g), static_cast<uint32_t>(mbps / g)};
}

template <class Allocator>
Ref<Channel> make_channel(Allocator& arena, const ChannelSpec& spec) {
  const Ref<Slot> slots = arena.template allocate<Slot>(spec.slots);
  const Ref<Channel> ref = arena.template allocate<Channel>(1);
  Channel& c = *arena.get(ref);
  c.slots = slots;
  c.producer_side.slots = c.consumer_side.slots = {
      slots.offset, slots.offset + slots.count * static_cast<uint32_t>(sizeof(Slot))};
  c.producer_side.tail = c.consumer_side.head = slots.offset;
  c.latency = c.consumer_side.latency = spec.latency;
  c.credit_latency = c.consumer_side.credit_latency = spec.credit_latency;
  c.ticks_per_byte_num = spec.num;
  c.ticks_per_byte_den = spec.den;
  c.producer = spec.producer;
  c.consumer = spec.consumer;
  return ref;
}

}  // namespace nearwarp
