// A run's state in a file: the arena, where its windows and its traces stand. Any backend can write
// it and any can go on from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/timing/run/replay.h"

namespace nearwarp::sim {

/// Names a run: 16 hexadecimal digits that depend on the models of this build, the program, its
/// traces, every key of the machine and the policy.
std::string run_fingerprint(const ReplayJob& what);

/// Where a run's checkpoint lies in `folder`; the name begins with the program's and the policy's.
std::string checkpoint_path(const std::string& folder, const ReplayJob& what);

/// Write `state` to what.checkpoint: whole or not at all. Throws nearwarp::Error.
void write_checkpoint(const ReplayJob& what, std::string_view state);
/// The state in what.checkpoint; nothing if no file is wanted or there is none. Throws
/// nearwarp::Error if it is damaged, of another version, or of another run.
std::optional<std::string> read_checkpoint(const ReplayJob& what);

/// Thread blocks of the current launch that have been dispatched and whose end the front end has
/// not heard of, by number over all launches: on the SMs, and on the way to and from them.
std::vector<uint32_t> thread_blocks_on(Replay& run);

}  // namespace nearwarp::sim
