// Parts of a run's result, subject by subject; each is collected by a file of its own here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/program/image_builder.h"
#include "host/timing/report/result.h"

namespace nearwarp::sim {

/// Rows of the launches, and `result.cycles`; `now_cycle` ends a launch that has not ended.
void collect_launches(const runtime::Recording& recording, const ImageTables& image, System& system,
                      uint64_t now_cycle, report::RunResult& result);

/// Counters of the SMs at some endpoints, with their L1 caches and TLBs.
void collect_sms(System& system, std::string_view prefix, std::span<const uint16_t> sms,
                 report::RunResult& result);

/// Collects uses of the cycles of SMs, by class of SMs and by kernel. `result.cycles` and
/// `result.kernels` must be set.
void collect_cycles(const runtime::Recording& recording, System& system, report::RunResult& result);

/// How busy links, buses, slices and the like were. `result.cycles` must be set.
void collect_utilisation(System& system, report::RunResult& result);

/// Where packets were on their way to the memory and back.
void collect_way(System& system, report::RunResult& result);

/// Collects the traffic of each wire between routers.
void collect_router_wires(System& system, report::RunResult& result);

/// Instructions that the run committed; `result.offloaded_thread_instructions` included.
void collect_committed(System& system, report::RunResult& result);

/// Counters of L2 slices and vaults. Idle vaults' refreshes are counted up to `result.cycles`.
void collect_memory(System& system, report::RunResult& result);

/// Counters of channels by class, the run's traffic, and how its links were used.
void collect_channels(System& system, report::RunResult& result);

/// Flits and bytes that crossbars, routers and switches forwarded: for the energy account.
void collect_networks(System& system, report::RunResult& result);

/// Counters that grow with time whatever the machine does: what links could have carried, and how
/// long components were there. The energy account needs them. `result.cycles` must be set.
void collect_time(System& system, report::RunResult& result);

}  // namespace nearwarp::sim
