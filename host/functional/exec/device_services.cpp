// Services without a host's side of the CUDA runtime, and the dimensions that grids may have.
#include "host/functional/exec/device_services.h"

#include <fmt/format.h>

#include "host/functional/exec/device_status.h"

namespace nearwarp::runtime {

using device_status::kNotSupported;
using device_status::kSuccess;

bool possible_grid(Dim3 grid) {
  return grid.x != 0 && grid.y != 0 && grid.z != 0 && grid.x <= 0x7fffffffu && grid.y <= 65535 &&
         grid.z <= 65535 && grid.count() < uint64_t{1} << 32;
}
bool possible_block(Dim3 block) {
  constexpr uint32_t kMaxThreads = 1024;
  return block.x != 0 && block.y != 0 && block.z != 0 && block.x <= kMaxThreads &&
         block.y <= kMaxThreads && block.z <= 64 && block.count() <= kMaxThreads;
}

bool DeviceServices::records(const std::string&) const { return true; }
int DeviceServices::launch_status(const GridConfig&) { return kSuccess; }
int DeviceServices::attribute(int, int*) { return kNotSupported; }
int DeviceServices::limit(int, uint64_t*) { return kNotSupported; }
uint64_t DeviceServices::pending_launches() const { return 2048; }  // CUDA's default
std::string DeviceServices::error_name(int status) const { return fmt::format("{}", status); }
std::string DeviceServices::error_text(int status) const { return fmt::format("{}", status); }
int DeviceServices::function_attributes(const GridConfig&, void*, size_t) { return kNotSupported; }
int DeviceServices::blocks_per_sm(const GridConfig&, int*) { return kNotSupported; }
bool DeviceServices::set_condition(uint64_t, uint32_t) { return false; }
void DeviceServices::note(const std::string&) {}

}  // namespace nearwarp::runtime
