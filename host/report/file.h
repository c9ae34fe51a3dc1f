// Writing a file so that it is there whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace nearwarp::report {

/// Write `text` to a temporary file beside `path`, then rename it: an earlier file stays intact
/// until the new one is complete, and nothing half-written is left. Devices and pipes are written
/// directly. Throws nearwarp::Error (e.g. when the disk is full).
void write_file(const std::string& path, std::string_view text);

/// Check beforehand that write_file() has a chance: the folder exists and lets files be made, or
/// the existing file can be replaced. Throws nearwarp::Error.
void check_writable(const std::string& path);

}  // namespace nearwarp::report
