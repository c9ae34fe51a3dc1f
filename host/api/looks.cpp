// A look at a run while it goes on.
#include "host/api/nearwarp/looks.h"

#include <nlohmann/json.hpp>

#include "host/api/failure.h"
#include "host/api/inside.h"
#include "host/api/state.h"
#include "host/timing/report/kernels.h"
#include "host/timing/report/parts.h"
#include "host/timing/report/use_json.h"

namespace nearwarp {

Expected<RunLook> look_at(const Result& now, const Result* before) {
  return guarded([&] {
    const report::RunResult& all = run_of(now);
    const report::RunResult of_late =
        before == nullptr ? all : report::between(run_of(*before), all);
    RunLook look;
    look.ipc = of_late.ipc();
    look.utilisation = report::utilisation_json(of_late).dump();
    for (const report::SmCycles& c : of_late.sm_cycles) {
      SmLook& sms = look.sms.emplace_back();
      sms.sms = c.sms;
      sms.count = c.count;
      sms.warps = c.resident();
      for (size_t i = 0; i < report::kCycleUses.size(); ++i)
        sms.uses.push_back({report::kCycleUses[i].label, c.share(i)});
    }
    return look;
  });
}

std::string short_kernel_name(const std::string& kernel) { return report::short_name(kernel); }

}  // namespace nearwarp
