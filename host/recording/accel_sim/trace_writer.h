// Writes recordings as traces of the form that Accel-Sim's tracer makes, version 6.
#pragma once

#include <functional>
#include <string>

#include "host/recording/recording.h"

namespace nearwarp::sass {

enum class TraceForm : uint8_t {
  kIndexed,  ///< .tracez
  kText,     ///< .traceg
};

/// Make `folder`, if it is not there, with kernelslist.g and a file for each launch; returns the
/// list's path. Machine instructions are those that come nearest to what was executed. Throws
/// nearwarp::Error if a file cannot be written. `tell` is called once if something that was
/// executed has no line.
std::string write_traces(const runtime::Recording& recording, const std::string& folder,
                         TraceForm form = TraceForm::kIndexed,
                         const std::function<void(const std::string&)>& tell = {});

}  // namespace nearwarp::sass
