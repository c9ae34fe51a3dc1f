// A simulated system: finding things in it.
#include "host/timing/machine/system.h"

#include <algorithm>

namespace nearwarp::sim {

/// The ends of an endpoint among all channels that there are by now.
const System::Ends& System::ends_of(uint32_t endpoint) const {
  ends_.resize(std::max<size_t>(ends_.size(), table.count));
  for (; known_channels_ < channels.size(); ++known_channels_) {
    const Channel& c = *channels[known_channels_].channel.in(arena.base());
    ends_[c.producer].from.push_back(static_cast<uint32_t>(known_channels_));
    ends_[c.consumer].to.push_back(static_cast<uint32_t>(known_channels_));
  }
  return ends_[endpoint];
}

Ref<Channel> System::channel_from(uint32_t endpoint, ChannelClass kind) const {
  for (const uint32_t i : ends_of(endpoint).from)
    if (channels[i].kind == kind) return channels[i].channel;
  return {};
}

std::vector<Ref<Channel>> System::channels_from(uint32_t endpoint, ChannelClass kind) const {
  std::vector<Ref<Channel>> found;
  for (const uint32_t i : ends_of(endpoint).from)
    if (channels[i].kind == kind) found.push_back(channels[i].channel);
  return found;
}
std::vector<Ref<Channel>> System::channels_to(uint32_t endpoint, ChannelClass kind) const {
  std::vector<Ref<Channel>> found;
  for (const uint32_t i : ends_of(endpoint).to)
    if (channels[i].kind == kind) found.push_back(channels[i].channel);
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
