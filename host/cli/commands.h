// Commands have in common: printing to standard output, and the program's version. They throw
// nearwarp::Error.
#pragma once

#include <string>

#include "host/cli/options.h"
#include "host/core/wrapped.h"

namespace nearwarp::cli {

/// `nearwarp analyze` does these with --mappings, --sharing and --objects.
int analyze_mappings_command(const CommandLine& line);
int analyze_sharing_command(const CommandLine& line);
int analyze_objects_command(const CommandLine& line);
/// Version of nearwarp and 8 digits of its models' hash, e.g. "0.1.0+6fd52c3a".
std::string version();

/// `text` with those of its lines that are longer than `width` broken between words; what comes of
/// a line is further to the right than its beginning.
std::string fitted_lines(const std::string& text, size_t width);

/// Print to standard output; throws nearwarp::Error if it cannot take the text (a full disk).
void print(const std::string& text);

}  // namespace nearwarp::cli
