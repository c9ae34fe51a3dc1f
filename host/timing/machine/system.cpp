// A simulated system: finding things in it.
#include "host/timing/machine/system.h"

namespace nearwarp::sim {

Ref<Channel> System::channel_from(uint32_t endpoint, ChannelClass kind) const {
  for (const ChannelInfo& c : channels)
    if (c.kind == kind && c.channel.in(arena.base())->producer == endpoint) return c.channel;
  return {};
}

std::vector<Ref<Channel>> System::channels_from(uint32_t endpoint, ChannelClass kind) const {
  std::vector<Ref<Channel>> found;
  for (const ChannelInfo& c : channels)
    if (c.kind == kind && c.channel.in(arena.base())->producer == endpoint)
      found.push_back(c.channel);
  return found;
}
std::vector<Ref<Channel>> System::channels_to(uint32_t endpoint, ChannelClass kind) const {
  std::vector<Ref<Channel>> found;
  for (const ChannelInfo& c : channels)
    if (c.kind == kind && c.channel.in(arena.base())->consumer == endpoint)
      found.push_back(c.channel);
  return found;
}

std::span<const uint16_t> System::members(std::string_view class_name) const {
  for (const ComponentClass& c : classes)
    if (c.name == class_name) return c.members;
  return {};
}

std::vector<uint16_t> System::of_kind(kernels::ComponentKind kind) {
  std::vector<uint16_t> found;
  for (uint32_t i = 0; i < table.count; ++i)
    if (component(i).kind == kind) found.push_back(static_cast<uint16_t>(i));
  return found;
}

uint64_t committed_instructions(System& system) {
  uint64_t n = 0;
  for (const kernels::Component& c : system.components())
    n += kernels::ProductFamily::committed(c, system.arena.base());
  return n;
}

}  // namespace nearwarp::sim
