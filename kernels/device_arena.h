// A system's arena on a device, and which of a team's warps steps what of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device.h"

namespace nearwarp::kernels {

class DeviceArena {
 public:
  /// Takes the arena of `bytes` bytes that begins at `host` to the device. The arena and the
  /// system's `components` in it outlive this. Throws OutOfDeviceMemory.
  DeviceArena(Device& device, std::byte* host, uint64_t bytes,
              std::span<const Component> components);

  uint64_t bytes() const { return arena_.bytes(); }
  /// Bring the device's state to the host, or the host's to the device.
  void fetch() { arena_.download(host_, arena_.bytes()); }
  void put_back() { arena_.upload(host_, arena_.bytes()); }

  /// `run` as a device sees it.
  RunState on_device(const RunState& run) const;
  /// The system of `run` for a launch with teams of this shape. Of their warps, the first
  /// `working_warps` share the work, 0: all.
  TeamSystem team_system(const RunState& run, const TeamShape& shape, uint32_t working_warps = 0);

 private:
  void deal_for(const TeamShape& shape, uint32_t working_warps);

  Device* device_;
  std::byte* host_;
  std::span<const Component> components_;
  DeviceBuffer arena_, order_, begin_, shared_at_, group_end_;
  TeamShape shape_;             ///< for which it is dealt, as far as that matters
  uint32_t working_warps_ = 0;  ///< 0: not yet
};

/// Launches, and the table of systems that they take.
class TeamLauncher {
 public:
  /// For up to `most` systems at a time. Throws OutOfDeviceMemory.
  TeamLauncher(Device& device, size_t most);

  /// One launch of teams of `shape`; afterwards `systems` say how they were left.
  LaunchReport run(std::span<TeamSystem> systems, const TeamShape& shape, const Slice& slice);
  /// Warp-instructions that system `i` of the last launch had committed when its team left it.
  /// It says nothing of one that no team has taken.
  uint64_t committed(size_t i) const;

 private:
  Device* device_;
  DeviceBuffer table_;
  DeviceBuffer by_warp_;  ///< committed, by system and warp of its team
  std::vector<uint64_t> committed_by_warp_;
  uint32_t warps_ = 0;  ///< of a team of the last launch
};

/// A team in one thread block for each of so many systems, as far as there is room for them; none
/// has more warps than a system has `components`.
TeamShape one_block_teams(const DeviceInfo& device, size_t systems, size_t components);

}  // namespace nearwarp::kernels
