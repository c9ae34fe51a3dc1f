// One system's run on a device: its arena there, and the way to and fro.
#include "host/sim/device_system.h"

#include <numeric>
#include <vector>

#include "kernels/deal.h"

namespace nearwarp::sim {

using kernels::Device;

namespace {

uint64_t most_warps(const Device& device) {
  return uint64_t{device.info().largest_team} * device.info().warps_per_block;
}

}  // namespace

DeviceSystem::DeviceSystem(Device& device, std::unique_ptr<SystemRun>& run,
                           std::shared_ptr<const DeviceImage> image, const DeviceTraces& traces)
    : image_(std::move(image)),
      arena_(device, run->system().arena.base(), run->system().arena.size_bytes()),
      order_(device, run->system().table.count * sizeof(uint32_t)),
      begin_(device, (most_warps(device) + 1) * sizeof(uint32_t)),
      shared_at_(device, run->system().table.count * sizeof(uint32_t)),
      by_warp_(device, most_warps(device) * sizeof(uint64_t)) {
  team_.run = run->state();
  team_.run.view.arena = arena_.as<std::byte>();
  team_.run.view.image = image_->view();
  team_.run.view.traces = traces.blocks();
  team_.run.view.log_done = false;
  team_.run.ready.launch = kernels::ReadyTraces::kAll;
  team_.deal = {order_.as<const uint32_t>(), begin_.as<const uint32_t>(),
                shared_at_.as<const uint32_t>()};
  team_.committed = by_warp_.as<uint64_t>();
  run_ = std::move(run);
}

kernels::TeamSystem DeviceSystem::team_system(const kernels::DeviceInfo& device, uint32_t warps) {
  if (warps_ != warps) {
    const auto components = run_->system().components();
    kernels::Deal deal = kernels::deal_components(components, warps);
    kernels::share_states(deal, components, device.warps_per_block, device.shared_bytes);
    shared_at_.upload(deal.shared_at.data(), deal.shared_at.size() * sizeof(uint32_t));
    order_.upload(deal.order.data(), deal.order.size() * sizeof(uint32_t));
    begin_.upload(deal.begin.data(), deal.begin.size() * sizeof(uint32_t));
    warps_ = warps;
  }
  return team_;
}

void DeviceSystem::take(const kernels::TeamSystem& left) {
  const bool stepped = left.run.control.windows != team_.run.control.windows;
  team_.run.control = left.run.control;
  run_->control() = left.run.control;
  if (!stepped) return;
  std::vector<uint64_t> by_warp(warps_);
  by_warp_.download(by_warp.data(), by_warp.size() * sizeof(uint64_t));
  committed_ = std::accumulate(by_warp.begin(), by_warp.end(), uint64_t{0});
}

SystemRun& DeviceSystem::fetch() {
  arena_.download(run_->system().arena.base(), arena_.bytes());
  return *run_;
}

void DeviceSystem::put_back() { arena_.upload(run_->system().arena.base(), arena_.bytes()); }

}  // namespace nearwarp::sim
