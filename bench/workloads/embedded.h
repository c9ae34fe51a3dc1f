// Texts that are embedded at build time (CMakeLists.txt).
#pragma once

namespace nearwarp::workloads::embedded {

/// All PTX of the workloads: the name of a file ("libor.rolled.ptx"), its text, the next name; at
/// the end a nullptr.
extern const char* const ptx_files[];

extern const char* const drivers_hash;  ///< SHA-256 of all sources in bench/workloads

}  // namespace nearwarp::workloads::embedded
