// The rules of Eq. (1) to (3) for a policy and a machine.
#pragma once

#include "host/mechanisms/coda/objects.h"
#include "host/mechanisms/mechanism.h"

namespace nearwarp::coda {

/// Rules of a program on the machine, `image` being made of both.
PlacementRules rules_of(const sim::RunSubject& subject, const sim::ImageTables& image);

}  // namespace nearwarp::coda
