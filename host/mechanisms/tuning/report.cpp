// Tuned offloading's sections of reports are those of TOM, on whose device code it runs.
#include "host/timing/report/section.h"

namespace nearwarp::tuning {

const report::MechanismReport& report_sections() {
  static constexpr report::MechanismReport kNone = {};
  return kNone;
}

}  // namespace nearwarp::tuning
