// The sections of all mechanisms in reports of runs.
#include "host/mechanisms/list.h"
#include "host/timing/report/section.h"

#define NW_REPORTS(name)                            \
  namespace nearwarp::name {                        \
  const report::MechanismReport& report_sections(); \
  }
NW_EACH_MECHANISM(NW_REPORTS)

namespace nearwarp::report {

std::span<const MechanismReport* const> mechanism_reports() {
#define NW_LISTED(name) &name::report_sections(),
  static const MechanismReport* const all[] = {NW_EACH_MECHANISM(NW_LISTED)};
  return all;
}

}  // namespace nearwarp::report
