// Conditions under which the elements of a loop may be taken in another order, by other threads.
#pragma once

#include <string>

#include "host/mechanisms/tuning/restructure/restructure.h"
#include "host/mechanisms/tuning/restructure/turns.h"

namespace nearwarp::compiler {

/// Throws nearwarp::Error, with the line, at the first instruction of the loop whose effect may
/// depend on which thread takes which element, or in which order it does.
void prove_order_free(const Kernel& kernel, const Values& values, const Turns& turns,
                      const std::string& path, const Restructuring& what);

}  // namespace nearwarp::compiler
