// Which models a build holds.
#pragma once

namespace nearwarp::sim {

/// SHA-256, in hexadecimal digits, of the sources that results depend on: the models, what
/// assembles them, and what executes programs. Builds with equal hashes have equal results.
extern const char* const models_hash;

}  // namespace nearwarp::sim
