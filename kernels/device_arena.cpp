// A system's arena on a device, and the assignment of its components to the warps of a team.
#include "kernels/device_arena.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "kernels/deal.h"

namespace nearwarp::kernels {

namespace {

uint64_t most_warps(const Device& device) {
  return uint64_t{device.info().largest_team} * device.info().warps_per_block;
}

}  // namespace

DeviceArena::DeviceArena(Device& device, std::byte* host, uint64_t bytes,
                         std::span<const Component> components)
    : device_(&device),
      host_(host),
      components_(components),
      arena_(device, host, bytes),
      order_(device, components.size() * sizeof(uint32_t)),
      begin_(device, (most_warps(device) + 1) * sizeof(uint32_t)),
      shared_at_(device, components.size() * sizeof(uint32_t)),
      group_end_(device, components.size() * sizeof(uint32_t)) {}

RunState DeviceArena::on_device(const RunState& run) const {
  RunState there = run;
  there.view.arena = arena_.as<std::byte>();
  there.view.on_demand = false;
  return there;
}

TeamSystem DeviceArena::team_system(const RunState& run, const TeamShape& shape,
                                    uint32_t working_warps) {
  deal_for(shape, working_warps == 0 ? shape.team_warps() : working_warps);
  TeamSystem system;
  system.run = on_device(run);
  system.deal = {order_.as<const uint32_t>(), begin_.as<const uint32_t>(),
                 shared_at_.as<const uint32_t>(), group_end_.as<const uint32_t>()};
  return system;
}

void DeviceArena::deal_for(const TeamShape& shape, uint32_t working_warps) {
  if (shape_.blocks == shape.blocks && shape_.warps == shape.warps &&
      working_warps_ == working_warps)
    return;
  Deal deal = deal_components(components_, working_warps);
  deal.begin.resize(shape.team_warps() + 1, deal.begin.back());
  share_states(deal, components_, shape.warps, shared_bytes_of(device_->info(), shape.warps));
  order_.upload(deal.order.data(), deal.order.size() * sizeof(uint32_t));
  begin_.upload(deal.begin.data(), deal.begin.size() * sizeof(uint32_t));
  shared_at_.upload(deal.shared_at.data(), deal.shared_at.size() * sizeof(uint32_t));
  group_end_.upload(deal.group_end.data(), deal.group_end.size() * sizeof(uint32_t));
  shape_ = shape;
  working_warps_ = working_warps;
}

TeamLauncher::TeamLauncher(Device& device, size_t most)
    : device_(&device),
      table_(device, most * sizeof(TeamSystem)),
      by_warp_(device, most * most_warps(device) * sizeof(uint64_t)) {}

LaunchReport TeamLauncher::run(std::span<TeamSystem> systems, const TeamShape& shape,
                               const Slice& slice) {
  if (systems.size_bytes() > table_.bytes())
    throw std::logic_error("a launch of more systems than its table holds");
  warps_ = shape.team_warps();
  for (size_t i = 0; i < systems.size(); ++i) {
    systems[i].committed = by_warp_.as<uint64_t>() + i * warps_;
    systems[i].footprint = device_->footprint_place();
    systems[i].number = static_cast<uint32_t>(i);
  }
  table_.upload(systems.data(), systems.size_bytes());
  const LaunchReport report =
      device_->run(table_.as<TeamSystem>(), static_cast<uint32_t>(systems.size()), shape, slice);
  table_.download(systems.data(), systems.size_bytes());
  committed_by_warp_.resize(systems.size() * warps_);
  by_warp_.download(committed_by_warp_.data(), committed_by_warp_.size() * sizeof(uint64_t));
  return report;
}

uint64_t TeamLauncher::committed(size_t i) const {
  const auto begin = committed_by_warp_.begin() + static_cast<std::ptrdiff_t>(i * warps_);
  return std::accumulate(begin, begin + warps_, uint64_t{0});
}

TeamShape one_block_teams(const DeviceInfo& device, size_t systems, size_t components) {
  TeamShape shape;
  shape.warps = device.warps_per_block;
  while (shape.warps > 1 && (shape.warps > components || teams_at_once(device, shape) < systems))
    shape.warps /= 2;
  shape.teams =
      std::clamp(static_cast<uint32_t>(systems), 1u, std::max(1u, teams_at_once(device, shape)));
  return shape;
}

}  // namespace nearwarp::kernels
