// An experiment of a second, with a figure of every kind.
#pragma once

#include <string>

namespace nearwarp::testing {

inline const std::string kSmallExperiment = R"(title = "A <small> experiment"
description = "For tests"
source = "nowhere"
size = "small"

[study.main]
workloads = ["fma", "kmeans"]
machines = ["tom"]
policies = ["baseline", "ndp-controlled-bmap", "tom"]

[study.warps]
workloads = ["kmeans"]
machines = ["tom"]
policies = ["ndp-controlled-bmap"]
set = ["stack.sm_warps=24,96", "l1.bytes=16384,32768"]

[[figure]]
name = "speedup"
title = "Speed-up"
studies = ["main"]
x = "workload"
series = "policy"
value = "cycles"
as = "speedup"
summary = "geometric"
published = [{x = "kmeans", series = "tom", value = 1.25, source = "nowhere"},
             {x = "fma", series = "tom", value = 1.0, source = "nowhere"},
             {x = "geometric mean", series = "tom", value = 1.1, source = "nowhere"}]

[[figure]]
name = "traffic"
title = "Traffic"
studies = ["main"]
kind = "stacked"
x = "workload"
series = "policy"
parts = [{label = "TX", value = "tx"}, {label = "RX", value = "rx"}, {label = "cross", value = "cross"}]

[[figure]]
name = "warps"
title = "Warps"
studies = ["warps"]
kind = "curve"
x = "stack.sm_warps"
series = "l1.bytes"
value = "cycles"

[[figure]]
name = "both"
title = "Warps and L1"
studies = ["warps"]
kind = "heat"
x = "stack.sm_warps"
series = "l1.bytes"
value = "cycles"
as = "speedup"
reference = "baseline"
reference_study = "main"
)";

}  // namespace nearwarp::testing
