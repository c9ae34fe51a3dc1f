// Facts that a policy learns in a program's beginning and keeps to its end, so that parts of the
// program can begin with it: a mapping of data that is learnt.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/timing/run/replay.h"

namespace nearwarp::sim {

struct Learnt {
  /// Launches in which it is found out, from the program's first one on, to a place where the
  /// program can be divided; all of them if it never is. 0: there is nothing to find out.
  uint32_t launches = 0;
  std::vector<std::string> by_mechanism;  ///< MechanismRun::learnt(), in the policy's order
};

/// Is there anything that a policy may find out?
bool learns(const config::PolicyConfig& policy);

/// Simulates the job's program in order, from its beginning until its policy has found out what it
/// does. It is done once of a recording (Recording::studies). `go_on` is asked some times a second;
/// throws Interrupted when it returns false, and nearwarp::Error as a run does.
std::shared_ptr<const Learnt> learnt_by(const ReplayJob& job, const std::function<bool()>& go_on);

/// The most launches in which any of these jobs, all of one recording, finds out something: parts
/// of its program are to have all of them or none. Jobs that cannot be simulated do not count.
uint32_t learning_launches(std::span<const ReplayJob> jobs, const std::function<bool()>& go_on);

}  // namespace nearwarp::sim
