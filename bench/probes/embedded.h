// PTX of the probe programs, embedded at build time.
#pragma once

namespace nearwarp::probe::embedded {

extern const char* const probes_ptx;
extern const char* const clusters_ptx;

}  // namespace nearwarp::probe::embedded
