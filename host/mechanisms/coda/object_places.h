// A program's memory objects under several rules of placement.
#pragma once

#include <functional>

#include "host/mechanisms/coda/report/object_places.h"
#include "host/mechanisms/mechanism.h"

namespace nearwarp::coda {

/// Finds for each object that a kernel touches where rules put it and what that makes local over
/// the whole program, thread blocks running where Eq. (1) has them. `progress(done, total)`
/// launches; returning false makes it throw nearwarp::Interrupted. Throws nearwarp::Error if the
/// machine has no SMs in stacks, a thread block does not fit on them, or the traces are malformed.
ObjectPlaces study_places(const sim::RunSubject& subject,
                          const std::function<bool(uint64_t, uint64_t)>& progress = {});

}  // namespace nearwarp::coda
