// Everything that `nearwarp analyze --mappings` reports of a recorded program.
#pragma once

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/mechanisms/tom/mapping_study.h"
#include "host/mechanisms/tom/report/mapping_analysis.h"
#include "host/recording/recording.h"

namespace nearwarp::sim {

/// `policy` says what the choice of candidates assumes. Throws Interrupted if
/// options.progress asks to stop; it sees several passes over the traces as one.
tom::MappingAnalysis analyze_mappings(const runtime::Recording& recording,
                                      const config::MachineConfig& machine,
                                      const config::PolicyConfig& policy,
                                      const StudyOptions& options = {});

}  // namespace nearwarp::sim
