// Writes recordings as traces in the format of Accel-Sim's tracer, version 6.
#pragma once

#include <functional>
#include <string>

#include "host/recording/recording.h"

namespace nearwarp::sass {

enum class TraceForm : uint8_t {
  kIndexed,  ///< .tracez
  kText,     ///< .traceg
};

/// Write kernelslist.g and a file for each launch into `folder`, which is made if need be; returns
/// the list's path. Each executed instruction becomes the nearest machine instruction. `tell` is
/// called once if some executed instruction has no line. Throws nearwarp::Error if a file cannot be
/// written.
std::string write_traces(const runtime::Recording& recording, const std::string& folder,
                         TraceForm form = TraceForm::kIndexed,
                         const std::function<void(const std::string&)>& tell = {});

}  // namespace nearwarp::sass
