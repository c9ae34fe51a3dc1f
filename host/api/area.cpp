// Area that a processor's parts take of its dies.
#include "host/config/area.h"

#include "host/api/failure.h"
#include "host/api/nearwarp/parts.h"
#include "host/config/config.h"
#include "host/config/overrides.h"
#include "host/mechanisms/mpu/area/area.h"

namespace nearwarp {

Expected<AreaReport> estimate_area(const AreaOptions& options) {
  return guarded([&] {
    constexpr double kUm2 = 1e6, kMm2 = 1e12;  // nm2 in them
    std::vector<std::string> own, others;
    for (const std::string& change : options.changes)
      (config::split_override(change).key.starts_with("area.") ? own : others).push_back(change);
    const config::AreaConfig area = config::load_area(options.areas, own);
    const config::MachineConfig machine = config::load_machine(options.machine, others);
    const config::PolicyConfig policy = config::load_policy(options.policy, others);
    const mpu::AreaReport found = mpu::area_of(machine, policy, area);
    AreaReport all;
    for (const mpu::AreaPart& p : found.parts)
      all.parts.push_back({p.name, p.of, p.die == mpu::Die::kLogic, p.count,
                           static_cast<double>(p.nm2) / kUm2,
                           static_cast<double>(p.total_nm2()) / kMm2, found.share(p)});
    all.dram_mm2 = static_cast<double>(found.dram_nm2) / kMm2;
    all.logic_mm2 = static_cast<double>(found.logic_nm2) / kMm2;
    all.dram_share = found.share(mpu::Die::kDram);
    all.logic_share = found.share(mpu::Die::kLogic);
    all.text = mpu::area_text(found);
    all.document = mpu::area_json(found, machine, policy, area);
    return all;
  });
}

}  // namespace nearwarp
