// The channels of a system: everything between two components.
#include <numeric>

#include "host/timing/machine/assembly.h"

namespace nearwarp::sim {

Ref<Channel> Assembly::channel(uint32_t producer, uint32_t consumer, ChannelClass kind,
                               const Wire& wire) {
  const Ref<Slot> slots = s_.arena.allocate<Slot>(wire.slots);
  const Ref<Channel> ref = s_.arena.allocate<Channel>(1);
  Channel& c = *s_.arena.get(ref);
  c.slots = slots;
  c.latency = wire.latency;
  c.credit_latency = wire.latency;
  if (wire.mbps != 0) {
    // Ticks per byte = base frequency / bytes per second.
    const uint64_t g = std::gcd(s_.base_mhz, uint64_t{wire.mbps});
    c.ticks_per_byte_num = static_cast<uint32_t>(s_.base_mhz / g);
    c.ticks_per_byte_den = static_cast<uint32_t>(wire.mbps / g);
  }
  c.producer = static_cast<uint16_t>(producer);
  c.consumer = static_cast<uint16_t>(consumer);
  s_.channels.push_back({ref, kind});
  return ref;
}

Assembly::Wire Assembly::pcie() const {
  const Tick round_trip = std::max<Tick>(2, ns_ticks(m_.pcie.round_trip_ns));
  return {static_cast<uint32_t>(round_trip / 2), m_.pcie.queue_entries, m_.pcie.mbps};
}

void Assembly::make_channels() {
  const Endpoints& e = s_.ends;
  for (uint32_t i = 0; i < e.num_sms; ++i) {
    const uint32_t sm = e.first_sm + i;
    sm_out_.push_back(channel(sm, e.request_crossbar, ChannelClass::kSmToNetwork, hop()));
    sm_in_.push_back(channel(e.reply_crossbar, sm, ChannelClass::kNetworkToSm, hop()));
    control_out_.push_back(channel(sm, e.front_end, ChannelClass::kControl, control(16)));
    control_in_.push_back(channel(e.front_end, sm, ChannelClass::kControl, control(16)));
    if (e.offloading)
      invalidate_out_.push_back(
          channel(sm, e.invalidation_crossbar, ChannelClass::kInvalidation, hop()));
  }
  for (uint32_t i = 0; i < e.num_slices; ++i) {
    const uint32_t slice = e.first_slice + i;
    const uint32_t port = e.first_port + i / slices_per_stack();
    slice_request_.push_back(channel(e.request_crossbar, slice, ChannelClass::kOnChip, hop()));
    slice_reply_.push_back(channel(slice, e.reply_crossbar, ChannelClass::kOnChip, hop()));
    slice_to_port_.push_back(channel(slice, port, ChannelClass::kOnChip, hop()));
    port_to_slice_.push_back(channel(port, slice, ChannelClass::kOnChip, hop()));
    if (e.offloading)
      slice_invalidate_.push_back(
          channel(e.invalidation_crossbar, slice, ChannelClass::kInvalidation, hop()));
  }
  for (uint32_t k = 0; k < e.num_stacks; ++k) {
    const uint32_t port = e.first_port + k, sw = e.first_switch + k;
    port_request_.push_back(channel(e.request_crossbar, port, ChannelClass::kOnChip, hop()));
    port_reply_.push_back(channel(port, e.reply_crossbar, ChannelClass::kOnChip, hop()));
    const Wire wire = link(m_.links.gpu_to_memory_mbps);
    tx_.push_back(channel(port, sw, ChannelClass::kGpuToMemory, wire));
    rx_.push_back(channel(sw, port, ChannelClass::kMemoryToGpu, wire));
    if (e.offloading) {
      port_control_.push_back(channel(port, e.front_end, ChannelClass::kControl, control(4)));
      stack_sm_out_.push_back(
          channel(e.first_stack_sm + k, sw, ChannelClass::kInStack, in_stack()));
      stack_sm_in_.push_back(channel(sw, e.first_stack_sm + k, ChannelClass::kInStack, in_stack()));
    }
  }
  if (e.learning) {
    to_host_ = channel(e.request_crossbar, e.host_memory, ChannelClass::kPcie, pcie());
    from_host_ = channel(e.host_memory, e.reply_crossbar, ChannelClass::kPcie, pcie());
  }
  cross_request_.resize(e.num_stacks * e.num_stacks);
  cross_reply_.resize(e.num_stacks * e.num_stacks);
  for (uint32_t a = 0; a < e.num_stacks; ++a) {
    for (uint32_t b = 0; b < e.num_stacks; ++b) {
      if (a == b) continue;
      const Wire wire = link(m_.links.memory_to_memory_mbps);
      const uint32_t at = a * e.num_stacks + b;
      cross_request_[at] =
          channel(e.first_switch + a, e.first_switch + b, ChannelClass::kMemoryToMemory, wire);
      cross_reply_[at] =
          channel(e.first_switch + a, e.first_switch + b, ChannelClass::kMemoryToMemory, wire);
    }
  }
}

}  // namespace nearwarp::sim
