// Checkpoints: a run's state in a file (the arena, the windows stepped so far, the traces in use).
// Any backend can write one, and any can go on from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/timing/run/replay.h"

namespace nearwarp::sim {

/// The name of a run: 32 hexadecimal digits that depend on the models of this build, the program,
/// the size of its traces and the last of them, and every key of the machine and the policy.
std::string run_fingerprint(const ReplayJob& what);

/// The path of a run's checkpoint in `folder`; its name begins with the program's and the policy's.
std::string checkpoint_path(const std::string& folder, const ReplayJob& what);

/// Write `state` to what.checkpoint, whole or not at all. Throws nearwarp::Error.
void write_checkpoint(const ReplayJob& what, std::string_view state);
/// The state in what.checkpoint; nothing if no file is wanted or there is none. Throws
/// nearwarp::Error if it is damaged, of another version, or of another run.
std::optional<std::string> read_checkpoint(const ReplayJob& what);

/// Numbers, over all launches, of the thread blocks that have been dispatched and whose end the
/// front end has not been told: those on SMs, and those whose messages are in control channels.
std::vector<uint32_t> thread_blocks_on(Replay& run);

}  // namespace nearwarp::sim
