// Recordings as files, among them the cache of executed programs.
#pragma once

#include <cstdint>
#include <string>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// Version of the file's layout and of the trace words in it.
inline constexpr uint32_t kRecordingFormat = 13;
/// Version of functional execution: raise it when a program's traces may change.
inline constexpr uint32_t kExecutorVersion = 10;

/// Write `recording` to `path`: under a temporary name beside it, which is then renamed, so that
/// the file is whole or absent. Throws nearwarp::Error (a full disk, no such directory) and then
/// leaves no file behind.
void save_recording(const Recording& recording, const std::string& path);

/// Read a recording; its traces stay in the file and are loaded on demand. Throws nearwarp::Error
/// for a file that is missing, truncated, corrupted, or of another version.
Recording load_recording(const std::string& path, const TraceStore::Options& options = {});

/// Name of the cache entry of a program: 32 hexadecimal digits that depend on the PTX, the
/// workload, its size, further parameters (`detail`: instruction limit, ...), and the versions
/// above.
std::string recording_key(const std::string& ptx, const std::string& workload,
                          const std::string& size, const std::string& detail = {});

}  // namespace nearwarp::runtime
