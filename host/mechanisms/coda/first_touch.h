// CGP-Only with first touch: each page in the stack whose SM touches it first, as if that had been
// known beforehand, or moved there at that moment. SMs do that (device/mechanisms/coda/pages.h);
// this attaches it to them and counts.
#pragma once

#include <memory>

#include "host/mechanisms/mechanism.h"

namespace nearwarp::coda {

/// Throws nearwarp::Error if the machine's TLBs are of no use for that, or its memory too small.
std::unique_ptr<sim::MechanismRun> prepare_first_touch(const sim::RunSubject& subject,
                                                       uint32_t number, uint64_t memory_bytes);

}  // namespace nearwarp::coda
